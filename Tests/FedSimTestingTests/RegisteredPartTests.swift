import FedSim
import FedSimTesting
import Learning
import Scenarios
import Schema
import Testing

@Suite("Every part of a policy that comes with the simulator keeps what is promised")
struct RegisteredPartTests {
  private static let catalog = Registry.standard.catalog
  private static let parts = Conformance.seams.flatMap { catalog.parts(of: $0) }

  /// Settings without which a part does nothing.
  private static func settings(of name: String) -> Node {
    guard name == "scripted" else { return Node(.null) }
    let cohorts: [Node] = (0..<20).map { round in
      Node(.sequence((0..<3).map { .text("\((round + 5 * $0) % 12)") }))
    }
    return .mapping([("cohorts", Node(.sequence(cohorts)))])
  }

  @Test("the walk sees every part of the five seams")
  func walk() {
    let names = Self.parts.map(\.name)
    for name in ["open", "scripted", "threshold", "cycle-end", "clip-norm", "uniform-mean"] {
      #expect(names.contains(name))
    }
    #expect(names.count >= 15)
  }

  @Test("a part", arguments: parts.indices)
  func part(index: Int) {
    let part = Self.parts[index]
    let findings = Conformance().findings(
      of: part.name, in: part.seam, Self.settings(of: part.name), from: Self.catalog)
    #expect(findings == [])
  }

  @Test("a preset", arguments: PolicyPreset.standard.map(\.name))
  func preset(name: String) throws {
    let text = "fleet: [{name: a, count: 1}]\nserver: {policy: \(name)}\n"
    let scenario = try Scenario(text: text)
    let findings = Conformance().findings(ofPolicy: name) { scenario.settings.server }
    #expect(findings == [])
  }

  @Test("settings that a part does not have are a finding, with the nearest word")
  func wrongSettings() {
    let findings = Conformance().findings(
      of: "threshold", in: "aggregation trigger", .mapping([("updtes", .text("3"))]),
      from: Self.catalog)
    #expect(
      findings.map(\.description)
        == ["threshold, shape: threshold: unknown key `updtes`; did you mean `updates`?"])
  }
}
