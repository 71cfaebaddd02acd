import Numerics
import Schema

/// Each device that asks may train, as long as no more than some do at once.
///
/// A device that was let in trains, as far as the server knows, until its update arrives, its
/// stream breaks, it asks again, or its lease is over. One whose update waits has to wait for the
/// next version.
///
/// Source: Nguyen et al., "Federated learning with buffered asynchronous aggregation" (2022), §3:
/// the concurrency. Differs: devices ask when they can, and are not drawn.
public struct ConcurrentSelector: AdmittingSelector {
  public static let name = "concurrent"
  /// What it does, in one sentence.
  public static let summary =
    "Accepts each request while fewer than a maximum of devices train, as in FedBuff"

  public struct Settings: PartSettings {
    /// How many devices train at once.
    public var limit = 100
    /// How long a device is waited for.
    public var lease = SimDuration.hours(1)
    public init() {}
    public static var shorthand: String? { "limit" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "limit", \.limit, .integer(1...10_000_000), "Maximum number of devices that train at once"
        ),
        Field(
          "lease", \.lease, .duration(atLeast: .milliseconds(1)),
          "Time after which a silent device no longer counts"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// It counts those that train.
  public var needs: SelectorNeeds { .news }

  public struct Memory: Codable, Sendable {
    /// Who trains, in the order in which they were let in.
    var training: [Training] = []

    struct Training: Codable {
      let device: Int
      let since: SimTime
    }
  }

  /// Nobody trains.
  public func makeMemory() -> Memory { Memory() }

  /// Lets a device in while fewer than the limit train. Complexity: O(limit).
  public func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout Memory
  ) -> Admission {
    let device = checkIn.device
    memory.training.removeAll { $0.device == device || $0.since + settings.lease <= server.now }
    guard memory.training.count < settings.limit, !checkIn.hasPending else { return .reject }
    memory.training.append(.init(device: device, since: server.now))
    return .accept
  }

  /// It counts who trains, and whose lease is over when.
  public var saysWhenClosed: Bool { true }

  /// While as many train as may, until the first of these leases is over. Complexity: O(1).
  public func closedUntil(_ now: SimTime, _ memory: Memory) -> SimTime? {
    let beyond = memory.training.count - settings.limit
    guard beyond >= 0 else { return nil }
    let opens = memory.training[beyond].since + settings.lease
    return opens > now ? opens : nil
  }

  /// A device no longer trains. Complexity: O(limit).
  public func hear(
    _ news: DeviceNews, from device: Int, _ server: ServerView, _ memory: inout Memory
  ) {
    memory.training.removeAll { $0.device == device }
  }
}
