import Numerics
import Schema

/// Every client has its own mix of labels, drawn from a symmetric Dirichlet distribution.
///
/// Client i draws shares q_i ~ Dir(α, …, α) over the classes from its own stream. Then clients
/// 0, 1, 2, … in turn draw their samples, one after another: a class by q_i among the classes that
/// still have samples (the shares renormalised over those; in proportion to what is left, where
/// all of these shares are 0), and then the next sample of that class, each class's samples having
/// been shuffled once. Nothing is drawn twice.
///
/// What client i gets depends on the clients before it where they empty a class, never on those
/// behind it: with `samplesPerClient`, adding clients changes nobody's shard, and q_i never
/// changes at all. Without it the sizes depend on the number of clients, the whole pool is dealt
/// out, and the last clients take what is left over: a smaller `samplesPerClient` keeps their mixes
/// nearer to q_i.
///
/// This is one of at least five things called "Dirichlet". Others draw per class how it spreads
/// over the clients (Hsu et al. 2019 as coded in FedML, FedLab, Flower); there sizes vary.
/// Draws: a client's q from its slot 0, its classes from its slot 1 (one `uniform` a sample); one
/// shuffle a class. Source: "dir-client", as in pfl-research's
/// `partition_by_dirichlet_class_distribution`. Differs: no flattening of q, no client dropped.
public struct PartitionDirichlet: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    public var alpha = 0.3
    /// How many samples each gets; nil deals out the whole pool.
    public var samplesPerClient: Int?

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
      ]
    }
  }

  public static let name = "dirichlet-by-device"
  public static let summary =
    "A Dirichlet mix of labels for each client; all clients have the same number of samples."

  public let clients: Int
  public var dealsByClass: Bool { true }
  /// The concentration.
  public let alpha: Double
  private let samplesPerClient: Int?

  public init(_ settings: Settings) {
    clients = settings.clients
    alpha = settings.alpha
    samplesPerClient = settings.samplesPerClient
  }

  /// The shares of the classes that a client aims at; they depend on the seed and its number alone.
  public func shares(
    client: Int, classCount: Int, streams: PartitionStreams
  ) -> [Double] {
    var stream = streams.forClient(client, slot: 0)
    return stream.dirichlet(alpha: alpha, count: classCount)
  }

  /// The shard of each client, in the order drawn. Throws: `tooFewSamples`.
  ///
  /// Order: clients ascending; shares summed over classes ascending. Complexity: samples × classes.
  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    let bounds = try shardBounds(
      samples: labels.count, clients: clients, samplesPerClient: samplesPerClient)
    var left = shuffledByClass(labels, classCount: classCount, streams: streams)
    var shards: [[Int32]] = []
    for client in 0..<clients {
      let shares = shares(client: client, classCount: classCount, streams: streams)
      var stream = streams.forClient(client, slot: 1)
      var shard: [Int32] = []
      for _ in bounds[client] {
        let label = Self.draw(shares, among: left, stream.uniform())
        shard.append(left[label].removeLast())
      }
      shards.append(shard)
    }
    return shards
  }

  /// The class at which the running sum of the shares of what is left passes u times their total.
  static func draw(_ shares: [Double], among left: [[Int32]], _ u: Double) -> Int {
    var total = 0.0
    for label in left.indices where !left[label].isEmpty { total += shares[label] }
    let isByCount = total <= 0
    if isByCount { for label in left.indices { total += Double(left[label].count) } }
    let goal = u * total
    var sum = 0.0
    var last = 0
    for label in left.indices where !left[label].isEmpty {
      let share = isByCount ? Double(left[label].count) : shares[label]
      guard share > 0 else { continue }
      sum += share
      last = label
      if sum > goal { return label }
    }
    return last
  }
}
