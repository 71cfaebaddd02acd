/// The calendar series of a group's devices: of each, the stretches of the day that was asked about
/// last are kept, six numbers a device; the day itself is made again from its key.
struct DailyTimelines: RecordedTimeline {
  /// What is kept of one device: the ends of its stretches and their states.
  struct Day {
    private let start: SimTime
    /// Each end in microseconds from the start in the lower 40 bits, and above them the state.
    private var stretches = (UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))

    private static let reach: Int64 = 1 << 40

    /// A day of which nothing is kept.
    init(start: SimTime = .never) { self.start = start }

    func segment(at time: SimTime) -> Segment? {
      guard time >= start else { return nil }
      var begin = start
      for place in 0..<DailyTimelines.most {
        let stretch = self[place]
        guard stretch != 0 else { return nil }
        let end = start + SimDuration(microseconds: Int64(stretch & UInt64(Self.reach - 1)))
        if time < end {
          return Segment(start: begin, end: end, state: UInt8(truncatingIfNeeded: stretch >> 40))
        }
        begin = end
      }
      return nil
    }

    /// Keeps a stretch at a place after those before it; whether there is room for it.
    mutating func set(_ segment: Segment, at place: Int) -> Bool {
      let end = (segment.end - start).microseconds
      guard place < DailyTimelines.most, end > 0, end < Self.reach else { return false }
      self[place] = UInt64(end) | UInt64(segment.state) << 40
      return true
    }

    private subscript(place: Int) -> UInt64 {
      get {
        switch place {
        case 0: stretches.0
        case 1: stretches.1
        case 2: stretches.2
        case 3: stretches.3
        default: stretches.4
        }
      }
      set {
        switch place {
        case 0: stretches.0 = newValue
        case 1: stretches.1 = newValue
        case 2: stretches.2 = newValue
        case 3: stretches.3 = newValue
        default: stretches.4 = newValue
        }
      }
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

  mutating func move(to rows: DeviceRows, device: Int) { days.move(to: rows, device: device) }

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
    var kept = Day(start: cursor)
    var place = 0
    while cursor < end {
      let segment = latest!.timeline.segment(at: cursor)
      guard kept.set(segment, at: place) else { return days[ordinal] = Day() }
      place += 1
      cursor = segment.end
    }
    days[ordinal] = kept
  }
}
