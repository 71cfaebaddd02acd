/// What a random stream is for: part of its key, so that two purposes never share a draw.
public struct Purpose: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The purpose's stable name; renaming one changes results.
  public let rawValue: String

  /// A purpose by its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A purpose by its name.
  public init(_ name: String) { rawValue = name }

  /// A purpose by its name.
  public init(stringLiteral name: String) { rawValue = name }
}

/// The name of a family of random streams: (seed, purpose, fleet group, ordinal); a slot picks one
/// stream.
///
/// The 64-bit Philox key is XXH64 over the seed, the purpose and the group's name; the 128-bit
/// counter is (block, slot low, slot high, ordinal). Streams of one key therefore never overlap,
/// and a slot must be an exogenous ordinal (the n-th interval, scan slot, data epoch), never "the
/// n-th draw so far".
@frozen
public struct StreamKey: Sendable, Hashable, Codable {
  @usableFromInline let key0: UInt32
  @usableFromInline let key1: UInt32
  /// The device's ordinal in its group, the client's in its partition, or 0.
  public let ordinal: UInt32

  /// The key of a family of streams.
  public init(seed: UInt64, purpose: Purpose, group: String = "", ordinal: UInt32 = 0) {
    var digest = Digest()
    digest.combine(seed)
    digest.combine(bytes: purpose.rawValue.utf8)
    digest.combine(bytes: group.utf8)
    let value = digest.value
    key0 = UInt32(truncatingIfNeeded: value)
    key1 = UInt32(truncatingIfNeeded: value >> 32)
    self.ordinal = ordinal
  }

  @usableFromInline
  init(key0: UInt32, key1: UInt32, ordinal: UInt32) {
    self.key0 = key0
    self.key1 = key1
    self.ordinal = ordinal
  }

  /// The same family for another ordinal of the same group.
  @inlinable
  public func with(ordinal: UInt32) -> StreamKey {
    StreamKey(key0: key0, key1: key1, ordinal: ordinal)
  }

  /// The stream of one slot, from its first draw.
  @inlinable
  public func stream(slot: UInt64) -> RandomStream {
    RandomStream(
      key: (key0, key1),
      counter: (
        0, UInt32(truncatingIfNeeded: slot), UInt32(truncatingIfNeeded: slot >> 32), ordinal
      ))
  }

  /// A number for an item of a slot, where code that draws by itself needs a seed.
  ///
  /// It is XXH64 over key, ordinal, slot and item. Draws: none.
  public func number(slot: UInt64, item: UInt64) -> UInt64 {
    var digest = Digest()
    digest.combine(UInt64(key1) << 32 | UInt64(key0))
    digest.combine(UInt64(ordinal))
    digest.combine(slot)
    digest.combine(item)
    return digest.value
  }
}
