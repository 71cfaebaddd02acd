/// A stretch in which a series is in another state than usual, with the soft expiry of a window.
public struct Interval: Sendable, Equatable {
  /// Its first moment.
  public let start: SimTime
  /// For a window: when the soft expiry comes; the state until then is `state`.
  public let soft: SimTime?
  /// The first moment after it.
  public let end: SimTime
  /// The state's number.
  public let state: UInt8

  /// An interval.
  public init(start: SimTime, soft: SimTime? = nil, end: SimTime, state: UInt8) {
    self.start = start
    self.soft = soft
    self.end = end
    self.state = state
  }
}

/// A series given by sorted, disjoint intervals; `otherwise` between them.
///
/// Complexity: a question costs O(log n).
public struct IntervalTimeline: Timeline {
  private let segments: [Segment]

  /// A series of these intervals, which do not overlap and are in order.
  public init(_ intervals: [Interval], otherwise: UInt8) {
    var segments: [Segment] = []
    var time = SimTime(microseconds: .min)
    func append(_ end: SimTime, _ state: UInt8) {
      if end > time { segments.append(Segment(start: time, end: end, state: state)) }
      time = max(time, end)
    }
    for interval in intervals {
      precondition(interval.start >= time && interval.end >= interval.start, "sorted, disjoint")
      append(interval.start, otherwise)
      if let soft = interval.soft {
        append(soft, interval.state)
        append(interval.end, 1)  // expiring
      } else {
        append(interval.end, interval.state)
      }
    }
    append(.never, otherwise)
    self.segments = segments
  }

  /// The segment that holds `time`.
  public func segment(at time: SimTime) -> Segment {
    var low = 0
    var high = segments.count - 1
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].end > time { high = middle } else { low = middle + 1 }
    }
    return segments[low]
  }
}

/// A series made of intervals that belong to days: those of the days around a time decide.
///
/// An interval may begin up to a day before its day's midnight and end up to two days after it.
/// Where two overlap, the one that starts later wins. A source that knows better which days'
/// intervals may touch a day says so (`reach`).
struct DailyTimeline: Timeline {
  let context: TimelineContext
  let otherwise: UInt8
  /// The days, counted from the one asked about, whose intervals may touch it.
  var reach: ClosedRange<Int64> = -2...1
  /// The day asked about last, and the intervals of the days around it: by day, and one behind the
  /// other.
  var lastDay: Int64?
  var near: [[Interval]] = []
  var all: [Interval] = []
  /// The intervals of a day: a function of the day's number alone.
  let intervals: @Sendable (Int64) -> [Interval]

  mutating func segment(at time: SimTime) -> Segment {
    let day = context.day(of: time)
    if day != lastDay { move(to: day) }
    // Beyond tomorrow's midnight intervals of later days may begin: the segment ends there.
    var start = context.midnight(ofDay: day)
    var end = context.midnight(ofDay: day + 1)
    var winner: Interval?
    for interval in all where interval.start <= time && time < interval.end {
      if let best = winner, best.start >= interval.start { continue }
      winner = interval
    }
    for interval in all {
      let (from, to) = (interval.start, interval.end)
      if from <= time { start = max(start, from) } else { end = min(end, from) }
      if to <= time { start = max(start, to) } else { end = min(end, to) }
    }
    return Segment(start: start, end: end, state: winner?.state ?? otherwise)
  }

  /// Finds the intervals of the days around one; those of a day that was near are still known.
  private mutating func move(to day: Int64) {
    if let lastDay, day == lastDay + 1 {
      near.removeFirst()
      near.append(intervals(day + reach.upperBound))
    } else {
      near = reach.map { intervals(day + $0) }
    }
    lastDay = day
    all = near.flatMap { $0 }
  }
}

/// A window's series made from one of two states: the last `grace` before the end is `expiring`.
struct WindowTimeline: Timeline {
  var base: any Timeline
  let grace: SimDuration

  mutating func segment(at time: SimTime) -> Segment {
    var segment = base.segment(at: time)
    guard segment.state == StateSpace.window.usual else { return segment }
    // Join what follows in the same state: the grace counts back from the true end.
    while segment.end != .never {
      let next = base.segment(at: segment.end)
      if next.state != segment.state { break }
      segment = Segment(start: segment.start, end: next.end, state: segment.state)
    }
    // A window whose end was given with its own soft expiry keeps it.
    if segment.end == .never || base.segment(at: segment.end).state == 1 { return segment }
    let soft = max(segment.start, segment.end - grace)
    return time < soft
      ? Segment(start: segment.start, end: soft, state: segment.state)
      : Segment(start: soft, end: segment.end, state: 1)
  }
}

/// Intervals by device, as read from a file.
public struct IntervalTable: Sendable {
  /// One line of the file.
  public struct Row: Sendable {
    /// The device's path, such as `phones/17`; `*` for every device.
    public let device: String
    /// When it begins.
    public let from: SimTime
    /// A window's soft expiry, where given.
    public let soft: SimTime?
    /// When it ends.
    public let to: SimTime
    /// The state's name; nil means the series' usual one.
    public let state: String?

    /// A line.
    public init(device: String, from: SimTime, soft: SimTime?, to: SimTime, state: String?) {
      self.device = device
      self.from = from
      self.soft = soft
      self.to = to
      self.state = state
    }
  }

  private let rows: [Row]
  private let ranges: [String: Range<Int>]

  /// A table of lines; those of one device are put in order of time.
  public init(rows: [Row]) {
    self.rows = rows.enumerated().sorted { a, b in
      (a.element.device, a.element.from, a.offset) < (b.element.device, b.element.from, b.offset)
    }.map(\.element)
    var ranges: [String: Range<Int>] = [:]
    var first = 0
    for index in 0...self.rows.count {
      if index == self.rows.count || self.rows[index].device != self.rows[first].device {
        if index > first { ranges[self.rows[first].device] = first..<index }
        first = index
      }
    }
    self.ranges = ranges
  }

  /// The lines of one device, in order of time; those of `*` where it has no lines.
  public func rows(of device: String) -> ArraySlice<Row> {
    rows[ranges[device] ?? ranges["*"] ?? 0..<0]
  }
}
