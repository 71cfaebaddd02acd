import Foundation
import Testing

import FedSim
import Runs
import Scenarios
import Schema

/// Selection in whole scenarios.
@Suite("Scenarios of selection")
struct SelectionScenarioTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("scenarios/policies")

  private func scenario(_ name: String, _ overrides: [String] = []) throws -> Scenario {
    try Scenario(
      contentsOf: Self.folder.appendingPathComponent(name + ".yaml").path, overrides: overrides)
  }

  private final class Versions: Observer {
    var labels: [Int64] = []
    var late = 0
    func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
      if labels.isEmpty { labels = record.labelCounts.map { _ in 0 } }
      for (label, count) in record.labelCounts.enumerated() { labels[label] += count }
      if record.maximumStaleness > 0 { late += 1 }
    }
  }

  private func played(_ scenario: Scenario) throws -> Versions {
    let versions = Versions()
    var simulation = try scenario.makeSimulation()
    simulation.run(observers: [versions])
    return versions
  }

  @Test("the present devices train, and the labels of absent ones are missing from the aggregate")
  func availabilityBias() throws {
    // Labels follow the zones from west to east: the lowest two of six are mostly America's.
    func lowest(_ overrides: [String]) throws -> Double {
      let labels = try played(scenario("availability-bias", overrides)).labels
      #expect(labels.count == 6)
      return Double(labels[0] + labels[1]) / Double(labels.reduce(0, +))
    }
    let (biased, fair) = try (lowest([]), lowest(["server.reachable={fixed: up}"]))
    #expect(biased < 0.05, "\(biased)")
    #expect(fair > 0.25, "\(fair)")
  }

  @Test("phones whose heartbeats report an empty battery train only where nobody asks for it")
  func believedOnline() throws {
    // The first twenty phones are charged; the ten behind them are at 15 percent.
    func trainers(_ overrides: [String]) throws -> [Int] {
      let acceptances = Acceptances()
      var simulation = try scenario("believed-online", overrides).makeSimulation()
      simulation.run(observers: [acceptances])
      return acceptances.devices
    }
    let careful = try trainers([])
    #expect(careful.count > 200 && careful.allSatisfy { $0 < 20 })
    #expect(
      try trainers(["server.selector.believed-online.minimumBattery=0"]).contains { $0 >= 20 })
  }

  private final class Acceptances: Observer {
    var wantsEveryEvent: Bool { true }
    var devices: [Int] = []
    func happened(_ event: ObservedEvent) {
      if case .accepted = event.kind { devices.append(event.device) }
    }
  }

  @Test("REFL's versions have late updates in them, those of plain rounds none")
  func late() throws {
    #expect(try played(scenario("refl")).late > 0)
    #expect(
      try played(
        scenario("refl", ["server.selector={availability-aware: {cohort: 8, late: false}}"])
      ).late == 0)
    #expect(try played(scenario("oort")).late == 0)
  }

  @Test("a run that chooses by losses cannot be played without learning, others can")
  func followsLearning() throws {
    for (name, follows) in [
      ("oort", true), ("power-of-choice", true), ("power-of-choice-current", true), ("refl", false),
      ("weighted", false),
      ("turns", false), ("fedbuff-against-rounds", true), ("availability-bias", false),
    ] {
      let simulation = try scenario(name).makeSimulation()
      #expect(simulation.inputs.followsLearning == follows, "\(name)")
    }
  }

  @Test("what cannot be right says so: names, numbers of devices, and losses without learning")
  func faults() {
    func faults(_ server: String, _ task: String = "") -> String {
      do throws(Faults) {
        _ = try Scenario(
          text: "\(task)fleet: [{name: a, count: 40}]\nserver: {\(server)}\n")
        return "none"
      } catch {
        return error.description
      }
    }
    #expect(faults("policy: ort").contains("did you mean `oort`?"))
    #expect(faults("selector: power-of-choise").contains("did you mean `power-of-choice`?"))
    #expect(
      faults("selector: {power-of-choice: {losses: curent}}").contains("did you mean `current`?"))
    #expect(faults("selector: {oort: {clip: 2}}").contains("from 0 to 1"))
    #expect(
      faults("selector: {power-of-choice: {candidates: 5}}")
        .contains("6 members cannot be chosen among 5 candidates"))
    #expect(
      faults("selector: {power-of-choice: {candidates: 50}}")
        .contains("a cohort is formed when 50 devices wait, and the fleet has 40"))
    #expect(
      faults("selector: {minimum-interval: {rounds: 5, of: {uniform: 10}}}")
        .contains("rounds need 50 devices before the first may be chosen again"))
    #expect(
      faults("selector: {minimum-interval: {rounds: 3, of: cycles}}")
        .contains("`cycles` decides itself which devices may train again"))
    #expect(
      faults("selector: oort", "task: none\n").contains("`oort` chooses by losses"))
    #expect(faults("selector: weighted", "task: none\n") == "none")
    #expect(faults("selector: {minimum-interval: 4}") == "none")
    let kept = "restarts: {at: [1 h], keepsPending: true}"
    #expect(
      faults("selector: {uniform: 4}, trigger: cohort-complete, \(kept)")
        .contains("`keepsPending` has no effect with the selector `uniform`"))
    #expect(faults("selector: open, \(kept)") == "none")
    #expect(faults("selector: {availability-aware: {cohort: 4}}, \(kept)") == "none")
    #expect(faults("restarts: {downFor: 5 s}").contains("no restart is named: give `at`"))
    #expect(
      faults("restarts: {every: 5 s, downFor: 5 s}")
        .contains("the process would stop again before it is back"))
    #expect(
      faults("selector: believed-online")
        .contains("`believed-online` chooses by heartbeats, and no group of the fleet has"))
    #expect(
      faults("selector: {believed-online: {of: cycles}}")
        .contains("`cycles` decides itself which devices may train"))
  }
}
