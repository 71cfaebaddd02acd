import Schema

/// Intervals read from a table with the columns device, from, to, and where wanted soft and state.
public struct CSVSource: TimelineSource {
  /// Its name in a scenario.
  public static let name = "csv"
  /// What it does, in one sentence.
  public static let summary =
    "Intervals by device from a table: device, from, to [, soft] [, state]"

  /// What can be set.
  public struct Settings: PartSettings {
    /// The table.
    public var file = FileName("")
    /// The state between intervals; nil: the first of the series.
    public var otherwise: StateName?

    /// The defaults.
    public init() {}
    /// The field that a bare value stands for.
    public static var shorthand: String? { "file" }
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      [
        Field(
          "file", \.file, .file, required: true, "The table; a device `*` stands for all others"),
        Field(
          "otherwise", \.otherwise, optional: .state,
          "The state between intervals; absent: unplugged, offline, locked, closed, down"),
      ]
    }
  }

  private let settings: Settings

  /// Made from its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// The states that its settings name.
  public var namedStates: [StateName] { settings.otherwise.map { [$0] } ?? [] }

  /// The files that it needs.
  public var files: [FileName] { [settings.file] }

  /// The series of one device.
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
    return IntervalTimeline(
      intervals, otherwise: settings.otherwise.flatMap { space.number(of: $0.name) } ?? 0)
  }
}
