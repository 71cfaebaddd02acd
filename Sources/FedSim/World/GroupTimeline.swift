import Numerics

/// One exogenous series of all devices of a group: what they share is there once, and each has a
/// memory of a few bytes, or none.
///
/// Answers are those of each device's own `Timeline`, and do not depend on what was asked before.
public protocol GroupTimeline {
  /// A stretch around `time` in which the state of a device stays as it is.
  mutating func segment(of ordinal: Int, at time: SimTime) -> Segment
  /// The next time after `time` at which a device's state changes before `horizon`, and the new
  /// state.
  mutating func next(
    of ordinal: Int, after time: SimTime, before horizon: SimTime
  ) -> (time: SimTime, state: UInt8)?
}

/// A series with records of devices that belong into the devices' rows.
protocol RecordedTimeline: GroupTimeline {
  /// Moves the records into the rows, the first of them into a device's row.
  mutating func move(to rows: DeviceRows, device: Int)
}

extension GroupTimeline {
  /// The state of a device at a time.
  public mutating func state(of ordinal: Int, at time: SimTime) -> UInt8 {
    segment(of: ordinal, at: time).state
  }

  /// The next time after `time` at which a device's state changes before `horizon`, and the new
  /// state.
  public mutating func next(
    of ordinal: Int, after time: SimTime, before horizon: SimTime
  ) -> (time: SimTime, state: UInt8)? {
    var segment = segment(of: ordinal, at: time)
    let state = segment.state
    while segment.end < horizon {
      let next = self.segment(of: ordinal, at: segment.end)
      if next.state != state { return (segment.end, next.state) }
      segment = next
    }
    return nil
  }
}

/// What a source may know when it makes the series of a whole group.
public struct GroupContext: Sendable {
  /// The context of the device with ordinal 0, its path left out.
  public let first: TimelineContext
  /// The group's name.
  public let name: String
  /// How many devices it has.
  public let count: Int

  /// A context.
  public init(first: TimelineContext, name: String, count: Int) {
    self.first = first
    self.name = name
    self.count = count
  }

  /// The context of one device.
  public func device(_ ordinal: Int) -> TimelineContext {
    first.device(ordinal, path: "\(name)/\(ordinal)")
  }
}

extension TimelineContext {
  /// The same for another device of the group.
  func device(_ ordinal: Int, path: String) -> TimelineContext {
    TimelineContext(
      space: space, key: key.with(ordinal: UInt32(ordinal)), device: path, civilStart: civilStart,
      utcOffset: utcOffset, tables: tables, traces: traces, seed: seed)
  }
}

/// A separate series for each device.
struct SeparateTimelines: GroupTimeline {
  private var timelines: [any Timeline]

  init(count: Int, _ make: (Int) -> any Timeline) { timelines = (0..<count).map(make) }

  mutating func segment(of ordinal: Int, at time: SimTime) -> Segment {
    timelines[ordinal].segment(at: time)
  }
}

/// The same series for all devices.
struct SharedTimeline<Base: Timeline>: GroupTimeline {
  private var base: Base

  init(_ base: Base) { self.base = base }

  mutating func segment(of ordinal: Int, at time: SimTime) -> Segment { base.segment(at: time) }
}
