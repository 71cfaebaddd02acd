import FedSim
import Learning
import Testing

/// All that a result is made of, as text to compare.
final class Outcome: Observer {
  private var lines: [String] = []
  private(set) var beginnings = 0

  func began(_ simulation: borrowing Simulation) { beginnings += 1 }
  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    lines.append("\(record)")
  }
  func publishedCentrally(_ version: CentralVersion, _ simulation: borrowing Simulation) {
    lines.append("\(version)")
  }
  func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
    lines.append("\(record)")
  }

  /// What was seen, and what is found at the end.
  func found(_ simulation: Simulation) -> [String] {
    var found = lines + ["\(simulation.eventDigest)", "\(simulation.now)"]
    found += simulation.deviceRecords.map { "\($0)" }
    found += (Array(simulation.participations.hours) + simulation.participations.rounds).map {
      "\($0)"
    }
    found += simulation.participations.groups.map { "\(Array($0))" }
    found += [
      "\(simulation.books.tallies)", "\(simulation.books.ledgers)", "\(simulation.isStuck)",
    ]
    found.append("\(simulation.model.values.map(\.bitPattern))")
    found += [
      "\(String(describing: simulation.serverRecord.exchangeTallies))",
      "\(String(describing: simulation.serverRecord.instructionTallies))",
      "\(String(describing: simulation.serverRecord.aggregationTallies))",
      "\(String(describing: simulation.deviceRecords.ownAccuracies()))",
    ]
    found += simulation.serverRecord.companions.map { "\($0.values.map(\.bitPattern))" }
    found += (0..<simulation.inputs.deviceCount).flatMap { device in
      simulation.deviceRecords.trainingState(of: device).map { "\($0.values.map(\.bitPattern))" }
    }
    found += simulation.serverRecord.evaluations.map { "\($0)" }
    if simulation.collection.isOn { found += central(simulation) }
    return found + simulation.audit()
  }

  private func central(_ simulation: Simulation) -> [String] {
    var found = ["\(simulation.collection.ledger)", "\(simulation.collection.samples)"]
    found.append("\(simulation.collection.tallies)")
    for device in 0..<simulation.inputs.deviceCount {
      found.append("\(String(describing: simulation.deviceRecords.collector(device)))")
    }
    for model in simulation.collection.tasks.indices {
      found.append("\(simulation.collection.parameters(of: model).values.map(\.bitPattern))")
      found += (0..<simulation.inputs.deviceCount).map { device in
        let own = simulation.collection.ownParameters(model, of: device)?.values
        return "\(String(describing: own?.map(\.bitPattern)))"
      }
    }
    return found
  }
}

/// Plays a run in stretches: each ends where a question is answered with yes; there the run is
/// saved, and continues from the bytes.
struct Stretches {
  private struct Stop: Error {}
  let found: [String]
  /// The bytes of each stop.
  let archives: [[UInt8]]
  let turns: Int
  /// The run when it was over.
  let simulation: Simulation

  /// Plays; `isStop` gets the number of stops before. The inputs of the stretch that begins may be
  /// others, as far as no result depends on them.
  init(
    _ inputs: SimulationInputs, observers: [any Observer] = [],
    resume: (_ stretch: Int) -> SimulationInputs? = { _ in nil },
    stop isStop: (_ stops: Int, borrowing Simulation) -> Bool
  ) throws {
    let outcome = Outcome()
    var simulation = Simulation(inputs)
    var archives: [[UInt8]] = []
    while true {
      do {
        try simulation.run(observers: [outcome] + observers, every: 1) { run in
          guard isStop(archives.count, run) else { return }
          archives.append(try run.archive())
          throw Stop()
        }
        break
      } catch is Stop {
        let bytes = archives[archives.count - 1]
        simulation = try Simulation(resume(archives.count) ?? inputs, archive: bytes)
        // What was restored is saved as it was.
        #expect(try simulation.archive() == bytes)
        // Played on, devices are not all at the same time.
        if !simulation.playsAhead { #expect(simulation.audit() == []) }
      }
    }
    #expect(outcome.beginnings == 1)
    self.archives = archives
    self.simulation = simulation
    found = outcome.found(simulation)
    turns = simulation.turns
  }

  /// Plays with a stop after each of these turns.
  init(
    _ inputs: SimulationInputs, stops: [Int], observers: [any Observer] = [],
    resume: (_ stretch: Int) -> SimulationInputs? = { _ in nil }
  ) throws {
    try self.init(inputs, observers: observers, resume: resume) { count, run in
      count < stops.count && run.turns == stops[count]
    }
  }

  /// Expects that two runs are equal.
  static func expectSame(
    _ whole: [String], _ parts: [String], _ comment: @autoclosure () -> String = "",
    _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(whole.count == parts.count, "\(comment())", sourceLocation: location)
    for (a, b) in zip(whole, parts) where a != b {
      Issue.record("\(comment()): \(a) and \(b)", sourceLocation: location)
      return
    }
  }

  /// Plays a run lazily and eagerly, on one to three threads, and saved on the way, and expects the
  /// same of all; the run in one piece.
  @discardableResult
  static func expectSameAnyhow(
    _ inputs: SimulationInputs, _ location: SourceLocation = #_sourceLocation
  ) throws -> Stretches {
    let whole = try Stretches(inputs, stops: [])
    for (mode, threads) in [(ComputeMode.eager, 1), (.lazy, 2), (.eager, 3)] {
      var other = inputs
      other.compute = mode
      other.pool = WorkerPool(threads: threads)
      let found = try Stretches(other, stops: []).found
      expectSame(whole.found, found, "\(mode), \(threads) threads", location)
    }
    let parts = try Stretches(inputs, stops: Array(stride(from: 5, to: whole.turns, by: 17)))
    #expect(!parts.archives.isEmpty, sourceLocation: location)
    expectSame(whole.found, parts.found, "saved", location)
    return whole
  }
}
