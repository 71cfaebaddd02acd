/// A 64-bit digest of a short sequence of words, in one word of memory.
///
/// A step is XXH64's for a word of a short input, and the end its avalanche; it is no XXH64, since
/// the length is not taken in. It tells things apart; it is no defence against someone who wants
/// two to collide.
@frozen
public struct Fingerprint: Sendable, Hashable, Codable {
  @usableFromInline var state: UInt64

  /// A fingerprint of nothing yet.
  @inlinable
  public init(seed: UInt64 = 0) { state = seed &+ Digest.p5 }

  /// Takes in one word.
  @inlinable
  public mutating func combine(_ word: UInt64) {
    let mixed = Self.rotated(word &* Digest.p2, 31) &* Digest.p1
    state = Self.rotated(state ^ mixed, 27) &* Digest.p1 &+ Digest.p4
  }

  /// Takes in a signed word by its bits.
  @inlinable
  public mutating func combine(_ word: Int64) { combine(UInt64(bitPattern: word)) }

  /// Takes in two words.
  @inlinable
  public mutating func combine(_ first: Int64, _ second: UInt64) {
    combine(first)
    combine(second)
  }

  /// The fingerprint of what was taken in so far.
  @inlinable public var value: UInt64 {
    var value = state
    value = (value ^ value >> 33) &* Digest.p2
    value = (value ^ value >> 29) &* Digest.p3
    return value ^ value >> 32
  }

  @inlinable
  @inline(__always)
  static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
    word << count | word >> (64 - count)
  }
}
