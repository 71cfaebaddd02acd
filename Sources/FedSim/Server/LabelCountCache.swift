/// How often each label occurs in the clients' training samples, counted when it is first asked
/// for: their samples are far apart in memory, and most clients are asked for again and again.
struct LabelCountCache: Codable {
  /// Shapes: [client][label]; a client that nobody asked for has none.
  private var known: [[Int32]] = []

  init() {}
  /// Nothing was kept: labels are counted again.
  init(from decoder: any Decoder) {}
  /// Nothing is kept.
  func encode(to encoder: any Encoder) {}

  /// Adds the labels of all samples of a client. Complexity: O(labels), the first time O(samples).
  mutating func add(_ client: Int, of inputs: borrowing SimulationInputs, to sums: inout [Int64]) {
    if known.isEmpty { known = Array(repeating: [], count: inputs.task.partition.clientCount) }
    if known[client].isEmpty {
      known[client] = Array(repeating: 0, count: sums.count)
      for sample in inputs.task.partition.shards[client] {
        known[client][Int(inputs.task.train.labels[Int(sample)])] += 1
      }
    }
    for label in sums.indices { sums[label] += Int64(known[client][label]) }
  }
}
