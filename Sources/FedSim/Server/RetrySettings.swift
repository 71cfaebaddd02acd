import Schema

/// When the server wants a device to come back: pace steering.
///
/// Source: Bonawitz et al. 2019, section 2.3; the retry windows of Google's FL runtime, of which it
/// keeps two, for devices that were accepted and for those that were turned away.
public struct RetrySettings: PartSettings {
  /// How long a device that is turned away stays away.
  public var after = SimDuration.minutes(15)
  /// How far a wait is from that, at most, as a share of it.
  public var jitter = 0.2
  /// How long a device stays away after its update has come; nil: it may ask again at once.
  public var accepted: SimDuration?

  public init() {}
  public static var shorthand: String? { "after" }
  public static var fields: [Field<RetrySettings>] {
    [
      Field(
        "after", \.after, .duration(atLeast: .milliseconds(1)), required: true,
        "Time until a device that was turned away may ask again"),
      Field(
        "jitter", \.jitter, .fraction,
        "Share by which each such time is longer or shorter, drawn uniformly"),
      Field(
        "accepted", \.accepted, optional: .duration(atLeast: .milliseconds(1)),
        "Time until a device whose update was received may ask again; absent: none"),
    ]
  }
}

/// What the server asks of devices that connect, and when it wants them back.
public struct ReceptionSettings: Sendable {
  /// Whether each device that connects is asked for its properties; nil: no.
  public var asksProperties: Bool?
  /// When devices are wanted back; nil: they ask again as soon as they can.
  public var retry: RetrySettings?
}

extension ServerSettings {
  /// Whether each device that connects is asked for its properties; nil: no.
  public var asksProperties: Bool? {
    get { reception.asksProperties }
    set { reception.asksProperties = newValue }
  }
  /// When devices are wanted back; nil: they ask again as soon as they can.
  public var retry: RetrySettings? {
    get { reception.retry }
    set { reception.retry = newValue }
  }

  /// The field of pace steering, a feature that is off unless it is named.
  static var retryFields: [Field<ServerSettings>] {
    [
      Field(
        "retry", \.retry, feature: .settings(),
        "Pace steering: tell devices when to come back, also those that a cohort has no place for; "
          + "absent: they ask again as soon as they can")
    ]
  }

  /// What is wrong with pace steering.
  var retryContradictions: [(key: String, message: String)] {
    guard let retry else { return [] }
    if selector.value.cycles != nil {
      return [("retry", "`\(selector.name)` tells devices itself when to come back")]
    }
    if selector.name == OpenSelector.name, retry.accepted == nil, broadcast != .afterAggregation {
      return [
        ("retry", "`\(selector.name)` turns no device away: `retry` needs `accepted`")
      ]
    }
    return []
  }
}
