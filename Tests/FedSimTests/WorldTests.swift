import FedSim
import Learning
import Numerics
import Schema
import Testing

private let day: Int64 = 86_400_000_000

/// A context for one device; the start is Monday, 17 November 2025, 00:00 UTC unless told
/// otherwise.
private func context(
  _ space: StateSpace = .power, seed: UInt64 = 1, ordinal: UInt32 = 0, offset: SimDuration = .zero,
  start: Int64 = 1_763_337_600, tables: [String: IntervalTable] = [:]
) -> TimelineContext {
  TimelineContext(
    space: space,
    key: StreamKey(
      seed: seed, purpose: Purpose(space.name), group: "phones", ordinal: ordinal),
    device: "phones/\(ordinal)", civilStart: start, utcOffset: offset, tables: tables)
}

/// The changes of a series before a time: hours and states.
private func changes(
  _ source: any TimelineSource, _ context: TimelineContext, until end: SimTime
) -> [String] {
  var timeline = source.timeline(context)
  var time = SimTime.start
  var lines = ["0 \(timeline.state(at: time))"]
  while let next = timeline.next(after: time, before: end) {
    time = next.time
    lines.append("\(hours(time)) \(next.state)")
  }
  return lines
}

private func hours(_ time: SimTime) -> String {
  let (hours, rest) = time.microseconds.quotientAndRemainder(dividingBy: 3_600_000_000)
  return rest == 0 ? "\(hours)" : "\(hours):\(rest / 60_000_000)"
}

private func appointment(
  _ from: SimDuration, _ to: SimDuration, _ days: [Weekday] = Weekday.allCases,
  _ state: String? = nil
) -> WeeklySource.Appointment {
  var appointment = WeeklySource.Appointment()
  (appointment.from, appointment.to, appointment.days) = (from, to, days)
  appointment.state = state.map { StateName($0) }
  return appointment
}

private func weekly(
  _ appointments: WeeklySource.Appointment..., jitter: SimDuration = .zero
) -> WeeklySource {
  var settings = WeeklySource.Settings()
  settings.intervals = appointments
  settings.jitter = jitter
  return WeeklySource(settings)
}

private func diurnal(_ habits: DiurnalSource.Habit...) -> DiurnalSource {
  var settings = DiurnalSource.Settings()
  settings.habits = habits
  return DiurnalSource(settings)
}

private func habit(
  _ from: SimDuration, _ to: SimDuration, spread: SimDuration = .zero,
  deviceSpread: SimDuration = .zero, probability: Double = 1, state: String? = nil
) -> DiurnalSource.Habit {
  var habit = DiurnalSource.Habit()
  (habit.from, habit.to, habit.spread) = (from, to, spread)
  (habit.deviceSpread, habit.probability) = (deviceSpread, probability)
  habit.state = state.map { StateName($0) }
  return habit
}

private func markov(_ states: [(String, SimDuration, Double)]) -> MarkovSource {
  var settings = MarkovSource.Settings()
  settings.states = states.map {
    var state = MarkovSource.State()
    (state.state, state.mean, state.weight) = (StateName($0.0), $0.1, $0.2)
    return state
  }
  return MarkovSource(settings)
}

@Suite("Calendars")
struct CalendarTests {
  @Test("A weekly interval across midnight belongs to the day on which it begins")
  func acrossMidnight() {
    // Nights from 22:00 to 06:00, begun on Fridays: Friday of the first week is day 4.
    // 4·24 + 22 = 118, 5·24 + 6 = 126; a week later 286 and 294.
    #expect(
      changes(
        weekly(appointment(.hours(22), .hours(6), [.friday])), context(),
        until: ms(14 * 86_400_000)) == ["0 0", "118 1", "126 0", "286 1", "294 0"])
  }

  @Test("A weekly interval across the end of the week and the start of the run")
  func acrossTheWeek() {
    // Sunday 22:00 to Monday 06:00: the run begins within one. 6·24 + 22 = 166, 7·24 + 6 = 174.
    #expect(
      changes(
        weekly(appointment(.hours(22), .hours(6), [.sunday])), context(), until: ms(8 * 86_400_000))
        == ["0 1", "6 0", "166 1", "174 0"])
  }

  @Test("Local time is UTC plus the offset; the weekday is the local one")
  func offsets() {
    // 5 h 30 min east: local Monday 09:00 is 03:30 UTC.
    let monday = weekly(appointment(.hours(9), .hours(10), [.monday]))
    #expect(
      changes(monday, context(offset: .minutes(330)), until: ms(86_400_000))
        == ["0 0", "3:30 1", "4:30 0"])
    // 8 h west: at the start it is Sunday 16:00; Monday 09:00 is 17:00 UTC.
    #expect(
      changes(monday, context(offset: .hours(-8)), until: ms(86_400_000))
        == ["0 0", "17 1", "18 0"])
    let sunday = weekly(appointment(.hours(18), .hours(20), [.sunday]))
    #expect(
      changes(sunday, context(offset: .hours(-8)), until: ms(86_400_000))
        == ["0 0", "2 1", "4 0"])
    // A start in the middle of a Wednesday before 1970: the last one, 31 December 1969, noon.
    let wednesday = weekly(appointment(.hours(13), .hours(14), [.wednesday]))
    #expect(
      changes(wednesday, context(start: -43_200), until: ms(86_400_000)) == ["0 0", "1 1", "2 0"])
  }

  @Test("A whole day, and two that touch, are one stretch")
  func wholeDays() {
    let weekend = weekly(appointment(.zero, .hours(24), [.saturday, .sunday]))
    #expect(
      changes(weekend, context(), until: ms(8 * 86_400_000)) == ["0 0", "120 1", "168 0"])
  }

  @Test("Where two intervals overlap the later beginning wins")
  func overlap() {
    let source = weekly(
      appointment(.hours(8), .hours(20), Weekday.allCases, "cellular"),
      appointment(.hours(9), .hours(10), Weekday.allCases, "wifi"))
    #expect(
      changes(source, context(.link), until: ms(86_400_000))
        == ["0 0", "8 1", "9 2", "10 1", "20 0"])
  }

  @Test("Jitter moves each edge by at most its bound, the same for the same key")
  func jitter() {
    for seed in UInt64(1)...20 {
      let source = weekly(appointment(.hours(22), .hours(6)), jitter: .minutes(30))
      var timeline = source.timeline(context(seed: seed))
      var time = SimTime.start
      var count = 0
      while let next = timeline.next(after: time, before: SimTime(microseconds: 14 * day)) {
        let hour = Double(next.time.microseconds % day) / 3.6e9
        let edge = next.state == 1 ? 22.0 : 6.0
        #expect(abs(hour - edge) <= 0.5, "seed \(seed)")
        time = next.time
        count += 1
      }
      #expect(count == 28, "seed \(seed)")
    }
  }

  @Test("Habits stay within two deviations of day and device, and happen as often as they should")
  func diurnalBounds() {
    var days = 0
    for ordinal in UInt32(0)..<40 {
      // In use 12:00 to 14:00, each edge within 2·(10 + 5) min, on half of the days.
      let source = diurnal(
        habit(
          .hours(12), .hours(14), spread: .minutes(10), deviceSpread: .minutes(5), probability: 0.5)
      )
      var timeline = source.timeline(context(.usage, ordinal: ordinal))
      var time = SimTime.start
      while let next = timeline.next(after: time, before: SimTime(microseconds: 50 * day)) {
        let hour = Double(next.time.microseconds % day) / 3.6e9
        #expect(abs(hour - (next.state == 1 ? 12 : 14)) <= 0.5, "device \(ordinal)")
        days += next.state == 1 ? 1 : 0
        time = next.time
      }
    }
    // 2,000 days, p = ½: 1,000 ± 4.5 deviations of 22.4.
    #expect(abs(days - 1000) <= 100)
  }

  @Test("A device's own habit is the same each day")
  func ownHabit() {
    let source = diurnal(habit(.hours(12), .hours(14), deviceSpread: .hours(1)))
    var begins: [Int64] = []
    for ordinal in UInt32(0)..<3 {
      var timeline = source.timeline(context(.usage, ordinal: ordinal))
      let first = timeline.next(after: .start, before: SimTime(microseconds: day))!.time
      let tenth = timeline.next(
        after: SimTime(microseconds: 10 * day), before: SimTime(microseconds: 11 * day))!.time
      #expect(tenth.microseconds - first.microseconds == 10 * day)
      begins.append(first.microseconds)
    }
    #expect(Set(begins).count == 3)
  }
}

@Suite("Series")
struct SeriesTests {
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
      stretch.from = SimTime(microseconds: Int64(number) * day / 2 + 3)
      stretch.to = SimTime(microseconds: Int64(number) * day / 2 + 3 + Int64(number + 1) * 1000)
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
    rows: (0..<50).reversed().map { number in
      IntervalTable.Row(
        device: number % 3 == 0 ? "*" : "phones/\(number % 3)",
        from: SimTime(microseconds: Int64(number) * day / 4), soft: nil,
        to: SimTime(microseconds: Int64(number) * day / 4 + day / 8), state: nil)
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
    // A window to the second after midnight: its grace of 5 s lies across midnight.
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
