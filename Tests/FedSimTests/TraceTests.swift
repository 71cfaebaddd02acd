import FedSim
import Numerics
import Schema
import Testing

private let second: Int64 = 1_000_000

/// The row of FedScale's availability trace that REFL quotes: 40.8 % of six days.
private enum Sample {
  static let active: [Int64] = [12788, 100044, 188992, 271372, 276663, 352625, 356267, 441193]
  static let inactive: [Int64] = [65881, 133574, 208292, 276575, 295006, 356236, 400906, 475099]
  static let finish: Int64 = 518_400

  /// Whether an interval holds a time: the last second of one counts, as in FedScale.
  static func isActive(at time: Int64) -> Bool {
    let rest = time % finish
    return zip(active, inactive).contains { $0 <= rest && rest <= $1 }
  }
}

/// FedScale's `is_active` as it is coded: a cursor that advances by one at most in each question.
private struct Cursor {
  var index = 0

  mutating func isActive(at time: Int64) -> Bool {
    let rest = time % Sample.finish
    if rest > Sample.inactive[index] { index += 1 }
    index %= Sample.active.count
    return Sample.active[index] <= rest && rest <= Sample.inactive[index]
  }
}

@Suite("Traces")
struct TraceTests {
  private static func fedScale(
    _ change: (inout FedScaleSource.Settings) -> Void = { _ in }
  ) -> FedScaleSource {
    var settings = FedScaleSource.Settings()
    settings.replay.file = FileName("behave")
    change(&settings)
    return FedScaleSource(settings)
  }

  /// The series of a device whose file has these traces.
  private static func timeline(
    _ source: any TraceSource, _ traces: TraceSet, _ space: StateSpace = .window,
    ordinal: UInt32 = 0, start: Int64 = 1_763_337_600, offset: SimDuration = .zero
  ) -> any Timeline {
    source.timeline(traceContext(source, traces, space, ordinal, start, offset))
  }

  private static func traceContext(
    _ source: any TraceSource, _ traces: TraceSet, _ space: StateSpace = .window,
    _ ordinal: UInt32 = 0, _ start: Int64 = 1_763_337_600, _ offset: SimDuration = .zero,
    group: String = "phones", seed: UInt64 = 1
  ) -> TimelineContext {
    TimelineContext(
      space: space,
      key: StreamKey(seed: seed, purpose: Purpose(space.name), group: group, ordinal: ordinal),
      device: "\(group)/\(ordinal)", civilStart: start, utcOffset: offset,
      traces: [source.traceName(space): traces], seed: seed)
  }

  private static func sample(_ source: FedScaleSource) -> TraceSeries {
    source.series(
      zip(Sample.active, Sample.inactive).map { (from: $0, to: $1) }, period: Sample.finish, .window
    )
  }

  @Test(
    "FedScale's cursor answers 27.4 % of 30 wrapped days wrong; its trace played here, none",
    arguments: [(120, 134, 409), (600, 133, 407)])
  func cursor(step: Int64, seenOnline: Int, online: Int) {
    let source = Self.fedScale()
    var ours = Self.timeline(source, [Self.sample(source)])
    var cursor = Cursor()
    var (asked, wrong, ourWrong, inSixDays, actives, seen) = (0, 0, 0, 0, 0, 0)
    for time in stride(from: Int64(0), to: 30 * 86_400, by: Int(step)) {
      let isActive = Sample.isActive(at: time)
      let cursorSays = cursor.isActive(at: time)
      asked += 1
      if cursorSays != isActive {
        wrong += 1
        if time < Sample.finish { inSixDays += 1 }
      }
      if isActive { actives += 1 }
      if cursorSays { seen += 1 }
      let state = ours.state(at: SimTime(microseconds: time * second))
      // At the very last second of an interval FedScale counts it, and a half-open one has ended.
      let isEnd = Sample.inactive.contains(time % Sample.finish)
      if !isEnd, (state == 2) != isActive { ourWrong += 1 }
    }
    func perMille(_ count: Int) -> Int { (1000 * count + asked / 2) / asked }
    #expect(asked == 30 * 86_400 / Int(step) && ourWrong == 0 && inSixDays == 0)
    #expect(perMille(wrong) == 274, "\(wrong) of \(asked)")
    // Asked every ten minutes it takes the device for online in 13.3 % of the time, not 40.7 %.
    #expect(perMille(seen) == seenOnline && perMille(actives) == online, "\(seen), \(actives)")
  }

  @Test("answers are those of a plain interval test, in any order, over 30 wrapped days")
  func anyOrder() {
    for seed in UInt64(1)...30 {
      var stream = StreamKey(seed: seed, purpose: "trace-test").stream(slot: 0)
      var changes: [(at: Int64, state: UInt8)] = []
      let period = Int64(1 + stream.below(200_000)) * second
      for _ in 0..<stream.below(40) {
        let at = Int64(stream.uniform() * Double(period + 1))
        changes.append((min(at, period), UInt8(stream.below(3))))
      }
      changes.sort { $0.at < $1.at }
      let series = TraceSeries(
        changes, initial: 0, period: SimDuration(microseconds: period))
      let offset = Int64(stream.below(500_000)) * second
      var settings = FedScaleSource.Settings()
      settings.offset = SimDuration(microseconds: offset)
      let source = FedScaleSource(settings)
      var timeline = Self.timeline(source, [series], .link)
      for _ in 0..<2_000 {
        let time = Int64(stream.uniform() * 30 * 86_400_000_000)
        let moment = (time + offset) % period
        // The last change at or before the moment; before all of them, the last one of all.
        let expected = (changes.last { $0.at <= moment } ?? changes.last)?.state ?? 0
        let segment = timeline.segment(at: SimTime(microseconds: time))
        #expect(segment.state == expected, "seed \(seed), \(time)")
        #expect(segment.start.microseconds <= time && segment.end.microseconds > time)
        if segment.end != .never {
          // Up to its end nothing changes.
          let last = (segment.end.microseconds - 1 + offset) % period
          let state = (changes.last { $0.at <= last } ?? changes.last)?.state ?? 0
          #expect(state == expected, "seed \(seed), the end of the segment at \(time)")
        }
      }
    }
  }

  @Test("what holds at the end of a trace holds on over the wrap, until the first change")
  func carried() {
    let period = SimDuration.hours(10)
    let hour: Int64 = 3_600_000_000
    let series = TraceSeries(
      [(2 * hour, 1), (4 * hour, 0), (9 * hour, 1)], initial: 0, period: period)
    var timeline = Self.timeline(Self.fedScale(), [series], .power)
    var states = ""
    for hour in 0..<24 { states += "\(timeline.state(at: .start + .hours(Int64(hour))))" }
    // 9 h to 14 h is one interval: 9 h, the wrap at 10 h, and on to 4 h of the next turn.
    #expect(states == "111100000111110000011111")
    #expect(timeline.next(after: .start + .hours(9), before: .never)?.time == .start + .hours(14))
    #expect(series.times == [0, 4 * hour, 9 * hour] && series.states == [1, 0, 1])
  }

  @Test("a trace that does not begin again keeps its last state, and begins with the default")
  func once() {
    let source = Self.fedScale { $0.replay.cycle = false }
    let series = source.series([(from: 10, to: 20), (from: 30, to: 40)], period: 40, .link)
    var timeline = Self.timeline(source, [series], .link)
    let states = [0, 9, 10, 19, 20, 29, 30, 39, 40, 41, 1_000_000].map {
      timeline.state(at: .start + .seconds(Int64($0)))
    }
    #expect(states == [0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 0])
    #expect(timeline.segment(at: .start + .seconds(50)).end == .never)
    #expect(timeline.segment(at: .start).start.microseconds == .min)
  }

  @Test("extreme times are answered too")
  func extremes() {
    let series = TraceSeries([(5, 1), (9, 0)], initial: 0, period: SimDuration(microseconds: 11))
    for cycle in [true, false] {
      let source = Self.fedScale { ($0.replay.cycle, $0.offset) = (cycle, .forever) }
      let trace = cycle ? series : TraceSeries([(5, 1), (9, 0)], initial: 0, period: nil)
      var timeline = Self.timeline(source, [trace], .power)
      for time in [Int64.min, -1, 0, 1, Int64.max - 1] {
        let segment = timeline.segment(at: SimTime(microseconds: time))
        #expect(segment.start.microseconds <= time && segment.end.microseconds > time)
      }
    }
  }

  @Test("an available phone is plugged in, on Wi-Fi, locked, in a window and here")
  func fedScaleSpaces() {
    let source = Self.fedScale()
    for (space, states) in [
      (StateSpace.power, [0, 1, 0]), (.link, [0, 2, 0]), (.usage, [1, 0, 1]),
      (.window, [0, 2, 0]), (.presence, [0, 1, 0]),
    ] {
      var timeline = Self.timeline(source, [source.series([(10, 20)], period: 30, space)], space)
      let found = [5, 15, 25].map { timeline.state(at: .start + .seconds($0)) }
      #expect(found == states.map { UInt8($0) }, "\(space.name)")
    }
  }

  // MARK: Which trace

  @Test("device n has trace n in the file's order, from the first again; or one by its name")
  func assignment() {
    let inOrder = Self.fedScale { $0.replay.firstTrace = 4 }
    let traces = TraceSet(repeating: TraceSeries([], initial: 0, period: nil), count: 7)
    func numbers(
      _ source: FedScaleSource, _ count: UInt32, seed: UInt64 = 1, group: String = "phones"
    ) -> [Int] {
      (0..<count).map { ordinal in
        source.traceNumber(
          Self.traceContext(source, traces, .link, ordinal, group: group, seed: seed))
      }
    }
    #expect(numbers(inOrder, 9) == [4, 5, 6, 0, 1, 2, 3, 4, 5])
    let drawn = Self.fedScale { $0.replay.assign = .drawn }
    let forty = numbers(drawn, 40)
    #expect(numbers(drawn, 60).prefix(40) == forty[...], "another device moves nobody")
    #expect(Set(forty) == Set(0..<7), "all are drawn in 40 draws of 7")
    #expect(numbers(drawn, 40, seed: 2) != forty && numbers(drawn, 40, group: "pads") != forty)
    // Every series of a device is that of one trace.
    let context = Self.traceContext(drawn, traces, .power, 11)
    #expect(drawn.traceNumber(context) == forty[11])
  }
}
