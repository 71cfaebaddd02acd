/// A 64-bit digest of a sequence of words (XXH64), fast enough to take in every event of a run.
///
/// It tells runs apart; it is no defence against someone who wants two runs to collide (`SHA256`
/// is). Over whole 8-byte words it equals XXH64 of their little-endian bytes.
///
/// Source: the xxHash specification, version 0.1.1.
@frozen
public struct Digest: Sendable, Hashable {
  @usableFromInline var lanes: (UInt64, UInt64, UInt64, UInt64)
  @usableFromInline var waiting: (UInt64, UInt64, UInt64) = (0, 0, 0)
  @usableFromInline var words: UInt64 = 0
  @usableFromInline let seed: UInt64

  @usableFromInline static let p1: UInt64 = 0x9E37_79B1_85EB_CA87
  @usableFromInline static let p2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  @usableFromInline static let p3: UInt64 = 0x1656_67B1_9E37_79F9
  @usableFromInline static let p4: UInt64 = 0x85EB_CA77_C2B2_AE63
  @usableFromInline static let p5: UInt64 = 0x27D4_EB2F_1656_67C5

  /// A digest of nothing yet.
  public init(seed: UInt64 = 0) {
    self.seed = seed
    lanes = (seed &+ Self.p1 &+ Self.p2, seed &+ Self.p2, seed, seed &- Self.p1)
  }

  /// Takes in one word.
  @inlinable
  public mutating func combine(_ word: UInt64) {
    switch words & 3 {
    case 0: waiting.0 = word
    case 1: waiting.1 = word
    case 2: waiting.2 = word
    default:
      lanes.0 = Self.round(lanes.0, waiting.0)
      lanes.1 = Self.round(lanes.1, waiting.1)
      lanes.2 = Self.round(lanes.2, waiting.2)
      lanes.3 = Self.round(lanes.3, word)
    }
    words &+= 1
  }

  /// Takes in a signed word by its bits.
  @inlinable
  public mutating func combine(_ word: Int64) { combine(UInt64(bitPattern: word)) }

  /// Takes in a number by its bits; every NaN counts as one pattern.
  @inlinable
  public mutating func combine(_ number: Double) {
    combine(number.isNaN ? 0x7FF8_0000_0000_0000 : number.bitPattern)
  }

  /// Takes in the number of bytes, then the bytes in words padded with zeros.
  public mutating func combine(bytes: some Sequence<UInt8>) {
    var packed: [UInt64] = []
    var count: UInt64 = 0
    for byte in bytes {
      if count & 7 == 0 { packed.append(0) }
      packed[packed.count - 1] |= UInt64(byte) << (8 * (count & 7))
      count += 1
    }
    combine(count)
    for word in packed { combine(word) }
  }

  /// Takes in the same as `combine(bytes:)` of a sequence, eight bytes at a time.
  public mutating func combine(bytes: UnsafeRawBufferPointer) {
    combine(UInt64(bytes.count))
    var rest = Rest()
    take(bytes, &rest)
    if rest.count > 0 { combine(rest.word) }
  }

  /// Takes in the same as `combine(bytes:)` of all pieces, one after the other.
  package mutating func combine(pieces: [ArraySlice<UInt8>]) {
    combine(UInt64(pieces.reduce(0) { $0 + $1.count }))
    var rest = Rest()
    for piece in pieces { piece.withUnsafeBytes { take($0, &rest) } }
    if rest.count > 0 { combine(rest.word) }
  }

  /// The bytes of a word that is not full yet.
  private struct Rest {
    var word: UInt64 = 0
    var count: UInt64 = 0
  }

  /// Takes in all full words of these bytes behind a rest, and keeps the new rest.
  private mutating func take(_ bytes: UnsafeRawBufferPointer, _ rest: inout Rest) {
    var place = 0
    while place < bytes.count {
      if rest.count == 0, place + 8 <= bytes.count {
        combine(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
        place += 8
        continue
      }
      rest.word |= UInt64(bytes[place]) << (8 * rest.count)
      rest.count += 1
      place += 1
      if rest.count == 8 {
        combine(rest.word)
        rest = Rest()
      }
    }
  }

  /// The digest of what was taken in so far.
  public var value: UInt64 {
    var hash: UInt64
    if words >= 4 {
      hash = Self.rotate(lanes.0, 1) &+ Self.rotate(lanes.1, 7)
      hash = hash &+ Self.rotate(lanes.2, 12) &+ Self.rotate(lanes.3, 18)
      hash = Self.merge(hash, lanes.0)
      hash = Self.merge(hash, lanes.1)
      hash = Self.merge(hash, lanes.2)
      hash = Self.merge(hash, lanes.3)
    } else {
      hash = seed &+ Self.p5
    }
    hash = hash &+ words &* 8
    let rest = words & 3
    if rest > 0 { hash = Self.tail(hash, waiting.0) }
    if rest > 1 { hash = Self.tail(hash, waiting.1) }
    if rest > 2 { hash = Self.tail(hash, waiting.2) }
    hash = (hash ^ hash >> 33) &* Self.p2
    hash = (hash ^ hash >> 29) &* Self.p3
    return hash ^ hash >> 32
  }

  @inlinable
  static func rotate(_ x: UInt64, _ n: UInt64) -> UInt64 { x << n | x >> (64 - n) }

  @inlinable
  static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    rotate(lane &+ word &* p2, 31) &* p1
  }

  private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
    (hash ^ round(0, lane)) &* p1 &+ p4
  }

  private static func tail(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    rotate(hash ^ round(0, word), 27) &* p1 &+ p4
  }

  /// Whether two digests took in the same words.
  public static func == (a: Digest, b: Digest) -> Bool { a.words == b.words && a.value == b.value }

  /// Hashes the value.
  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension UInt64 {
  /// Sixteen lower-case hexadecimal digits.
  public var hexDigits: String {
    let text = String(self, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}
