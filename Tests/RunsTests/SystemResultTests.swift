import FedSim
import Foundation
import Results
import Runs
import Scenarios
import Testing

@Suite("What source systems add to result files")
struct SystemResultTests {
  private static let settings = [
    "server.aggregationTime={base: 30 s, blocks: true}", "server.modelInUse=1 min",
    "record.averageAccuracy=samples", "record.ineligibility=true", "server.payloadFormat=json",
    "server.messages={check: 400 B}", "server.whileOffline=drop",
    "fleet.phones.participation={avoidsLowPower: true, pollEvery: 5 min}",
    "fleet.phones.heartbeats={reportedLink: wifi}", "fleet.phones.outbox.flushes=false",
  ]

  private func run(_ overrides: [String]) throws -> (Simulation, ResultDocument) {
    let scenario = try Scenario(text: Night.text, file: "night.yaml", overrides: overrides)
    var simulation = try scenario.makeSimulation(RunOptions())
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    return (simulation, recorder.document(simulation, of: scenario))
  }

  @Test("columns and counts are there where they are asked for, and add up")
  func present() throws {
    let (simulation, document) = try run(Self.settings)
    let versions = simulation.version
    try #require(versions > 3)
    let published = try #require(document.numbers("versions/publishedAt"))
    let inUse = try #require(document.numbers("versions/inUseFrom"))
    let spans = try #require(document.numbers("versions/timeInUse"))
    #expect(inUse[0] == 0)
    for version in 1...versions where !inUse[version].isNaN {
      #expect(inUse[version] >= published[version] + 60)
    }
    // Some version is in use at any time of the two days.
    let inAll = spans.reduce(0.0, +)
    #expect((inAll - 172_800).magnitude < 1e-6)
    let behind = try #require(document.numbers("ledger/modelBehind"))
    #expect(behind[0] >= 60 && behind[0] < 172_800)
    let averages = try #require(document.numbers("versions/averageAccuracy"))
    #expect(averages[0].isNaN)
    #expect(averages.dropFirst().allSatisfy { (0...1).contains($0) })
    let tallies = try #require(simulation.serverRecord.aggregationTallies)
    #expect(document.integers("ledger/aggregations") == [Int64(tallies.begun)])
    #expect(
      try #require(document.numbers("ledger/aggregationTime")) == [tallies.lasted.seconds])
    #expect(document.integers("ledger/heldRequests") == [Int64(tallies.held)])
    #expect(try #require(document.numbers("ledger/heldWait")) == [tallies.waited.seconds])
    let ineligible = try #require(document.integers("ledger/ineligible"))
    #expect(ineligible.count == 6)
    #expect(document.integers("ledger/ineligibleSessions") == [ineligible.reduce(0, +)])
    let link = try #require(document.numbers("identity/link"))
    // Nine phones, two days; nobody ever tells of a cellular network.
    let total = link.reduce(0.0, +)
    #expect((total - 1_555_200).magnitude < 1e-3)
    #expect(link[3...5].allSatisfy { $0 == 0 })
    #expect(link[8] > 0)
  }

  @Test("where nothing asks for them neither result nor resolved scenario speaks of them")
  func absent() throws {
    let (_, document) = try run([])
    for name in [
      "versions/inUseFrom", "versions/timeInUse", "versions/averageAccuracy", "ledger/modelBehind",
      "ledger/aggregations", "ledger/heldRequests", "ledger/ineligible", "identity/link",
    ] {
      #expect(document.variable(name) == nil, "\(name)")
    }
    let text = try Night.scenario().resolvedText
    for word in [
      "aggregationTime", "modelInUse", "whileOffline", "payloadFormat", "messages:",
      "averageAccuracy", "ineligibility", "pollEvery", "flushes", "retriesLost",
      "downloadTimeout", "onRefreshExpiration", "refreshes", "bootstrapsInUse", "reportedLink",
      "content",
    ] {
      #expect(!text.contains(word), "\(word)")
    }
  }

  @Test("what is resolved is read again as the same")
  func resolved() throws {
    let scenario = try Scenario(text: Night.text, file: "night.yaml", overrides: Self.settings)
    let again = try Scenario(text: scenario.resolvedText)
    #expect(again.resolvedText == scenario.resolvedText)
    #expect(scenario.resolvedText.contains("averageAccuracy: samples"))
  }

  @Test("model files have the average that is asked for")
  func modelFiles() throws {
    let folder = try Folder()
    // Clients of different sizes: each update counting the same is another mean.
    let scenario = try Night.scenario(
      "record.modelFiles=models", "record.averageAccuracy=updates",
      "task.data.partition={quantity-by-rank: {clients: 12}}")
    let summary = try Run(scenario, output: folder("night.h5")).perform()
    let document = try ResultFile.read(folder("night.h5"))
    let averages = try #require(document.numbers("versions/averageAccuracy"))
    let weighted = try #require(document.numbers("versions/validationAccuracy"))
    #expect(zip(averages, weighted).contains { ($0 - $1).magnitude > 0.001 })
    struct File: Decodable { var average_accuracy: Double? }
    let file = try JSONDecoder().decode(
      File.self,
      from: Data(contentsOf: URL(fileURLWithPath: folder("models/global_model_latest.json"))))
    #expect(file.average_accuracy == averages[summary.version])
  }

  @Test("restarts are counted, and the word for a lost round is listed only where one is lost")
  func restarts() throws {
    func meanings(_ document: ResultDocument) -> String {
      let attributes = document.variable("rounds/outcome")?.attributes ?? []
      guard case .text(let text) = attributes.first(where: { $0.name == "flag_meanings" })?.value
      else { return "" }
      return text
    }
    let (_, plain) = try run([])
    #expect(plain.variable("ledger/serverRestarts") == nil)
    #expect(meanings(plain).hasSuffix("unfinishedAtEnd"))
    let (_, restarted) = try run(["server.restarts={at: [1 h, 2 h]}"])
    #expect(restarted.integers("ledger/serverRestarts") == [2])
    #expect(meanings(restarted).hasSuffix("unfinishedAtEnd lostAtRestart"))
  }

  @Test("a stored event has the word for a lost update where it occurs, and only there")
  func events() throws {
    func meanings(_ overrides: [String]) throws -> [String] {
      let (_, document) = try run(overrides + ["record.events=true"])
      guard let variable = document.variable("events/detail"),
        let attribute = variable.attributes.first(where: { $0.name == "flag_meanings" }),
        case .text(let text) = attribute.value
      else { return [] }
      return text.split(separator: " ").map(String.init)
    }
    let offline = "server.internet={fixed: {otherwise: down}}"
    #expect(try !meanings([]).contains("refusedOffline"))
    #expect(try meanings([]).contains("deviceLeft"))
    // The server is never online: it has no model either, so it goes down once phones have one.
    let later =
      "server.internet={fixed: {otherwise: up, intervals: [{from: 12 h, to: 40 h, state: down}]}}"
    #expect(try meanings([later, "server.whileOffline=drop"]).last == "refusedOffline")
    #expect(try !meanings([offline, "server.whileOffline=drop"]).contains("refusedOffline"))
  }
}
