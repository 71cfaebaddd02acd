import Numerics
import Schema

/// Every client draws its samples from the whole pool, each draw on its own: samples may repeat.
///
/// A shard depends on the seed and the client's number alone: adding clients changes nobody's, and
/// the number of clients has no bound in the pool's size. Two clients may hold the same sample, and
/// one client may hold one twice. Draws: `samplesPerDevice` `below`s from the client's stream.
public struct PartitionReplacement: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    /// How many draws each makes.
    public var samplesPerDevice = 100

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("clients", \.clients, .clientCount, required: true, "Number of clients."),
        Field(
          "samplesPerDevice", \.samplesPerDevice, .sampleCount, required: true,
          "Draws per client, including repetitions."),
      ]
    }

    /// More draws than memory should hold.
    public func contradictions() -> [(key: String, message: String)] {
      let draws = clients * samplesPerDevice
      guard draws > 1 << 27 else { return [] }
      return [("samplesPerDevice", "\(draws) draws in all, expected at most \(1 << 27)")]
    }
  }

  public static let name = "replacement"
  public static let summary =
    "Draws with replacement from the whole pool, for fleets larger than the pool."

  public let clients: Int
  private let samplesPerDevice: Int

  public init(_ settings: Settings) {
    clients = settings.clients
    samplesPerDevice = settings.samplesPerDevice
  }

  /// The shard of each client, in the order drawn. Throws: `tooFewSamples` for an empty pool.
  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    guard !labels.isEmpty else {
      throw PartitionFault.tooFewSamples(needed: 1, available: 0)
    }
    return (0..<clients).map { client in
      var stream = streams.forClient(client)
      return (0..<samplesPerDevice).map { _ in Int32(stream.below(UInt32(labels.count))) }
    }
  }
}
