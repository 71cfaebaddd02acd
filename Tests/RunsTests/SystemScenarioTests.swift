import FedSim
import Foundation
import Results
import Runs
import Scenarios
import Schema
import Testing

/// SwiftSyft with PyGrid and Flower with Core ML, from their scenario files to their results.
@Suite("SwiftSyft and Flower as scenario files")
struct SystemScenarioTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("scenarios")

  private func scenario(_ name: String, _ overrides: [String] = []) throws -> Scenario {
    try Scenario(
      contentsOf: Self.folder.appendingPathComponent(name + ".yaml").path, overrides: overrides)
  }

  private func played(
    _ name: String, _ overrides: [String] = []
  ) throws -> (simulation: Simulation, document: ResultDocument) {
    let scenario = try scenario(name, overrides)
    var simulation = try scenario.makeSimulation()
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    return (simulation, recorder.document(simulation, of: scenario))
  }

  /// Small data and a small model in place of images, so that no file is needed.
  private let small = [
    "task.data.source={blobs: {classes: 4, features: 8, train: 3000, test: 100}}",
    "task.model=softmax",
  ]

  @Test(
    "each system's scenario produces versions, and the same bytes on any number of threads",
    arguments: ["swiftsyft", "swiftsyft-as-coded", "flower", "flower-as-coded"])
  func runs(name: String) throws {
    let folder = try Folder()
    let scenario = try scenario("systems/" + name, small)
    #expect(scenario.settings.name == name)
    var bytes: [Data] = []
    for threads in [1, 2] {
      var options = RunOptions()
      options.threads = threads
      let summary = try Run(scenario, output: folder("\(threads).h5"), options: options).perform()
      #expect(summary.ledgers.allSatisfy { $0.balances })
      bytes.append(try Data(contentsOf: URL(fileURLWithPath: folder("\(threads).h5"))))
    }
    #expect(bytes[0] == bytes[1])
    #expect(try played("systems/" + name, small).simulation.version > 3)
  }

  @Test("phones are rejected, and no session of a rejected phone idles into its expiry")
  func rejected() throws {
    let scenario = try scenario("systems/swiftsyft", small)
    var simulation = try scenario.makeSimulation()
    let sessions = RejectedSessions()
    simulation.run(observers: [sessions])
    #expect(simulation.serverRecord.exchangeTallies?.rejectedWithTimeout ?? 0 >= 10)
    #expect(sessions.rejected.count >= 10)
    #expect(sessions.rejected.allSatisfy { $0.end == .rejected && $0.afterwards == .zero })
  }

  @Test("the two modes of a system differ in what the pages list, and share fleet and task")
  func modes() throws {
    let syft = try scenario("systems/swiftsyft").settings
    let coded = try scenario("systems/swiftsyft-as-coded").settings
    #expect(syft.fleet[0].count == coded.fleet[0].count)
    #expect((syft.server.selector.value.part as? CycleSelector)?.cycle.mode == .asDocumented)
    let cycle = try #require((coded.server.selector.value.part as? CycleSelector)?.cycle)
    #expect(cycle.mode == .asCoded)
    #expect((cycle.length, cycle.maximumDiffs, cycle.planBytes) == (.hours(8), 20, 60_000))
    #expect(coded.server.clientConfig?.first?.maximumUpdates == 100)
    #expect(coded.server.payloadFormat?.upload == .base64)
    let flower = try scenario("systems/flower").settings
    let example = try scenario("systems/flower-as-coded").settings
    #expect(flower.server.exchange == nil)
    #expect(example.server.exchange == .weightsOnly)
    #expect(example.server.initialModel == .client)
    #expect(example.server.evaluation?.fraction == 0.5)
    #expect(flower.fleet[0].count == example.fleet[0].count)
  }

  @Test("profiles: the tutorial's SwiftSyft stops gracefully, the coded one never says so")
  func swiftsyft() throws {
    let group = try scenario("systems/swiftsyft").settings.fleet[0]
    #expect(group.background.processing?.requiresExternalPower == true)
    #expect(group.background.processing?.requiresNetworkConnectivity == true)
    #expect(group.background.processing?.resubmit == .atStart)
    #expect(group.background.refresh == nil)
    #expect(group.app?.onExpiration == .complete)
    #expect(group.app?.resetsFlag == true)
    #expect(group.app?.completesEarly == .seconds(5))
    #expect(group.protocol?.timeouts == .honoured)
    #expect(group.protocol?.worker?.probeBytes == 64_000_000)
    #expect(group.protocol?.worker?.probeTimeout == .seconds(60))
    #expect(group.outbox.capacity == 0)
    #expect(group.participation.network == .any)
    let coded = try scenario("systems/swiftsyft-as-coded").settings.fleet[0]
    #expect(coded.background.processing?.requiresExternalPower == true)
    #expect(coded.background.processing?.resubmit == .never)
    #expect(coded.app?.onExpiration == .forget)
    #expect(coded.app?.resetsFlag == false)
    #expect(coded.app?.onRejection == .forget)
    #expect(coded.app?.completesEarly == .seconds(5))
    #expect(coded.protocol?.timeouts == .strictInteger)
    #expect(coded.protocol?.worker != nil)
    #expect(coded.participation.chargingOnly == true)
    #expect(coded.participation.network == .wifi)
    #expect(coded.interruption.onConditionsLost == .ignore)
  }

  @Test("profiles: both of Flower overwrite the app's model; the coded one has the SDK's faults")
  func flower() throws {
    let library = try #require(scenario("systems/flower").settings.fleet[0].protocol)
    #expect(library.stream)
    #expect(library.overwritesModel == true)
    #expect(library.onFailure == .end)
    #expect(library.reconnect == .fixed)
    #expect(!library.skipsUnknownLayers)
    #expect(library.evaluation == nil)
    #expect(library.ignoresConfig == nil)
    let coded = try #require(scenario("systems/flower-as-coded").settings.fleet[0].protocol)
    #expect(coded.stream)
    #expect(coded.overwritesModel == true)
    #expect(coded.onFailure == .report)
    #expect(coded.reconnect == .asCoded)
    #expect(coded.skipsUnknownLayers)
    #expect(coded.evaluation == .asCoded)
    #expect(coded.ignoresConfig == true)
    #expect(coded.keepalive == .seconds(1000))
    let selector = try Scenario(text: text("{policy: flower}")).settings.server.selector.value
    #expect(selector.part is FractionSelector && selector.rules?.waitLimit == .hours(24))
  }

  private func text(_ server: String, task: String = "model: {mlp: [4]}") -> String {
    """
    stop: 2 h
    task:
      data: {source: {blobs: {classes: 3, train: 40, test: 20}}, partition: {iid: {clients: 4}}}
      \(task)
    fleet: [{name: a, count: 4, background: {windows: {fixed: {always: open}}}}]
    server: \(server)
    """
  }

  @Test("what devices reported, what they keep and what was asked of them is in the result")
  func results() throws {
    let (simulation, document) = try played("smoke/evaluations")
    let rounds = try #require(document.integers("evaluations/round"))
    #expect(rounds == simulation.serverRecord.evaluations.map { Int64($0.round) })
    #expect(rounds.last == 20)
    let loss = try #require(document.numbers("evaluations/loss"))
    #expect(loss == simulation.serverRecord.evaluations.map(\.loss))
    #expect(loss.contains { $0.isFinite })
    let results = try #require(document.integers("evaluations/results"))
    let failures = try #require(document.integers("evaluations/failures"))
    let members = try #require(document.integers("evaluations/members"))
    for place in members.indices {
      #expect(members[place] == results[place] + failures[place])
    }
    let bases = try #require(document.integers("devices/ownBase"))
    let accuracies = try #require(document.numbers("devices/ownAccuracy"))
    #expect(bases.contains { $0 >= 0 })
    for (base, accuracy) in zip(bases, accuracies) { #expect(accuracy.isNaN == (base < 0)) }
    for name in ["modelsAsked", "propertiesNotImplemented", "configuredTrainings"] {
      #expect(try #require(document.integers("ledger/\(name)"))[0] > 0, "\(name)")
    }
    // The words of steps that occur are among the kinds and details of stored events.
    let kinds = try #require(document.variable("events/kind")).flagMeanings
    #expect(kinds.last == "exchange")
    let details = try #require(document.variable("events/detail")).flagMeanings
    #expect(details.contains("evaluated"))
  }

  @Test("a result that asks for none of it has none of it, and keeps its words")
  func absent() throws {
    let features = ["overwritesModel", "ignoresConfig", "evaluation"]
    let (_, document) = try played(
      "smoke/streams",
      ["record.events=true"] + features.map { "fleet.phones.protocol.\($0)=null" })
    #expect(document["evaluations"] == nil)
    #expect(document.variable("devices/ownBase") == nil)
    #expect(document.variable("ledger/workers") == nil)
    #expect(document.variable("events/kind")?.flagMeanings.last == "erased")
    #expect(document.variable("events/detail")?.flagMeanings.contains("enrolled") == false)
  }

  @Test("with weights alone on the wire the model needs a layer whose weights travel")
  func nothingTravels() throws {
    let scenario = try Scenario(
      text: text(
        "{exchange: weightsOnly}",
        task: "model: {layers: [{dense: {units: 3, isUpdatable: false}}]}"))
    let error = #expect(throws: Faults.self) { try scenario.makeSimulation() }
    let found = error?.faults.first?.description ?? ""
    #expect(found.contains("server.exchange: the model has no trained dense"), "\(found)")
    _ = try Scenario(text: text("{exchange: weightsOnly}")).makeSimulation()
  }

  @Test("times and sizes of any length are no overflow")
  func extremes() throws {
    let huge = "9000000000 s"
    let scenario = try Scenario(
      text: """
        stop: 2 h
        task:
          data: {source: {blobs: {classes: 3, train: 40, test: 20}}, partition: {iid: {clients: 4}}}
          model: {mlp: [4]}
        fleet:
          - {name: a, count: 4, profile: flower, background: {windows: {fixed: {always: open}}}}
        server:
          policy: flower
          initialModel: client
          messageBytes: 1000000 GB
          selector: {fraction: {waitLimit: \(huge)}}
          trigger: {cohort-answered: {timeout: \(huge)}}
          evaluation: {waitLimit: \(huge), timeout: \(huge)}
          clientConfig: [{epochs: 10000, maximumUpdates: 10000000}]
        """)
    var simulation = try scenario.makeSimulation()
    simulation.run()
    #expect(simulation.version == 0)
  }
}

/// How sessions ended in which the server had rejected the phone, and how long after that.
private final class RejectedSessions: Observer {
  var wantsEveryEvent: Bool { true }
  var rejected: [(end: SessionEnd, afterwards: SimDuration)] = []
  private var since: [Int: SimTime] = [:]

  func happened(_ event: ObservedEvent) {
    switch event.kind {
    case .rejected: since[event.device] = event.time
    case .sessionBegan: since[event.device] = nil
    case .sessionEnded(let end):
      guard let time = since.removeValue(forKey: event.device) else { return }
      rejected.append((end, event.time - time))
    default: break
    }
  }
}
