/// A text by its lines and columns as the YAML parser counts them: columns in Unicode scalars.
struct SourceText {
  /// A line and a column, both from 1.
  struct Position: Hashable {
    var line: Int
    var column: Int
  }

  /// Something about the bytes that YAML does not allow.
  struct Problem: Error {
    var position: Position
    var message: String
  }

  private(set) var scalars: [Unicode.Scalar]
  private var lineStarts: [Int]
  private var renamed: UInt32 = 0

  /// How many lines there are; an empty text has one.
  var lineCount: Int { lineStarts.count }

  /// The text.
  var text: String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  private init(_ scalars: [Unicode.Scalar]) {
    self.scalars = scalars
    lineStarts = [0]
    for i in scalars.indices where Self.endsLine(scalars, i) { lineStarts.append(i + 1) }
  }

  /// Decodes UTF-8 that has only characters that YAML allows.
  static func decoding(_ bytes: [UInt8]) -> Result<SourceText, Problem> {
    var scalars: [Unicode.Scalar] = []
    scalars.reserveCapacity(bytes.count)
    var decoder = UTF8()
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]  // a byte order mark says nothing here
    var iterator = bytes.dropFirst(bytes.starts(with: mark) ? 3 : 0).makeIterator()
    var problem: String?
    decoding: while problem == nil {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar):
        if isAllowed(scalar) {
          scalars.append(scalar)
        } else {
          let digits = String(scalar.value, radix: 16, uppercase: true)
          let name = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
          problem = "the character U+\(name) is not allowed"
        }
      case .emptyInput:
        break decoding
      case .error:
        problem = "this text is not UTF-8"
      }
    }
    let source = SourceText(scalars)
    guard let problem else { return .success(source) }
    return .failure(Problem(position: source.position(of: scalars.count), message: problem))
  }

  /// Source: YAML 1.2.2, production 1, `c-printable`.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD,
      0x1_0000...0x10_FFFF:
      return true
    default:
      return false
    }
  }

  private static func endsLine(_ scalars: [Unicode.Scalar], _ i: Int) -> Bool {
    switch scalars[i].value {
    case 0x0A, 0x85, 0x2028, 0x2029: return true
    case 0x0D: return i + 1 == scalars.count || scalars[i + 1] != "\n"
    default: return false
    }
  }

  // MARK: Positions

  /// The position of a scalar by its index.
  func position(of index: Int) -> Position {
    let line = lineStarts.lastIndex { $0 <= index } ?? 0
    return Position(line: line + 1, column: index - lineStarts[line] + 1)
  }

  /// The index of the scalar at a position, where there is one.
  func index(of position: Position) -> Int? {
    guard lineStarts.indices.contains(position.line - 1) else { return nil }
    let index = lineStarts[position.line - 1] + position.column - 1
    return scalars.indices.contains(index) ? index : nil
  }

  /// The scalar at a position, where there is one.
  func scalar(at position: Position) -> Unicode.Scalar? { index(of: position).map { scalars[$0] } }

  /// The text of a line from a column on.
  func line(from position: Position) -> String {
    guard let start = index(of: position) else { return "" }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars[start...].prefix { $0 != "\n" && $0 != "\r" })
    return String(view)
  }

  /// The scalars of each line up to a line, without its end.
  func lines(to last: Int) -> [Range<Int>] {
    lineStarts.indices.prefix(last).map { line in
      let start = lineStarts[line]
      var end = line + 1 < lineStarts.count ? lineStarts[line + 1] : scalars.count
      while end > start, ["\n", "\r"].contains(scalars[end - 1]) { end -= 1 }
      return start..<end
    }
  }

  // MARK: Repeated keys

  /// Makes the key at a position another than every other, and gives the key as it was.
  ///
  /// The parser refuses repeated keys without saying where the second one is. One letter of
  /// the first is replaced by a private-use character, so that no column moves.
  mutating func rename(_ key: String, at position: Position) -> String? {
    guard let start = index(of: position), let first = key.unicodeScalars.first else { return nil }
    let isQuoted = scalars[start] == "\"" || scalars[start] == "'"
    let target = isQuoted ? start + 1 : start
    guard scalars.indices.contains(target), scalars[target] == first, renamed < 0x1000,
      let mark = Unicode.Scalar(0xE800 + renamed)
    else { return nil }
    renamed += 1
    scalars[target] = mark
    return key
  }

  // MARK: Alias bombs

  /// Whether a key may hold an alias: then composing alone would expand it.
  var mayUseAliasesInKeys: Bool {
    guard scalars.contains("*") else { return false }
    for (i, scalar) in scalars.enumerated() {
      if scalar == "?", i + 1 == scalars.count || isSpace(i + 1) { return true }
      guard scalar == ":" else { continue }
      var j = i - 1
      while j >= 0, scalars[j] == " " { j -= 1 }
      if j >= 0, scalars[j] == "]" || scalars[j] == "}" { return true }
      while j >= 0, isNameScalar(j) { j -= 1 }
      if j >= 0, scalars[j] == "*" { return true }
    }
    return false
  }

  /// A bound on the text's length with every alias written out, or `limit` if it is longer: an
  /// anchored value ends before its first alias.
  func expandedScalars(limit: Int) -> Int {
    var starts: [String: Int] = [:]
    var sizes: [String: Int] = [:]
    var total = 0
    for (i, scalar) in scalars.enumerated() {
      total += 1
      guard scalar == "&" || scalar == "*" else { continue }
      var end = i + 1
      while end < scalars.count, isNameScalar(end) { end += 1 }
      var view = String.UnicodeScalarView()
      view.append(contentsOf: scalars[(i + 1)..<end])
      let name = String(view)
      if scalar == "&" {
        (starts[name], sizes[name]) = (total, nil)
      } else if let start = starts[name] {
        let size = sizes[name] ?? total - start
        sizes[name] = size
        total += size
      }
      if total >= limit { return limit }
    }
    return total
  }

  private func isSpace(_ i: Int) -> Bool {
    [" ", "\n", "\r", "\t"].contains(scalars[i])
  }

  private func isNameScalar(_ i: Int) -> Bool {
    let scalar = scalars[i]
    return ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
      || ("0"..."9").contains(scalar) || scalar == "-" || scalar == "_"
  }
}
