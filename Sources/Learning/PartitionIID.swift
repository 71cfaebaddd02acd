import Numerics
import Schema

/// Every client gets a random sample of the pool: one permutation, cut into pieces.
///
/// Without `samplesPerClient` the whole pool is dealt out and sizes differ by at most one: client i
/// gets the permuted places from ⌊i·n/M⌋ to before ⌊(i+1)·n/M⌋, which depend on the number M of
/// clients. With it, client i gets places i·s to before (i+1)·s, whatever M is, and the rest of the
/// pool is not used. Draws: one shuffle of the pool.
public struct PartitionIID: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    /// How many samples each gets; nil deals out the whole pool.
    public var samplesPerClient: Int?

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, .clientCount, required: true,
          "Number of clients; it need not be the number of devices."),
        Field(
          "samplesPerClient", \.samplesPerClient, optional: .sampleCount,
          "Samples per client; absent: the whole pool is assigned."),
      ]
    }
  }

  public static let name = "iid"
  /// What it does.
  public static let summary = "A random sample of the pool for each client; the reference case."

  public let clients: Int
  private let samplesPerClient: Int?

  public init(_ settings: Settings) {
    clients = settings.clients
    samplesPerClient = settings.samplesPerClient
  }

  /// The shard of each client. Throws: `tooFewSamples`.
  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    let bounds = try shardBounds(
      samples: labels.count, clients: clients, samplesPerClient: samplesPerClient)
    var order = (0..<Int32(labels.count)).map { $0 }
    var stream = streams.forPool()
    stream.shuffle(&order)
    return bounds.map { Array(order[$0]) }
  }
}

/// Consecutive pieces of the pool, one per client: all of it in equal parts, or this many samples
/// each.
func shardBounds(
  samples: Int, clients: Int, samplesPerClient: Int?
) throws(PartitionFault) -> [Range<Int>] {
  let (needed, overflow) = clients.multipliedReportingOverflow(by: samplesPerClient ?? 1)
  guard !overflow && needed <= samples else {
    throw PartitionFault.tooFewSamples(needed: overflow ? .max : needed, available: samples)
  }
  return (0..<clients).map { client in
    if let size = samplesPerClient { return client * size..<(client + 1) * size }
    return client * samples / clients..<(client + 1) * samples / clients
  }
}

extension Form where Value == Int {
  /// A number of clients.
  static var clientCount: Form { .integer(1...2_000_000) }
  /// A number of samples.
  static var sampleCount: Form { .integer(1...100_000_000) }
}
