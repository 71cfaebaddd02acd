/// The processes that play one run together.
///
/// Each plays all events, so each asks for the same exchanges in the same order, and nothing has to
/// be described to another. What is computed is divided among them: trainings, the parameters of a
/// sum, chunks of an evaluation. No result depends on how many there are.
public protocol Ranks: AnyObject, Sendable {
  /// The place of this process, from 0.
  var rank: Int { get }
  /// How many processes there are.
  var count: Int { get }
  /// Sends pieces to other ranks and receives theirs; returns when all of it is done.
  ///
  /// Between two ranks pieces arrive in the order in which they are sent, and each has the size
  /// that its receiver expects. One thread at a time calls it, on every rank for the same exchange.
  func exchange(_ sent: [RankPiece], _ received: [RankPiece])
}

/// A piece of memory that goes to another rank, or is filled by it.
public struct RankPiece {
  /// The other rank.
  public let rank: Int
  /// The memory; what is sent is only read.
  public let memory: UnsafeMutableRawBufferPointer

  /// A piece.
  public init(_ rank: Int, _ memory: UnsafeMutableRawBufferPointer) {
    self.rank = rank
    self.memory = memory
  }
}

extension Ranks {
  /// The ranks but this one.
  public var others: [Int] { (0..<count).filter { $0 != rank } }

  /// The share of a rank when `total` things are dealt out in a row.
  func share(of rank: Int, _ total: Int) -> Range<Int> {
    total * rank / count..<total * (rank + 1) / count
  }

  /// Lets each rank fill its own range of some elements for all; `ranges` are by rank.
  func gather<Value: BitwiseCopyable>(
    _ values: UnsafeMutableBufferPointer<Value>, ranges: [Range<Int>]
  ) {
    func piece(_ other: Int, of owner: Int) -> RankPiece {
      RankPiece(
        other,
        UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: values[ranges[owner]])))
    }
    exchange(others.map { piece($0, of: rank) }, others.map { piece($0, of: $0) })
  }

  /// The elements that each rank knows, known to all; `owners` has the rank of each.
  func gather<Value: BitwiseCopyable>(_ values: [Value], owners: [Int]) -> [Value] {
    let order = (0..<count).flatMap { rank in owners.indices.filter { owners[$0] == rank } }
    var (ranges, end) = ([Range<Int>](), 0)
    for rank in 0..<count {
      let size = owners.count { $0 == rank }
      ranges.append(end..<end + size)
      end += size
    }
    var dealt = order.map { values[$0] }
    dealt.withUnsafeMutableBufferPointer { gather($0, ranges: ranges) }
    var all = values
    for (place, index) in order.enumerated() { all[index] = dealt[place] }
    return all
  }

  /// What every rank has to say, by rank.
  public func gather<Value: BitwiseCopyable>(_ own: Value) -> [Value] {
    var all = Array(repeating: own, count: count)
    let ranges = (0..<count).map { $0..<$0 + 1 }
    all.withUnsafeMutableBufferPointer { gather($0, ranges: ranges) }
    return all
  }

  /// The bytes of every rank, by rank.
  public func gather(bytes own: [UInt8]) -> [[UInt8]] {
    let sizes = gather(own.count)
    var (ranges, end) = ([Range<Int>](), 0)
    for size in sizes {
      ranges.append(end..<end + size)
      end += size
    }
    var all = [UInt8](repeating: 0, count: end)
    all.replaceSubrange(ranges[rank], with: own)
    all.withUnsafeMutableBufferPointer { gather($0, ranges: ranges) }
    return ranges.map { Array(all[$0]) }
  }
}
