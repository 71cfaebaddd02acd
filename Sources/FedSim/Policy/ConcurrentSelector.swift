import Numerics
import Schema

/// Whoever asks may train, as long as no more than some do at once.
///
/// A device that was let in trains, as far as the server knows, until its update arrives, its
/// stream breaks, it asks again, or its lease is over. One whose update waits has to wait for the
/// next version.
///
/// Source: Nguyen et al., "Federated learning with buffered asynchronous aggregation" (2022), §3:
/// the concurrency. Differs: devices ask when they can, and are not drawn.
public struct ConcurrentSelector: ClientSelector {
  /// Its name in a scenario.
  public static let name = "concurrent"
  /// What it does, in one sentence.
  public static let summary = "Whoever asks may train while fewer than so many do, as in FedBuff"

  /// What can be set.
  public struct Settings: PartSettings {
    /// How many devices train at once.
    public var limit = 100
    /// How long a device is waited for.
    public var lease = SimDuration.hours(1)
    /// The defaults.
    public init() {}
    /// The field that a bare value stands for.
    public static var shorthand: String? { "limit" }
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      [
        Field("limit", \.limit, .integer(1...10_000_000), "How many devices train at once"),
        Field(
          "lease", \.lease, .duration(atLeast: .milliseconds(1)),
          "A device that has not been heard of for so long makes room for another"),
      ]
    }
  }

  private let settings: Settings
  /// Made from its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// It counts those that train.
  public var listens: Bool { true }

  /// What it remembers: who trains since when, in the order in which they were let in.
  private struct Training {
    let device: Int64
    let since: SimTime
  }

  private func read(_ memory: PartMemory) -> [Training] {
    stride(from: 0, to: memory.integers.count, by: 2).map {
      Training(
        device: memory.integers[$0], since: SimTime(microseconds: memory.integers[$0 + 1]))
    }
  }

  private func write(_ training: [Training], _ memory: inout PartMemory) {
    memory.integers = training.flatMap { [$0.device, $0.since.microseconds] }
  }

  /// As if nobody trained.
  public func admit(_ checkIn: CheckIn, _ server: ServerView) -> Admission { .accept }

  /// What a device that asks for work is told. Complexity: O(limit).
  public func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout PartMemory
  ) -> Admission {
    var training = read(memory)
    let device = Int64(checkIn.device)
    training.removeAll { $0.device == device || $0.since + settings.lease <= server.now }
    let isAccepted = training.count < settings.limit && !checkIn.hasPending
    if isAccepted { training.append(Training(device: device, since: server.now)) }
    write(training, &memory)
    return isAccepted ? .accept : .reject
  }

  /// A device no longer trains. Complexity: O(limit).
  public func hear(
    _ news: DeviceNews, from device: Int, _ server: ServerView, _ memory: inout PartMemory
  ) {
    var training = read(memory)
    training.removeAll { $0.device == Int64(device) }
    write(training, &memory)
  }
}
