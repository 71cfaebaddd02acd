import Numerics
import Schema

/// A few consecutive classes for each client, in sizes that follow a log-normal law.
///
/// Of the K classes that have samples, in ascending order, client i holds numbers i mod K,
/// (i + 1) mod K, …, `labels` of them. Each holder of a class first gets `minimumPerClass` of its
/// samples. Of the r samples that are left, the holder with weight w gets ⌊r·w / Σw⌋, the sum being
/// over all holders of the class; w = exp(sigma·z), z standard normal. What the floors leave over
/// is in no shard. A client's samples are the first ones class by class, and then the others.
/// A client's weights depend on the seed and its number alone, its sizes on all.
/// Draws: a shuffle of each class; of each client's stream one `normal` a class that it holds.
/// Order: weights are summed over clients ascending. Throws: `tooFewClasses`, `tooFewOfClass`.
/// Source: the generator of MNIST of Li et al., "Federated optimization in heterogeneous networks"
/// (2020), section 5.1: 1,000 clients of two digits, 5 samples of each first, sigma 2; "power law"
/// in the paper, log-normal in its program. Differs: there a class's samples are dealt in the
/// pool's order, and a part that would take the class's very last sample is not dealt.
public struct PartitionConsecutiveLabels: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 1_000
    /// How many classes each holds.
    public var labels = 2
    /// Samples of each of its classes that a client gets first.
    public var minimumPerClass = 5
    /// The standard deviation of the weights' logarithms.
    public var sigma = 2.0

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, .clientCount, required: true,
          "Number of clients; it need not be the number of devices."),
        Field("labels", \.labels, .integer(1...10_000), "Consecutive classes per client."),
        Field(
          "minimumPerClass", \.minimumPerClass, .sampleCount,
          "Samples of each of its classes that a client gets first."),
        Field(
          "sigma", \.sigma, .number(0...5),
          "Standard deviation of the logarithm of a part's size."),
      ]
    }
  }

  public static let name = "consecutive-labels"
  public static let summary =
    "A few consecutive classes per client, in log-normal sizes (FedProx's and LEAF's MNIST)."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var clients: Int { settings.clients }
  public var dealsByClass: Bool { true }

  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    let samples = shuffledByClass(labels, classCount: classCount, streams: streams)
    let present = samples.indices.filter { !samples[$0].isEmpty }
    guard settings.labels <= present.count else {
      throw PartitionFault.tooFewClasses(needed: settings.labels, available: present.count)
    }
    let weights = (0..<clients).map { client in
      var stream = streams.forClient(client)
      return (0..<settings.labels).map { _ in stream.logNormal(median: 1, sigma: settings.sigma) }
    }
    var sums = Array(repeating: 0.0, count: classCount)
    var holders = Array(repeating: 0, count: classCount)
    for client in 0..<clients {
      for j in 0..<settings.labels {
        let label = present[(client + j) % present.count]
        sums[label] += weights[client][j]
        holders[label] += 1
      }
    }
    for label in present {
      let (needed, overflow) = holders[label].multipliedReportingOverflow(
        by: settings.minimumPerClass)
      guard !overflow && needed <= samples[label].count else {
        throw PartitionFault.tooFewOfClass(
          label: label, needed: overflow ? .max : needed, available: samples[label].count)
      }
    }
    return dealt(samples, present, weights, sums, holders)
  }

  /// The shards. Shapes: samples, sums, holders [class]; weights [client][its classes].
  private func dealt(
    _ samples: [[Int32]], _ present: [Int], _ weights: [[Double]], _ sums: [Double],
    _ holders: [Int]
  ) -> [[Int32]] {
    var shards = Array(repeating: [Int32](), count: clients)
    var next = Array(repeating: 0, count: samples.count)
    func take(_ count: Int, of label: Int, for client: Int) {
      let end = min(next[label] + count, samples[label].count)
      shards[client] += samples[label][next[label]..<end]
      next[label] = end
    }
    for client in 0..<clients {
      for j in 0..<settings.labels {
        take(settings.minimumPerClass, of: present[(client + j) % present.count], for: client)
      }
    }
    for client in 0..<clients {
      for j in 0..<settings.labels {
        let label = present[(client + j) % present.count]
        let rest = samples[label].count - holders[label] * settings.minimumPerClass
        take(Int(Double(rest) * weights[client][j] / sums[label]), of: label, for: client)
      }
    }
    return shards
  }
}
