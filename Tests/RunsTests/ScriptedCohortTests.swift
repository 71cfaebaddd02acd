import DataSets
import Testing

import FedSim
import Runs
import Scenarios
import Schema

@Suite("Cohorts that a scenario gives")
struct ScriptedCohortTests {
  private static func text(
    cohorts: String = "{cohorts: [[4, 1], [0, 1, 2], [4]]}"
  ) -> String {
    """
    seed: 1
    stop: {rounds: 3, after: 1 h}
    task:
      data:
        source: {blobs: {classes: 3, features: 4, train: 60, test: 30}}
        partition: {iid: {clients: 6}}
      model: softmax
    fleet:
      - name: phones
        count: 6
        background: {windows: {fixed: open}}
        participation: {repeats: true, pause: 1 s}
    server:
      selector: {scripted: \(cohorts)}
      trigger: {cohort-complete: {}}

    """
  }

  /// The devices of each version, in order.
  private final class Members: Observer {
    var rounds: [[Int]] = []
    var wantsEveryEvent: Bool { true }

    func happened(_ event: ObservedEvent) {
      switch event.kind {
      case .cohortFormed: rounds.append([])
      case .accepted: rounds[rounds.count - 1].append(event.device)
      default: break
      }
    }
  }

  private func rounds(_ scenario: Scenario) throws -> [[Int]] {
    let members = Members()
    var simulation = try scenario.makeSimulation()
    simulation.run(observers: [members])
    #expect(simulation.audit() == [])
    #expect(simulation.version == 3)
    return members.rounds
  }

  @Test("the rounds are played by exactly the devices listed")
  func list() throws {
    let scenario = try Scenario(text: Self.text(), file: "s.yaml")
    #expect(try rounds(scenario).prefix(3) == [[1, 4], [0, 1, 2], [4]])
    let again = try Scenario(text: scenario.resolvedText, file: "s.yaml")
    #expect(try rounds(again).prefix(3) == [[1, 4], [0, 1, 2], [4]])
  }

  @Test("a file gives the same, short rounds filled up with -1")
  func file() throws {
    let folder = try Folder()
    let values: [Int32] = [4, 1, -1, 0, 1, 2, 4, -1, -1]
    try NPZ.write(
      [("cohorts", NPYArray(shape: [3, 3], values: .int32(values)))], to: folder("c.npz"))
    let scenario = try Scenario(
      text: Self.text(cohorts: "c.npz"), file: folder("s.yaml"))
    #expect(try rounds(scenario).prefix(3) == [[1, 4], [0, 1, 2], [4]])
  }

  @Test(
    "cohorts that cannot be played are faults before the run",
    arguments: [
      (
        "[[4, 1], [0, 6], [2]]",
        "round 2 has device 6, but the fleet has 6 devices, numbered from 0"
      ),
      ("[[4, 1], [0, 2], [3, 2, 3]]", "round 3 has device 3 twice"),
      ("[[4, 1], [0, 2]]", "there are cohorts for 2 rounds, but the run has 3"),
      ("[]", "there are cohorts for 0 rounds, but the run has 3"),
    ])
  func faults(cohorts: String, expected: String) throws {
    let scenario = try Scenario(
      text: Self.text(cohorts: "{cohorts: \(cohorts)}"), file: "s.yaml")
    let error = #expect(throws: Faults.self) { try scenario.makeSimulation() }
    let text = error?.faults.map(\.description) ?? []
    #expect(text.count == 1 && text.first?.hasSuffix(expected) == true, "\(text)")
    #expect(text.first?.contains("server.selector.scripted.cohorts") == true, "\(text)")
  }

  @Test(
    "a file of another kind is a fault, and so is one that is not there",
    arguments: [
      (NPYArray(shape: [3], values: .int32([1, 2, 3])), "found type <i4, shape [3], expected"),
      (
        NPYArray(shape: [1, 1], values: .float32([1])), "found type <f4, shape [1, 1], expected"
      ),
      (NPYArray(shape: [3, 1], values: .int32([1, -1, 2])), "round 2 has no device"),
      (NPYArray(shape: [3, 2], values: .int32([1, 2, -1, 2, 3, -1])), "round 2 has device -1"),
    ])
  func badFile(array: NPYArray, expected: String) throws {
    let folder = try Folder()
    let scenario = try Scenario(
      text: Self.text(cohorts: "c.npz"), file: folder("s.yaml"))
    let missing = #expect(throws: Faults.self) { try scenario.makeSimulation() }
    #expect(missing?.faults.first?.description.contains("c.npz") == true)
    try NPZ.write([("cohorts", array)], to: folder("c.npz"))
    let error = #expect(throws: Faults.self) { try scenario.makeSimulation() }
    let text = error?.faults.map(\.description) ?? []
    #expect(text.count == 1 && text.first?.contains(expected) == true, "\(text)")
  }

  @Test("file and list together are a fault")
  func both() {
    let error = #expect(throws: Faults.self) {
      try Scenario(
        text: Self.text(cohorts: "{file: c.npz, cohorts: [[1]]}"), file: "s.yaml")
    }
    #expect(error?.faults.first?.description.contains("exclude each other") == true)
  }
}
