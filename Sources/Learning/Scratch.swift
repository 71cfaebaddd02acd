import Numerics

/// Memory that a piece of work may use while it runs and that the next piece on the thread uses
/// again.
///
/// It holds nothing anyone may rely on between two pieces of work, and is never shared by two at a
/// time.
public final class Scratch {
  private var workspace: Workspace?
  private(set) var sums: [Double] = []
  /// The training that the thread will most likely run behind this one; nothing but time depends on
  /// it.
  var following: DeferredTraining?
  /// Where the next training leaves its parameters; nil: in memory of this process.
  private var output: (start: UnsafeMutablePointer<Float>, count: Int)?
  private var drawn: (key: StreamKey, slot: UInt64, positions: [Int32])?

  /// An empty scratch.
  public init() {}

  /// Has the next training of `count` parameters leave them in this memory, which others see.
  package func leaveOutput(in start: UnsafeMutablePointer<Float>?, count: Int) {
    output = start.map { ($0, count) }
  }

  /// That memory, for one training.
  func takeOutput(count: Int) -> BufferMemory.Block? {
    guard let output, output.count == count else { return nil }
    self.output = nil
    return BufferMemory.foreign(output.start, count: count) {}
  }

  /// A workspace for batches of up to `rows` samples; the last one asked for is kept.
  func workspace(for network: Network, rows: Int) -> Workspace {
    if let workspace, workspace.network == network, workspace.rows >= rows { return workspace }
    let fresh = Workspace(network: network, rows: rows)
    workspace = fresh
    return fresh
  }

  /// The positions of `order`; those drawn last are kept, for what was looked up ahead.
  func positions(of order: BatchOrder, epoch: Int, shardCount: Int) -> [Int32] {
    guard case .keyed(let key, let firstSlot) = order else {
      return order.positions(epoch: epoch, shardCount: shardCount)
    }
    let slot = firstSlot + UInt64(epoch)
    if let drawn, drawn.key == key, drawn.slot == slot, drawn.positions.count == shardCount {
      return drawn.positions
    }
    let positions = order.positions(epoch: epoch, shardCount: shardCount)
    drawn = (key, slot, positions)
    return positions
  }

  /// Lends `count` zeros to sum into.
  func withSums<Result>(
    count: Int, _ body: (UnsafeMutablePointer<Double>) -> Result
  ) -> Result {
    if sums.count < count { sums = [Double](repeating: 0, count: count) }
    return sums.withUnsafeMutableBufferPointer { buffer in
      buffer[..<count].update(repeating: 0)
      return body(buffer.baseAddress!)
    }
  }
}
