import Numerics
import Schema

/// Random samples in sizes that follow a power law: each sample draws its client.
///
/// Every client gets `minimumSize` samples; each further one goes to client ⌊N·x⌋ with x of density
/// a·x^(a−1) on (0, 1), so client j's expected share of them is ((j+1)/N)^a − (j/N)^a: equal for
/// a = 1, growing with the number for larger a, shrinking for smaller. No sample is left out. All
/// depends on the number of clients.
/// Draws: one shuffle of the pool from slot 0; one `uniformAboveZero` u a further sample from slot
/// 1, x = u^(1/a). Throws: `tooFewSamples`. Source: fluke's `quantity_skew` (there a minimum of 2).
public struct PartitionQuantityPower: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    /// The exponent a.
    public var exponent = 2.0
    /// The fewest samples that a client may have.
    public var minimumSize = 2

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, .clientCount, required: true,
          "Number of clients; it need not be the number of devices."),
        Field(
          "exponent", \.exponent, .number(0.01...100),
          "Exponent of the power law: 1 for equal sizes, more for a few large clients."),
        Field("minimumSize", \.minimumSize, .sampleCount, "Samples that every client gets first."),
      ]
    }
  }

  public static let name = "quantity-power"
  /// What it does.
  public static let summary = "Random samples for each client, with sizes from a power law."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var clients: Int { settings.clients }

  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    let count = labels.count
    var sizes = try shardBounds(
      samples: count, clients: clients, samplesPerClient: settings.minimumSize
    ).map(\.count)
    var stream = streams.forPool(slot: 1)
    for _ in clients * settings.minimumSize..<count {
      let x = Portable.exp(Portable.log(stream.uniformAboveZero()) / settings.exponent)
      sizes[min(clients - 1, Int(Double(clients) * x))] += 1
    }
    return dealtAtRandom(sizes, samples: count, streams: streams)
  }
}

/// Random samples in log-normal sizes.
///
/// Every client gets `minimumSize` samples and of the rest a part in proportion to exp(sigma·z_i),
/// z_i standard normal, remainders by the largest fractions. No sample is left out. A client's
/// weight depends on the seed and its number alone, its size on all.
/// Draws: one `normal` from slot 0 of each client's stream; one shuffle of the pool. Throws:
/// `tooFewSamples`. Source: FedLab's `lognormal_unbalance_split`, FLGo's `imbalance`.
public struct PartitionQuantityLogNormal: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    /// The standard deviation of the sizes' logarithms.
    public var sigma = 1.0
    /// The fewest samples that a client may have.
    public var minimumSize = 1

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, .clientCount, required: true,
          "Number of clients; it need not be the number of devices."),
        Field("sigma", \.sigma, .number(0...5), "Standard deviation of the sizes' logarithms."),
        Field("minimumSize", \.minimumSize, .sampleCount, "Samples that every client gets first."),
      ]
    }
  }

  public static let name = "quantity-log-normal"
  /// What it does.
  public static let summary = "Random samples for each client, with log-normal sizes."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var clients: Int { settings.clients }

  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    let weights = logNormalWeights(clients, sigma: settings.sigma, streams, slot: 0)
    let sizes = try apportioned(weights, total: labels.count, minimum: settings.minimumSize)
    return dealtAtRandom(sizes, samples: labels.count, streams: streams)
  }
}

/// Random samples in sizes that grow with the client's number by a law without chance.
///
/// Client i's weight is (i+1) for `linear`, (i+1)² for `square`, exp(i+1) for `exponential`. Every
/// client gets `minimumSize` samples and of the rest a part in proportion to its weight, remainders
/// by the largest fractions. No sample is left out. Draws: one shuffle of the pool. Throws:
/// `tooFewSamples`. Source: Flower's `LinearPartitioner`, `SquarePartitioner`,
/// `ExponentialPartitioner`. Differs: there the last client takes all remainders.
public struct PartitionQuantityByRank: Partitioner, Part {
  /// How the weight grows with the client's number.
  public enum Law: String, CaseIterable, Sendable {
    /// In proportion to the number, from 1.
    case linear
    /// In proportion to its square.
    case square
    /// e times as large from one to the next.
    case exponential
  }

  public struct Settings: PartSettings {
    public var clients = 100
    /// How the weight grows.
    public var law = Law.linear
    /// The fewest samples that a client may have.
    public var minimumSize = 1

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, .clientCount, required: true,
          "Number of clients; it need not be the number of devices."),
        Field("law", \.law, .choice, "How sizes grow with the client's number."),
        Field("minimumSize", \.minimumSize, .sampleCount, "Samples that every client gets first."),
      ]
    }
  }

  public static let name = "quantity-by-rank"
  public static let summary =
    "Random samples for each client, with sizes that grow with its number by a fixed law."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var clients: Int { settings.clients }

  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    let weights = (1...clients).map { rank -> Double in
      switch settings.law {
      case .linear: Double(rank)
      case .square: Double(rank) * Double(rank)
      // Measured from the largest, so that it stays finite for any number of clients.
      case .exponential: Portable.exp(Double(rank - clients))
      }
    }
    let sizes = try apportioned(weights, total: labels.count, minimum: settings.minimumSize)
    return dealtAtRandom(sizes, samples: labels.count, streams: streams)
  }
}
