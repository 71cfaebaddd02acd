/// One line of a text inside a JSON file, with the column of each of its bytes.
struct TextLine {
  /// The bytes, without the line's end.
  var bytes: [UInt8] = []
  /// The place in the file of each byte, an escape being at its backslash; and of what follows.
  var places: [DataFault.Place] = []

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  /// The bytes of a part, spaces at both ends taken off.
  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (low, high) = (range.lowerBound, range.upperBound)
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0d }
    while low < high, isSpace(bytes[low]) { low += 1 }
    while high > low, isSpace(bytes[high - 1]) { high -= 1 }
    return low..<high
  }

  /// A part as text, cut after some characters.
  func text(_ range: Range<Int>) -> String {
    let text = String(decoding: bytes[range], as: UTF8.self)
    return text.count > 40 ? text.prefix(40) + "…" : text
  }
}

extension JSONText {
  /// A text, read line by line: however long it is, one line is held.
  ///
  /// Throws: `tooLarge` for a line of more than `longest` bytes, and what `string` and `body`
  /// throw.
  mutating func lines(
    _ expected: String, longest: Int = 4_096, _ body: (borrowing TextLine) throws(DataFault) -> Void
  ) throws(DataFault) {
    guard try peek() == UInt8(ascii: "\"") else { throw try unexpected(expected) }
    advance()
    var line = TextLine()
    while let byte = try current() {
      let place = here
      if byte == UInt8(ascii: "\"") {
        advance()
        line.places.append(place)
        return try body(line)
      }
      guard byte >= 0x20 else {
        throw DataFault(
          .malformed, in: file, at: place, found: "a control character in a text",
          expected: expected)
      }
      advance()
      let count = line.bytes.count
      if byte == UInt8(ascii: "\\") {
        try escape(into: &line.bytes)
      } else {
        line.bytes.append(byte)
      }
      for _ in count..<line.bytes.count { line.places.append(place) }
      if line.bytes.last == 0x0a {
        line.bytes.removeLast()
        try body(line)
        line.removeAll()
      }
      guard line.bytes.count <= longest else {
        throw DataFault(
          .tooLarge, in: file, at: place, found: "a line of more than \(longest) bytes",
          expected: expected)
      }
    }
    throw fault(.truncated, found: "the end of the file in a text", expected: "its closing quote")
  }
}
