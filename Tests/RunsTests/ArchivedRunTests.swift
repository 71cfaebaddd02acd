import FedSim
import Foundation
import Learning
import Results
import Runs
import Scenarios
import Testing

/// Scenarios that are saved with their recorder and continue, up to the result.
@Suite("Scenarios that are saved and resumed")
struct ArchivedRunTests {
  private struct Stop: Error {}
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("scenarios")

  /// The result of a scenario that is saved after these turns, and how many turns it took. Each
  /// stretch has its own scenario, inputs and observers, as another process has.
  private func played(
    _ scenario: () throws -> Scenario, stops: [Int], options: (Int) -> RunOptions
  ) throws -> (document: ResultDocument, turns: Int) {
    var saved: (run: [UInt8], recorder: [UInt8])?
    for stretch in 0...stops.count {
      let scenario = try scenario()
      let recorder = RunRecorder()
      var simulation = try scenario.makeSimulation(options(stretch))
      if let saved {
        simulation = try Simulation(simulation.inputs, archive: saved.run)
        try recorder.restore(saved.recorder)
        #expect(try recorder.archive() == saved.recorder)
      }
      do {
        try simulation.run(observers: [recorder], every: 1) { run in
          guard stretch < stops.count, run.turns == stops[stretch] else { return }
          saved = (try run.archive(), try recorder.archive())
          throw Stop()
        }
        #expect(stretch == stops.count)
        return (recorder.document(simulation, of: scenario), simulation.turns)
      } catch is Stop {}
    }
    fatalError("the last stretch has no stop")
  }

  private func check(_ path: String, _ overrides: [String] = []) throws {
    let scenario = {
      try Scenario(
        contentsOf: Self.folder.appendingPathComponent(path + ".yaml").path, overrides: overrides)
    }
    let whole = try played(scenario, stops: []) { _ in RunOptions() }
    try #require(whole.turns > 10)
    let stops = [whole.turns / 7, whole.turns / 2, whole.turns * 9 / 10]
    let parts = try played(scenario, stops: stops) { stretch in
      var options = RunOptions()
      options.threads = 1 + stretch % 2
      options.compute = stretch == 2 ? .eager : .lazy
      return options
    }
    #expect(parts.document.contentDigest == whole.document.contentDigest, "\(path)")
  }

  private static func names(in folder: String) -> [String] {
    let files = try! FileManager.default.contentsOfDirectory(
      atPath: Self.folder.appendingPathComponent(folder).path)
    return files.filter { $0.hasSuffix(".yaml") }.map { folder + "/" + $0.dropLast(5) }.sorted()
  }
  static let small = names(in: "smoke") + names(in: "policies")

  @Test("give the result of a run in one piece", arguments: small)
  func one(name: String) throws { try check(name) }

  @Test("and so do a source system's with streams, and one whose devices are played on ahead")
  func systems() throws {
    let blobs = [
      "task.data.source={blobs: {classes: 4, features: 8, train: 3000, test: 100}}",
      "task.model=softmax", "stop.after=1 d",
    ]
    try check("systems/flower-as-coded", blobs)
    // A cohort is formed when 260 devices wait.
    let counts = [("eastern", 180), ("central", 100), ("mountain", 30), ("pacific", 60)]
    let fleet = counts.map { "fleet.\($0).count=\($1)" }
    try check("systems/gboard-us", fleet + ["stop.after=1 d"])
  }

  @Test("A recorder's memory holds every stored property")
  func properties() {
    func names(_ value: Any) -> Set<String> {
      Set(Mirror(reflecting: value).children.map(\.label!))
    }
    let recorder = RunRecorder()
    // What a recovery reads out of a journal is never saved.
    #expect(
      names(recorder).subtracting(names(recorder.memory)) == ["laterCentral", "laterFunnels"])
    let (events, timeline, audits) = (EventLog(limit: 1), TimelineLog([]), Invariants())
    #expect(names(events) == names(events.memory))
    #expect(names(timeline) == names(timeline.memory))
    // What it was made with is given again.
    #expect(names(audits).subtracting(names(audits.memory)) == ["interval", "most"])
  }

  @Test("Events, updates and timelines that are stored are whole")
  func logs() throws {
    try check(
      "smoke/open", ["record.events=true", "record.updates=true", "record.timelineOf=[phones/0]"])
  }
}
