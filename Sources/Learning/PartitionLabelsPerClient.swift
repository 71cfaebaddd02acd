import Numerics
import Schema

/// Every client holds exactly this many classes, and a class is divided equally among its holders.
///
/// Of the K classes that have samples, in ascending order, client i holds number i mod K and
/// `labels` − 1 others drawn without replacement. A class's samples are shuffled, and holder j of
/// its o holders in ascending order gets places ⌊j·n/o⌋ to before ⌊(j+1)·n/o⌋: sizes within a class
/// differ by at most one and no remainder is dropped. A class that nobody holds, which takes fewer
/// clients than classes, is left out. A shard's samples are class by class. Which classes a
/// client holds depends on the seed and its number alone.
/// Draws: one partial shuffle (`labels` − 1 `below`s) of each client's stream; one shuffle a class.
/// Throws: `tooFewClasses`, `tooFewOfClass` where a class has fewer samples than holders.
/// Source: Li, Diao, Chen, He, "Federated learning on non-IID data silos" (2022), "#C = k"; the
/// same with other rules for the choice in FedLab, Flower (`PathologicalPartitioner`), fluke, FLGo.
public struct PartitionLabelsPerClient: Partitioner, Part {
  public struct Settings: PartSettings {
    public var clients = 100
    /// How many classes each holds.
    public var labels = 2

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, .clientCount, required: true,
          "Number of clients; it need not be the number of devices."),
        Field("labels", \.labels, .integer(1...10_000), "Classes per client."),
      ]
    }
  }

  public static let name = "labels-per-client"
  public static let summary =
    "A fixed number of classes per client, each class divided equally among its holders."

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
    var holders = Array(repeating: [Int](), count: classCount)
    for client in 0..<clients {
      let own = client % present.count
      var stream = streams.forClient(client)
      holders[present[own]].append(client)
      // Numbers of the classes but the client's own: those from it on are one lower.
      for other in stream.sample(settings.labels - 1, below: present.count - 1) {
        holders[present[Int(other) < own ? Int(other) : Int(other) + 1]].append(client)
      }
    }
    var shards = Array(repeating: [Int32](), count: clients)
    for label in samples.indices where !holders[label].isEmpty {
      let count = samples[label].count
      let parts = holders[label].count
      guard parts <= count else {
        throw PartitionFault.tooFewOfClass(label: label, needed: parts, available: count)
      }
      for (place, client) in holders[label].enumerated() {
        shards[client] += samples[label][place * count / parts..<(place + 1) * count / parts]
      }
    }
    return shards
  }
}
