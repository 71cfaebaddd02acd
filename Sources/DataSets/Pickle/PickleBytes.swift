/// The bytes of a pickle from first to last, in pieces.
struct PickleBytes: ~Copyable {
  let file: String
  private let stream: ByteStream
  private var buffer: [UInt8] = []
  private var at = 0
  private var before = 0
  private static let chunk = 1 << 16
  /// The longest text or number that is read.
  private static let longest = 1 << 20

  init(path: String) throws(DataFault) {
    file = path
    stream = try ByteStream(path: path)
  }

  /// Bytes read so far.
  var offset: Int { before + at }

  /// The next byte; nil at the end.
  mutating func next() throws(DataFault) -> UInt8? {
    if at == buffer.count { try refill() }
    guard at < buffer.count else { return nil }
    defer { at += 1 }
    return buffer[at]
  }

  private mutating func refill() throws(DataFault) {
    before += buffer.count
    at = 0
    buffer.removeAll(keepingCapacity: true)
    _ = try stream.read(Self.chunk, appendingTo: &buffer)
  }

  mutating func byte() throws(DataFault) -> UInt8 {
    guard let byte = try next() else { throw truncated() }
    return byte
  }

  /// A whole number of this many bytes, the lowest first.
  mutating func number(_ count: Int) throws(DataFault) -> UInt64 {
    var number: UInt64 = 0
    for place in 0..<count { number |= UInt64(try byte()) << (8 * UInt64(place)) }
    return number
  }

  /// This many bytes; the count is as the file says.
  mutating func bytes(_ count: UInt64) throws(DataFault) -> [UInt8] {
    guard count <= Self.longest else {
      throw fault(
        .tooLarge, at: offset, found: "\(count) bytes in a row", expected: "at most 1 MiB")
    }
    var bytes: [UInt8] = []
    while bytes.count < Int(count) {
      if at == buffer.count { try refill() }
      let step = min(Int(count) - bytes.count, buffer.count - at)
      guard step > 0 else { throw truncated() }
      bytes += buffer[at..<at + step]
      at += step
    }
    return bytes
  }

  /// What is before the next line end, which is taken too.
  mutating func line() throws(DataFault) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let byte = try byte()
      if byte == 0x0a { return bytes }
      guard bytes.count < Self.longest else {
        throw fault(.tooLarge, at: offset, found: "an argument without end", expected: "a line")
      }
      bytes.append(byte)
    }
  }

  func fault(
    _ kind: DataFault.Kind, at place: Int, found: String, expected: String, advice: String? = nil
  ) -> DataFault {
    DataFault(
      kind, in: file, at: .byte(place), found: found, expected: expected, advice: advice)
  }

  private func truncated() -> DataFault {
    fault(
      .truncated, at: offset, found: "the end of the file", expected: "the rest of the pickle")
  }
}
