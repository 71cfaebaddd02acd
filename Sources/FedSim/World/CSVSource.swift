import Schema

/// Intervals read from a table with the columns device, from, to, and where wanted soft and state.
public struct CSVSource: TimelineSource {
  public static let name = "csv"
  public static let summary =
    "Intervals by device from a table: device, from, to [, soft] [, state]"

  public struct Settings: PartSettings {
    /// The table.
    public var file = FileName("")
    /// The state between intervals; nil: the first of the series.
    public var otherwise: StateName?
    /// After this long the table begins again; nil: never.
    public var period: SimDuration?

    public init() {}
    public static var shorthand: String? { "file" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "file", \.file, .file, required: true, "The table; a device `*` matches all others"),
        Field(
          "otherwise", \.otherwise, optional: .state,
          "The state between intervals; absent: unplugged, offline, locked, closed, down"),
        Field(
          "period", \.period, feature: .duration(atLeast: .seconds(1)),
          "Period after which the intervals repeat; an interval may cross its end; absent: no "
            + "repetition"
        ),
      ]
    }
  }

  /// Its settings.
  public let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var namedStates: [StateName] { settings.otherwise.map { [$0] } ?? [] }

  /// The files that it needs.
  public var files: [FileName] { [settings.file] }

  /// After this long the table begins again.
  public var period: SimDuration? { settings.period }

  public func timeline(_ context: TimelineContext) -> any Timeline {
    guard let table = context.tables[settings.file.path] else {
      preconditionFailure("the table \(settings.file.path) was not read")
    }
    let space = context.space
    let intervals = table.rows(of: context.device).map { row in
      Interval(
        start: row.from, soft: space == .window ? row.soft : nil, end: row.to,
        state: row.state.flatMap { space.number(of: $0) } ?? space.usual)
    }
    let otherwise = settings.otherwise.flatMap { space.number(of: $0.name) } ?? 0
    if let period = settings.period {
      return TraceTimeline(TraceSeries(intervals, otherwise: otherwise, period: period))
    }
    return IntervalTimeline(intervals, otherwise: otherwise)
  }
}

extension TraceSeries {
  /// Intervals in order that begin within a period; the last one may reach into the next turn.
  init(_ intervals: [Interval], otherwise: UInt8, period: SimDuration) {
    let length = period.microseconds
    var changes: [(at: Int64, state: UInt8)] = []
    for interval in intervals {
      changes.append((interval.start.microseconds, interval.state))
      if let soft = interval.soft, soft < interval.end { changes.append((soft.microseconds, 1)) }
      changes.append((interval.end.microseconds, otherwise))
    }
    // What comes after the end belongs to the beginning of the next turn, before all else there.
    let late = changes.filter { $0.at >= length }.map { (at: $0.at - length, state: $0.state) }
    self.init(
      late + changes.filter { $0.at < length }, initial: otherwise, period: period)
  }
}
