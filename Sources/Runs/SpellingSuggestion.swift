import Schema

/// Words that a user may have meant.
public enum SpellingSuggestion {
  /// The known word nearest to another, if one is near.
  public static func word(to word: String, among known: [String]) -> String? {
    Spelling.nearest(to: word, among: known)
  }

  /// What a word of the field is here; nil: it is not known.
  public static func advice(for word: String) -> String? { KeyAdvice.advice(for: word) }
}
