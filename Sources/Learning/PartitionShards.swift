import Numerics
import Schema

/// Few labels a client: the pool sorted by label, cut into pieces, a few random pieces a client.
///
/// With M clients and s pieces each, piece p of the P = M·s covers places ⌊p·n/P⌋ to before
/// ⌊(p+1)·n/P⌋ of the pool sorted by (label, place in the pool): sizes differ by at most one and no
/// sample is left out, where the remainder of n/P is not 0 as well. The pieces are shuffled and
/// client i gets the shuffled ones i·s to before (i+1)·s. All depends on the number of clients.
/// Draws: one shuffle of the pieces. Source: McMahan et al., "Communication-efficient learning of
/// deep networks from decentralized data" (2017), section 3 (there 100 clients, 2 pieces of 300).
public struct PartitionShards: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    /// How many pieces each gets.
    public var shardsPerClient = 2

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, .clientCount, required: true,
          "Number of clients; it need not be the number of devices."),
        Field(
          "shardsPerClient", \.shardsPerClient, .integer(1...10_000),
          "Shards per client; a client has about that many labels."),
      ]
    }
  }

  public static let name = "shards"
  public static let summary =
    "A few shards of the label-sorted pool for each client; the classic pathological case."

  public let clients: Int
  public var dealsByClass: Bool { true }
  private let shardsPerClient: Int

  public init(_ settings: Settings) {
    clients = settings.clients
    shardsPerClient = settings.shardsPerClient
  }

  /// The shard of each client. Throws: `tooFewSamples`.
  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    let pieces = clients * shardsPerClient
    let bounds = try shardBounds(samples: labels.count, clients: pieces, samplesPerClient: nil)
    var sorted: [Int32] = []
    var byLabel = Array(repeating: [Int32](), count: classCount)
    for (sample, label) in labels.enumerated() { byLabel[Int(label)].append(Int32(sample)) }
    for samples in byLabel { sorted += samples }
    var order = Array(0..<pieces)
    var stream = streams.forPool()
    stream.shuffle(&order)
    return (0..<clients).map { client in
      order[client * shardsPerClient..<(client + 1) * shardsPerClient].flatMap {
        sorted[bounds[$0]]
      }
    }
  }
}
