import Schema

/// What FLASH's traces tell of a phone.
public enum FLASHEvent: String, CaseIterable, Sendable {
  case chargedOn = "battery_charged_on"
  case chargedOff = "battery_charged_off"
  case batteryOkay = "battery_okay"
  case batteryLow = "battery_low"
  case wifi
  case secondGeneration = "2g"
  case thirdGeneration = "3g"
  case fourthGeneration = "4g"
  case fifthGeneration = "5g"
  case unknown
  case screenOn = "screen_on"
  case screenOff = "screen_off"
  case screenLock = "screen_lock"
  case screenUnlock = "screen_unlock"
  case phoneOn = "phone_on"
  case phoneOff = "phone_off"
}

/// Series from state traces in FLASH's JSON: power, link, usage, the share of a cellular link's
/// rates, or windows in which all three conditions hold.
///
/// Source: Yang et al. 2021 (FLASH), `models/timer.py`. Differs: the state at the end of a trace is
/// that at its beginning, where FLASH forgets it; an interval ends before its last second, which
/// FLASH counts in; times have no zone and no daylight saving, whatever the host's.
public struct FLASHSource: TraceSource {
  public static let name = "flash"
  public static let summary =
    "State traces in FLASH's JSON: power, link, usage, share, or windows where all conditions hold"

  /// What is done where the network is unknown.
  public enum Gaps: String, CaseIterable, Sendable { case keep, offline }
  /// When a device is in use.
  public enum InUse: String, CaseIterable, Sendable { case unlocked, screenOn }
  /// How a trace's time maps to the run's.
  public enum Align: String, CaseIterable, Sendable { case day, week, date, first }

  public struct Settings: PartSettings {
    /// File, assignment and cycle.
    public var replay = TraceReplay()
    /// After this long a trace begins again; nil: after its last message.
    public var period: SimDuration?
    /// How a trace's time maps to the run's.
    public var align = Align.day
    /// The link while the network is unknown.
    public var gapPolicy = Gaps.keep
    /// When a device is in use.
    public var inUse = InUse.unlocked
    /// Rates by kind of cellular network; nil: the defaults.
    public var shares: CellularShares?

    public init() {}
    public static var shorthand: String? { "file" }
    public static var fields: [Field<Settings>] {
      [Field("file", \.replay.file, .file, required: true, "The traces, as JSON; may be gzipped")]
        + TraceReplay.choice(\.replay.assign, \.replay.firstTrace) + [
          Field(
            "cycle", \.replay.cycle, .flag,
            "Repeat a trace from its end; else its last states remain"),
          Field(
            "period", \.period, feature: .duration(atLeast: .seconds(1)),
            "Period of the repetition; absent: until the trace's last message, as in FLASH"),
          Field(
            "align", \.align, .choice,
            "Part of a trace's local time that the run keeps at its start: the time of day, the "
              + "time of"
              + " day and the day of the week, the date; or the run starts at the trace's first "
              + "message"
          ),
          Field(
            "gapPolicy", \.gapPolicy, .choice,
            "The link while the network is `Unknown`: unchanged, or offline"),
          Field(
            "inUse", \.inUse, .choice,
            "When a device is in use: when unlocked, as in FLASH, or when its screen is on"),
          Field(
            "shares", \.shares, feature: .settings(),
            "For `network.share`: percent of the link's rates by type of cellular network"),
        ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      if !replay.cycle, period != nil {
        return [("period", "a trace without repetition has no `period`")]
      }
      return replay.contradictions
    }
  }

  /// Rates by kind of cellular network, in percent of those that the group gives.
  public struct CellularShares: PartSettings {
    /// By kind.
    public var g2 = 1
    /// By kind.
    public var g3 = 3
    /// By kind.
    public var g4 = 22
    /// By kind.
    public var g5 = 100

    /// The defaults: the world's mean mobile rate of 2020, 36 Mbit/s, against 166 over 5G.
    public init() {}
    public static var fields: [Field<CellularShares>] {
      func field(
        _ key: String, _ path: WritableKeyPath<CellularShares, Int> & Sendable
      ) -> Field<CellularShares> {
        Field(
          key, path, .integer(1...100), assumption: true,
          "Over \(key.last!)G, in percent of the rates of `network.cellular`")
      }
      return [field("g2", \.g2), field("g3", \.g3), field("g4", \.g4), field("g5", \.g5)]
    }
  }

  /// Its settings.
  public let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// File, assignment and cycle.
  public var replay: TraceReplay { settings.replay }

  /// FLASH's JSON.
  public var format: TraceFormat { .flash(period: settings.period) { series($0, $1) } }

  /// The series that it has.
  public var spaces: [StateSpace]? { [.power, .link, .usage, .window, .share] }

  /// The name of its traces among those that were read.
  public func traceName(_ space: StateSpace) -> String {
    let shares = settings.shares ?? CellularShares()
    let period = settings.period.map { "\($0.microseconds)" } ?? "own"
    return "flash \(space.name) \(settings.gapPolicy) \(settings.inUse) \(settings.replay.cycle)"
      + " \(period) \(shares.g2) \(shares.g3) \(shares.g4) \(shares.g5) \(replay.file.path)"
  }

  public func timeline(_ context: TimelineContext) -> any Timeline {
    let trace = trace(context)
    return TraceTimeline(trace, start: start(of: trace, context))
  }

  /// The moment of a trace at which the run starts, in microseconds.
  private func start(of trace: TraceSeries, _ context: TimelineContext) -> Int64 {
    guard let first = trace.first else { return 0 }
    let local = context.civilStart * 1_000_000 + context.utcOffset.microseconds
    let distance = local - first * 1_000_000
    switch settings.align {
    case .first: return 0
    case .date: return distance
    case .day: return distance.rest(by: 86_400_000_000)
    case .week: return distance.rest(by: 604_800_000_000)
    }
  }
}
