import Numerics

/// A run as it was, in a file: which records of the journal came before it, and the bytes of its
/// parts.
///
/// The file: the eight bytes `FEDSIMC1`, the XXH64 of all that follows, the number of records, the
/// number of parts, the parts' lengths, and the parts; each number has eight bytes, little-endian.
package struct Checkpoint: Equatable {
  /// Records of the journal that came before it.
  package var records: Int
  /// The parts.
  package var parts: [[UInt8]]

  private static let magic = Array("FEDSIMC1".utf8)
  private static let mostParts = 16

  /// A checkpoint of these parts.
  package init(records: Int, parts: [[UInt8]]) {
    precondition(parts.count <= Self.mostParts, "a checkpoint has few parts")
    self.records = records
    self.parts = parts
  }

  /// The bytes of the file.
  package var bytes: [UInt8] {
    Array(joining: Self.pieces(records: records, parts: parts.map { [$0] }))
  }

  /// The file's bytes as pieces. Each part is given as pieces, too, and none is copied.
  package static func pieces(records: Int, parts: [[[UInt8]]]) -> [[UInt8]] {
    precondition(parts.count <= mostParts, "a checkpoint has few parts")
    var head = magic
    func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { head += $0 } }
    add(0)
    add(UInt64(records))
    add(UInt64(parts.count))
    for part in parts { add(UInt64(part.reduce(0) { $0 + $1.count })) }
    let pieces = parts.flatMap { $0 }
    var digest = Digest()
    digest.combine(pieces: [head[16...]] + pieces.map { $0[...] })
    withUnsafeBytes(of: digest.value.littleEndian) { head.replaceSubrange(8..<16, with: $0) }
    return [head] + pieces
  }

  private static func digest(of bytes: [UInt8]) -> UInt64 {
    var digest = Digest()
    bytes.withUnsafeBytes { digest.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[16...])) }
    return digest.value
  }

  /// Reads the bytes of a file; nil where a single bit is not as it was written.
  package init?(_ bytes: [UInt8]) {
    func number(_ place: Int) -> Int? {
      guard place + 8 <= bytes.count else { return nil }
      let found = bytes.withUnsafeBytes {
        $0.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian
      }
      return Int(exactly: found)
    }
    guard bytes.count >= 32, bytes.starts(with: Self.magic) else { return nil }
    let stored = bytes.withUnsafeBytes {
      $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian
    }
    guard stored == Self.digest(of: bytes), let records = number(16), let count = number(24),
      count <= Self.mostParts
    else { return nil }
    var place = 32 + 8 * count
    parts = []
    for index in 0..<count {
      guard let length = number(32 + 8 * index), place <= bytes.count,
        length <= bytes.count - place
      else { return nil }
      parts.append(Array(bytes[place..<(place + length)]))
      place += length
    }
    guard place == bytes.count else { return nil }
    self.records = records
  }
}
