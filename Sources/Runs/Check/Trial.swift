import FedSim
import Learning
import Scenarios
import Schema

/// One run of a scenario under every check there is: the invariants after each event, the claims,
/// and, where that is asked for, whether the run is reproduced.
package struct Trial: Codable, Equatable, Sendable {
  /// Something that is broken.
  package struct Finding: Codable, Equatable, Sendable {
    /// What it is called when two runs are compared: without times, devices and numbers.
    package var kind: String
    /// One line for a person.
    package var text: String
    /// Whether it is a claim, which holds for some scenarios only.
    package var isClaim = false

    /// A finding.
    package init(kind: String, text: String, isClaim: Bool = false) {
      (self.kind, self.text, self.isClaim) = (kind, text, isClaim)
    }
  }

  /// What is broken, in the order in which it was looked for.
  package var findings: [Finding]
  /// The digest of all events.
  package var eventDigest: String
  /// The digest of the last model.
  package var modelDigest: String
  /// How many turns the run took.
  package var turns: Int?
  /// The digest of what its result would hold, without words; nil where nobody asked for it.
  package var valuesDigest: String?

  /// What a run and another of the same scenario must have in common.
  private struct Outcome: Equatable {
    let events: String
    let model: String
    let versions: Int

    init(_ simulation: borrowing Simulation) {
      events = simulation.eventDigest.value.hexDigits
      model = simulation.model.hexDigest
      versions = simulation.version
    }
  }

  /// Plays a scenario; `replays` plays it again, with more threads and from its middle; `digests`
  /// makes its result, for the digest of that. nil: it takes more than `most` turns.
  ///
  /// Throws: every fault in it and in the files that it names.
  package init?(
    _ scenario: Scenario, _ options: RunOptions, replays: Bool, most: Int? = nil,
    digests: Bool = false
  ) throws(Faults) {
    let inputs = try scenario.inputs(options)
    let recorder = RunRecorder()
    let invariants = Invariants()
    let watch = FiniteWatch()
    var simulation = Simulation(inputs)
    if let most {
      let observers: [any Observer] = [recorder, invariants, watch]
      guard (try? simulation.run(observers: observers, every: most) { _ in throw Stop() }) != nil
      else { return nil }
    } else {
      simulation.run(observers: [recorder, invariants, watch])
    }
    let outcome = Outcome(simulation)
    (eventDigest, modelDigest) = (outcome.events, outcome.model)
    turns = simulation.turns
    findings = invariants.broken.map(Self.finding)
    if let broken = watch.broken {
      findings.append(Finding(kind: "a version is not finite", text: broken))
    }
    for verdict in scenario.verdicts(RunFacts(simulation, recorder)) where !verdict.holds {
      findings.append(
        Finding(
          kind: "assertion: \(verdict.claim)", text: "\(verdict.claim): found \(verdict.found)",
          isClaim: true))
    }
    if digests { valuesDigest = recorder.document(simulation, of: scenario).valuesDigest }
    guard replays else { return }
    var threaded = options
    threaded.threads = 2
    if let finding = Self.replay(
      inputs, try scenario.inputs(threaded), outcome, simulation.turns)
    {
      findings.append(finding)
    }
  }

  /// A finding of the invariants, which begins with its time.
  private static func finding(_ text: String) -> Finding {
    let words = text.split(separator: " ")
    let rest = words.firstIndex { $0.hasSuffix(":") }.map { words[($0 + 1)...] } ?? words[...]
    let kind = rest.map { word in
      word.contains { ("0"..."9").contains($0) } ? "…" : String(word)
    }.joined(separator: " ")
    return Finding(kind: kind, text: text)
  }

  // MARK: Again

  private static func replay(
    _ inputs: SimulationInputs, _ threaded: SimulationInputs, _ expected: Outcome, _ turns: Int
  ) -> Finding? {
    do {
      // Devices are played on ahead here, and were not while the invariants looked on.
      if try outcome(threaded) != expected {
        let isSame = try outcome(inputs) == expected
        let what = isSame ? "played with 2 threads" : "played again"
        return Finding(kind: what, text: "\(what), the run differs")
      }
      if try outcome(inputs, stop: turns / 2) != expected {
        let what = "saved and restored in the middle"
        return Finding(kind: what, text: "\(what), the run differs")
      }
      return nil
    } catch {
      return Finding(kind: "saving", text: "the run cannot be saved and restored: \(error)")
    }
  }

  private struct Stop: Error {}

  /// The outcome of a run that is saved and restored after this many turns.
  private static func outcome(
    _ inputs: SimulationInputs, stop turns: Int = 0
  ) throws -> Outcome {
    var simulation = Simulation(inputs)
    guard turns > 0 else {
      simulation.run()
      return Outcome(simulation)
    }
    do {
      try simulation.run(observers: [EventWatch()], every: turns) { _ in throw Stop() }
    } catch {
      simulation = try Simulation(inputs, archive: simulation.archive())
      simulation.run()
    }
    return Outcome(simulation)
  }

  /// Wants every event, so that the run has the turns that it had under the invariants.
  private final class EventWatch: Observer {
    var wantsEveryEvent: Bool { true }
  }
}

/// Looks whether every version that is published is made of finite numbers.
private final class FiniteWatch: Observer {
  private(set) var broken: String?

  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    guard broken == nil, !simulation.model.values.allSatisfy(\.isFinite) else { return }
    broken = "\(record.publishedAt): version \(record.version) is not finite"
  }
}
