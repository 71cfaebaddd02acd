/// The calendar series of a group's devices: of each, the stretches of the day that was asked about
/// last are kept, six numbers a device; the day itself is made anew from its key.
struct DailyTimelines: GroupTimeline {
  /// What is kept of one device.
  private struct Day {
    var start = SimTime.never
    var count: UInt8 = 0
    var states: (UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0)
  }

  /// How many stretches a day may have to be kept.
  private static let most = 5
  private var days: [Day]
  /// The end of each stretch. Shapes: [device × most].
  private var ends: [SimTime]
  private var latest: (ordinal: Int, timeline: DailyTimeline)?
  private let make: (Int) -> DailyTimeline

  /// The series that `make` gives for each ordinal.
  init(count: Int, _ make: @escaping (Int) -> DailyTimeline) {
    days = Array(repeating: Day(), count: count)
    ends = Array(repeating: .start, count: Self.most * count)
    self.make = make
  }

  mutating func segment(of ordinal: Int, at time: SimTime) -> Segment {
    if let known = kept(ordinal, time) { return known }
    if latest?.ordinal != ordinal { latest = (ordinal, make(ordinal)) }
    keep(ordinal, around: time)
    return kept(ordinal, time) ?? latest!.timeline.segment(at: time)
  }

  private func kept(_ ordinal: Int, _ time: SimTime) -> Segment? {
    var start = days[ordinal].start
    guard time >= start else { return nil }
    for place in 0..<Int(days[ordinal].count) {
      let end = ends[Self.most * ordinal + place]
      if time < end {
        return Segment(start: start, end: end, state: state(place, days[ordinal]))
      }
      start = end
    }
    return nil
  }

  private func state(_ place: Int, _ day: Day) -> UInt8 {
    switch place {
    case 0: day.states.0
    case 1: day.states.1
    case 2: day.states.2
    case 3: day.states.3
    default: day.states.4
    }
  }

  /// Keeps the stretches of a day, unless there are too many.
  private mutating func keep(_ ordinal: Int, around time: SimTime) {
    let context = latest!.timeline.context
    let day = context.day(of: time)
    var cursor = context.midnight(ofDay: day)
    let end = context.midnight(ofDay: day + 1)
    var kept = Day()
    kept.start = cursor
    while cursor < end {
      guard kept.count < Self.most else { return days[ordinal] = Day() }
      let segment = latest!.timeline.segment(at: cursor)
      let place = Int(kept.count)
      ends[Self.most * ordinal + place] = segment.end
      switch place {
      case 0: kept.states.0 = segment.state
      case 1: kept.states.1 = segment.state
      case 2: kept.states.2 = segment.state
      case 3: kept.states.3 = segment.state
      default: kept.states.4 = segment.state
      }
      kept.count += 1
      cursor = segment.end
    }
    days[ordinal] = kept
  }
}
