// As another package would: public declarations only.
import FedSim
import Learning
import Runs
import Scenarios
import Schema
import Testing

/// Moves the model by a part of what one device trained: the one with the lowest number.
private struct FirstDevice: Aggregator {
  static let name = "first-device"
  static let summary = "Takes one device's word"

  struct Settings: PartSettings {
    var share = 1.0
    init() {}
    static var shorthand: String? { "share" }
    static var fields: [Field<Settings>] {
      [Field("share", \.share, .number(0...1), "How far to go")]
    }
  }

  private let share: Double

  init(_ settings: Settings) { share = settings.share }

  func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
    batch.weightedSum(batch.updates.indices.map { $0 == 0 ? share : 0 })
  }
}

@Suite("A part from another package")
struct OutsidePartTests {
  private let registry = Registry.standard.adding(FirstDevice.self)

  private func scenario(_ aggregator: String) throws -> Scenario {
    try Scenario(
      text: Night.text, file: "night.yaml", overrides: ["server.aggregator=\(aggregator)"],
      registry: registry)
  }

  @Test("an aggregator added to the registry is used by its name, with its settings")
  func aggregator() throws {
    var still = try scenario("{first-device: 0}").makeSimulation()
    let initial = still.model.values
    still.run()
    #expect(still.version > 10)
    #expect(still.model.values == initial, "a share of 0 of a difference moves nothing")

    var moving = try scenario("first-device").makeSimulation()
    moving.run()
    var standard = try Scenario(text: Night.text).makeSimulation()
    standard.run()
    #expect(moving.model.values != initial)
    #expect(moving.model.values != standard.model.values)
    #expect(moving.version == standard.version, "the arithmetic does not move the clock")
  }

  @Test("its settings are checked as any part's")
  func faults() throws {
    do throws(Faults) {
      _ = try Scenario(
        text: Night.text, file: "night.yaml",
        overrides: ["server.aggregator={first-device: {shore: 1}}"], registry: registry)
      Issue.record("no fault")
    } catch {
      #expect(error.faults.count == 1)
      #expect(error.description.contains("unknown key `shore`; did you mean `share`?"))
    }
  }

  @Test("the standard registry does not know it")
  func standard() {
    #expect(throws: Faults.self) {
      try Scenario(text: Night.text, overrides: ["server.aggregator=first-device"])
    }
  }

  @Test("it is listed")
  func listing() {
    #expect(Listing(registry).text("aggregator").contains("first-device: Takes one device's word"))
  }
}

/// Steps on with a part of the last step: it remembers that, and how many steps there were.
private struct Momentum: ServerOptimizer {
  static let name = "test-momentum"
  static let summary = "Goes on in the direction of the last step"
  typealias Settings = NoSettings
  init(_ settings: NoSettings) {}

  struct Memory: Codable {
    var last: ParameterBuffer?
    var steps = 0
  }
  func makeMemory() -> Memory { Memory() }

  func step(
    from current: ParameterBuffer, by combined: CombinedUpdate, _ memory: inout Memory
  ) -> ParameterBuffer {
    precondition(combined.payload == .delta, "the test sends differences")
    let (last, new) = (memory.last, combined.parameters)
    let step = ParameterBuffer(count: current.count) { target in
      for i in 0..<target.count { target[i] = new[i] + 0.5 * (last?[i] ?? 0) }
    }
    memory.last = step
    memory.steps += 1
    return ParameterBuffer(count: current.count) { target in
      for i in 0..<target.count { target[i] = current[i] + step[i] }
    }
  }
}

/// Aggregates at the third, then at the second update, in turn.
private struct ThreeTwo: AggregationTrigger {
  static let name = "test-three-two"
  static let summary = "Three updates and two, in turn"
  typealias Settings = NoSettings
  init(_ settings: NoSettings) {}

  struct Memory: Codable { var versions = 0 }
  func makeMemory() -> Memory { Memory() }

  func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout Memory
  ) -> TriggerDecision {
    guard server.pending >= (memory.versions % 2 == 0 ? 3 : 2) else { return .wait }
    memory.versions += 1
    return .aggregate
  }
}

@Suite("Parts that remember")
struct RememberingPartTests {
  private final class Versions: Observer {
    var updates: [Int] = []
    var models: [[Float]] = []
    func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
      updates.append(record.updates)
      models.append(simulation.model.values)
    }
  }

  private struct Stop: Error {}

  /// The versions of a run that is saved and restored after each of this many turns.
  private func played(stops: Int, _ optimizer: String = "test-momentum") throws -> Versions {
    let registry = Registry.standard.adding(Momentum.self).adding(ThreeTwo.self)
    let scenario = try Scenario(
      text: Night.text, file: "night.yaml",
      overrides: [
        "server.optimizer=\(optimizer)", "server.trigger=test-three-two", "server.payload=delta",
      ], registry: registry)
    let versions = Versions()
    var simulation = try scenario.makeSimulation()
    for stop in 0...stops {
      var bytes: [UInt8] = []
      do {
        try simulation.run(observers: [versions], every: 50) { run in
          guard stop < stops else { return }
          bytes = try run.archive()
          throw Stop()
        }
      } catch is Stop {
        simulation = try Simulation(simulation.inputs, archive: bytes)
      }
    }
    return versions
  }

  @Test("what they remember lasts from version to version, and is saved with the run")
  func memory() throws {
    let whole = try played(stops: 0)
    #expect(whole.updates.count > 6)
    // Version 0 has none; then the trigger counts.
    #expect(whole.updates.prefix(5) == [0, 3, 2, 3, 2])
    let parts = try played(stops: 40)
    #expect(parts.updates == whole.updates)
    #expect(parts.models == whole.models)
    // Without a memory the first version is the same, up to rounding, and the second is not: half
    // of the first step is missing.
    let plain = try played(stops: 0, "sgd")
    func distance(_ version: Int) -> Float {
      zip(plain.models[version], whole.models[version]).map { abs($0 - $1) }.max()!
    }
    #expect(distance(1) < 1e-6)
    #expect(distance(2) > 1e-3)
  }
}
