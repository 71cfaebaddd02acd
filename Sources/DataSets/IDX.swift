/// An array of bytes from an IDX file, the format of MNIST and its descendants.
///
/// The file is two zero bytes, a type (0x08: unsigned bytes; the only one read here), the number of
/// dimensions, each dimension as a big-endian 32-bit number, and the values, last index fastest.
/// Source: http://yann.lecun.com/exdb/mnist/ ("the IDX file format").
public struct IDX: Sendable, Equatable {
  /// The file that it came from.
  public let file: String
  /// The dimensions, slowest first.
  public let dimensions: [Int]
  /// The values. Shapes: the product of `dimensions`.
  public let bytes: [UInt8]

  /// Reads a plain or gzip file with exactly `rank` dimensions.
  ///
  /// Throws: `wrongMagic`, `unsupported` type, `truncated`, `trailingBytes`, `outOfRange` for a
  /// dimension of 0, `tooLarge` where the dimensions multiply to more than `limit` bytes, and what
  /// `ByteStream` throws.
  public init(contentsOf path: String, rank: Int, limit: Int = 4 << 30) throws(DataFault) {
    let stream = try ByteStream(path: path, limit: limit)
    dimensions = try Self.header(of: stream, rank: rank, limit: limit)
    file = path
    var total = 1
    for dimension in dimensions { total *= dimension }
    var values: [UInt8] = []
    values.reserveCapacity(min(total, 1 << 26))
    let read = try stream.read(total, appendingTo: &values)
    guard read == total else {
      throw DataFault(
        .truncated, in: path, at: .byte(4 + 4 * rank + read), found: "the end after \(read) values",
        expected: "\(total) values for \(dimensions)")
    }
    var rest: [UInt8] = []
    guard try stream.read(1, appendingTo: &rest) == 0 else {
      throw DataFault(
        .trailingBytes, in: path, at: .byte(4 + 4 * rank + total), found: "more bytes",
        expected: "the end after \(total) values for \(dimensions)")
    }
    bytes = values
  }

  private static func header(
    of stream: ByteStream, rank: Int, limit: Int
  ) throws(DataFault) -> [Int] {
    let path = stream.path
    var head: [UInt8] = []
    let count = try stream.read(4 + 4 * rank, appendingTo: &head)
    guard count >= 4 || head.prefix(2).contains(where: { $0 != 0 }) else {
      throw DataFault(
        .truncated, in: path, at: .byte(count), found: "the end", expected: "the IDX magic number")
    }
    guard count >= 4, head[0] == 0 && head[1] == 0 else {
      throw DataFault(
        .wrongMagic, in: path, at: .byte(0), found: hexadecimal(head.prefix(4)),
        expected: "the IDX magic number, \(hexadecimal([0, 0, 8, UInt8(rank)]))")
    }
    guard head[2] == 8 else {
      throw DataFault(
        .unsupported, in: path, at: .byte(2), found: "type 0x\(hexadecimal([head[2]]))",
        expected: "type 0x08, unsigned bytes")
    }
    guard head[3] == UInt8(rank) else {
      throw DataFault(
        .countMismatch, in: path, at: .byte(3), found: "\(head[3]) dimensions",
        expected: "\(rank) dimensions")
    }
    guard count == 4 + 4 * rank else {
      throw DataFault(
        .truncated, in: path, at: .byte(count), found: "the end", expected: "\(rank) dimensions")
    }
    var dimensions: [Int] = []
    var total = 1
    for axis in 0..<rank {
      let at = 4 + 4 * axis
      let dimension = head[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      guard dimension > 0 else {
        throw DataFault(
          .outOfRange, in: path, at: .byte(at), found: "a dimension of 0", expected: "at least 1")
      }
      let (product, overflow) = total.multipliedReportingOverflow(by: dimension)
      guard !overflow && product <= limit - 4 - 4 * rank else {
        throw DataFault(
          .tooLarge, in: path, at: .byte(at), found: "dimensions of more than \(limit) bytes",
          expected: "at most \(limit) bytes")
      }
      total = product
      dimensions.append(dimension)
    }
    return dimensions
  }
}
