/// The fields of a message in protobuf's wire format, one after the other, without their meaning.
///
/// Source: protobuf, "Encoding": a tag of field number and type, then a varint, 4 or 8 bytes, or a
/// length and as many bytes.
struct ProtobufFields {
  /// A field: its number, its type, and where its content is.
  struct Field {
    var number: Int
    var type: Int
    /// The tag's first byte.
    var start: Int
    /// Without tag and length.
    var content: Range<Int>
  }

  /// What is wrong at a byte.
  struct Problem: Error {
    var kind: DataFault.Kind
    var byte: Int
    var found: String
    var expected: String
  }

  let bytes: UnsafeRawBufferPointer
  private(set) var place: Int
  let end: Int

  /// The fields of the message that these bytes are.
  init(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) {
    self.bytes = bytes
    place = range.lowerBound
    end = range.upperBound
  }

  /// The next field; nil at the end.
  mutating func next() throws(Problem) -> Field? {
    guard place < end else { return nil }
    let start = place
    let tag = try varint("a field's tag")
    let (number, type) = (tag >> 3, Int(tag & 7))
    guard number > 0, number < 1 << 29 else {
      throw Problem(
        kind: .corrupt, byte: start, found: "field number \(number)", expected: "a protobuf field")
    }
    var length = 0
    switch type {
    case 0:
      let first = place
      _ = try varint("a whole number")
      return Field(number: Int(number), type: type, start: start, content: first..<place)
    case 1: length = 8
    case 5: length = 4
    case 2:
      let lengthPlace = place
      let wanted = try varint("a length")
      guard wanted <= UInt64(end - place) else {
        throw Problem(
          kind: .truncated, byte: lengthPlace, found: "a field of \(wanted) bytes",
          expected: "at most the \(end - place) that are left")
      }
      length = Int(wanted)
    default:
      throw Problem(
        kind: .corrupt, byte: start, found: "wire type \(type) of field \(number)",
        expected: "0, 1, 2 or 5")
    }
    guard length <= end - place else {
      throw Problem(
        kind: .truncated, byte: place, found: "\(end - place) bytes", expected: "\(length)")
    }
    defer { place += length }
    return Field(number: Int(number), type: type, start: start, content: place..<place + length)
  }

  private mutating func varint(_ what: String) throws(Problem) -> UInt64 {
    let start = place
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard place < end else {
        throw Problem(
          kind: .truncated, byte: start, found: "the end", expected: "the rest of \(what)")
      }
      let byte = bytes[place]
      place += 1
      guard shift < 63 || byte < 2 else { break }
      value |= UInt64(byte & 127) << shift
      if byte < 128 { return value }
    }
    throw Problem(
      kind: .corrupt, byte: start, found: "more than 64 bits", expected: what)
  }
}
