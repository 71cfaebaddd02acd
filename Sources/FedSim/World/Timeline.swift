import Numerics
import Schema

/// The states that a series can be in, by name; the last is the one that intervals mean by default.
public struct StateSpace: Sendable, Equatable {
  /// What the series is called in messages.
  public let name: String
  /// The states; a state's number is its place here.
  public let states: [String]

  /// A space of states.
  public init(_ name: String, _ states: [String]) {
    self.name = name
    self.states = states
  }

  /// The number of the state that intervals mean by default.
  public var usual: UInt8 { UInt8(states.count - 1) }

  /// The number of a state.
  public func number(of state: String) -> UInt8? {
    states.firstIndex(of: state).map { UInt8($0) }
  }

  /// Whether a device is plugged in.
  public static let power = StateSpace("power", ["unplugged", "plugged"])
  /// How a device is connected.
  public static let link = StateSpace("link", ["offline", "cellular", "wifi"])
  /// Whether a person uses a device.
  public static let usage = StateSpace("usage", ["locked", "active"])
  /// Whether a background window is open; `expiring` is the time from the soft to the hard expiry.
  public static let window = StateSpace("window", ["closed", "expiring", "open"])
  /// Whether it is hot around a device.
  public static let ambient = StateSpace("ambient", ["mild", "hot"])
  /// Whether background refresh is switched on.
  public static let setting = StateSpace("setting", ["off", "on"])
  /// The share of a link's rates, in percent.
  public static let share = StateSpace("share", (0...100).map(String.init))
  /// Whether the server answers, or whether it reaches the internet.
  public static let server = StateSpace("server", ["down", "up"])
}

/// A stretch of time in one state.
public struct Segment: Sendable, Equatable {
  /// Its first moment.
  public let start: SimTime
  /// The first moment after it.
  public let end: SimTime
  /// The state's number.
  public let state: UInt8

  /// A stretch of time.
  public init(start: SimTime, end: SimTime, state: UInt8) {
    self.start = start
    self.end = end
    self.state = state
  }
}

/// One exogenous series of one device: a piecewise constant function of time and of its key alone.
///
/// Answers do not depend on what was asked before; a memory of the last answer is allowed.
public protocol Timeline {
  /// A stretch around `time` in which the state stays as it is; neighbours may have the same state.
  mutating func segment(at time: SimTime) -> Segment
}

extension Timeline {
  /// The state at a time.
  public mutating func state(at time: SimTime) -> UInt8 { segment(at: time).state }

  /// The next time after `time` at which the state changes before `horizon`, and the new state.
  public mutating func next(
    after time: SimTime, before horizon: SimTime
  ) -> (time: SimTime, state: UInt8)? {
    var segment = segment(at: time)
    let state = segment.state
    while segment.end < horizon {
      let next = self.segment(at: segment.end)
      if next.state != state { return (segment.end, next.state) }
      segment = next
    }
    return nil
  }
}

/// What a source may know when it makes the series of one device.
public struct TimelineContext: Sendable {
  /// The states of the series.
  public let space: StateSpace
  /// The key of the series' random streams.
  public let key: StreamKey
  /// The device's path, such as `phones/17`; `server` for the server.
  public let device: String
  /// The scenario's start in seconds since 1970-01-01T00:00:00Z.
  public let civilStart: Int64
  /// Local time minus UTC.
  public let utcOffset: SimDuration
  /// Tables that were read for sources that name a file.
  public let tables: [String: IntervalTable]
  /// Traces that were read for sources of traces, by the name that a source gives.
  public let traces: [String: TraceSet]
  /// The seed of the world.
  public let seed: UInt64

  /// A context.
  public init(
    space: StateSpace, key: StreamKey, device: String, civilStart: Int64 = 0,
    utcOffset: SimDuration = .zero, tables: [String: IntervalTable] = [:],
    traces: [String: TraceSet] = [:], seed: UInt64 = 0
  ) {
    self.space = space
    self.key = key
    self.device = device
    self.civilStart = civilStart
    self.utcOffset = utcOffset
    self.tables = tables
    self.traces = traces
    self.seed = seed
  }

  /// The local midnight that begins the day numbered `day`; day 0 is the local day of the start.
  func midnight(ofDay day: Int64) -> SimTime {
    let local = civilStart * 1_000_000 + utcOffset.microseconds
    let sinceMidnight = local - local.floored(by: 86_400_000_000) * 86_400_000_000
    return SimTime(microseconds: day * 86_400_000_000 - sinceMidnight)
  }

  /// The number of the local day in which `time` is.
  func day(of time: SimTime) -> Int64 {
    (time - midnight(ofDay: 0)).microseconds.floored(by: 86_400_000_000)
  }

  /// The local weekday of a day, Monday being 0.
  func weekday(ofDay day: Int64) -> Int {
    let local = civilStart * 1_000_000 + utcOffset.microseconds
    let sinceEpoch = local.floored(by: 86_400_000_000) + day
    let weekday = (sinceEpoch + 3) % 7
    return Int(weekday < 0 ? weekday + 7 : weekday)
  }
}

/// Makes the series of each device of a group.
public protocol TimelineSource: Part {
  /// The series of the device that the context names.
  func timeline(_ context: TimelineContext) -> any Timeline
  /// The series of all devices of a group, where they can share what they are made of.
  func timelines(_ context: GroupContext) -> any GroupTimeline
  /// The states that the settings name, to be checked against the series' space.
  var namedStates: [StateName] { get }
  /// The files that have to be read before a series can be made.
  var files: [FileName] { get }
  /// Whether intervals give a separate soft expiry, which only windows have.
  var givesSoftExpiry: Bool { get }
  /// The series that it can give; nil: any.
  var spaces: [StateSpace]? { get }
  /// After this long what its files hold begins again; nil: never, or they say it themselves.
  var period: SimDuration? { get }
  /// It, where it plays traces from a file with many of them; nil: it does not.
  var asTraces: (any TraceSource)? { get }
}

extension TimelineSource {
  /// Each device has its own series.
  public func timelines(_ context: GroupContext) -> any GroupTimeline {
    SeparateTimelines(count: context.count) { timeline(context.device($0)) }
  }
  /// No state is named.
  public var namedStates: [StateName] { [] }
  /// No file is needed.
  public var files: [FileName] { [] }
  /// No soft expiry is given.
  public var givesSoftExpiry: Bool { false }
  /// It can give any series.
  public var spaces: [StateSpace]? { nil }
  /// Never.
  public var period: SimDuration? { nil }
  /// It does not.
  public var asTraces: (any TraceSource)? { nil }
}

extension Seam where Value == any TimelineSource {
  /// Where the exogenous series of a device come from.
  public static var timelineSource: Seam {
    Seam("timeline source", "When is a device plugged in, connected, in use, in a window?")
  }
}

/// A state's name as written, checked once the series is known.
public struct StateName: Sendable {
  /// The name.
  public let name: String
  /// Where in the scenario the state is named.
  public let place: Place

  /// A name written in a program.
  public init(_ name: String, at place: Place = .none) {
    self.name = name
    self.place = place
  }
}

/// A file's name as written, with the place to point at when the file is no good.
public struct FileName: Sendable {
  /// The path.
  public let path: String
  /// Where in the scenario the file is named.
  public let place: Place

  /// A path written in a program.
  public init(_ path: String, at place: Place = .none) {
    self.path = path
    self.place = place
  }
}

extension Form where Value == StateName {
  /// The name of a state.
  public static var state: Form {
    Form(
      shape: .text, expected: "the name of a state",
      read: { node, reader in
        guard case .scalar(let text, _) = node.content, !text.isEmpty else {
          reader.report(node, expected: "the name of a state")
          return nil
        }
        return StateName(text, at: node.place)
      }, write: { Text.isInteger($0.name) ? .quoted($0.name) : .text($0.name) })
  }
}

extension Form where Value == FileName {
  /// The path of a file, from the scenario's folder.
  public static var file: Form {
    Form(
      shape: .path, expected: "the path of a file, from the scenario's folder",
      read: { node, reader in
        guard case .scalar(let text, _) = node.content, !text.isEmpty else {
          reader.report(node, expected: "the path of a file, from the scenario's folder")
          return nil
        }
        return FileName(text, at: node.place)
      }, write: { .quoted($0.path) })
  }
}

extension Form where Value == Choice<any TimelineSource> {
  /// A source for a series with these states; states of another series are faults.
  public static func timeline(_ space: StateSpace) -> Form {
    let part = Form.part(.timelineSource)
    let expected = "a timeline source for \(space.name) (\(space.states.joined(separator: ", ")))"
    return Form(
      shape: part.shape, expected: expected,
      read: { node, reader in
        guard let choice = reader.readPart(node, .timelineSource) else { return nil }
        var isRight = true
        if let spaces = choice.value.spaces, !spaces.contains(space) {
          isRight = false
          let names = spaces.map(\.name).joined(separator: ", ")
          reader.report(
            .contradiction("`\(choice.name)` has no series of \(space.name); it has \(names)"),
            at: node.place)
        }
        for state in choice.value.namedStates where space.number(of: state.name) == nil {
          isRight = false
          reader.report(
            .unknownName(
              state.name, seam: "state of \(space.name)",
              nearest: Spelling.nearest(to: state.name, among: space.states),
              known: space.states), at: state.place)
        }
        if choice.value.givesSoftExpiry, space != .window {
          isRight = false
          reader.report(
            .contradiction("`soft` is for background windows only"), at: node.place)
        }
        return isRight ? choice : nil
      }, write: { $0.resolved })
  }
}
