import Numerics
import Schema

/// A day of the week.
public enum Weekday: String, CaseIterable, Sendable {
  case monday, tuesday, wednesday, thursday, friday, saturday, sunday

  var number: Int { Self.allCases.firstIndex(of: self)! }
}

/// Intervals that come again each week, in the device's local time.
public struct WeeklySource: TimelineSource {
  public static let name = "weekly"
  /// What it does, in one sentence.
  public static let summary = "A weekly calendar in local time, with keyed jitter"

  /// One line of the calendar.
  public struct Appointment: PartSettings {
    /// The days on which it begins.
    public var days = Weekday.allCases
    /// When it begins.
    public var from = SimDuration.zero
    /// When it ends; not after `from`: on the next day.
    public var to = SimDuration.hours(24)
    /// The state; nil: the series' usual one.
    public var state: StateName?

    public init() {}
    public static var fields: [Field<Appointment>] {
      [
        Field(
          "days", \.days, .list(of: .choice, minimum: 1),
          "Days of the week on which the interval begins"),
        Field("from", \.from, .timeOfDay, required: true, "Local time of the beginning"),
        Field(
          "to", \.to, .timeOfDay, required: true,
          "Local time of the end; if not after `from`: on the next day"),
        Field(
          "state", \.state, optional: .state, "The state; absent: plugged, wifi, active, open, up"),
      ]
    }
  }

  public struct Settings: PartSettings {
    /// The calendar.
    public var intervals: [Appointment] = []
    /// The state between them; nil: the first of the series.
    public var otherwise: StateName?
    /// Each interval moves as a whole by at most this, uniformly.
    public var jitter = SimDuration.zero

    public init() {}
    public static var fields: [Field<Settings>] {
      [
        Field(
          "intervals", \.intervals, .list(of: .settings(), minimum: 1), required: true,
          "The calendar"),
        Field(
          "otherwise", \.otherwise, optional: .state,
          "The state between intervals; absent: unplugged, offline, locked, closed, down"),
        Field(
          "jitter", \.jitter, .duration(),
          "Each interval moves by at most this, uniformly, keyed by day"),
      ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      jitter > .hours(6) ? [("jitter", "jitter is at most 6 h")] : []
    }
  }

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var namedStates: [StateName] {
    (settings.otherwise.map { [$0] } ?? []) + settings.intervals.compactMap(\.state)
  }

  public func timeline(_ context: TimelineContext) -> any Timeline { days(context) }

  /// The series of a group's devices.
  public func timelines(_ context: GroupContext) -> any GroupTimeline {
    DailyTimelines(count: context.count) { days(context.first.device($0, path: "")) }
  }

  /// Draws: one `uniform` an appointment, slot = (day + 2³¹)·256 + its place in the calendar.
  private func days(_ context: TimelineContext) -> DailyTimeline {
    let settings = settings
    let space = context.space
    return DailyTimeline(
      context: context,
      otherwise: settings.otherwise.flatMap { space.number(of: $0.name) } ?? 0
    ) { day in
      let weekday = context.weekday(ofDay: day)
      let midnight = context.midnight(ofDay: day)
      return settings.intervals.enumerated().compactMap { place, appointment in
        guard appointment.days.contains(where: { $0.number == weekday }) else { return nil }
        var start = midnight + appointment.from
        var end = midnight + appointment.to
        if appointment.to <= appointment.from { end = end + .days(1) }
        if settings.jitter > .zero {
          let slot = UInt64(bitPattern: (day + 1 << 31) * 256 + Int64(place))
          var stream = context.key.stream(slot: slot)
          let shift = settings.jitter.scaled(by: 2 * stream.uniform() - 1)
          start = start + shift
          end = end + shift
        }
        return Interval(
          start: start, end: max(start, end),
          state: appointment.state.flatMap { space.number(of: $0.name) } ?? space.usual)
      }
    }
  }
}

/// Habits: on most days an interval around the same local times, wandering from day to day.
public struct DiurnalSource: TimelineSource {
  public static let name = "diurnal"
  public static let summary =
    "Daily habits: intervals around local times that vary by day and device"

  /// One habit.
  public struct Habit: PartSettings {
    /// When it begins, at the median.
    public var from = SimDuration.zero
    /// When it ends, at the median; not after `from`: on the next day.
    public var to = SimDuration.hours(24)
    /// The state; nil: the series' usual one.
    public var state: StateName?
    /// The share of days on which it happens.
    public var probability = 1.0
    /// The standard deviation of beginning and end from day to day.
    public var spread = SimDuration.minutes(30)
    /// The standard deviation of a device's own habit from the median.
    public var deviceSpread = SimDuration.zero

    public init() {}
    public static var fields: [Field<Habit>] {
      [
        Field(
          "from", \.from, .timeOfDay, required: true, "Median local time of the beginning"),
        Field(
          "to", \.to, .timeOfDay, required: true,
          "Median local time of the end; if not after `from`: on the next day"),
        Field(
          "state", \.state, optional: .state, "The state; absent: plugged, wifi, active, open, up"),
        Field(
          "probability", \.probability, .fraction, "Share of days on which the interval occurs"),
        Field("spread", \.spread, .duration(), "Standard deviation from day to day"),
        Field(
          "deviceSpread", \.deviceSpread, .duration(),
          "Standard deviation of a device's habit from the median"),
      ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      spread > .hours(3) || deviceSpread > .hours(3)
        ? [("spread", "spreads are at most 3 h, so that an interval stays close to its day")] : []
    }
  }

  public struct Settings: PartSettings {
    /// The habits.
    public var habits: [Habit] = []
    /// The state between them; nil: the first of the series.
    public var otherwise: StateName?

    public init() {}
    public static var shorthand: String? { "habits" }
    public static var fields: [Field<Settings>] {
      [
        Field("habits", \.habits, .list(of: .settings(), minimum: 1), required: true, "The habits"),
        Field(
          "otherwise", \.otherwise, optional: .state,
          "The state between intervals; absent: unplugged, offline, locked, closed, down"),
      ]
    }
  }

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var namedStates: [StateName] {
    (settings.otherwise.map { [$0] } ?? []) + settings.habits.compactMap(\.state)
  }

  public func timeline(_ context: TimelineContext) -> any Timeline {
    days(context, figures(context.space), reach)
  }

  /// The series of a group's devices.
  public func timelines(_ context: GroupContext) -> any GroupTimeline {
    let (figures, reach) = (figures(context.first.space), reach)
    return DailyTimelines(count: context.count) {
      days(context.first.device($0, path: ""), figures, reach)
    }
  }

  /// The days whose habits may touch a day: shifts are bounded.
  private var reach: ClosedRange<Int64> {
    var (earliest, latest) = (Int64.max, Int64.min)
    for habit in settings.habits {
      let shift = (habit.spread.microseconds + habit.deviceSpread.microseconds) * 2
      let end = habit.to.microseconds + (habit.to <= habit.from ? 86_400_000_000 : 0)
      earliest = min(earliest, habit.from.microseconds - shift)
      latest = max(latest, end + shift)
    }
    // An interval that ends at a midnight still bounds what begins there.
    let before = min(-1, -latest.floored(by: 86_400_000_000))
    return max(-2, before)...max(0, min(1, -earliest.floored(by: 86_400_000_000)))
  }

  /// The same with all days that an interval may come from, for tests.
  package func wide(_ context: TimelineContext) -> any Timeline {
    days(context, figures(context.space), -2...1)
  }

  /// A habit's numbers.
  private struct Figures {
    let from: SimDuration
    let to: SimDuration
    let probability: Double
    let spread: SimDuration
    let deviceSpread: SimDuration
    let state: UInt8
  }

  private func figures(_ space: StateSpace) -> [Figures] {
    settings.habits.map { habit in
      Figures(
        from: habit.from, to: habit.to <= habit.from ? habit.to + .days(1) : habit.to,
        probability: habit.probability, spread: habit.spread, deviceSpread: habit.deviceSpread,
        state: habit.state.flatMap { space.number(of: $0.name) } ?? space.usual)
    }
  }

  /// Draws, each bounded to two standard deviations: per device two `normal` a habit at slot = its
  /// place; per day one `uniform` and two `normal` at slot = (day + 2³¹)·256 + its place.
  private func days(
    _ context: TimelineContext, _ figures: [Figures], _ reach: ClosedRange<Int64>
  ) -> DailyTimeline {
    var own: [(SimDuration, SimDuration)] = []
    own.reserveCapacity(figures.count)
    for place in figures.indices {
      var stream = context.key.stream(slot: UInt64(place))
      own.append(
        (
          stream.shift(figures[place].deviceSpread), stream.shift(figures[place].deviceSpread)
        ))
    }
    let shifts = own
    return DailyTimeline(
      context: context,
      otherwise: settings.otherwise.flatMap { context.space.number(of: $0.name) } ?? 0,
      reach: reach
    ) { day in
      let midnight = context.midnight(ofDay: day)
      var intervals: [Interval] = []
      intervals.reserveCapacity(figures.count)
      for place in figures.indices {
        let slot = UInt64(bitPattern: (day + 1 << 31) * 256 + Int64(place))
        var stream = context.key.stream(slot: slot)
        let habit = figures[place]
        guard stream.uniform() < habit.probability else { continue }
        let start = midnight + habit.from + shifts[place].0 + stream.shift(habit.spread)
        let end = midnight + habit.to + shifts[place].1 + stream.shift(habit.spread)
        intervals.append(Interval(start: start, end: max(start, end), state: habit.state))
      }
      return intervals
    }
  }
}

extension SimDuration {
  /// A fraction of a duration, rounded towards zero.
  func scaled(by factor: Double) -> SimDuration {
    SimDuration(microseconds: Int64(Double(microseconds) * factor))
  }
}

extension RandomStream {
  /// A normal shift with a standard deviation, bounded to two of them. Draws: one `normal`.
  fileprivate mutating func shift(_ deviation: SimDuration) -> SimDuration {
    deviation.scaled(by: max(-2, min(2, normal())))
  }
}
