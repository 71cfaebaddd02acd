import Learning
import Schema

/// What an array of labels means.
public struct TargetSettings: PartSettings {
  /// What samples are learned by.
  public enum Kind: String, CaseIterable, Sendable {
    /// A class for each sample.
    case classes
    /// Numbers for each sample.
    case values
    /// A token for each position of a sample.
    case tokens
    /// The token behind each position: samples themselves, shifted by one.
    case nextToken = "next-token"
  }

  /// What samples are learned by.
  public var kind = Kind.classes
  /// The token that is no target; nil: all are.
  public var padding: Int?
  /// The token that is learned and not scored; nil: all are scored.
  public var outOfVocabulary: Int?

  public init() {}

  /// A bare word is the kind.
  public static var shorthand: String? { "kind" }

  public static var fields: [Field<TargetSettings>] {
    [
      Field(
        "kind", \.kind, .choice,
        "What a sample is learned by: a class; numbers, [n] or [n, outputs]; a token at each"
          + " position, [n, positions]; or the token behind each position of the sample."),
      Field(
        "padding", \.padding, optional: .integer(-1000...1_048_575),
        "Token left out of loss and accuracy; absent: none."),
      Field(
        "outOfVocabulary", \.outOfVocabulary, optional: .integer(0...1_048_575),
        "Token left out of the accuracy, not of the loss; absent: none."),
    ]
  }

  /// Only tokens can be left out.
  public func contradictions() -> [(key: String, message: String)] {
    guard targetKind != .tokens else { return [] }
    return [("padding", padding), ("outOfVocabulary", outOfVocabulary)].compactMap {
      $0.1 == nil ? nil : ($0.0, "only `tokens` and `next-token` have such a token")
    }
  }

  /// The kind of targets that data sets have by it.
  var targetKind: Dataset.TargetKind {
    switch kind {
    case .classes: .classes
    case .values: .values
    case .tokens, .nextToken: .tokens
    }
  }
}
