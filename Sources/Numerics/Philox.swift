/// The counter-based generator Philox4x32-10: a keyed bijection of 128-bit counters.
///
/// Any block can be had without the ones before it, so a draw depends on its key and counter alone.
///
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011),
/// §3.3; checked against the known-answer vectors published with Random123.
@frozen
public struct Philox4x32: Sendable {
  /// Four 32-bit words, first to last.
  public typealias Block = (UInt32, UInt32, UInt32, UInt32)

  /// The block that belongs to a counter under a key.
  @inlinable
  public static func block(counter: Block, key: (UInt32, UInt32)) -> Block {
    var c = counter
    var k = key
    for _ in 0..<10 {
      let p0 = UInt64(0xD251_1F53) &* UInt64(c.0)
      let p1 = UInt64(0xCD9E_8D57) &* UInt64(c.2)
      c = (
        UInt32(truncatingIfNeeded: p1 >> 32) ^ c.1 ^ k.0,
        UInt32(truncatingIfNeeded: p1),
        UInt32(truncatingIfNeeded: p0 >> 32) ^ c.3 ^ k.1,
        UInt32(truncatingIfNeeded: p0)
      )
      k = (k.0 &+ 0x9E37_79B9, k.1 &+ 0xBB67_AE85)
    }
    return c
  }
}
