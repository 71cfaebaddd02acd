import Testing

import FedSim
import Results
import Runs
import Scenarios

@Suite("What a result file holds")
struct ResultDocumentTests {
  @Test("every axis is as long as what it counts")
  func axes() throws {
    let (simulation, document) = try Night.run()
    try document.validate()
    func length(_ group: String, _ axis: String) -> Int? {
      document[group]?.axes.first { $0.name == axis }?.length
    }
    #expect(length("versions", "version") == simulation.version + 1)
    #expect(length("rounds", "round") == simulation.round)
    #expect(length("hours", "hour") == 48)
    #expect(length("devices", "device") == 12)
    #expect(length("partition", "client") == 12)
    #expect(length("partition", "label") == 3)
    // Without the ends that only features bring.
    #expect(length("ledger", "attemptOutcome") == 9)
    #expect(length("ledger", "updateOutcome") == 12)
    #expect(length("ledger", "transmissionOutcome") == 6)
    #expect(document["identity"] == nil)
    #expect(document.variable("model/dense1_weight")?.values.count == 5 * 4)
    #expect(document.variable("model/dense2_bias")?.values.count == 3)
  }

  @Test("the ledgers balance, and the run is one in which things happen")
  func ledgers() throws {
    let (simulation, document) = try Night.run()
    #expect(simulation.audit() == [])
    for name in ["attempts", "updates", "transmissions"] {
      let counts = try #require(document.integers("ledger/\(name)"))
      let opened = try #require(document.integers("ledger/\(name)Opened"))
      #expect(counts.reduce(0, +) == opened[0], "\(name)")
      #expect(opened[0] > 0, "\(name)")
    }
    #expect(try #require(document.integers("ledger/expiredTrainings"))[0] > 0)
    #expect(try #require(document.integers("ledger/resumed"))[0] > 0)
  }

  @Test(
    "the funnels by round and by hour, the versions, the devices and the ledgers count the same")
  func sums() throws {
    let (_, document) = try Night.run()
    func sum(_ path: String) throws -> Int64 {
      try #require(document.integers(path), "\(path)").reduce(0, +)
    }
    let aggregated = try #require(document.integers("ledger/updates"))[0]
    #expect(aggregated > 10)
    #expect(try sum("versions/updates") == aggregated)
    #expect(try sum("devices/aggregated") == aggregated)
    #expect(try sum("hours/aggregated") == aggregated)
    #expect(try sum("rounds/aggregated") == aggregated)
    let begun = try sum("ledger/attemptsOpened") + sum("ledger/resumed")
    #expect(try sum("hours/started") <= begun)
    let attempts = try (sum("devices/attempts"), sum("ledger/attemptsOpened"))
    #expect(attempts.0 == attempts.1)
    let sessions = try (sum("devices/sessions"), sum("ledger/sessions"))
    #expect(sessions.0 == sessions.1)
    for stage in Stage.allCases {
      let counts = try (sum("hours/\(stage)"), sum("rounds/\(stage)"))
      #expect(counts.0 == counts.1, "\(stage)")
    }
  }

  @Test("the partition's histogram counts the training samples that are left after validation")
  func histogram() throws {
    let (_, document) = try Night.run()
    // 240 samples for 12 clients are 20 each, of which floor(0.2 * 20) = 4 are kept back.
    #expect(document.integers("partition/samples") == Array(repeating: 16, count: 12))
    #expect(document.integers("partition/validationSamples") == Array(repeating: 4, count: 12))
    guard case .int32(let counts)? = document.variable("partition/labelHistogram")?.values else {
      Issue.record("no histogram")
      return
    }
    for client in 0..<12 {
      #expect(counts[(3 * client)..<(3 * client + 3)].reduce(0, +) == 16)
    }
  }

  @Test("what was not evaluated is NaN, and the last version always is evaluated")
  func evaluations() throws {
    let (simulation, document) = try Night.run("record.evaluateEvery.versions=7")
    let accuracies = try #require(document.numbers("versions/centralAccuracy"))
    try #require(simulation.version % 7 != 0 && simulation.version > 7)
    for (version, accuracy) in accuracies.enumerated() {
      #expect(accuracy.isNaN == (version % 7 != 0 && version != simulation.version), "\(version)")
    }
    let variable = try #require(document.variable("versions/centralAccuracy"))
    #expect(variable[attribute: "coordinates"] == .text("publishedAt"))
    #expect(variable[attribute: "comment"] == .text("NaN where the version was not evaluated"))
  }

  @Test("the scenario in the file is a scenario that gives the same file")
  func resolvedScenario() throws {
    let (_, document) = try Night.run()
    let text = try #require(document.root[text: "scenario"])
    let scenario = try Scenario(text: text)
    var simulation = try scenario.makeSimulation()
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    #expect(recorder.document(simulation, of: scenario) == document)
  }

  @Test("a result says which scenario, seed, engine and events it is of")
  func identity() throws {
    let scenario = try Night.scenario()
    let (simulation, document) = try Night.run()
    #expect(document.root[attribute: "title"] == .text("night"))
    #expect(document.root[attribute: "seed"] == .unsigned(7))
    #expect(document.root[attribute: "engineVersion"] == .text(FedSimVersion.current))
    #expect(document.root[attribute: "scenarioDigest"] == .text(scenario.digest))
    #expect(
      document.root[attribute: "eventDigest"] == .text(simulation.eventDigest.value.hexDigits))
    #expect(document.numbers("simulatedTime") == [172_800])
  }

  @Test("without `finalModel` there is no model in the file")
  func noModel() throws {
    #expect(try Night.run("record.finalModel=false").document["model"] == nil)
  }
}
