import Numerics
import Schema

/// What can be set of a partition whose classes each spread over the clients by a Dirichlet draw.
public struct DirichletByClassSettings: PartSettings {
  public var clients = 100
  public var alpha = 0.5
  /// The fewest samples that a client may have.
  public var minimumSize = 10
  /// How often the shares are drawn again until every client has at least the fewest samples.
  public var attempts = 1_000

  public init() {}

  public static var fields: [Field<DirichletByClassSettings>] {
    [
      Field(
        "clients", \.clients, .clientCount, required: true,
        "Number of clients; it need not be the number of devices."),
      Field(
        "alpha", \.alpha, .number(0.001...1e6), required: true,
        "Concentration: small for classes held by few clients, large for equal shares."),
      Field("minimumSize", \.minimumSize, .sampleCount, "Minimum number of samples per client."),
      Field(
        "attempts", \.attempts, .integer(1...100_000),
        "Attempts to give each client the minimum number of samples; then the partition fails."),
    ]
  }
}

/// Each class spreads over the clients by shares drawn from a Dirichlet distribution; sizes vary.
///
/// For each class k of n_k samples, shares p_k ~ Dir(α, …, α) over the N clients; the class's
/// samples, shuffled once, are cut at ⌊n_k·(p_k0 + … + p_kj)⌋ after client j, the last client
/// taking what is behind the last cut. All shares are drawn again until no client has fewer than
/// `minimumSize` samples, `attempts` times at most. No sample is left out; a shard's samples are
/// class by class. All depends on the number of clients.
/// Draws: a shuffle from slot 0 and the shares of attempt a = 1, 2, … from slot a of each class's
/// pool stream. Throws: `tooFewSamples` where clients × minimum exceed the pool,
/// `minimumUnattained`. Source: Hsu, Qi, Brown, "Measuring the effects of non-identical data
/// distribution" (2019), as coded in Flower's `DirichletPartitioner` with `self_balancing=False`.
public struct PartitionDirichletByClass: Partitioner, Part {
  public static let name = "dirichlet-by-class"
  public static let summary =
    "Each class divided among clients by a Dirichlet draw; client sizes vary widely."

  private let settings: DirichletByClassSettings

  public init(_ settings: DirichletByClassSettings) { self.settings = settings }

  public var clients: Int { settings.clients }
  public var dealsByClass: Bool { true }

  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    try settings.shards(labels, classCount, streams, isBalanced: false)
  }
}

/// Each class spreads over those clients that are not yet full, by shares from a Dirichlet draw.
///
/// As `dirichlet-by-class`, classes in ascending order, but a client that holds n/N samples or more
/// when a class's turn comes gets share 0 of it, and the others' shares are divided by their sum
/// (where that is 0, the clients that are not full get equal shares). So no client ends above n/N
/// by more than one class's samples. Draws and faults: as there. Source: FedML's
/// `noniid_partition.py` (minimum 10), FedLab's `hetero_dir_partition`, FederatedScope's LDA,
/// Flower's `DirichletPartitioner` with `self_balancing=True`; first in Yurochkin et al. (2019).
public struct PartitionDirichletByClassBalanced: Partitioner, Part {
  public static let name = "dirichlet-by-class-balanced"
  public static let summary =
    "Each class divided by a Dirichlet draw among the clients that are not full."

  private let settings: DirichletByClassSettings

  public init(_ settings: DirichletByClassSettings) { self.settings = settings }

  public var clients: Int { settings.clients }
  public var dealsByClass: Bool { true }

  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    try settings.shards(labels, classCount, streams, isBalanced: true)
  }
}

extension DirichletByClassSettings {
  fileprivate func shards(
    _ labels: [Int32], _ classCount: Int, _ streams: PartitionStreams, isBalanced: Bool
  ) throws(PartitionFault) -> [[Int32]] {
    let (needed, overflow) = clients.multipliedReportingOverflow(by: minimumSize)
    guard !overflow && needed <= labels.count else {
      throw PartitionFault.tooFewSamples(needed: overflow ? .max : needed, available: labels.count)
    }
    let samples = shuffledByClass(labels, classCount: classCount, streams: streams)
    let limit = isBalanced ? Double(labels.count) / Double(clients) : .infinity
    var best = 0
    for attempt in 1...attempts {
      var sizes = Array(repeating: 0, count: clients)
      var ends: [[Int]] = []
      for label in samples.indices {
        var stream = streams.forPool(ordinal: label, slot: UInt64(attempt))
        ends.append(cuts(of: samples[label].count, &stream, &sizes, limit))
      }
      let smallest = sizes.min() ?? 0
      best = max(best, smallest)
      if smallest >= minimumSize { return dealt(samples, ends) }
    }
    throw PartitionFault.minimumUnattained(minimum: minimumSize, best: best, attempts: attempts)
  }

  /// Each client's part of each class. Shapes: samples [class], ends [class][client].
  private func dealt(_ samples: [[Int32]], _ ends: [[Int]]) -> [[Int32]] {
    var shards = Array(repeating: [Int32](), count: clients)
    for label in samples.indices {
      var start = 0
      for client in 0..<clients {
        shards[client] += samples[label][start..<ends[label][client]]
        start = ends[label][client]
      }
    }
    return shards
  }

  /// Where each client's part of a class ends; the parts' lengths are added to `sizes`.
  private func cuts(
    of count: Int, _ stream: inout RandomStream, _ sizes: inout [Int], _ limit: Double
  ) -> [Int] {
    var shares = stream.dirichlet(alpha: alpha, count: clients)
    if limit < .infinity {
      var sum = 0.0
      for client in 0..<clients {
        if Double(sizes[client]) >= limit { shares[client] = 0 }
        sum += shares[client]
      }
      if sum <= 0 {
        for client in 0..<clients where Double(sizes[client]) < limit {
          shares[client] = 1
          sum += 1
        }
      }
      if sum > 0 { for client in 0..<clients { shares[client] /= sum } }
    }
    var cuts: [Int] = []
    var reached = 0.0
    var start = 0
    for client in 0..<clients {
      reached += shares[client]
      let isLast = client == clients - 1
      let cut = isLast ? count : min(count, Int((reached * Double(count)).rounded(.down)))
      cuts.append(cut)
      sizes[client] += cut - start
      start = cut
    }
    return cuts
  }
}
