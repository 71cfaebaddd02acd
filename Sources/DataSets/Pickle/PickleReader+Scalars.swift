extension PickleReader {
  /// A value that holds no other.
  mutating func scalar(_ opcode: UInt8, _ at: Int) throws(DataFault) -> PickleValue {
    switch opcode {
    case UInt8(ascii: "N"): return .none
    case 0x88: return .bool(true)
    case 0x89: return .bool(false)
    case UInt8(ascii: "K"): return .integer(Int64(try bytes.number(1)))
    case UInt8(ascii: "M"): return .integer(Int64(try bytes.number(2)))
    case UInt8(ascii: "J"):
      return .integer(Int64(Int32(truncatingIfNeeded: try bytes.number(4))))
    case 0x8a: return try long(UInt64(try bytes.byte()), at)
    case 0x8b: return try long(try bytes.number(4), at)
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return try decimal(opcode, at)
    case UInt8(ascii: "G"):
      return .number(Double(bitPattern: try bytes.number(8).byteSwapped))
    case UInt8(ascii: "F"):
      let text = String(decoding: try bytes.line(), as: UTF8.self)
      guard let number = Double(text) else {
        throw fault(
          .malformed, at: at, found: "`\(text.prefix(30))`", expected: "a number")
      }
      return .number(number)
    case UInt8(ascii: "X"): return try text(try bytes.number(4), at)
    case 0x8c: return try text(try bytes.number(1), at)
    case 0x8d: return try text(try bytes.number(8), at)
    case UInt8(ascii: "V"): return .text(try escapedText(at))
    // What Python 2 wrote as text.
    case UInt8(ascii: "U"): return try text(try bytes.number(1), at)
    case UInt8(ascii: "T"): return try text(try bytes.number(4), at)
    default: throw refusal(opcode, at)
    }
  }

  /// The fault of an operation that is none of plain values.
  private func refusal(_ opcode: UInt8, _ at: Int) -> DataFault {
    let expected = "a dictionary of plain values: numbers, texts, lists and dictionaries"
    guard let name = PickleOpcode.name(opcode) else {
      return fault(
        at == 0 ? .wrongMagic : .corrupt, at: at, found: "byte \(hexadecimal([opcode]))",
        expected: at == 0 ? "a pickle" : "an operation of pickle")
    }
    let calls = [
      "GLOBAL", "STACK_GLOBAL", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "REDUCE", "BUILD", "PERSID",
      "BINPERSID", "EXT1", "EXT2", "EXT4",
    ]
    return fault(
      .unsupported, at: at, found: "the operation \(name)", expected: expected,
      advice: calls.contains(name)
        ? "the file would call or load something, which is not supported; write plain numbers" : nil
    )
  }

  /// A whole number in two's complement, the lowest byte first.
  private mutating func long(_ count: UInt64, _ at: Int) throws(DataFault) -> PickleValue {
    let digits = try bytes.bytes(count)
    let isNegative = digits.last.map { $0 >= 0x80 } ?? false
    guard digits.dropFirst(8).allSatisfy({ $0 == (isNegative ? 0xff : 0) }),
      digits.count <= 8 || (digits[7] >= 0x80) == isNegative
    else {
      throw fault(
        .outOfRange, at: at, found: "a number of \(count) bytes", expected: "one of 64 bits")
    }
    var number: UInt64 = isNegative ? .max : 0
    for (place, digit) in digits.prefix(8).enumerated() {
      let shift = UInt64(8 * place)
      number = number & ~(0xff << shift) | UInt64(digit) << shift
    }
    return .integer(Int64(bitPattern: number))
  }

  /// A whole number or a flag in decimal digits.
  private mutating func decimal(_ opcode: UInt8, _ at: Int) throws(DataFault) -> PickleValue {
    var text = String(decoding: try bytes.line(), as: UTF8.self)
    if opcode == UInt8(ascii: "I"), text == "00" || text == "01" { return .bool(text == "01") }
    if opcode == UInt8(ascii: "L"), text.hasSuffix("L") { text.removeLast() }
    guard let number = Int64(text) else {
      let isNumber = !text.isEmpty && text.allSatisfy { $0.isNumber || $0 == "-" }
      throw fault(
        isNumber ? .outOfRange : .malformed, at: at, found: "`\(text.prefix(30))`",
        expected: "a whole number of 64 bits")
    }
    return .integer(number)
  }

  private mutating func text(_ count: UInt64, _ at: Int) throws(DataFault) -> PickleValue {
    guard let text = String(validating: try bytes.bytes(count), as: UTF8.self) else {
      throw fault(.malformed, at: at, found: "a text that is not UTF-8", expected: "a UTF-8 text")
    }
    return .text(text)
  }

  /// A text of protocol 0: Latin-1 with `\u` and `\U` for all else.
  private mutating func escapedText(_ at: Int) throws(DataFault) -> String {
    let line = try bytes.line()
    var text = ""
    var place = 0
    while place < line.count {
      let isEscape =
        line[place] == UInt8(ascii: "\\") && place + 1 < line.count
        && (line[place + 1] == UInt8(ascii: "u") || line[place + 1] == UInt8(ascii: "U"))
      guard isEscape else {
        text.unicodeScalars.append(Unicode.Scalar(line[place]))
        place += 1
        continue
      }
      let count = line[place + 1] == UInt8(ascii: "u") ? 4 : 8
      let digits = String(decoding: line[(place + 2)...].prefix(count), as: UTF8.self)
      guard digits.utf8.count == count, let number = UInt32(digits, radix: 16),
        let scalar = Unicode.Scalar(number)
      else {
        throw fault(
          .malformed, at: at, found: "an unfinished \\u in a text", expected: "a character")
      }
      text.unicodeScalars.append(scalar)
      place += 2 + count
    }
    return text
  }
}
