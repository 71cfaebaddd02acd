import FedSim
import Results
import Runs
import Scenarios
import Schema
import Testing

@Suite("Runs without learning")
struct NoLearningTests {
  private func group(_ name: String, of document: ResultDocument) -> ResultDocument.Group? {
    document.root.groups.first { $0.name == name }
  }

  @Test("play the same events, to the digest, the ledgers and every device's counts")
  func sameEvents() throws {
    for override in ["server.payload=delta", "fleet.phones.interruption.onModelMoved=rebase"] {
      let real = try Night.run(override)
      let bare = try Night.run(override, "task.learning=none")
      #expect(real.simulation.version > 5)
      #expect(bare.simulation.eventDigest == real.simulation.eventDigest)
      #expect("\(bare.simulation.books.ledgers)" == "\(real.simulation.books.ledgers)")
      #expect("\(bare.simulation.books.tallies)" == "\(real.simulation.books.tallies)")
      #expect(
        bare.simulation.deviceRecords.map { "\($0)" }
          == real.simulation.deviceRecords.map { "\($0)" })
      #expect(bare.simulation.audit() == [])
    }
  }

  @Test("leave no model, no loss and no accuracy behind")
  func nothingLearned() throws {
    let document = try Night.run("task.learning=none").document
    #expect(group("model", of: document) == nil)
    let versions = try #require(group("versions", of: document))
    for name in ["trainingLoss", "centralAccuracy", "centralLoss", "validationAccuracy"] {
      let variable = try #require(versions.variables.first { $0.name == name })
      guard case .double(let values) = variable.values else {
        Issue.record("\(name) is no number")
        continue
      }
      #expect(values.count > 5 && values.allSatisfy(\.isNaN), "\(name)")
    }
    #expect(group("model", of: try Night.run().document) != nil)
  }

  @Test("`task: none` means a client of 60 samples without content")
  func bareWord() throws {
    func text(_ task: String) -> String {
      """
      name: t
      task: \(task)
      stop: {after: 1 d}
      fleet:
        - name: phones
          count: 3
          background: {windows: {fixed: {intervals: [{from: 1 h, to: 2 h}]}}}
          compute: {perBatch: 10 s}
      server: {trigger: {threshold: 3}}
      """
    }
    let short = try Scenario(text: text("none"))
    let long = try Scenario(
      text: text(
        "{learning: none, data: {source: {none: {train: 60}}, partition: {iid: {clients: 1}}}}"))
    #expect(short.resolvedText == long.resolvedText)
    #expect(try Scenario(text: short.resolvedText).resolvedText == short.resolvedText)
    let task = try short.inputs().task
    // The model is the default one over 28 x 28 values and 10 classes.
    #expect(task.network.inputCount == 784 && task.partition.shards.map(\.count) == [60])
    var run = try short.makeSimulation()
    run.run()
    // Three devices train once, all on the one client, and make one version of three updates.
    #expect(run.version == 1 && run.books.ledgers.updates[.aggregated] == 3)
    #expect(run.deviceRecords.map(\.samples) == [60, 60, 60])
    let batches = (60 + task.plan.batchSize - 1) / task.plan.batchSize
    #expect(run.books.ledgers.batchesUsed == 3 * batches * task.plan.epochs(shardCount: 60))
  }

  @Test(
    "refuse what needs learning, at its place",
    arguments: [
      "stop.accuracy=0.5", "record.federatedEvaluation=10", "record.modelFiles=models",
    ])
  func refusals(override: String) throws {
    let error = #expect(throws: Faults.self) {
      try Night.scenario("task.learning=none", override)
    }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("there is none without learning"))
  }

  @Test("are asked for where samples have nothing in them")
  func emptySamples() throws {
    let error = #expect(throws: Faults.self) {
      try Night.scenario("task.data.source=none", "task.data.partition={iid: {clients: 12}}")
    }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("these samples have no content to learn from"))
    _ = try Night.scenario("task.data.source={none: {train: 240}}", "task.learning=none")
  }
}
