import Schema

/// A piece of an expression.
struct SweepToken: Sendable {
  /// What is between or before values.
  enum Operator: String, Sendable {
    case or, and, not
    case equal = "=="
    case unequal = "!="
    case atMost = "<="
    case atLeast = ">="
    case less = "<"
    case more = ">"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case divided = "/"
    case remainder = "%"
    case open = "("
    case close = ")"
  }

  /// What a piece is.
  enum Kind: Sendable {
    case sign(Operator)
    case constant(SweepScalar)
    case name(String)
    case end
  }

  let kind: Kind
  /// Where it begins, from 1.
  let column: Int

  /// The pieces of a text, `end` last.
  static func all(in text: String) throws(SweepExpression.Problem) -> [SweepToken] {
    let scalars = Array(text.unicodeScalars)
    guard scalars.count <= SweepExpression.mostCharacters else {
      throw .init(
        column: 1, message: "it is longer than \(SweepExpression.mostCharacters) characters")
    }
    var reader = SweepTokenReader(scalars: scalars)
    var tokens: [SweepToken] = []
    while let token = try reader.next() { tokens.append(token) }
    return tokens + [SweepToken(kind: .end, column: scalars.count + 1)]
  }
}

/// Cuts a text into pieces.
private struct SweepTokenReader {
  let scalars: [Unicode.Scalar]
  var place = 0

  init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

  private func isDigit(_ at: Int) -> Bool {
    at < scalars.count && ("0"..."9").contains(scalars[at])
  }

  private func isLetter(_ at: Int) -> Bool {
    at < scalars.count
      && (("a"..."z").contains(scalars[at]) || ("A"..."Z").contains(scalars[at])
        || scalars[at] == "_")
  }

  private func text(_ range: Range<Int>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars[range])
    return String(view)
  }

  mutating func next() throws(SweepExpression.Problem) -> SweepToken? {
    while place < scalars.count, scalars[place] == " " || scalars[place] == "\n" { place += 1 }
    guard place < scalars.count else { return nil }
    let column = place + 1
    if isDigit(place) || (scalars[place] == "." && isDigit(place + 1)) {
      return SweepToken(kind: .constant(try number()), column: column)
    }
    if isLetter(place) { return SweepToken(kind: word(), column: column) }
    if scalars[place] == "\"" || scalars[place] == "'" {
      return SweepToken(kind: .constant(.text(try quoted())), column: column)
    }
    for length in [2, 1] where place + length <= scalars.count {
      if let sign = SweepToken.Operator(rawValue: text(place..<place + length)) {
        place += length
        return SweepToken(kind: .sign(sign), column: column)
      }
    }
    let found = String(scalars[place])
    let advice =
      switch found {
      case "=": "; equality is `==`"
      case "&": "; write `and`"
      case "|": "; write `or`"
      case "!": "; write `not`"
      default: ""
      }
    throw .init(column: column, message: "`\(found)` has no meaning here\(advice)")
  }

  /// A number, with a unit or several such in a row.
  private mutating func number() throws(SweepExpression.Problem) -> SweepScalar {
    let start = place
    place = endOfDigits(from: place)
    if place < scalars.count, scalars[place] == "e" || scalars[place] == "E" {
      var end = place + 1
      if end < scalars.count, scalars[end] == "-" || scalars[end] == "+" { end += 1 }
      if isDigit(end) { place = endOfDigits(from: end) }
    }
    var best = place
    var result = SweepNumber(text(start..<place))
    // Units behind it, as long as number and units continue.
    while let end = endOfUnit(from: best), let number = SweepNumber(text(start..<end)) {
      (best, result) = (end, number)
      var digits = end
      while digits < scalars.count, scalars[digits] == " " { digits += 1 }
      guard isDigit(digits) else { break }
      let next = endOfDigits(from: digits)
      guard let unit = endOfUnit(from: next), SweepNumber(text(start..<unit)) != nil else { break }
      best = next
    }
    place = best
    guard let result else {
      throw .init(column: start + 1, message: "`\(text(start..<place))` is not a number")
    }
    return .number(result.inBaseUnit, result.family)
  }

  private func endOfDigits(from start: Int) -> Int {
    var end = start
    while end < scalars.count, isDigit(end) || scalars[end] == "." { end += 1 }
    return end
  }

  /// The end of a unit such as `min` or `Mbit/s` behind blanks; nil where there is none.
  private func endOfUnit(from start: Int) -> Int? {
    var end = start
    while end < scalars.count, scalars[end] == " " { end += 1 }
    let word = end
    while isLetter(end) { end += 1 }
    if end + 1 < scalars.count, scalars[end] == "/", scalars[end + 1] == "s", !isLetter(end + 2),
      text(word..<end).hasSuffix("bit")
    {
      end += 2
    }
    let unit = text(word..<end)
    let units = SweepFamily.allCases.flatMap { $0.units.map(\.name) }
    return units.contains(unit) ? end : nil
  }

  /// A name such as `fleet[0].link.markov`, or a word with a meaning.
  ///
  /// A `-` with a letter directly before and behind it belongs to the name.
  private mutating func word() -> SweepToken.Kind {
    let start = place
    while place < scalars.count {
      let isInner =
        isLetter(place) || isDigit(place) || scalars[place] == "." || scalars[place] == "["
        || scalars[place] == "]"
      let isHyphen =
        scalars[place] == "-" && isLetter(place + 1) && (isLetter(place - 1) || isDigit(place - 1))
      guard isInner || isHyphen else { break }
      place += 1
    }
    let word = text(start..<place)
    switch word {
    case "or", "and", "not": return .sign(SweepToken.Operator(rawValue: word)!)
    case "true", "false": return .constant(.flag(word == "true"))
    default: return .name(word)
    }
  }

  private mutating func quoted() throws(SweepExpression.Problem) -> String {
    let mark = scalars[place]
    let start = place + 1
    guard let end = scalars[start...].firstIndex(of: mark) else {
      throw .init(column: place + 1, message: "the text that begins here has no end")
    }
    place = end + 1
    return text(start..<end)
  }
}

/// Makes a tree of pieces: `or` binds least, then `and`, `not`, comparisons, sums, products.
struct SweepParser {
  let tokens: [SweepToken]
  private(set) var names: [SweepExpression.Name] = []
  private var place = 0
  private var level = 0

  init(tokens: [SweepToken]) { self.tokens = tokens }

  private typealias Tree = SweepExpression.Tree
  private typealias Problem = SweepExpression.Problem

  mutating func parse() throws(SweepExpression.Problem) -> SweepExpression.Tree {
    let tree = try disjunction()
    guard case .end = tokens[place].kind else {
      let message =
        if case .sign(.close) = tokens[place].kind { "this `)` closes nothing" } else {
          "expected an operator here, such as `and` or `<`"
        }
      throw Problem(column: tokens[place].column, message: message)
    }
    return tree
  }

  private mutating func take(_ signs: [SweepToken.Operator]) -> (SweepToken.Operator, Int)? {
    guard case .sign(let sign) = tokens[place].kind, signs.contains(sign) else { return nil }
    place += 1
    return (sign, tokens[place - 1].column)
  }

  private mutating func disjunction() throws(Problem) -> Tree {
    level += 1
    defer { level -= 1 }
    guard level <= SweepExpression.mostLevels else {
      throw Problem(column: tokens[place].column, message: "this is nested too deeply")
    }
    var tree = try conjunction()
    while let (sign, column) = take([.or]) {
      tree = .operation(sign, tree, try conjunction(), column: column)
    }
    return tree
  }

  private mutating func conjunction() throws(Problem) -> Tree {
    var tree = try negation()
    while let (sign, column) = take([.and]) {
      tree = .operation(sign, tree, try negation(), column: column)
    }
    return tree
  }

  private mutating func negation() throws(Problem) -> Tree {
    var columns: [Int] = []
    while let (_, column) = take([.not]) { columns.append(column) }
    var tree = try comparison()
    for column in columns.reversed() { tree = .not(tree, column: column) }
    return tree
  }

  private mutating func comparison() throws(Problem) -> Tree {
    let comparisons: [SweepToken.Operator] = [
      .equal, .unequal, .less, .atMost, .more, .atLeast,
    ]
    var tree = try sum()
    if let (sign, column) = take(comparisons) {
      tree = .operation(sign, tree, try sum(), column: column)
      if let (_, second) = take(comparisons) {
        throw Problem(column: second, message: "one comparison at a time: join two with `and`")
      }
    }
    return tree
  }

  private mutating func sum() throws(Problem) -> Tree {
    var tree = try product()
    while let (sign, column) = take([.plus, .minus]) {
      tree = .operation(sign, tree, try product(), column: column)
    }
    return tree
  }

  private mutating func product() throws(Problem) -> Tree {
    var tree = try factor()
    while let (sign, column) = take([.times, .divided, .remainder]) {
      tree = .operation(sign, tree, try factor(), column: column)
    }
    return tree
  }

  private mutating func factor() throws(Problem) -> Tree {
    var columns: [Int] = []
    while let (_, column) = take([.minus]) { columns.append(column) }
    var tree = try primary()
    for column in columns.reversed() { tree = .minus(tree, column: column) }
    return tree
  }

  private mutating func primary() throws(Problem) -> Tree {
    let token = tokens[place]
    switch token.kind {
    case .constant(let value):
      place += 1
      return .constant(value)
    case .name(let text):
      place += 1
      let name = SweepExpression.Name(text: text, column: token.column)
      names.append(name)
      return .name(name)
    case .sign(.open):
      place += 1
      let tree = try disjunction()
      guard take([.close]) != nil else {
        throw Problem(column: token.column, message: "this `(` is never closed")
      }
      return tree
    case .sign(let sign):
      throw Problem(
        column: token.column, message: "expected a value here, found `\(sign.rawValue)`")
    case .end:
      throw Problem(column: token.column, message: "expected a value at the end")
    }
  }
}
