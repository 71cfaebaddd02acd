import Numerics
import Schema

/// Every client has its own mix of labels around the pool's, and the mixes together make the pool.
///
/// With p the pool's shares of labels, client i draws q_i ~ Dir(α·p_0, …, α·p_K−1). All q are
/// drawn again until Σ_k (Σ_i n_i·q_ik / Σ_i n_i − p_k)² is at most `tolerance`, n_i being the
/// sizes; every 500 attempts that tolerance grows tenfold, so it ends. Then clients 0, 1, 2, …
/// draw their samples as in `dirichlet-by-device`: since the mixes together need about what the
/// pool has, few classes run out and the last clients keep their mixes. Sizes: as in `iid`. All
/// depends on the number of clients. Draws: q of attempt a = 0, 1, … from slot a + 2 of the
/// client's stream, its classes from slot 1 (one `uniform` a sample), one shuffle a class. Throws:
/// `tooFewSamples`. Source: FLGo's `DirichletPartitioner` (there `error_bar` 1e-6 at first).
/// Differs: sizes are equal, and the samples are drawn by q_i rather than cut by its multiples.
public struct PartitionDirichletPrior: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    public var alpha = 1.0
    /// How many samples each gets; nil deals out the whole pool.
    public var samplesPerClient: Int?
    /// How far the mixes together may be from the pool's, as a sum of squares, at first.
    public var tolerance = 1e-3

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, .clientCount, required: true,
          "Number of clients; it need not be the number of devices."),
        Field(
          "alpha", \.alpha, .number(0.001...1e6), required: true,
          "Concentration of all classes together: small for few labels, large for the pool's mix."),
        Field(
          "samplesPerClient", \.samplesPerClient, optional: .sampleCount,
          "Samples per client; absent: the whole pool is assigned."),
        Field(
          "tolerance", \.tolerance, .number(1e-9...2),
          "Initial tolerance of the squared distance between the sum of all mixes and the pool's "
            + "mix."
        ),
      ]
    }
  }

  public static let name = "dirichlet-by-device-prior"
  public static let summary =
    "A label mix for each client, drawn around the pool's mix; together they make up the pool."

  private let settings: Settings
  private static let attemptsPerTolerance = 500

  public init(_ settings: Settings) { self.settings = settings }

  public var clients: Int { settings.clients }
  public var dealsByClass: Bool { true }

  /// The shares of the classes that each client aims at. Shapes: [client][class].
  ///
  /// `prior` is the pool's mix, `sizes` the clients' numbers of samples.
  public func shares(
    prior: [Double], sizes: [Int], streams: PartitionStreams
  ) -> [[Double]] {
    let concentrations = prior.map { settings.alpha * $0 }
    var total = 0.0
    for size in sizes { total += Double(size) }
    var tolerance = settings.tolerance
    var attempt = 0
    while true {
      let shares = sizes.indices.map { client in
        var stream = streams.forClient(client, slot: UInt64(attempt + 2))
        return stream.dirichlet(concentrations)
      }
      var error = 0.0
      for label in prior.indices {
        var mean = 0.0
        for client in sizes.indices { mean += Double(sizes[client]) * shares[client][label] }
        let gap = mean / total - prior[label]
        error += gap * gap
      }
      // No two mixes are further apart than 2.
      if error <= tolerance || tolerance >= 2 { return shares }
      attempt += 1
      if attempt % Self.attemptsPerTolerance == 0 { tolerance *= 10 }
    }
  }

  /// The shard of each client, in the order drawn.
  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    let bounds = try shardBounds(
      samples: labels.count, clients: clients, samplesPerClient: settings.samplesPerClient)
    var left = shuffledByClass(labels, classCount: classCount, streams: streams)
    let prior = left.map { Double($0.count) / Double(labels.count) }
    let shares = shares(prior: prior, sizes: bounds.map(\.count), streams: streams)
    return bounds.indices.map { client in
      var stream = streams.forClient(client, slot: 1)
      return bounds[client].map { _ in
        let label = PartitionDirichlet.draw(shares[client], among: left, stream.uniform())
        return left[label].removeLast()
      }
    }
  }
}
