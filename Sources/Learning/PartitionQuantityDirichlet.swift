import Numerics
import Schema

/// Random samples for each client, in sizes by shares from a Dirichlet distribution.
///
/// Shares p ~ Dir(α, …, α) over the N clients are drawn until the smallest p_i·n is at least
/// `minimumSize`, `attempts` times at most. The pool of n samples, shuffled once, is cut at
/// ⌊n·(p_0 + … + p_i)⌋ after client i; the last client takes what is behind the last cut. No sample
/// is left out. All depends on the number of clients.
/// Draws: a shuffle from slot 0 and the shares of attempt a = 1, 2, … from slot a of the pool's
/// stream. Throws: `tooFewSamples` where clients × minimum exceed the pool, `minimumUnattained`.
/// Source: Li, Diao, Chen, He, "Federated learning on non-IID data silos" (2022), quantity skew
/// q ~ Dir(β), as in its program (`iid-diff-quantity`, minimum 10).
public struct PartitionQuantityDirichlet: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    public var alpha = 0.5
    /// Each client gets at least this many samples.
    public var minimumSize = 10
    /// How often the shares are drawn until every client has at least the fewest samples.
    public var attempts = 1_000

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, .clientCount, required: true,
          "Number of clients; it need not be the number of devices."),
        Field(
          "alpha", \.alpha, .number(0.001...1e6), required: true,
          "Concentration: small for sizes that differ much, large for equal sizes."),
        Field("minimumSize", \.minimumSize, .sampleCount, "Minimum number of samples per client."),
        Field(
          "attempts", \.attempts, .integer(1...100_000),
          "Attempts to give each client the minimum number of samples; then the partition fails."),
      ]
    }
  }

  public static let name = "quantity-dirichlet"
  /// The line of `fedsim list`.
  public static let summary =
    "Random samples for each client, with sizes from a Dirichlet draw (NIID-Bench)."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var clients: Int { settings.clients }

  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    let count = labels.count
    let (needed, overflow) = clients.multipliedReportingOverflow(by: settings.minimumSize)
    guard !overflow && needed <= count else {
      throw PartitionFault.tooFewSamples(needed: overflow ? .max : needed, available: count)
    }
    var best = 0
    for attempt in 1...settings.attempts {
      var stream = streams.forPool(slot: UInt64(attempt))
      let shares = stream.dirichlet(alpha: settings.alpha, count: clients)
      let smallest = (shares.min() ?? 0) * Double(count)
      best = max(best, Int(smallest))
      guard smallest >= Double(settings.minimumSize) else { continue }
      let ends = runningSums(shares).map { min(count, Int($0 * Double(count))) }
      let cuts = [0] + ends.dropLast() + [count]
      return dealtAtRandom(
        (0..<clients).map { cuts[$0 + 1] - cuts[$0] }, samples: count, streams: streams)
    }
    throw PartitionFault.minimumUnattained(
      minimum: settings.minimumSize, best: best, attempts: settings.attempts)
  }
}
