/// The calendar series of a group's devices: of each, the stretches of the day that was asked about
/// last are kept, six numbers a device; the day itself is made again from its key.
struct DailyTimelines: GroupTimeline {
  /// What is kept of one device: the ends of its stretches and their states.
  private struct Day {
    private var ends = SIMD4<Int64>()
    private var lastEnd: Int64 = 0
    private var states = SIMD8<UInt8>()
    private(set) var count: UInt8 = 0
    var start = SimTime.never

    func segment(at time: SimTime) -> Segment? {
      guard time >= start else { return nil }
      var start = start
      for place in 0..<Int(count) {
        let end = SimTime(microseconds: place < 4 ? ends[place] : lastEnd)
        if time < end { return Segment(start: start, end: end, state: states[place]) }
        start = end
      }
      return nil
    }

    mutating func append(_ segment: Segment) {
      let place = Int(count)
      if place < 4 {
        ends[place] = segment.end.microseconds
      } else {
        lastEnd = segment.end.microseconds
      }
      states[place] = segment.state
      count += 1
    }
  }

  /// How many stretches a day may have to be kept.
  private static let most = 5
  private var days = RecordArray<Day>()
  private var latest: (ordinal: Int, timeline: DailyTimeline)?
  private let make: (Int) -> DailyTimeline

  /// The series that `make` gives for each ordinal.
  init(count: Int, _ make: @escaping (Int) -> DailyTimeline) {
    days.reserveCapacity(count)
    for _ in 0..<count { days.append(Day()) }
    self.make = make
  }

  mutating func segment(of ordinal: Int, at time: SimTime) -> Segment {
    if let known = days[ordinal].segment(at: time) { return known }
    if latest?.ordinal != ordinal { latest = (ordinal, make(ordinal)) }
    keep(ordinal, around: time)
    return days[ordinal].segment(at: time) ?? latest!.timeline.segment(at: time)
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
      kept.append(segment)
      cursor = segment.end
    }
    days[ordinal] = kept
  }
}
