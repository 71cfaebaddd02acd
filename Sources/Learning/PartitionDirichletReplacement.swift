import Numerics
import Schema

/// Every client draws with replacement by its own Dirichlet mix of labels: clients share samples.
///
/// Client i draws q_i ~ Dir(α, …, α) over the classes that have samples; each of its draws takes a
/// class by q_i and then any of the class's samples, each alike. A shard depends on the seed and
/// the client's number alone: adding clients changes nobody's, and the number of clients has no
/// bound in the pool's size. One client may hold a sample twice. Draws: q from slot 0 of the
/// client's stream; from slot 1 one `uniform` and one `below` a sample. Throws: `tooFewSamples`
/// for an empty pool. Source: Plato's `samplers/dirichlet.py`. Differs: each client has its
/// own stream (there all use one seed).
public struct PartitionDirichletReplacement: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    public var alpha = 0.3
    /// How many draws each makes.
    public var samplesPerDevice = 100

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("clients", \.clients, .clientCount, required: true, "Number of clients."),
        Field(
          "alpha", \.alpha, .number(0.001...1e6), required: true,
          "Concentration: small for clients with few labels, large for equal mixes."),
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

  public static let name = "dirichlet-by-device-replacement"
  public static let summary =
    "Draws with replacement from a Dirichlet mix of labels for each client."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var clients: Int { settings.clients }
  public var dealsByClass: Bool { true }

  /// The shard of each client, in the order drawn.
  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    let samples = samplesByClass(labels, classCount: classCount).filter { !$0.isEmpty }
    guard !samples.isEmpty else { throw PartitionFault.tooFewSamples(needed: 1, available: 0) }
    return (0..<clients).map { client in
      var shareStream = streams.forClient(client, slot: 0)
      let sums = runningSums(
        shareStream.dirichlet(alpha: settings.alpha, count: samples.count))
      var stream = streams.forClient(client, slot: 1)
      return (0..<settings.samplesPerDevice).map { _ in
        let own = samples[stream.place(in: sums)]
        return own[Int(stream.below(UInt32(own.count)))]
      }
    }
  }
}
