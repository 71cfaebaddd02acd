import Foundation
import Testing

import FedSim
import Results
import Runs
import Scenarios

@Suite("Central training in scenarios, results and stories")
struct CentralResultTests {
  private static let root =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path + "/scenarios/"

  private static func scenario(_ name: String, _ overrides: [String] = []) throws -> Scenario {
    try Scenario(contentsOf: root + name + ".yaml", overrides: overrides)
  }

  private static func play(_ scenario: Scenario) throws -> (Simulation, ResultDocument) {
    var simulation = try scenario.makeSimulation()
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    return (simulation, recorder.document(simulation, of: scenario))
  }

  /// The planted scenario with phones that collect; the tablets too, if wanted.
  private static let collecting = [
    "fleet.phones.collection={timestamps: false, charactersPerValue: 120}",
    "server.central={every: 1 min, overhead: 0 s}",
  ]

  @Test("the tables have the outcome of every file, of each version, and on each device")
  func tables() throws {
    let (simulation, document) = try Self.play(Self.scenario("smoke/central"))
    let ended = try #require(document.integers("central/filesEnded"))
    #expect(ended.reduce(0, +) == document.integers("central/filesOpened")?[0])
    #expect(ended.reduce(0, +) > 100)
    #expect(
      document.variable("central/fileOutcome")?.flagMeanings
        == FileOutcome.allCases.map(\.rawValue))
    let samples = try #require(document.integers("central/samplesEnded"))
    let taken = try #require(document.integers("collection/samples"))
    func sum(_ list: [Int64]) -> Int64 { list.reduce(0, +) }
    #expect(sum(samples) == sum(taken))
    let files = try #require(document.integers("collection/files"))
    #expect(sum(files) == sum(ended))
    // The trainers collect nothing, and the coded phones have no personal models.
    #expect(files.suffix(6).allSatisfy { $0 == 0 })
    let inUse = try #require(document.integers("collection/inUse"))
    #expect(inUse.count == 2 * 30)
    #expect((12..<24).allSatisfy { inUse[2 * $0 + 1] == -2 })
    #expect((24..<30).allSatisfy { inUse[2 * $0] == -2 })
    // Versions count up by model, and their trainings end after they begin.
    let versions = simulation.collection.versions
    for model in 0..<2 {
      let own = versions.filter { $0.model == model }
      #expect(own.map(\.version) == (1...own.count).map { $0 })
      #expect(own.allSatisfy { $0.startedAt < $0.publishedAt })
    }
    #expect(document.numbers("central/publishedAt") == versions.map(\.publishedAt.seconds))
    #expect(
      document.numbers("central/testAccuracy")?.enumerated().allSatisfy {
        $1.isNaN == (versions[$0].model == 1)
      } == true)
    #expect(document["centralModel_0"]?[attribute: "model"] == .text("wide"))
    #expect(document["centralModel_1"] == nil)
    #expect(
      document.variable("events/kind")?.flagMeanings.contains("fileFormatted") == true)
  }

  @Test("where nobody collects, neither result nor resolved scenario speaks of it")
  func absent() throws {
    let (_, document) = try Night.run("record.events=true")
    #expect(document["central"] == nil && document["collection"] == nil)
    let kinds = try #require(document.variable("events/kind")?.flagMeanings)
    #expect(kinds.last == "erased" && !kinds.contains("fileFormatted"))
    #expect(document.variable("events/detail")?.flagMeanings.contains("overwritten") == false)
    let text = try Night.scenario().resolvedText
    for word in ["collection", "central", "models"] { #expect(!text.contains(word), "\(word)") }
  }

  @Test("equal bytes with one thread and two, lazily and eagerly, and from the resolved scenario")
  func sameBytes() throws {
    let folder = try Folder()
    func bytes(_ name: String, _ scenario: Scenario, _ options: RunOptions) throws -> Data {
      _ = try Run(scenario, output: folder(name), options: options).perform()
      return try Data(contentsOf: URL(fileURLWithPath: folder(name)))
    }
    let scenario = try Self.scenario("smoke/central")
    let reference = try bytes("one.h5", scenario, RunOptions())
    var options = RunOptions()
    options.threads = 2
    #expect(try bytes("two.h5", scenario, options) == reference)
    options.compute = .eager
    #expect(try bytes("eager.h5", scenario, options) == reference)
    let again = try Scenario(text: scenario.resolvedText, file: folder("central.yaml"))
    #expect(try bytes("again.h5", again, RunOptions()) == reference)
  }

  @Test("every event of twelve worlds leaves the sums right", arguments: 1...12)
  func audits(seed: Int) throws {
    var options = RunOptions()
    if seed % 3 == 0 { options.shakeTies = UInt64(seed) }
    var overrides = ["seed=\(seed)", "stop.after=2 d"]
    if seed % 2 == 0 { overrides.append("server.central.requiresMetadata=true") }
    if seed % 4 == 0 { overrides.append("server.central.data=new") }
    let scenario = try Self.scenario("smoke/central", overrides)
    var simulation = try scenario.makeSimulation(options)
    let invariants = Invariants(interval: .minutes(10))
    simulation.run(observers: [invariants])
    #expect(invariants.broken == [])
    #expect(simulation.collection.ledger.stillOpen == 0)
    #expect(simulation.collection.ledger.opened > 50)
  }

  @Test("shaken ties leave a central model its bits: files are read in a stated order")
  func ties() throws {
    // Twelve devices, whose windows all begin at once, on links of one speed.
    func model(_ shake: UInt64?) throws -> [Float] {
      var options = RunOptions()
      options.shakeTies = shake
      var simulation = try Scenario(
        text: Night.text,
        overrides: [
          "fleet.phones.count=0", "fleet.tablets.count=12", "fleet.tablets.collection={}",
          "fleet.tablets.collection.charactersPerValue=9", "server.central={every: 20 h}",
        ]
      ).makeSimulation(options)
      simulation.run()
      #expect(simulation.collection.versions.first?.files == 12)
      return simulation.collection.parameters(of: 0).values
    }
    let calm = try model(nil)
    #expect(try model(1) == calm)
    #expect(try model(2) == calm)
  }

  @Test("the shipped pair has one world and one set of data, the coded variant too")
  func pair() throws {
    func digests(_ name: String) throws -> ([Int64]?, ResultDocument.AttributeValue?) {
      let (_, document) = try Self.play(
        Self.scenario("systems/" + name, ["stop.after=1 d", "inject=[]"]))
      return (document.integers("devices/exogenousDigest"), document.root[attribute: "dataDigest"])
    }
    let central = try digests("swiftyforesight")
    #expect(central.0?.count == 150)
    #expect(try digests("swiftyforesight-federated") == central)
    #expect(try digests("swiftyforesight-as-coded") == central)
  }

  @Test("explain reports the outcome of the files of a device that collects")
  func explain() throws {
    func told(
      _ overrides: [String], device: String = "phones/0", round: Int? = nil
    ) throws -> Explanation {
      let folder = try Folder()
      let scenario = try Scenario(
        text: PlantedStory.text, file: folder("s.yaml"), overrides: Self.collecting + overrides)
      _ = try Run(scenario, output: folder("r.h5")).perform()
      return try Explanation(result: folder("r.h5"), device: device, round: round)
    }
    // 1,000 bytes and a message's 1,000: sent after 2 s, in the store 10 ms later.
    let read = try told([])
    #expect(read.contributed && read.cause == .contributed)
    #expect(read.causeText == "its file 0 was used in a training at the server")
    #expect(
      read.sentences.contains(
        "At 0 d 00:00:00 it formatted 4 samples as file 0 of 1000 bytes."))
    #expect(read.sentences.contains("At 0 d 00:00:02.01 file 0 was in the store."))
    #expect(
      read.sentences.contains(
        "At 0 d 00:01:00 the server began to train the model `model` on 4 samples."))
    #expect(
      read.sentences.last
        == "So it contributed: its file 0 was used in a training at the server at 0 d 00:01:00.")

    let waiting = try told(["server.central.every=3 h"])
    #expect(!waiting.contributed && waiting.cause == .collects)
    #expect(waiting.causeText == "its file waited in the store for a training")

    let offline = try told(["fleet.phones.link={fixed: offline}"])
    #expect(offline.causeText == "the upload of its file failed: there was no link")

    let erased = try told([
      "server.central.every=3 h", "inject=[{at: 1 min, device: phones/0, action: erase}]",
    ])
    #expect(erased.cause == .erased)
    #expect(erased.causeText == "its file 0 was erased by its user")

    let cleared = try told([
      "fleet.phones.background={windows: {fixed: {intervals: [{from: 10 s, to: 20 s}]}}}",
      "inject=[{at: 1 s, device: phones/0, action: clearData}]",
    ])
    #expect(cleared.causeText == "its app cleared what it had collected")

    let few = try told(["fleet.phones.collection.minimumSamples=9"])
    #expect(few.cause == .collects)
    #expect(few.sentences.last?.contains("had nothing new to format") == true)

    let idle = try told(["fleet.phones.background={windows: null}"])
    #expect(idle.cause == .nothingRuns)

    // Those who train hear of rounds as before.
    let trainer = try told([], device: "tablets/0", round: 1)
    #expect(trainer.contributed)
    #expect(!trainer.sentences.contains { $0.contains("began to train the model `") })
  }

  @Test("the summary has the models, and a run of nobody who trains no standstill of rounds")
  func summary() throws {
    func summary(_ overrides: String...) throws -> RunSummary {
      let folder = try Folder()
      let scenario = try Scenario(
        text: PlantedStory.text, file: folder("s.yaml"),
        overrides: Self.collecting + ["fleet.tablets.count=0"] + overrides)
      return try Run(scenario, output: folder("r.h5")).perform()
    }
    let trained = try summary()
    let model = try #require(trained.central?.models.first)
    #expect(model.name == "model" && model.samples == 4 && model.users == 1)
    #expect(model.version == 119 && model.accuracy != nil && !model.isOwn)
    #expect(trained.central?.hasTrainers == false)
    #expect(trained.standstill == [])
    #expect(trained.ledgers.last?.name == "files")
    #expect(trained.ledgers.allSatisfy { $0.balances })

    #expect(
      try summary("server.central.every=3 h").standstill
        == ["files were stored, and no training of them was done (server.central): 1 of 1 phones"])
    #expect(
      try summary("fleet.phones.link={fixed: offline}").standstill
        == ["files were formatted, and none came into the store: 1 of 1 phones"])
    #expect(
      try summary("server.reachable={fixed: down}").standstill
        == [
          "files were formatted, and none came into the store: 1 of 1 phones",
          "the server was never reachable (server.reachable)",
        ])
    #expect(
      try summary("fleet.phones.collection.minimumSamples=9").standstill
        == ["the app ran and had nothing to format (fleet[].collection): 1 of 1 phones"])
    #expect(
      try summary("fleet.phones.background={windows: null}").standstill
        == ["nothing lets the app run (fleet[].background): 1 of 1 phones"])
  }

  @Test("a model of `task.models` that does not fit the data is a fault where it is written")
  func layers() throws {
    let scenario = try Scenario(
      text: """
        task:
          data: {source: {blobs: {classes: 4}}, partition: {iid: {clients: 2}}}
          models: [{name: narrow, model: {layers: [{dense: 2}]}}]
        fleet: [{name: a, count: 1, collection: {}}]
        server: {central: 1 d}
        """)
    #expect(throws: (any Error).self) { try scenario.makeSimulation() }
  }
}
