import FedSim
import Learning
import Numerics
import Schema
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
    found += (Array(simulation.hourFunnels) + simulation.roundFunnels).map { "\($0)" }
    found += ["\(simulation.tallies)", "\(simulation.ledgers)", "\(simulation.groupFunnels)"]
    found.append("\(simulation.model.values.map(\.bitPattern))")
    found += ["\(String(describing: simulation.exchangeTallies))", "\(simulation.isStuck)"]
    found += ["\(String(describing: simulation.instructionTallies))"]
    found += ["\(String(describing: simulation.aggregationTallies))"]
    found += ["\(String(describing: simulation.ownAccuracies()))"]
    found += simulation.evaluationRecords.map { "\($0)" }
    if simulation.isCentral {
      found.append("\(simulation.fileLedger) \(simulation.fileSamples)")
      found.append("\(simulation.centralTallies!)")
      for device in 0..<simulation.inputs.deviceCount {
        found.append("\(String(describing: simulation.collectorRecord(device)))")
      }
      for model in simulation.centralModels.indices {
        found.append("\(simulation.centralParameters(model).values.map(\.bitPattern))")
      }
    }
    found += simulation.audit()
    return found
  }
}

/// Plays a run in stretches: after each of these turns it is saved, and goes on from the bytes.
struct Stretches {
  private struct Stop: Error {}
  let found: [String]
  /// The bytes of each stop.
  var archives: [[UInt8]] = []
  let turns: Int

  /// Plays; `resume` may give other inputs for a stretch, as far as no result depends on them.
  init(
    _ inputs: SimulationInputs, stops: [Int], observers: [any Observer] = [],
    resume: (Int) -> SimulationInputs? = { _ in nil }
  ) throws {
    let outcome = Outcome()
    var simulation = Simulation(inputs)
    var stops = stops[...]
    var archives: [[UInt8]] = []
    while true {
      do {
        try simulation.run(observers: [outcome] + observers, every: 1) { run in
          guard run.turnsTaken == stops.first else { return }
          archives.append(try run.archive())
          throw Stop()
        }
        break
      } catch is Stop {
        stops.removeFirst()
        let next = resume(archives.count - 1) ?? inputs
        simulation = try Simulation(next, archive: archives[archives.count - 1])
        // What was restored is saved as it was.
        #expect(try simulation.archive() == archives[archives.count - 1])
      }
    }
    #expect(outcome.beginnings == 1)
    self.archives = archives
    found = outcome.found(simulation)
    turns = simulation.turnsTaken
  }
}
