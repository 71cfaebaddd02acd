/// A JSON text read token by token from a stream: nothing but the current token is held.
///
/// RFC 8259; duplicate keys are for the reader of an object to judge, and `01` and `1.` pass as
/// numbers. Places are lines and columns, columns counted in characters.
struct JSONText: ~Copyable {
  let file: String

  private static let chunk = 1 << 16
  private static let longestToken = 1 << 24
  private let stream: ByteStream
  private var buffer: [UInt8] = []
  private var at = 0
  private var word: [UInt8] = []
  private var line = 1
  private var column = 1
  private var tokenPlace = DataFault.Place.text(line: 1, column: 1)

  init(path: String) throws(DataFault) {
    file = path
    stream = try ByteStream(path: path, limit: 1 << 42)
  }

  /// Where the next byte is.
  var here: DataFault.Place { .text(line: line, column: column) }

  /// Where the token read last, or looked at last, begins.
  var place: DataFault.Place { tokenPlace }

  func fault(
    _ kind: DataFault.Kind, found: String, expected: String, advice: String? = nil
  ) -> DataFault {
    DataFault(
      kind, in: file, at: tokenPlace, found: found, expected: expected, advice: advice)
  }

  /// The first byte of the next token, nil at the end; it is not taken.
  mutating func peek() throws(DataFault) -> UInt8? {
    while let byte = try current() {
      guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { break }
      advance()
    }
    tokenPlace = .text(line: line, column: column)
    return try current()
  }

  /// Whether the next token is this sign; then it is taken.
  mutating func takeIfPresent(_ sign: Unicode.Scalar) throws(DataFault) -> Bool {
    guard try peek() == UInt8(ascii: sign) else { return false }
    advance()
    return true
  }

  mutating func take(_ sign: Unicode.Scalar, _ expected: String) throws(DataFault) {
    guard try takeIfPresent(sign) else { throw try unexpected(expected) }
  }

  /// A fault at the next token. `truncated` at the end, else `malformed`.
  mutating func unexpected(_ expected: String) throws(DataFault) -> DataFault {
    guard let byte = try peek() else {
      return fault(.truncated, found: "the end of the file", expected: expected)
    }
    let what =
      switch byte {
      case UInt8(ascii: "{"): "an object"
      case UInt8(ascii: "["): "a list"
      case UInt8(ascii: "\""): "a text"
      case 0x21...0x7e: "`\(Character(Unicode.Scalar(byte)))`"
      default: "byte \(hexadecimal([byte]))"
      }
    return fault(.malformed, found: what, expected: expected)
  }

  mutating func end() throws(DataFault) {
    guard try peek() == nil else {
      throw fault(.trailingBytes, found: "more text", expected: "the end of the file")
    }
  }

  mutating func string(_ expected: String) throws(DataFault) -> String {
    guard try peek() == UInt8(ascii: "\"") else { throw try unexpected(expected) }
    advance()
    var bytes: [UInt8] = []
    while let byte = try current() {
      if byte == UInt8(ascii: "\"") {
        advance()
        guard let text = String(validating: bytes, as: UTF8.self) else {
          throw fault(.malformed, found: "a text that is not UTF-8", expected: expected)
        }
        return text
      }
      guard byte >= 0x20, bytes.count < Self.longestToken else {
        throw fault(
          .malformed, found: byte < 0x20 ? "a control character in a text" : "a text without end",
          expected: expected)
      }
      advance()
      if byte == UInt8(ascii: "\\") { try escape(into: &bytes) } else { bytes.append(byte) }
    }
    throw fault(.truncated, found: "the end of the file in a text", expected: "its closing quote")
  }

  mutating func escape(into bytes: inout [UInt8]) throws(DataFault) {
    guard let byte = try current() else { return }
    advance()
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
    case UInt8(ascii: "b"): bytes.append(8)
    case UInt8(ascii: "f"): bytes.append(12)
    case UInt8(ascii: "n"): bytes.append(10)
    case UInt8(ascii: "r"): bytes.append(13)
    case UInt8(ascii: "t"): bytes.append(9)
    case UInt8(ascii: "u"):
      var unit = try hexUnit()
      if unit & 0xfc00 == 0xd800, try current() == UInt8(ascii: "\\") {
        advance()
        if try current() == UInt8(ascii: "u") {
          advance()
          let low = try hexUnit()
          // Anything but the second half leaves the first without it, which is no scalar.
          if low & 0xfc00 == 0xdc00 { unit = 0x10000 + (unit & 0x3ff) << 10 + (low & 0x3ff) }
        }
      }
      guard let scalar = Unicode.Scalar(unit) else {
        throw fault(.malformed, found: "half of a surrogate pair", expected: "a whole character")
      }
      bytes.append(contentsOf: Array(String(Character(scalar)).utf8))
    default:
      throw fault(.malformed, found: "an unknown escape in a text", expected: "one of JSON's")
    }
  }

  private mutating func hexUnit() throws(DataFault) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = try current(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue
      else {
        throw fault(.malformed, found: "an unfinished \\u", expected: "four hexadecimal digits")
      }
      advance()
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  /// A finite number. Throws: `outOfRange` for `NaN` and `Infinity`, which some writers put.
  mutating func number(_ expected: String) throws(DataFault) -> Double {
    guard let first = try peek() else { throw try unexpected(expected) }
    try takeWord()
    let isNumberlike = first == UInt8(ascii: "-") || (first >= 0x30 && first <= 0x39)
    // Digits and power of ten that doubles hold exactly: one rounding, as in a full conversion.
    if isNumberlike, let decimal = DecimalNumber(word), decimal.digits.magnitude < 1 << 53,
      decimal.exponent >= -22, decimal.exponent <= 22, decimal.digits != 0
    {
      let power = Self.powersOfTen[abs(decimal.exponent)]
      return decimal.exponent < 0
        ? Double(decimal.digits) / power : Double(decimal.digits) * power
    }
    guard !word.isEmpty else { throw try unexpected(expected) }
    let text = String(decoding: word, as: UTF8.self)
    guard isNumberlike, DecimalNumber.isNumber(word) else {
      let isInfinite = ["NaN", "Infinity", "-Infinity", "nan", "inf"].contains(text)
      throw fault(
        isInfinite ? .outOfRange : .malformed, found: "`\(text.prefix(20))`", expected: expected)
    }
    guard let value = Double(text), value.isFinite else {
      throw fault(.outOfRange, found: "`\(text.prefix(20))`", expected: expected)
    }
    return value
  }

  private static let powersOfTen: [Double] = (0...22).map { exponent in
    (0..<exponent).reduce(1.0) { power, _ in power * 10 }
  }

  /// Letters, digits, signs and points in a row, into `word`.
  private mutating func takeWord() throws(DataFault) {
    word.removeAll(keepingCapacity: true)
    while let byte = try current(), word.count < 4_096 {
      let isPart =
        byte >= 0x30 && byte <= 0x39 || byte >= 0x41 && byte <= 0x5a
        || byte >= 0x61 && byte <= 0x7a || byte == 0x2b || byte == 0x2d || byte == 0x2e
      guard isPart else { break }
      word.append(byte)
      advance()
    }
  }

  /// Passes over one value of any kind.
  mutating func skipValue() throws(DataFault) {
    var depth = 0
    repeat {
      guard let byte = try peek() else { throw try unexpected("a value") }
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        advance()
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { throw try unexpected("a value") }
        depth -= 1
        advance()
      case UInt8(ascii: ","), UInt8(ascii: ":"):
        guard depth > 0 else { throw try unexpected("a value") }
        advance()
      case UInt8(ascii: "\""): _ = try string("a text")
      default:
        try takeWord()
        if word.isEmpty { throw try unexpected("a value") }
      }
    } while depth > 0
  }

  mutating func current() throws(DataFault) -> UInt8? {
    if at == buffer.count {
      buffer.removeAll(keepingCapacity: true)
      at = 0
      guard try stream.read(Self.chunk, appendingTo: &buffer) > 0 else { return nil }
    }
    return buffer[at]
  }

  mutating func advance() {
    let byte = buffer[at]
    at += 1
    if byte == 0x0a {
      line += 1
      column = 1
    } else if byte & 0xc0 != 0x80 {
      column += 1
    }
  }
}
