import Schema

/// Every update makes a version: asynchronous learning.
///
/// Source: Xie, Koyejo, Gupta, "Asynchronous federated optimization" (2020), algorithm 1.
public struct EveryArrivalTrigger: AggregationTrigger {
  public static let name = "every-arrival"
  /// What it does, in one sentence.
  public static let summary = "Aggregates when an update arrives, as in FedAsync"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    moment != .timer && server.pending >= 1 ? .aggregate : .wait
  }
}

/// A buffer of updates is full: buffered asynchronous learning.
///
/// Source: Nguyen et al., "Federated learning with buffered asynchronous aggregation" (2022),
/// algorithm 1. How many devices train at once is the selector's (`concurrent`), how old an update
/// may be the server's (`maximumStaleness`).
public struct BufferTrigger: AggregationTrigger {
  public static let name = "buffer"
  /// What it does, in one sentence.
  public static let summary = "Aggregates when the buffer holds this many updates, as in FedBuff"

  public struct Settings: PartSettings {
    /// How many updates.
    public var size = 10
    public init() {}
    public static var shorthand: String? { "size" }
    public static var fields: [Field<Settings>] {
      [Field("size", \.size, .integer(1...1_000_000), "Size of the buffer in updates, K")]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// As many as it holds.
  public var neededUpdates: Int? { settings.size }

  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    moment != .timer && server.pending >= settings.size ? .aggregate : .wait
  }
}
