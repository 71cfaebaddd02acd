/// Blanks out comments, and string literals if asked to, so that words in prose break no rule.
/// Newlines stay where they are, so that line numbers do.
struct Stripper {
  enum Language { case swift, c }

  private let input: [Character]
  private let language: Language
  private let keepsStrings: Bool
  private var output: [Character] = []
  private var position = 0

  static func strip(_ text: String, language: Language, keepsStrings: Bool) -> String {
    var stripper = Stripper(
      input: Array(text), language: language, keepsStrings: keepsStrings)
    stripper.code(untilParenthesis: false)
    return String(stripper.output)
  }

  private init(input: [Character], language: Language, keepsStrings: Bool) {
    self.input = input
    self.language = language
    self.keepsStrings = keepsStrings
  }

  private func sees(_ text: String) -> Bool {
    var index = position
    for character in text {
      guard index < input.count, input[index] == character else { return false }
      index += 1
    }
    return true
  }

  private mutating func keep(_ count: Int = 1) {
    for _ in 0..<count where position < input.count {
      output.append(input[position])
      position += 1
    }
  }

  private mutating func blank(_ count: Int = 1) {
    for _ in 0..<count where position < input.count {
      output.append(input[position].isNewline ? input[position] : " ")
      position += 1
    }
  }

  /// Code up to the end, or up to the parenthesis that closes an interpolation.
  private mutating func code(untilParenthesis: Bool) {
    var depth = 0
    while position < input.count {
      if sees("//") {
        while position < input.count, !input[position].isNewline { blank() }
      } else if sees("/*") {
        blockComment()
      } else if let pounds = poundsBeforeQuote() {
        string(pounds: pounds)
      } else if language == .c, sees("'") {
        characterLiteral()
      } else {
        if sees("(") { depth += 1 }
        if sees(")") {
          depth -= 1
          if untilParenthesis, depth < 0 { return }
        }
        keep()
      }
    }
  }

  private mutating func blockComment() {
    var depth = 0
    repeat {
      if sees("/*"), depth == 0 || language == .swift {
        depth += 1
        blank(2)
      } else if sees("*/") {
        depth -= 1
        blank(2)
      } else {
        blank()
      }
    } while depth > 0 && position < input.count
  }

  private mutating func characterLiteral() {
    keep()
    while position < input.count, !sees("'"), !input[position].isNewline {
      blank(sees("\\") ? 2 : 1)
    }
    keep()
  }

  /// How many `#` are before a quotation mark here; nil where no string begins.
  private func poundsBeforeQuote() -> Int? {
    var index = position
    if language == .swift { while index < input.count, input[index] == "#" { index += 1 } }
    return index < input.count && input[index] == "\"" ? index - position : nil
  }

  private mutating func string(pounds: Int) {
    let fence = String(repeating: "#", count: pounds)
    keep(pounds)
    let isLong = language == .swift && sees("\"\"\"")
    let quote = isLong ? "\"\"\"" : "\""
    keep(quote.count)
    while position < input.count, !sees(quote + fence) {
      if language == .swift, sees("\\" + fence + "(") {
        blank(1 + pounds)
        keep()
        code(untilParenthesis: true)
        keep()
      } else if !isLong, input[position].isNewline {
        return  // An unfinished literal: never swallow the rest of the file.
      } else {
        let count = sees("\\" + fence) ? 2 + pounds : 1
        if keepsStrings { keep(count) } else { blank(count) }
      }
    }
    keep(quote.count + pounds)
  }
}
