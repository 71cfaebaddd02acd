import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("Devices that are played on ahead of the others")
struct AheadTests {
  /// All that a result is made of.
  private func outcome(_ inputs: SimulationInputs) -> ([String], ahead: Int) {
    final class Log: Observer {
      var versions: [String] = []
      var rounds: [String] = []
      func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
        versions.append("\(record)")
      }
      func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
        rounds.append("\(record)")
      }
    }
    let log = Log()
    var simulation = Simulation(inputs)
    simulation.run(observers: [log])
    var found: [String] = log.versions + log.rounds
    for record in simulation.deviceRecords { found.append("\(record)") }
    for funnel in simulation.participations.hours { found.append("\(funnel)") }
    for funnel in simulation.participations.rounds { found.append("\(funnel)") }
    found.append("\(simulation.eventDigest)")
    found.append("\(simulation.books.tallies)")
    found.append("\(simulation.books.ledgers)")
    found.append("\(simulation.model.values.map { $0.bitPattern })")
    found.append("\(simulation.now)")
    found.append("\(simulation.audit())")
    return (found, simulation.eventsPlayedAhead)
  }

  @Test("A run is the same whether devices are played on or all events in their order")
  func same() {
    var ahead = 0
    // In 636 the server answers a device that has given up waiting and polls.
    for seed in UInt64(1)...1000 {
      var inputs = RandomWorld.quietInputs(seed: seed)
      let on = outcome(inputs)
      inputs.shortcuts.playsAhead = false
      let off = outcome(inputs)
      #expect(off.ahead == 0)
      #expect(on.0.count == off.0.count)
      for (a, b) in zip(on.0, off.0) where a != b {
        Issue.record("seed \(seed): \(a) and \(b)")
        return
      }
      ahead += on.ahead
    }
    // It is done, and often.
    #expect(ahead > 100_000)
  }

  @Test("Where somebody looks at every event, all come in their order")
  func looked() {
    let inputs = RandomWorld.quietInputs(seed: 2)
    let tape = Tape(audits: false)
    var simulation = Simulation(inputs)
    simulation.run(observers: [tape])
    #expect(simulation.eventsPlayedAhead == 0)
    #expect(tape.events.map(\.0) == tape.events.map(\.0).sorted())
    var other = Simulation(inputs)
    other.run()
    #expect(other.eventsPlayedAhead > 0)
    #expect(other.eventDigest == simulation.eventDigest)
  }

  @Test("A run that may end at a version plays nothing ahead")
  func unknownEnd() {
    var ended = 0
    for seed in UInt64(1)...10 {
      var inputs = RandomWorld.quietInputs(seed: seed)
      inputs.stop.versions = 1
      var simulation = Simulation(inputs)
      simulation.run()
      ended += simulation.version
      #expect(simulation.eventsPlayedAhead == 0)
    }
    #expect(ended > 3)
  }
}

@Suite("Series of a whole group")
struct GroupTimelineTests {
  private func context(_ space: StateSpace, count: Int) -> GroupContext {
    GroupContext(
      first: TimelineContext(
        space: space, key: StreamKey(seed: 3, purpose: "series", group: "g"), device: "",
        civilStart: 1_763_337_600, utcOffset: .hours(-7)),
      name: "g", count: count)
  }

  private var sources: [(any TimelineSource, StateSpace)] {
    var markov = MarkovSource.Settings()
    markov.states = [("offline", Int64(20)), ("cellular", 50), ("wifi", 90)].map {
      var state = MarkovSource.State()
      (state.state, state.mean) = (StateName($0.0), .minutes($0.1))
      return state
    }
    var diurnal = DiurnalSource.Settings()
    // The last one begins on the day before, and may wander over midnight.
    let habits: [(Int64, Int64, Int64)] = [(8, 9, 1), (12, 13, 0), (22, 6, 3), (0, 1, 2)]
    diurnal.habits = habits.map { from, to, spread in
      var habit = DiurnalSource.Habit()
      (habit.from, habit.to) = (.hours(from), .hours(to))
      (habit.spread, habit.deviceSpread) = (.hours(spread), .minutes(30))
      return habit
    }
    var weekly = WeeklySource.Settings()
    let times: [(Int64, Int64)] = [(1, 3), (5, 7), (9, 11), (20, 2)]
    weekly.intervals = times.map { from, to in
      var appointment = WeeklySource.Appointment()
      (appointment.from, appointment.to) = (.hours(from), .hours(to))
      return appointment
    }
    weekly.jitter = .minutes(40)
    return [
      (MarkovSource(markov), .link), (DiurnalSource(diurnal), .power),
      (WeeklySource(weekly), .usage),
    ]
  }

  @Test("Each device's answers are those of its series, whichever device was asked before")
  func same() {
    for (source, space) in sources {
      let context = context(space, count: 5)
      var group = source.timelines(context)
      var own = (0..<5).map { source.timeline(context.device($0)) }
      var stream = StreamKey(seed: 1, purpose: "questions").stream(slot: 0)
      let horizon = SimTime.start + .days(40)
      for question in 0..<4000 {
        let ordinal = Int(stream.below(5))
        // Mostly onwards, as a run asks; sometimes anywhere.
        let time =
          question % 7 == 0
          ? SimTime(microseconds: Int64(2.5e12 * stream.uniform()))
          : SimTime.start + .minutes(Int64(question) * 9)
        let state = own[ordinal].state(at: time)
        #expect(group.segment(of: ordinal, at: time).state == state, "\(type(of: source)) \(time)")
        let next = own[ordinal].next(after: time, before: horizon)
        let found = group.next(of: ordinal, after: time, before: horizon)
        #expect(found?.time == next?.time && found?.state == next?.state, "\(time)")
      }
    }
  }

  @Test("The days whose habits can touch a day are enough: all four days give the same")
  func reach() {
    let (source, space) = sources[1]
    for ordinal in UInt32(0)..<40 {
      var narrow = source.timeline(context(space, count: 40).device(Int(ordinal)))
      var wide = (source as! DiurnalSource).wide(context(space, count: 40).device(Int(ordinal)))
      var time = SimTime.start
      for _ in 0..<120 {
        let next = narrow.next(after: time, before: .start + .days(60))
        let other = wide.next(after: time, before: .start + .days(60))
        #expect(next?.time == other?.time && next?.state == other?.state, "\(ordinal) \(time)")
        guard let next else { break }
        time = next.time
      }
    }
  }
}
