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

  func combine(_ batch: AggregationBatch) -> ParameterBuffer {
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
