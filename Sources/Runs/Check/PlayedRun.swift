import FedSim
import Scenarios
import Schema

/// A run that was played to be checked.
package struct PlayedRun: Sendable {
  let facts: RunFacts
  /// What is to be recorded of it; nil where nobody asked.
  let baseline: Baseline?
  /// Its first events, in words.
  let events: EventList?
  /// What does not add up in it; nothing may be here.
  let broken: [String]
  let seconds: Double

  /// Events that are written in words on request.
  struct EventList: Sendable {
    private let rows: [EventTrail.Row]
    private let names: DeviceNames

    init(_ rows: [EventTrail.Row], _ inputs: SimulationInputs) {
      self.rows = rows
      names = DeviceNames(inputs)
    }

    /// An event in words; nil beyond the last.
    func words(_ index: Int) -> String? {
      rows.indices.contains(index) ? Baseline.line(rows[index], names) : nil
    }
  }

  /// What is kept of the events.
  enum Keeping: Sendable, Equatable {
    /// No event.
    case nothing
    /// What a baseline holds, in words beyond the usual number where that is asked for; at least
    /// this many.
    case events(inWords: Bool, atLeast: Int)
  }

  /// Plays a scenario.
  ///
  /// Throws: every fault in it and in the files that it names.
  init(_ scenario: Scenario, _ options: RunOptions, keeping: Keeping) throws(Faults) {
    let began = ContinuousClock.now
    var simulation = try scenario.makeSimulation(options)
    let recorder = RunRecorder()
    var trail: EventTrail?
    var inWords = false
    if case .events(let words, let least) = keeping {
      inWords = words
      let limit = max(words ? Baseline.mostLinesAskedFor : Baseline.mostMarks, least + 1)
      trail = EventTrail(limit: limit, learns: !simulation.inputs.omitsArithmetic)
    }
    simulation.run(observers: [recorder] + (trail.map { [$0] } ?? []))
    facts = RunFacts(simulation, recorder)
    broken = simulation.audit()
    if let trail {
      var made = Baseline(scenario, simulation, facts, trail)
      made.events = Baseline.events(trail, of: simulation, inWords: inWords)
      baseline = made
      events = EventList(trail.rows, simulation.inputs)
    } else {
      (baseline, events) = (nil, nil)
    }
    seconds = (ContinuousClock.now - began) / .seconds(1)
  }
}
