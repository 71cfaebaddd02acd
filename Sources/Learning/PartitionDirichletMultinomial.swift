import Numerics
import Schema

/// A few samples of every class to every client, the rest sample by sample by Dirichlet shares.
///
/// For each class k: shares p_k ~ Dir(α, …, α) over the clients; of its samples, shuffled once,
/// client i gets those at places i·m to before (i+1)·m, m being `minimumPerClass`, and each further
/// one goes to a client drawn by p_k, independently. So every client has every class, and a class's
/// counts beyond the minimum are multinomial. Classes without samples are passed over. No sample is
/// left out; a shard's samples are class by class. All depends on the number of clients.
/// Draws: of each class's pool stream, a shuffle from slot 0, the shares from slot 1, one `uniform`
/// a sample from slot 2. Throws: `tooFewOfClass`, `tooFewSamples` for an empty pool.
/// Source: fluke's `label_dirichlet_skew` (there m = 2, named `min_ex_class`).
public struct PartitionDirichletMultinomial: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    public var alpha = 0.5
    /// Samples of every class that every client gets beforehand.
    public var minimumPerClass = 2

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, .clientCount, required: true,
          "Number of clients; it need not be the number of devices."),
        Field(
          "alpha", \.alpha, .number(0.001...1e6), required: true,
          "Concentration: small for classes held by few clients, large for equal shares."),
        Field(
          "minimumPerClass", \.minimumPerClass, .sampleCount,
          "Samples of every class that every client gets first."),
      ]
    }
  }

  public static let name = "dirichlet-by-class-multinomial"
  public static let summary =
    "Some samples of every class for every client, the rest drawn by Dirichlet shares."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var clients: Int { settings.clients }
  public var dealsByClass: Bool { true }

  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    guard !labels.isEmpty else { throw PartitionFault.tooFewSamples(needed: 1, available: 0) }
    let samples = shuffledByClass(labels, classCount: classCount, streams: streams)
    let each = settings.minimumPerClass
    let (needed, overflow) = clients.multipliedReportingOverflow(by: each)
    var shards = Array(repeating: [Int32](), count: clients)
    for label in samples.indices where !samples[label].isEmpty {
      guard !overflow && needed <= samples[label].count else {
        throw PartitionFault.tooFewOfClass(
          label: label, needed: overflow ? .max : needed, available: samples[label].count)
      }
      for client in 0..<clients {
        shards[client] += samples[label][client * each..<(client + 1) * each]
      }
      var shareStream = streams.forPool(ordinal: label, slot: 1)
      let sums = runningSums(shareStream.dirichlet(alpha: settings.alpha, count: clients))
      var stream = streams.forPool(ordinal: label, slot: 2)
      for sample in samples[label][needed...] { shards[stream.place(in: sums)].append(sample) }
    }
    return shards
  }
}
