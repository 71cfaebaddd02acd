import FedSim
import Foundation
import Results
import Runs
import Scenarios
import Schema
import Testing

/// Cycles, streams and layouts, from a scenario file to the result.
@Suite("Protocols in scenario files")
struct ProtocolTests {
  private func text(server: String, group: String = "", model: String = "{mlp: [4]}") -> String {
    """
    stop: 2 h
    task:
      data: {source: {blobs: {classes: 3, train: 40, test: 20}}, partition: {iid: {clients: 4}}}
      model: \(model)
    fleet: [{name: a, count: 4, background: {windows: {fixed: {always: open}}}\(group)}]
    server: \(server)
    """
  }

  @Test("the policy `pygrid` is cycles, differences, their plain mean, and reports overwritten")
  func pygrid() throws {
    let scenario = try Scenario(
      text: text(server: "{policy: pygrid, selector: {cycles: {length: 8 h, maximumDiffs: 5}}}"))
    let server = scenario.settings.server
    let cycle = try #require(server.selector.value.part as? CycleSelector).cycle
    #expect(cycle.mode == .asCoded)
    #expect(cycle.length == .hours(8))
    #expect(cycle.maximumDiffs == 5)
    #expect(server.trigger.map(\.name) == ["cycle-end"])
    #expect(server.payload == .delta)
    #expect(server.duplicates == .overwrite)
    #expect(server.aggregator.name == "uniform-mean")
    let again = try Scenario(text: scenario.resolvedText)
    #expect(again.resolvedText == scenario.resolvedText)
  }

  @Test("profiles and policy of Flower hold a stream and wait until all have answered")
  func flower() throws {
    let scenario = try Scenario(
      text: text(server: "{policy: flower}", group: ", profile: flower-as-coded"))
    #expect(scenario.settings.server.selector.name == "fraction")
    #expect(scenario.settings.server.trigger.map(\.name) == ["cohort-answered"])
    let library = try #require(scenario.settings.fleet[0].protocol)
    #expect(library.stream)
    #expect(library.onFailure == .report)
    #expect(library.skipsUnknownLayers)
  }

  @Test("a trigger of cycles without cycles is a fault, and so are bounds that cross")
  func contradictions() {
    func fault(_ server: String) -> String? {
      #expect(throws: Faults.self) { try Scenario(text: text(server: server)) }?
        .faults.first?.description
    }
    #expect(
      fault("{trigger: cycle-end}")?.contains("`cycle-end` needs the selector `cycles`") == true)
    #expect(
      fault("{selector: {cycles: {minimumDiffs: 3, maximumDiffs: 2}}, trigger: cycle-end}")?
        .contains("`minimumDiffs` is above `maximumDiffs`") == true)
    #expect(
      fault("{selector: {fraction: {minimumAvailable: 5}}, trigger: cohort-answered}")?
        .contains("a cohort is formed when 5 devices wait, and the fleet has 4") == true)
  }

  @Test("a layer that the model does not have is a fault with the nearest right word")
  func layer() throws {
    let scenario = try Scenario(
      text: text(server: "{layoutChange: {version: 2, layer: dense22}}"))
    let error = #expect(throws: Faults.self) { try scenario.makeSimulation() }
    let found = error?.faults.first?.description ?? ""
    #expect(found.contains("server.layoutChange.layer"), "\(found)")
    #expect(found.contains("`dense22`; did you mean `dense2`?"), "\(found)")
  }

  @Test("counts of protocols and rare ends are in results that have them, and in no others")
  func results() throws {
    func ledger(
      _ server: String, group: String = "", inject: String = ""
    ) throws -> ResultDocument.Group {
      let scenario = try Scenario(
        text: text(server: server, group: group) + "\ninject: [\(inject)]")
      var simulation = try scenario.makeSimulation()
      let recorder = RunRecorder()
      simulation.run(observers: [recorder])
      return try #require(recorder.document(simulation, of: scenario)["ledger"])
    }
    func ends(_ group: ResultDocument.Group) -> Int? {
      group.axes.first { $0.name == "updateOutcome" }?.length
    }
    // Twelve ends of updates, as in every result.
    let plain = try ledger("{policy: fedavg}")
    #expect(!plain.variables.contains { $0.name == "erasures" })
    #expect(ends(plain) == 12)
    // Not sent, for its numbers are none: a thirteenth end. A device has 10 samples, one batch of
    // 600 ms, after some messages of milliseconds.
    let checked = try ledger(
      "{policy: fedavg}", group: ", protocol: {checksFinite: true}",
      inject: "{at: 500 ms, device: a/0, action: poison}")
    #expect(checked.variables.contains { $0.name == "erasures" })
    #expect(ends(checked) == 13)
  }
}
