import Schema

/// Series from FedScale's availability traces: a device is available or it is not.
///
/// Source: Lai et al. 2022 (FedScale), `client_metadata.py`. Differs: every answer is found by the
/// intervals, where FedScale's cursor advances by at most one per question and stays where it is at
/// the wrap; an interval ends before its last second, which FedScale counts in.
public struct FedScaleSource: TraceSource {
  public static let name = "fedscale"
  public static let summary =
    "FedScale's availability traces (pickle): plugged in, on Wi-Fi, locked, in a window, or here"

  public struct Settings: PartSettings {
    /// File, assignment and cycle.
    public var replay = TraceReplay()
    /// The moment of the trace at which the run starts.
    public var offset = SimDuration.zero

    public init() {}
    public static var shorthand: String? { "file" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "file", \.replay.file, .file, required: true,
          "The availability traces, a pickle; may be gzipped")
      ] + TraceReplay.choice(\.replay.assign, \.replay.firstTrace) + [
        Field(
          "cycle", \.replay.cycle, .flag,
          "Repeat a trace after its `finish_time`; else its last state remains"),
        Field(
          "offset", \.offset, .duration(), "Time in the traces at which the run starts"),
      ]
    }
    public func contradictions() -> [(key: String, message: String)] { replay.contradictions }
  }

  /// Its settings.
  public let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// File, assignment and cycle.
  public var replay: TraceReplay { settings.replay }

  /// FedScale's pickle.
  public var format: TraceFormat { .fedScale { series($0, period: $1, $2) } }

  /// The series that it has.
  public var spaces: [StateSpace]? { [.power, .link, .usage, .window, .presence] }

  /// The name of its traces among those that were read.
  public func traceName(_ space: StateSpace) -> String {
    "fedscale \(space.name) \(replay.cycle) \(replay.file.path)"
  }

  public func timeline(_ context: TimelineContext) -> any Timeline {
    TraceTimeline(trace(context), start: settings.offset.microseconds)
  }

  /// A series of intervals in seconds, which are in order and do not overlap.
  ///
  /// An available phone is locked; otherwise it has the state that intervals mean by default.
  public func series(
    _ intervals: [(from: Int64, to: Int64)], period: Int64, _ space: StateSpace
  ) -> TraceSeries {
    let (available, other): (UInt8, UInt8) = space == .usage ? (0, 1) : (space.usual, 0)
    var changes: [(at: Int64, state: UInt8)] = []
    for interval in intervals where interval.to > interval.from {
      changes.append((interval.from * 1_000_000, available))
      changes.append((interval.to * 1_000_000, other))
    }
    return TraceSeries(
      changes, initial: other, period: replay.cycle ? .seconds(period) : nil)
  }
}
