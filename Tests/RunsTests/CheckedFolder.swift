import Foundation

import FedSim
import Runs
import Scenarios

/// A folder of scenarios that are recorded with the parts as they are, and then checked with
/// something changed.
final class CheckedFolder {
  /// The shipped scenarios.
  static let shipped = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../scenarios").standardized.path

  /// Ten phones that need minutes, lose their link, and do not always reach the server.
  static let small = """
    name: small
    seed: 5
    stop: {after: 8 h}
    task:
      data:
        source: {blobs: {classes: 3, features: 4, train: 150, test: 60, spread: 1}}
        partition: {quantity-power: {clients: 10}}
      model: softmax
      training: {epochs: 2, batchSize: 5, optimizer: {sgd: 0.1}}
    fleet:
      - name: phones
        count: 10
        link: {markov: [{state: wifi, mean: 40 min}, {state: offline, mean: 20 min}]}
        background:
          windows: {markov: [{state: open, mean: 40 min}, {state: closed, mean: 20 min}]}
        participation: {repeats: true, pause: 2 min}
        interruption: {onExpiry: checkpoint}
        compute: {perBatch: 100 s}
        outbox: {capacity: 1, attempts: 3, delay: 20 s}
    server:
      payload: delta
      trigger: {threshold: 3}
      aggregator: sample-weighted-mean
      optimizer: sgd
      maximumStaleness: 2
      reachable: {markov: [{state: up, mean: 6 min}, {state: down, mean: 1 min}]}

    """

  let folder: Folder

  /// A folder with a scenario as `s.yaml`.
  init(_ text: String = small) throws {
    folder = try Folder()
    try folder.write(text, to: "s.yaml")
  }

  /// The path of the scenario.
  var path: String { folder("s.yaml") }

  /// The text of a file.
  func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder(name))), as: UTF8.self)
  }

  /// Replaces a part of the scenario, which must be there once.
  func edit(_ old: String, _ new: String, in name: String = "s.yaml") throws {
    let text = try text(name)
    precondition(text.components(separatedBy: old).count == 2, "`\(old)` stands there once")
    try folder.write(text.replacing(old, with: new), to: name)
  }

  /// Checks the scenario.
  func check(
    registry: Registry = .standard, _ change: (inout Check) -> Void = { _ in }
  ) -> ScenarioReport {
    var check = Check([path], registry: registry)
    change(&check)
    return check.perform().scenarios[0]
  }

  /// Records the scenario.
  func record(registry: Registry = .standard, inWords: Bool = false) -> ScenarioReport {
    check(registry: registry) { ($0.records, $0.keepsEvents) = (true, inWords) }
  }
}

/// The events and the tables of a run, compared one after another: where two runs diverge.
final class Course: Observer {
  var events: [String] = []
  var rounds: [String] = []
  var versions: [String] = []
  var wantsEveryEvent: Bool { true }

  /// Plays a scenario.
  init(
    _ path: String, registry: Registry = .standard, _ change: (inout RunOptions) -> Void = { _ in }
  ) throws {
    var options = RunOptions()
    change(&options)
    var simulation = try Scenario(contentsOf: path, registry: registry).makeSimulation(options)
    simulation.run(observers: [self])
  }

  func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    // Generations are the engine's own bookkeeping and no part of what happens.
    let words = "\(event)".replacing(#/generation: \d+/#, with: "").replacing(
      #/participation: \d+/#, with: "")
    events.append("\(time.microseconds) \(words)")
  }

  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    // A baseline tells what was published, not what it had cost or who holds it by then.
    var record = record
    (record.withoutVersion, record.heldAccuracy) = (0, .nan)
    let words = "\(record)".replacing(#/progress: .*?\)\), /#, with: "")
    versions.append("\(words) \(simulation.model.values)")
  }

  private var records: [RoundRecord] = []

  func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
    if record.outcome != .unfinishedAtEnd { records.append(record) }
  }

  func ended(_ simulation: borrowing Simulation) {
    // Who was late is counted after the round was closed.
    for record in records {
      rounds.append("\(record) \(simulation.participations.rounds[record.round].counts)")
    }
  }

  /// The number, from `first`, of the first entry that differs from another's; nil: none.
  static func firstDifference(_ a: [String], _ b: [String], from first: Int) -> Int? {
    (0..<max(a.count, b.count)).first {
      $0 >= a.count || $0 >= b.count || a[$0] != b[$0]
    }.map { $0 + first }
  }
}

extension ScenarioReport {
  /// The finding of a kind.
  func finding(_ kind: String) -> String? {
    baseline?.findings.first { $0.kind == kind }?.text
  }
}
