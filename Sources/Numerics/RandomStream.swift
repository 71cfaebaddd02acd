/// A stream of random draws: words of successive Philox blocks, first word first.
///
/// A stream is a small value, made where it is used and thrown away; it is never carried from one
/// event to another.
@frozen
public struct RandomStream: Sendable {
  @usableFromInline let key: (UInt32, UInt32)
  @usableFromInline var counter: Philox4x32.Block
  @usableFromInline var block: Philox4x32.Block = (0, 0, 0, 0)
  @usableFromInline var left = 0

  /// A stream from an explicit key and first counter.
  @inlinable
  public init(key: (UInt32, UInt32), counter: Philox4x32.Block) {
    self.key = key
    self.counter = counter
  }

  /// 32 uniform bits. Draws: one word.
  @inlinable
  public mutating func nextUInt32() -> UInt32 {
    if left == 0 {
      block = Philox4x32.block(counter: counter, key: key)
      counter.0 &+= 1
      left = 4
    }
    left -= 1
    switch left {
    case 3: return block.0
    case 2: return block.1
    case 1: return block.2
    default: return block.3
    }
  }

  /// 64 uniform bits, low word drawn first. Draws: two words.
  @inlinable
  public mutating func nextUInt64() -> UInt64 {
    if left == 0 {
      // Most draws are pairs of words of one block.
      block = Philox4x32.block(counter: counter, key: key)
      counter.0 &+= 1
      left = 2
      return UInt64(block.0) | UInt64(block.1) << 32
    }
    if left == 2 {
      left = 0
      return UInt64(block.2) | UInt64(block.3) << 32
    }
    let low = UInt64(nextUInt32())
    return low | UInt64(nextUInt32()) << 32
  }

  /// A uniform number in [0, 1), a multiple of 2⁻⁵³. Draws: two words.
  @inlinable
  public mutating func uniform() -> Double {
    Double(nextUInt64() >> 11) * 0x1p-53
  }

  /// A uniform number in (0, 1], safe to take the logarithm of. Draws: two words.
  @inlinable
  public mutating func uniformAboveZero() -> Double {
    Double((nextUInt64() >> 11) + 1) * 0x1p-53
  }

  /// A uniform integer in 0..<bound, without bias. Draws: one word, rarely more.
  ///
  /// Source: Lemire, "Fast random integer generation in an interval" (2019), algorithm 5.
  @inlinable
  public mutating func below(_ bound: UInt32) -> UInt32 {
    precondition(bound > 0, "an empty range has no member to draw")
    var product = UInt64(nextUInt32()) &* UInt64(bound)
    if UInt32(truncatingIfNeeded: product) < bound {
      let threshold = (0 &- bound) % bound
      while UInt32(truncatingIfNeeded: product) < threshold {
        product = UInt64(nextUInt32()) &* UInt64(bound)
      }
    }
    return UInt32(truncatingIfNeeded: product >> 32)
  }

  /// Shuffles in place. Draws: one `below` per element but the first, from the last element down.
  ///
  /// Source: Durstenfeld's form of the Fisher-Yates shuffle (1964).
  @inlinable
  public mutating func shuffle<Element>(_ elements: inout [Element]) {
    var i = elements.count - 1
    while i > 0 {
      let j = Int(below(UInt32(i + 1)))
      elements.swapAt(i, j)
      i -= 1
    }
  }

  /// `count` different members of 0..<population, in the order drawn.
  ///
  /// Draws: `count` `below`s. Complexity: O(population). Source: the first steps of a forward
  /// Fisher-Yates shuffle.
  public mutating func sample(_ count: Int, below population: Int) -> [Int32] {
    precondition(count <= population, "more draws than members")
    var members = (0..<Int32(population)).map { $0 }
    for i in 0..<count {
      members.swapAt(i, i + Int(below(UInt32(population - i))))
    }
    return Array(members[..<count])
  }
}
