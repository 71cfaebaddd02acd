/// Memory that a piece of work may use while it runs and that the next piece on the thread uses
/// again.
///
/// It holds nothing anyone may rely on between two pieces of work, and is never shared by two at a
/// time.
public final class Scratch {
  private var workspace: Workspace?
  private(set) var sums: [Double] = []

  /// An empty scratch.
  public init() {}

  /// A workspace for batches of up to `rows` samples; the last one asked for is kept.
  func workspace(for network: Network, rows: Int) -> Workspace {
    if let workspace, workspace.network == network, workspace.rows >= rows { return workspace }
    let fresh = Workspace(network: network, rows: rows)
    workspace = fresh
    return fresh
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
