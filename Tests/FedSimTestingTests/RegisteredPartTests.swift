import FedSim
import FedSimTesting
import Learning
import Scenarios
import Schema
import Testing

@Suite("Every part of a policy that comes with the simulator keeps what is promised")
struct RegisteredPartTests {
  private static let catalog = Registry.standard.catalog
  /// A part in Python is a class that somebody has: python/tests/test_policy.py. Those of a Flower
  /// program do nothing without it: ProgramTests.
  private static let foreign = ["python", ProgramSelector.name]
  private static let parts = Conformance.seams.flatMap { catalog.parts(of: $0) }
    .filter { !foreign.contains($0.name) }

  /// Settings without which a part does nothing.
  private static func settings(of name: String) -> Node {
    if name == "all" {
      let triggers: [(String, Node)] = [("threshold", .text("3")), ("every", .text("10 min"))]
      return .mapping([("of", .mapping(triggers))])
    }
    // The world has 16 devices, so that cohorts are small.
    let small: (String, Node) = ("cohort", .text("5"))
    switch name {
    case "power-of-choice": return .mapping([small, ("candidates", .text("9"))])
    case "minimum-interval":
      let turns = Node.mapping([("round-robin", .mapping([small]))])
      return .mapping([("rounds", .text("2")), ("of", turns)])
    case "oort":
      return .mapping([small, ("paceWindow", .text("2")), ("mostUpdates", .text("9"))])
    case "availability-aware": return .mapping([small, ("overSelection", .text("1.4"))])
    default: break
    }
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
    // Of the last few updates two are always one another's nearest: Bulyan takes the first of them.
    let skipped: [Check] = part.name == "bulyan" ? [.symmetry] : []
    let findings = Conformance(skipping: skipped).findings(
      of: part.name, in: part.seam, Self.settings(of: part.name), from: Self.catalog)
    #expect(findings == [])
  }

  @Test("a preset", arguments: PolicyPreset.standard.map(\.name).filter { !foreign.contains($0) })
  func preset(name: String) throws {
    let text = "fleet: [{name: a, count: 100}]\nserver: {policy: \(name)}\n"
    let scenario = try Scenario(text: text)
    let findings = Conformance().findings(ofPolicy: name) { scenario.settings.server }
    #expect(findings == [])
  }

  @Test("a transform and a local algorithm from outside are one line each, too")
  func adding() throws {
    let registry = Registry.standard.adding(Planted.CountingNoise.self).adding(Halfway.self)
    let text = """
      fleet: [{name: a, count: 1}]
      task: {training: {algorithm: halfway}}
      server: {payload: delta, transforms: counting-noise}
      """
    let scenario = try Scenario(text: text, registry: registry)
    #expect(scenario.settings.server.transforms.map(\.name) == ["counting-noise"])
    #expect(scenario.resolvedText.contains("halfway"))
    #expect(throws: Faults.self) { try Scenario(text: text) }
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

/// Goes half of the way that SGD goes.
private struct Halfway: LocalAlgorithm {
  static let name = "halfway"
  static let summary = "Half of the way that SGD goes"
  typealias Settings = NoSettings
  init(_ settings: NoSettings) {}
  func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    let whole = training.run(
      batches, from: memory, lossSum: lossSum, kernels: kernels, scratch: scratch)
    let parameters = ParameterBuffer(count: memory.parameters.count) { target in
      for i in 0..<target.count {
        target[i] = (memory.parameters[i] + whole.parameters[i]) / 2
      }
    }
    return TrainingOutcome(
      memory: DeviceMemory(parameters: parameters), lossSum: whole.lossSum,
      samplesProcessed: whole.samplesProcessed)
  }
}
