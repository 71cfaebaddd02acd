import Numerics
import Schema

/// One interval per device, with its own beginning and length: for devices that join a fleet
/// one by one and leave it again.
public struct StaySource: TimelineSource {
  public static let name = "stay"
  public static let summary =
    "One interval per device: a uniform beginning and a log-normal length; joining and leaving"

  public struct Settings: PartSettings {
    /// The earliest beginning.
    public var from = SimTime.start
    /// The beginning is uniform over this long a time from there.
    public var within = SimDuration.zero
    /// The median length; nil: to the end.
    public var median: SimDuration?
    /// Sigma of the length.
    public var spread = 0.0
    /// The state; nil: the series' usual one.
    public var state: StateName?

    public init() {}
    public static var fields: [Field<Settings>] {
      [
        Field("from", \.from, .sinceStart, "Earliest beginning"),
        Field(
          "within", \.within, .duration(), "Range of the uniform beginning"),
        Field(
          "median", \.median, optional: .duration(atLeast: .seconds(1)),
          "Median length; absent: to the end of the run"),
        Field("spread", \.spread, .number(0...5), "Sigma of the log-normal length"),
        Field(
          "state", \.state, optional: .state,
          "The state; absent: plugged, wifi, active, open, up, here"),
      ]
    }
  }

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var namedStates: [StateName] { settings.state.map { [$0] } ?? [] }

  /// Draws: at slot 0 one `uniform` for the beginning and, where there is a median, one `normal`
  /// for the length.
  public func timeline(_ context: TimelineContext) -> any Timeline {
    var stream = context.key.stream(slot: 0)
    let start = settings.from + settings.within.scaled(by: stream.uniform())
    var end = SimTime.never
    if let median = settings.median {
      let length = stream.logNormal(median: median.seconds, sigma: settings.spread)
      end = start + max(SimDuration(microseconds: 1), SimDuration(roundingUp: length))
    }
    let state = settings.state.flatMap { context.space.number(of: $0.name) }
    return IntervalTimeline(
      [Interval(start: start, end: end, state: state ?? context.space.usual)], otherwise: 0)
  }
}
