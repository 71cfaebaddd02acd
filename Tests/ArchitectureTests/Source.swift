/// One file of the project as the rules see it.
struct Source: Sendable {
  /// Where it is, from the top of the repository: `Sources/FedSim/Clock/EventQueue.swift`.
  let path: String
  /// The whole text.
  let text: String
  /// The text with comments and the contents of string literals replaced by spaces, line by line in
  /// place. Code inside `\(…)` stays: it runs.
  let code: String
  /// The text without comments, string literals kept.
  let uncommented: String
  /// The tokens of `code`.
  let tokens: [Token]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    let language: Stripper.Language = path.hasSuffix(".swift") ? .swift : .c
    // A page has no code.
    let text = path.hasSuffix(".md") ? "" : text
    code = Stripper.strip(text, language: language, keepsStrings: false)
    uncommented = Stripper.strip(text, language: language, keepsStrings: true)
    tokens = Token.all(in: code)
  }

  var isSwift: Bool { path.hasSuffix(".swift") }
  var isC: Bool { path.hasSuffix(".c") || path.hasSuffix(".h") }

  /// The lines of the text; a final newline begins no further line.
  var lines: [Substring] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  /// The target this file belongs to: the second part of `Sources/<Target>/…`, here or in a package
  /// under `Examples`; else nil.
  var target: String? {
    var parts = path.split(separator: "/")[...]
    if parts.first == "Examples" { parts = parts.dropFirst(2) }
    return parts.count > 2 && parts.first == "Sources" ? String(parts[parts.startIndex + 1]) : nil
  }
}

/// A word or a single other character of a source, with the line it is on.
struct Token: Equatable, Sendable {
  let text: String
  let line: Int

  var isCapitalised: Bool { text.first?.isUppercase ?? false }
  var isName: Bool { text.first.map { $0.isLetter || $0 == "_" } ?? false }

  static func all(in code: String) -> [Token] {
    var tokens: [Token] = []
    var word = ""
    var line = 1
    func endWord() {
      if !word.isEmpty { tokens.append(Token(text: word, line: line)) }
      word = ""
    }
    for character in code {
      if character.isLetter || character.isNumber || character == "_" {
        word.append(character)
        continue
      }
      endWord()
      if character == "\n" {
        line += 1
      } else if !character.isWhitespace, character != "`" {
        tokens.append(Token(text: String(character), line: line))
      }
    }
    endWord()
    return tokens
  }
}

/// A broken rule: where, and what to do instead.
struct Violation: CustomStringConvertible {
  let path: String
  let line: Int
  let message: String

  var description: String { "\(path):\(line): \(message)" }
}
