import FedSim
import Foundation
import Results
import Runs
import Scenarios
import Testing

/// `docs/results.md` and result files, held together.
@Suite("The page on result files")
struct ResultPageTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// What the page says of a variable.
  private struct Row: Equatable {
    var axes: [String]
    var units: String
  }

  /// The page's rows by `group/variable`.
  private func page() throws -> [String: Row] {
    let text = try String(
      contentsOf: Self.root.appendingPathComponent("docs/results.md"), encoding: .utf8)
    var rows: [String: Row] = [:]
    var group = ""
    for line in text.split(separator: "\n") {
      if line.hasPrefix("## ") {
        group = line.split(separator: "`").dropFirst().first.map { $0 + "/" } ?? ""
        if line.hasPrefix("## Versions") { break }
      }
      guard line.hasPrefix("| `") else { continue }
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      let axes = cells[2].isEmpty ? [] : cells[2].components(separatedBy: ", ")
      for name in cells[1].split(separator: "`").map(String.init) where name != ", " {
        #expect(rows[group + name] == nil, "\(group)\(name) stands there twice")
        rows[group + name] = Row(axes: axes, units: cells[3])
      }
    }
    return rows
  }

  /// The same of a result.
  private func rows(of document: ResultDocument) -> [String: Row] {
    var rows: [String: Row] = [:]
    func add(_ group: ResultDocument.Group, at path: String) {
      for variable in group.variables {
        rows[path + variable.name] = Row(axes: variable.axes, units: variable.units)
      }
      for text in group.texts { rows[path + text.name] = Row(axes: [], units: "text") }
      for child in group.groups
      where !child.name.hasPrefix("centralModel_") && child.name != "model" {
        // The parts of a timeline have the same variables.
        add(child, at: path == "timeline/" ? path : path + child.name + "/")
      }
    }
    add(document.root, at: "")
    return rows
  }

  private static let everything = [
    "record.events=true", "record.updates=true", "record.hoursByGroup=true",
    "record.layerNorms=true",
    "record.ineligibility=true", "record.averageAccuracy=updates",
    "record.federatedEvaluation=3",
  ]
  private static let small =
    [
      "task.data.source={blobs: {classes: 4, features: 8, train: 3000, test: 100}}",
      "task.model=softmax", "stop.after=2 d",
    ]

  private static let runs: [(file: String, overrides: [String])] =
    [
      "central", "clients", "cycles", "evaluations", "fleet", "open", "phones", "streams",
      "traces", "users", "workers",
    ].map { ("smoke/\($0)", []) }
    + [
      ("smoke/synchronous", everything + ["record.timelineOf=[phones/0]"]),
      ("smoke/evaluations", ["fleet.documented.battery={}"]),
      ("systems/edgeml-as-coded", small), ("systems/automatic-backend", small),
      ("policies/dp-fedavg", []), ("policies/afl", []), ("policies/server-restarts", []),
    ]

  @Test("every variable of results is on the page as it is, and every one of the page comes up")
  func variables() throws {
    let page = try page()
    var seen: Set<String> = []
    for (file, overrides) in Self.runs {
      let path = Self.root.appendingPathComponent("scenarios/\(file).yaml").path
      let scenario = try Scenario(contentsOf: path, overrides: overrides)
      var simulation = try scenario.makeSimulation()
      let recorder = RunRecorder()
      simulation.run(observers: [recorder])
      let document = recorder.document(simulation, of: scenario)
      try document.validate()
      for (name, row) in rows(of: document).sorted(by: { $0.key < $1.key }) {
        #expect(page[name] == row, "\(name) of \(file)")
        seen.insert(name)
      }
    }
    // Of numbers as targets.
    for (name, row) in rows(of: try TargetResultTests.everything()) {
      #expect(page[name] == row, "\(name) of numbers")
      seen.insert(name)
    }
    let missing = page.keys.filter { !seen.contains($0) }.sorted()
    #expect(missing == [], "on the page, and in no result")
  }
}
