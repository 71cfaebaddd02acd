import Schema

/// Intervals written down one by one: for tests, and for series known to the second.
public struct FixedSource: TimelineSource {
  public static let name = "fixed"
  /// What it does, in one sentence.
  public static let summary = "Intervals listed one by one, in time since the start"

  /// One interval.
  public struct Stretch: PartSettings {
    /// When it begins.
    public var from = SimTime.start
    /// When a window expires softly.
    public var soft: SimTime?
    /// When it ends; nil: never.
    public var to: SimTime?
    /// The state; nil: the series' usual one.
    public var state: StateName?

    public init() {}
    public static var fields: [Field<Stretch>] {
      [
        Field("from", \.from, .sinceStart, required: true, "When the interval begins"),
        Field("soft", \.soft, optional: .sinceStart, "When a window expires softly"),
        Field(
          "to", \.to, optional: .sinceStart, "When the interval ends (hard expiry); absent: never"),
        Field(
          "state", \.state, optional: .state, "The state; absent: plugged, wifi, active, open, up"),
      ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      let end = to ?? .never
      if end <= from { return [("to", "the interval ends before its beginning")] }
      if let soft, soft < from || soft > end {
        return [("soft", "the soft expiry is outside the interval")]
      }
      return []
    }
  }

  public struct Settings: PartSettings {
    /// One state for ever.
    public var always: StateName?
    /// The intervals.
    public var intervals: [Stretch] = []
    /// The state between them; nil: the first of the series.
    public var otherwise: StateName?

    public init() {}
    public static var shorthand: String? { "always" }
    public static var fields: [Field<Settings>] {
      [
        Field("always", \.always, optional: .state, "One state for the whole run"),
        Field("intervals", \.intervals, .list(of: .settings()), "The intervals, in order"),
        Field(
          "otherwise", \.otherwise, optional: .state,
          "The state between intervals; absent: unplugged, offline, locked, closed, down"),
      ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      if always != nil, !intervals.isEmpty {
        return [("intervals", "`always` and `intervals` exclude each other")]
      }
      for (a, b) in zip(intervals, intervals.dropFirst()) where (a.to ?? .never) > b.from {
        return [("intervals", "intervals overlap or are out of order at \(b.from)")]
      }
      return []
    }
  }

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var namedStates: [StateName] {
    [settings.always, settings.otherwise].compactMap { $0 } + settings.intervals.compactMap(\.state)
  }

  /// Whether an interval has its own soft expiry.
  public var givesSoftExpiry: Bool { settings.intervals.contains { $0.soft != nil } }

  public func timeline(_ context: TimelineContext) -> any Timeline { series(context.space) }

  /// The series that all devices have.
  public func timelines(_ context: GroupContext) -> any GroupTimeline {
    SharedTimeline(series(context.first.space))
  }

  private func series(_ space: StateSpace) -> IntervalTimeline {
    if let always = settings.always {
      return IntervalTimeline([], otherwise: space.number(of: always.name) ?? 0)
    }
    let intervals = settings.intervals.map {
      Interval(
        start: $0.from, soft: $0.soft, end: $0.to ?? .never,
        state: $0.state.flatMap { space.number(of: $0.name) } ?? space.usual)
    }
    return IntervalTimeline(
      intervals, otherwise: settings.otherwise.flatMap { space.number(of: $0.name) } ?? 0)
  }
}
