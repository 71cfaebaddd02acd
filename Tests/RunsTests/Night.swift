import Foundation

import FedSim
import Results
import Runs
import Scenarios
import Schema

/// A small scenario on made-up data: twelve phones, cut off and offline at times, for two days.
enum Night {
  static let text = """
    name: night
    seed: 7
    start: 2025-11-17T06:00:00Z
    stop: {after: 2 d}
    task:
      data:
        source: {blobs: {classes: 3, features: 5, train: 240, test: 60, spread: 1}}
        partition: {iid: {clients: 12}}
        validationFraction: 0.2
      model: {mlp: {hidden: [4]}}
      training: {epochs: 2, batchSize: 4, optimizer: {sgd: 0.1}}
    fleet:
      - name: phones
        count: 9
        link: {markov: [{state: wifi, mean: 2 h}, {state: offline, mean: 30 min}]}
        background: {processing: {earliestBegin: 2 h, budgetMedian: 40 s}}
        interruption: {onExpiry: checkpoint}
        compute: {perBatch: 4 s, spread: 0.5}
      - name: tablets
        count: 3
        background:
          windows:
            weekly:
              intervals:
                - {from: "01:00", to: "01:01"}
                - {from: "13:00", to: "13:02"}
        compute: {perBatch: 2 s}
    server:
      payload: delta
      trigger: {threshold: 3, every: 30 min}

    """

  /// The scenario, changed as `--set` would.
  static func scenario(_ overrides: String...) throws -> Scenario {
    try Scenario(text: text, file: "night.yaml", overrides: overrides)
  }

  /// A run of it that is over, with its recorder.
  static func run(
    _ overrides: String..., options: RunOptions = RunOptions()
  ) throws -> (simulation: Simulation, document: ResultDocument) {
    let scenario = try Scenario(text: text, file: "night.yaml", overrides: overrides)
    var simulation = try scenario.makeSimulation(options)
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    return (simulation, recorder.document(simulation, of: scenario))
  }
}

/// A folder that goes away with its value.
final class Folder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "fedsim-runs-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in it.
  func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a text.
  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: self(name)))
  }

  /// The names in it, sorted.
  var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
  }
}

extension ResultDocument {
  /// The whole numbers of a variable such as `rounds/aggregated`.
  func integers(_ path: String) -> [Int64]? {
    guard case .int64(let values)? = variable(path)?.values else { return nil }
    return values
  }

  /// The numbers of a variable such as `versions/centralAccuracy`.
  func numbers(_ path: String) -> [Double]? {
    guard case .double(let values)? = variable(path)?.values else { return nil }
    return values
  }

  /// A variable such as `versions/centralAccuracy`.
  func variable(_ path: String) -> Variable? {
    let pieces = path.split(separator: "/").map(String.init)
    return self[pieces.dropLast().joined(separator: "/")]?[variable: pieces.last ?? ""]
  }
}
