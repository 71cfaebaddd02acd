import FedSim
import Numerics
import Schema
import Testing

@Suite("FLASH's traces")
struct FLASHTests {
  /// 2020-01-29 22:00:00, a Wednesday.
  private static let wednesday: Int64 = 1_580_335_200

  private static func source(
    _ change: (inout FLASHSource.Settings) -> Void = { _ in }
  ) -> FLASHSource {
    var settings = FLASHSource.Settings()
    settings.replay.file = FileName("traces.json")
    change(&settings)
    return FLASHSource(settings)
  }

  private static func messages(_ list: [(Int64, FLASHEvent?)]) -> [FLASHSource.Message] {
    list.map { FLASHSource.Message(second: wednesday + $0.0, event: $0.1) }
  }

  /// The states of a series at some seconds of its trace.
  private static func states(
    _ space: StateSpace, _ list: [(Int64, FLASHEvent?)], at seconds: [Int64],
    _ change: (inout FLASHSource.Settings) -> Void = { _ in }
  ) -> [UInt8] {
    let source = source {
      $0.align = .first
      change(&$0)
    }
    let series = source.series(messages(list), space)
    var timeline = source.timeline(context(source, series, space))
    return seconds.map { timeline.state(at: .start + .seconds($0)) }
  }

  private static func context(
    _ source: FLASHSource, _ series: TraceSeries, _ space: StateSpace,
    start: Int64 = 1_763_337_600, offset: SimDuration = .zero
  ) -> TimelineContext {
    TimelineContext(
      space: space, key: StreamKey(seed: 1, purpose: "test"), device: "phones/0",
      civilStart: start, utcOffset: offset, traces: [source.traceName(space): [series]])
  }

  private static let evening: [(Int64, FLASHEvent?)] = [
    (0, .screenUnlock), (0, .fourthGeneration), (10, .wifi), (20, .screenLock), (30, .chargedOn),
    (35, nil), (40, .unknown), (50, .thirdGeneration), (60, .wifi), (70, .chargedOff),
    (80, .screenUnlock), (90, .phoneOff), (95, .phoneOn), (100, .batteryLow),
  ]

  @Test("each series has its own messages, and a window opens where all three conditions hold")
  func series() {
    let times = Array(stride(from: Int64(5), through: 95, by: 10))
    #expect(Self.states(.power, Self.evening, at: times) == [0, 0, 0, 1, 1, 1, 1, 0, 0, 0])
    // At 45 the network is unknown: as before. At 92 the phone is off, from 95 on as before that.
    #expect(
      Self.states(.link, Self.evening, at: times + [92]) == [1, 2, 2, 2, 2, 1, 2, 2, 2, 2, 0])
    #expect(
      Self.states(.link, Self.evening, at: [45, 55]) { $0.gapPolicy = .offline } == [0, 1])
    #expect(
      Self.states(.usage, Self.evening, at: times + [92]) == [1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0])
    // Locked from 20, charging 30 to 70, Wi-Fi 10 to 40 and from 60.
    #expect(
      Self.states(.window, Self.evening, at: times) { $0.gapPolicy = .offline }
        == [0, 0, 0, 2, 0, 0, 2, 0, 0, 0])
    #expect(
      Self.states(.window, Self.evening, at: times) == [0, 0, 0, 2, 2, 0, 2, 0, 0, 0])
  }

  @Test("a kind of cellular network has its share of the rates; Wi-Fi has all")
  func shares() {
    let list: [(Int64, FLASHEvent?)] = [
      (0, .wifi), (10, .secondGeneration), (20, .thirdGeneration), (30, .fourthGeneration),
      (40, .fifthGeneration), (50, .unknown), (60, .fourthGeneration),
    ]
    let times: [Int64] = [5, 15, 25, 35, 45, 55]
    #expect(Self.states(.share, list, at: times) == [100, 1, 3, 22, 100, 100])
    #expect(
      Self.states(.share, list, at: times) {
        $0.shares = .init()
        $0.shares!.g3 = 40
      } == [100, 1, 40, 22, 100, 100])
  }

  @Test("a screen counts where it is asked for")
  func screen() {
    let list: [(Int64, FLASHEvent?)] = [
      (0, .screenOff), (10, .screenOn), (20, .screenUnlock), (30, .screenOff), (40, .screenLock),
    ]
    let times: [Int64] = [5, 15, 25, 35]
    #expect(Self.states(.usage, list, at: times) == [0, 0, 1, 1])
    #expect(Self.states(.usage, list, at: times) { $0.inUse = .screenOn } == [0, 1, 1, 0])
  }

  @Test("what is known at the end of a trace is known at its beginning")
  func carried() {
    // Charging from 50 to the end at 100 and, after the wrap, to 20.
    let list: [(Int64, FLASHEvent?)] = [
      (0, .wifi), (20, .chargedOff), (50, .chargedOn), (100, .screenLock),
    ]
    #expect(
      Self.states(.power, list, at: [0, 19, 20, 50, 99, 100, 119, 120]) == [
        1, 1, 0, 1, 1, 1, 1, 0,
      ])
    // Locked only by the last message, which is the first moment of the next turn: always.
    #expect(Self.states(.window, list, at: [0, 19, 20, 50, 100, 120]) == [2, 2, 0, 2, 2, 0])
    // Without a wrap nothing is known before its message.
    #expect(
      Self.states(.window, list, at: [0, 60, 99, 100, 1000]) { $0.replay.cycle = false } == [
        0, 0, 0, 2, 2,
      ])
  }

  @Test("a trace comes again after its last message, or after its period")
  func period() {
    let list: [(Int64, FLASHEvent?)] = [(0, .chargedOn), (10, .chargedOff), (40, nil)]
    #expect(
      Self.states(.power, list, at: [0, 9, 10, 39, 40, 49, 50, 80]) == [
        1, 1, 0, 0, 1, 1, 0, 1,
      ])
    let source = Self.source { $0.period = .minutes(1) }
    #expect(source.period(of: Self.messages(list)) == .minutes(1))
    #expect(
      Self.states(.power, list, at: [0, 40, 59, 60, 69, 70]) { $0.period = .minutes(1) } == [
        1, 0, 0, 1, 1, 0,
      ])
  }

  @Test("the run keeps of a trace's time what the settings say, at the device's own offset")
  func alignment() {
    // Charging from Wednesday 23:00 to Thursday 01:00; the trace begins on Wednesday at 22:00.
    let list: [(Int64, FLASHEvent?)] = [(0, nil), (3_600, .chargedOn), (10_800, .chargedOff)]
    func begin(
      _ align: FLASHSource.Align, start: Int64, offset: SimDuration = .zero
    ) -> SimTime? {
      let source = Self.source { ($0.align, $0.period) = (align, .days(7)) }
      let series = source.series(Self.messages(list), .power)
      var timeline = source.timeline(
        Self.context(source, series, .power, start: start, offset: offset))
      return timeline.next(after: .start, before: .never)?.time
    }
    // 2025-11-17T00:00:00Z is a Monday. By the time of day, its midnight is two hours after the
    // trace's beginning, within the interval, which ends an hour later.
    #expect(begin(.day, start: 1_763_337_600) == .start + .hours(1))
    #expect(begin(.first, start: 1_763_337_600) == .start + .hours(1))
    // By the day of the week, Wednesday 23:00 is 2 d 23 h after Monday's midnight.
    #expect(begin(.week, start: 1_763_337_600) == .start + .hours(71))
    // Five hours to the west it is Sunday, 19:00: 21 hours after the trace's beginning by the time
    // of day, and the next interval begins at 169 hours.
    #expect(begin(.day, start: 1_763_337_600, offset: .hours(-5)) == .start + .hours(148))
    #expect(begin(.week, start: 1_763_337_600, offset: .hours(-5)) == .start + .hours(76))
    // By the date, a run that starts on the trace's day at 12:00 finds it 11 hours later; a run
    // a week before it finds the same, seven days being the period.
    #expect(begin(.date, start: Self.wednesday - 36_000) == .start + .hours(11))
    #expect(begin(.date, start: Self.wednesday - 36_000 - 604_800) == .start + .hours(11))
  }
}
