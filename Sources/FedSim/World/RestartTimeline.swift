import Numerics

/// When a server's process runs (1), and when it has stopped to be started again (0).
///
/// It stops at given times, at whole multiples of a period and at random times; each time it is
/// back after the same while. A stop while it is down begins that while again.
struct RestartTimeline: Timeline {
  /// Times that are given, ascending.
  private let given: [SimTime]
  private let period: SimDuration?
  /// The mean of the times from one random stop to the next; nil: there is none.
  private let mean: SimDuration?
  private let downFor: SimDuration
  private let key: StreamKey
  /// The random stops so far, ascending.
  private var drawn: [SimTime] = []

  /// A process that stops at these times after the start of the run.
  init(
    at given: [SimDuration], every period: SimDuration?, mean: SimDuration?, downFor: SimDuration,
    key: StreamKey
  ) {
    self.given = given.map { .start + $0 }.sorted()
    self.period = period
    self.mean = mean
    self.downFor = downFor
    self.key = key
  }

  mutating func segment(at time: SimTime) -> Segment {
    draw(beyond: time)
    guard var stop = lastStop(to: time), stop + downFor > time else {
      let start = lastStop(to: time).map { end(of: $0) } ?? SimTime(microseconds: .min)
      return Segment(start: start, end: nextStop(after: time) ?? .never, state: 1)
    }
    let start = stop
    while let next = nextStop(after: stop), next <= stop + downFor { stop = next }
    return Segment(start: start, end: stop + downFor, state: 0)
  }

  private func end(of stop: SimTime) -> SimTime { stop + downFor }

  /// The last stop that is not after a time.
  private func lastStop(to time: SimTime) -> SimTime? {
    var found = given.last { $0 <= time }
    if let period, time >= .start + period {
      let whole = time.microseconds / period.microseconds * period.microseconds
      found = max(found ?? .start, SimTime(microseconds: whole))
    }
    if let stop = drawn.last(where: { $0 <= time }) { found = max(found ?? .start, stop) }
    return found
  }

  /// The first stop after a time.
  private mutating func nextStop(after time: SimTime) -> SimTime? {
    draw(beyond: time)
    var found = given.first { $0 > time }
    if let period {
      let count = max(0, time.microseconds / period.microseconds) + 1
      found = min(found ?? .never, .start + period * count)
    }
    for stop in drawn.reversed() {
      if stop <= time { break }
      found = min(found ?? .never, stop)
    }
    return found
  }

  /// Draws stops until one is after a time.
  ///
  /// Draws: one `exponential` a stop, at slot = how many were before (seed `world`, purpose
  /// `restarts`).
  private mutating func draw(beyond time: SimTime) {
    guard let mean else { return }
    while drawn.last.map({ $0 <= time }) ?? true {
      var stream = key.stream(slot: UInt64(drawn.count))
      let gap = SimDuration(roundingUp: stream.exponential(mean: mean.seconds))
      drawn.append((drawn.last ?? .start) + max(gap, SimDuration(microseconds: 1)))
    }
  }
}
