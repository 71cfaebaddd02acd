import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("Series")
struct SeriesTests {
  @Test("An interval has its beginning and not its end")
  func intervals() {
    let series = IntervalTimeline([Interval(start: ms(10), end: ms(20), state: 1)], otherwise: 0)
    let times = [9_999, 10_000, 19_999, 20_000].map { SimTime(microseconds: $0) }
    #expect(times.map { series.segment(at: $0).state } == [0, 1, 1, 0])
  }

  static let sources: [(name: String, space: StateSpace, source: any TimelineSource)] = [
    ("weekly", .power, weekly(appointment(.hours(22), .hours(6)), jitter: .hours(1))),
    (
      "diurnal", .link,
      diurnal(
        habit(.hours(20), .hours(8), spread: .hours(2), deviceSpread: .hours(1)),
        habit(.hours(7), .hours(21), spread: .hours(1), probability: 0.7, state: "cellular"))
    ),
    (
      "markov", .link,
      markov([
        ("offline", .hours(2), 1), ("cellular", .minutes(50), 2), ("wifi", .hours(5), 3),
      ])
    ),
    ("fixed", .usage, FixedSource(fixedSettings)),
    ("csv", .usage, CSVSource(csvSettings)),
  ]

  private static var fixedSettings: FixedSource.Settings {
    var settings = FixedSource.Settings()
    settings.intervals = (0..<40).map { number in
      var stretch = FixedSource.Stretch()
      let from: Int64 = Int64(number) * day / 2 + 3
      stretch.from = SimTime(microseconds: from)
      stretch.to = SimTime(microseconds: from + Int64(number + 1) * 1000)
      return stretch
    }
    return settings
  }

  private static var csvSettings: CSVSource.Settings {
    var settings = CSVSource.Settings()
    settings.file = FileName("log.csv")
    return settings
  }

  private static let table = IntervalTable(
    rows: (0..<50).reversed().map { number -> IntervalTable.Row in
      let from: Int64 = Int64(number) * day / 4
      return IntervalTable.Row(
        device: number % 3 == 0 ? "*" : "phones/\(number % 3)",
        from: SimTime(microseconds: from), soft: nil, to: SimTime(microseconds: from + day / 8),
        state: nil)
    })

  @Test("Answers do not depend on the order of the questions", arguments: 0..<5)
  func orderOfQuestions(index: Int) {
    let (name, space, source) = Self.sources[index]
    for seed in UInt64(1)...12 {
      let context = context(
        space, seed: seed, ordinal: UInt32(seed % 3), offset: .hours(Int64(seed) - 6),
        tables: ["log.csv": Self.table])
      var stream = StreamKey(seed: seed, purpose: "questions").stream(slot: 0)
      let times = (0..<150).map { _ in
        SimTime(microseconds: Int64(stream.uniform() * 20 * Double(day)))
      }
      var ascending = source.timeline(context)
      var answers: [SimTime: Segment] = [:]
      var nexts: [SimTime: String] = [:]
      let horizon = SimTime(microseconds: 22 * day)
      for time in times.sorted() {
        answers[time] = ascending.segment(at: time)
        nexts[time] = "\(ascending.next(after: time, before: horizon) as Any)"
      }
      var random = source.timeline(context)
      for time in times {
        let segment = random.segment(at: time)
        #expect(segment == answers[time], "\(name), seed \(seed), \(time)")
        #expect(segment.start <= time && time < segment.end, "\(name), seed \(seed)")
        #expect(
          "\(random.next(after: time, before: horizon) as Any)" == nexts[time],
          "\(name), seed \(seed), \(time)")
        // A fresh series gives the same answer to its first question.
        var fresh = source.timeline(context)
        #expect(fresh.state(at: time) == segment.state, "\(name), seed \(seed), \(time)")
      }
    }
  }

  @Test("The state at a time is that of the last change before it", arguments: 0..<5)
  func changesAndStates(index: Int) {
    let (name, space, source) = Self.sources[index]
    let context = context(space, seed: 5, ordinal: 1, tables: ["log.csv": Self.table])
    var walk = source.timeline(context)
    var time = SimTime.start
    var state = walk.state(at: time)
    while let next = walk.next(after: time, before: SimTime(microseconds: 15 * day)) {
      #expect(next.time > time && next.state != state, "\(name)")
      var fresh = source.timeline(context)
      let middle = SimTime(microseconds: (time.microseconds + next.time.microseconds) / 2)
      #expect(fresh.state(at: middle) == state, "\(name)")
      #expect(
        fresh.state(at: next.time - SimDuration(microseconds: 1)) == state, "\(name) \(next.time)")
      #expect(fresh.state(at: next.time) == next.state, "\(name)")
      (time, state) = next
    }
    #expect(time > .start)
  }

  @Test("A Markov series spends its time as its means say")
  func markovShares() {
    // Two states alternate: plugged 2 h of 8.
    let source = markov([("plugged", .hours(2), 1), ("unplugged", .hours(6), 1)])
    var plugged = 0.0
    var first = 0
    let length = 100 * day
    for ordinal in UInt32(0)..<60 {
      var timeline = source.timeline(context(ordinal: ordinal))
      first += Int(timeline.state(at: .start))
      var time = SimTime.start
      while time.microseconds < length {
        let segment = timeline.segment(at: time)
        let end = min(segment.end.microseconds, length)
        if segment.state == 1 { plugged += Double(end - time.microseconds) }
        time = segment.end
      }
    }
    // 60·100 days are 18,000 cycles; the share's deviation is about .25·.75·√(2/18,000) = .002.
    #expect(abs(plugged / Double(60 * length) - 0.25) < 0.008)
    // The start is in equilibrium: 60 draws of ¼, 15 ± 4 deviations of 3.4.
    #expect(abs(first - 15) <= 13)
  }

  @Test("Of three Markov states each comes after another by its weight")
  func markovWeights() {
    // Stationary shares: wᵢ·(W − wᵢ)·meanᵢ = 1·5·2, 2·4·1, 3·3·4 of 10 + 8 + 36.
    let source = markov([
      ("offline", .hours(2), 1), ("cellular", .hours(1), 2), ("wifi", .hours(4), 3),
    ])
    var share = [0.0, 0.0, 0.0]
    for ordinal in UInt32(0)..<60 {
      var timeline = source.timeline(context(.link, ordinal: ordinal))
      var time = SimTime.start
      while time.microseconds < 100 * day {
        let segment = timeline.segment(at: time)
        let end = min(segment.end.microseconds, 100 * day)
        share[Int(segment.state)] += Double(end - time.microseconds) / Double(6000 * day)
        time = segment.end
      }
    }
    for (found, expected) in zip(share, [10.0 / 54, 8.0 / 54, 36.0 / 54]) {
      #expect(abs(found - expected) < 0.01)
    }
  }

  @Test("A Markov series begins in its stationary distribution")
  func markovStart() {
    // As above: 10, 8 and 36 of 54. Of 1,500 devices 278, 222 and 1,000, ± 4 deviations of 15 to
    // 18.
    let source = markov([
      ("offline", .hours(2), 1), ("cellular", .hours(1), 2), ("wifi", .hours(4), 3),
    ])
    var count = [0, 0, 0]
    for ordinal in UInt32(0)..<1500 {
      var timeline = source.timeline(context(.link, ordinal: ordinal))
      count[Int(timeline.state(at: .start))] += 1
    }
    for (found, expected) in zip(count, [278, 222, 1000]) { #expect(abs(found - expected) < 72) }
  }

  @Test("Windows end in a grace: before their end, across midnight, and as given")
  func windows() {
    func run(_ source: Choice<any TimelineSource>) -> [String] {
      var group = FleetGroupSettings.group()
      group.background.windows = source
      group.background.windowGrace = .seconds(5)
      var scene = Scene(fleet: [group])
      scene.inputs.civilStart = 1_763_337_600
      scene.inputs.stop.after = .days(2)
      return scene.play().tape.events.compactMap { time, event in
        if case .world(.window, _, let state) = event {
          "\(milliseconds(time)) \(state)"
        } else {
          nil
        }
      }
    }
    // A window to the second after midnight: its grace of 5 s spans midnight.
    var across = WeeklySource.Settings()
    across.intervals = [appointment(.hours(23), .seconds(2), [.monday])]
    #expect(
      run(Choice(WeeklySource.self, across) { $0 })
        == ["82800000 2", "86397000 1", "86402000 0"])
    // Given with its own soft expiry, and without.
    #expect(
      run(
        .fixed([
          (from: 1_000, soft: 3_000, to: 20_000, state: nil),
          (from: 40_000, soft: nil, to: 60_000, state: nil),
        ])) == [
          "1000 2", "3000 1", "20000 0", "40000 2", "55000 1", "60000 0",
        ])
    // One that is open from the start.
    #expect(
      run(.fixed([(from: 0, soft: nil, to: 60_000, state: nil)])) == ["0 2", "55000 1", "60000 0"])
  }

  @Test("Rows of a table belong to their device, or to all that have none")
  func rows() {
    let table = IntervalTable(rows: [
      .init(device: "phones/1", from: ms(5_000), soft: nil, to: ms(6_000), state: "cellular"),
      .init(device: "*", from: ms(1_000), soft: nil, to: ms(2_000), state: nil),
      .init(device: "phones/1", from: ms(3_000), soft: nil, to: ms(4_000), state: nil),
    ])
    func states(_ ordinal: UInt32) -> [UInt8] {
      var timeline = CSVSource(Self.csvSettings).timeline(
        context(.link, ordinal: ordinal, tables: ["log.csv": table]))
      return (0..<7).map { timeline.state(at: ms(1000 * $0)) }
    }
    #expect(states(0) == [0, 2, 0, 0, 0, 0, 0])
    #expect(states(1) == [0, 0, 0, 2, 0, 1, 0])
  }
}
