import Schema

/// How long an aggregation takes, and what the server does meanwhile.
public struct AggregationTimeSettings: PartSettings {
  /// However many updates there are.
  public var base = SimDuration.zero
  /// For each of them.
  public var perUpdate = SimDuration.zero
  /// Whether no request is handled meanwhile.
  public var blocks = false

  public init() {}
  public static var shorthand: String? { "base" }
  public static var fields: [Field<AggregationTimeSettings>] {
    [
      Field("base", \.base, .duration(), required: true, "Fixed time of each aggregation"),
      Field("perUpdate", \.perUpdate, .duration(), "Additional time for each update"),
      Field(
        "blocks", \.blocks, .flag,
        "Requests wait until the aggregation ends, even that of the triggering update; else"
          + " the aggregation runs in the background"),
    ]
  }
}

/// What a server that believes itself offline does with updates.
public enum WhileOffline: String, CaseIterable, Sendable {
  /// It takes them in and aggregates when the connection returns.
  case queue
  /// It answers that it is offline and forgets them.
  case drop
  /// It answers 503: the device keeps them if it keeps any.
  case refuse
}

/// The model that the server itself uses, for detection on its own side.
public struct ModelInUseSettings: PartSettings {
  /// How long it takes to load a version.
  public var loadTime = SimDuration.zero

  public init() {}
  public static var shorthand: String? { "loadTime" }
  public static var fields: [Field<ModelInUseSettings>] {
    [
      Field(
        "loadTime", \.loadTime, .duration(), required: true,
        "Time to load a version; of versions published meanwhile, the latest is loaded next")
    ]
  }
}

/// Aggregations that took time, counted.
public struct AggregationTallies: Sendable, Equatable, Codable {
  /// Aggregations that were begun.
  public internal(set) var begun = 0
  /// How long those that ended took, in all.
  public internal(set) var lasted = SimDuration.zero
  /// Requests, or ends of their services, that had to wait for an aggregation.
  public internal(set) var held = 0
  /// How long they waited for it, in all.
  public internal(set) var waited = SimDuration.zero
}

/// An aggregation under way.
struct AggregationUnderWay: Codable {
  let begunAt: SimTime
  let endsAt: SimTime
  /// The updates in it, in device order.
  let updates: [Int32]
  /// The update that began it, where its sender is to hear the outcome.
  var owed: Owed?
  /// Requests that wait for its end; kept where the server may restart.
  var held: [HeldRequest] = []

  /// An update whose sender waits for the answer.
  struct Owed: Codable {
    let device: Int
    let generation: UInt32
    let update: Int32
  }
}

extension ServerSettings {
  /// The fields of what an aggregation costs and brings, each a feature that is off unless named.
  static var aggregationFields: [Field<ServerSettings>] {
    [
      Field(
        "aggregationTime", \.aggregationTime, feature: .settings(),
        "Duration of an aggregation; absent: no time"),
      Field(
        "modelInUse", \.modelInUse, feature: .settings(),
        "The model that the server itself uses; absent: not modelled"),
      Field(
        "whileOffline", \.whileOffline, feature: .choice,
        "What happens to updates that arrive while the server believes itself offline: wait,"
          + " be acknowledged and discarded, or be refused with 503; absent: wait"),
    ]
  }
}
