/// Finds the word that someone most likely meant.
public enum Spelling {
  /// The known word nearest to `word`, if it is near: at most a third of its letters differ.
  ///
  /// Order: ties go to the first word. Letter case, `-` and `_` cost nothing. A word of more than
  /// `longest` bytes is near to none: nobody has misspelled it.
  /// Complexity: O(c · n · m) for c words; memory O(n · m).
  public static func nearest(to word: String, among known: [String]) -> String? {
    guard word.utf8.count <= longest else { return nil }
    let wanted = folded(word)
    var best: (word: String, distance: Int)?
    for candidate in known where candidate.utf8.count <= longest {
      let letters = folded(candidate)
      let most = max(1, max(wanted.count, candidate.count) / 3)
      // As many letters differ at least as one word has more than the other.
      guard abs(wanted.count - letters.count) <= most else { continue }
      let distance = distance(wanted, letters)
      if distance <= most, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.word
  }

  private static let longest = 200

  /// Whether two words differ in letter case, `-` and `_` only.
  public static func isSame(_ a: String, _ b: String) -> Bool { folded(a) == folded(b) }

  /// The known words that contain a word, if it is long enough to mean something.
  public static func containing(_ word: String, among known: [String]) -> [String] {
    let wanted = String(folded(word))
    return wanted.count < 4 ? [] : known.filter { String(folded($0)).contains(wanted) }
  }

  private static func folded(_ word: String) -> [Character] {
    word.lowercased().filter { $0 != "-" && $0 != "_" }.map { $0 }
  }

  /// Optimal string alignment distance: insertions, deletions, substitutions, adjacent swaps.
  private static func distance(_ a: [Character], _ b: [Character]) -> Int {
    var rows = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
    for i in 0...a.count { rows[i][0] = i }
    for j in 0...b.count { rows[0][j] = j }
    for i in stride(from: 1, through: a.count, by: 1) {
      for j in stride(from: 1, through: b.count, by: 1) {
        let cost = a[i - 1] == b[j - 1] ? 0 : 1
        rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + cost)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
        }
      }
    }
    return rows[a.count][b.count]
  }
}
