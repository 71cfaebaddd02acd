import Numerics
import Schema

/// Sizes first, then samples one by one to clients in random order, each by its client's mix.
///
/// Client i draws q_i ~ Dir(α, …, α) over the classes. While clients want samples, one of them is
/// drawn, each alike, and gets the next sample of a class drawn by its q among the classes that
/// still have some (in proportion to what is left where all of these shares are 0), each class's
/// samples having been shuffled once. So no client comes last, unlike in `dirichlet-by-device`.
/// Sizes: equal as in `iid`, or with `sizeSigma` above 0 in proportion to log-normal weights
/// exp(sizeSigma·z_i), at least 1, remainders by the largest fractions; no sample is left out
/// unless `samplesPerClient` is given. All shards depend on the number of clients.
/// Draws: q from slot 0, z from slot 2, classes from slot 1 of the client's stream (one `uniform` a
/// sample); one shuffle a class; one `below` a sample from slot 1 of the pool's stream, into the
/// list of clients that want more, where the last one takes the place of one that is full.
/// Throws: `tooFewSamples`. Source: Acar et al., "Federated learning based on dynamic
/// regularization" (2021), as in FedLab's `client_inner_dirichlet_partition` and Flower's
/// `InnerDirichletPartitioner`. Differs: an empty class is left out of the draw, not drawn again.
public struct PartitionInnerDirichlet: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    public var alpha = 0.3
    /// How many samples each gets; nil deals out the whole pool.
    public var samplesPerClient: Int?
    /// Standard deviation of the sizes' logarithms.
    public var sizeSigma = 0.0

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, .clientCount, required: true,
          "Number of clients; it need not be the number of devices."),
        Field(
          "alpha", \.alpha, .number(0.001...1e6), required: true,
          "Concentration: small for clients with few labels, large for equal mixes."),
        Field(
          "samplesPerClient", \.samplesPerClient, optional: .sampleCount,
          "Samples per client; absent: the whole pool is assigned."),
        Field(
          "sizeSigma", \.sizeSigma, .number(0...5),
          "Standard deviation of the sizes' logarithms; 0 for equal sizes."),
      ]
    }

    /// Sizes are given or drawn, not both.
    public func contradictions() -> [(key: String, message: String)] {
      guard samplesPerClient != nil, sizeSigma > 0 else { return [] }
      return [("sizeSigma", "sizes vary, but `samplesPerClient` makes them equal: leave one out")]
    }
  }

  public static let name = "inner-dirichlet"
  public static let summary =
    "A Dirichlet mix of labels for each client; samples assigned one by one in random order."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var clients: Int { settings.clients }
  public var dealsByClass: Bool { true }

  /// The shard of each client, in the order drawn.
  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    var wanted = try sizes(labels.count, streams)
    var left = shuffledByClass(labels, classCount: classCount, streams: streams)
    let shares = (0..<clients).map { client in
      var stream = streams.forClient(client, slot: 0)
      return stream.dirichlet(alpha: settings.alpha, count: classCount)
    }
    var classStreams = (0..<clients).map { streams.forClient($0, slot: 1) }
    var stream = streams.forPool(slot: 1)
    var open = Array(0..<clients)
    var shards = Array(repeating: [Int32](), count: clients)
    while !open.isEmpty {
      let place = Int(stream.below(UInt32(open.count)))
      let client = open[place]
      let label = PartitionDirichlet.draw(
        shares[client], among: left, classStreams[client].uniform())
      shards[client].append(left[label].removeLast())
      wanted[client] -= 1
      if wanted[client] == 0 {
        open[place] = open[open.count - 1]
        open.removeLast()
      }
    }
    return shards
  }

  private func sizes(_ samples: Int, _ streams: PartitionStreams) throws(PartitionFault) -> [Int] {
    guard settings.sizeSigma > 0 else {
      return try shardBounds(
        samples: samples, clients: clients, samplesPerClient: settings.samplesPerClient
      ).map(\.count)
    }
    let weights = logNormalWeights(clients, sigma: settings.sizeSigma, streams, slot: 2)
    return try apportioned(weights, total: samples, minimum: 1)
  }
}

/// exp(sigma·z) for each client. Draws: one `normal` from `slot` of each client's stream.
func logNormalWeights(
  _ clients: Int, sigma: Double, _ streams: PartitionStreams, slot: UInt64
) -> [Double] {
  (0..<clients).map { client in
    var stream = streams.forClient(client, slot: slot)
    return stream.logNormal(median: 1, sigma: sigma)
  }
}
