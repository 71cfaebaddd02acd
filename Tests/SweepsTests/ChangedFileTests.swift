import FedSim
import Foundation
import Learning
import Runs
import Scenarios
import Schema
import Sweeps
import Synchronization
import Testing

/// Cells whose data are in a file: their ids include a digest of its bytes.
@Suite final class ChangedFileTests {
  private let folder = NSTemporaryDirectory() + "fedsim-changed-\(UUID().uuidString)"

  init() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Eighty samples of two classes.
  private static func data(_ shift: Double) -> Data {
    let lines = (0..<80).map { "\(Double($0) + shift),\($0 % 2)" }
    return Data((["x,label"] + lines).joined(separator: "\n").appending("\n").utf8)
  }

  private func write(_ shift: Double) throws {
    try Self.data(shift).write(to: URL(fileURLWithPath: folder + "/d.csv"), options: .atomic)
  }

  /// A planned sweep of two cells that read `d.csv`.
  private func planned(_ registry: Registry = .standard) throws -> CellPlayer {
    try write(0.5)
    let text = Variants.base.replacing(
      "{blobs: {classes: 3, features: 4, train: 80, test: 30}}",
      with: "{csv: {train: d.csv, test: d.csv, label: label}}"
    )
    .replacing(
      "{trigger: {threshold: 2}}",
      with: "{trigger: {threshold: 2}, aggregator: sample-weighted-mean}")
    #expect(text.contains("csv") && text.contains("aggregator"))
    let scenario = try Scenario(
      text: text + "sweep: {grid: {server.trigger.threshold: [1, 2]}}\n", file: folder + "/s.yaml",
      registry: registry)
    let plan = try SweepPlan(
      Sweep(scenario), build: "", store: folder + "/store", options: RunOptions())
    #expect(plan.manifest.files.count == 1)
    let sweep = SweepFolder(folder + "/s")
    try sweep.write(plan)
    return try CellPlayer(sweep, threads: 1, registry: registry)
  }

  private var results: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder + "/store")) ?? []).filter {
      $0.contains(".h5")
    }
  }

  private func refusal(_ player: CellPlayer, _ cell: Int) throws -> String {
    let id = player.manifest.cells[cell].id
    let failure = try #require(throws: RunFailure.self) { try SingleCell.play(id, with: player) }
    #expect(failure.isBadInput)
    return failure.description
  }

  @Test("a cell is refused while a file is not the one in its id, and played once it is again")
  func changed() throws {
    let player = try planned()
    let ids = player.manifest.cells.map(\.id)
    #expect(try SingleCell.play(ids[0], with: player) == "\(ids[0]): played")
    try write(7)
    let words = try refusal(player, 1)
    #expect(
      words.contains("d.csv: this file has changed since the sweep began; restore it"),
      "\(words)")
    #expect(player.row(ids[1]) == nil)
    try FileManager.default.removeItem(atPath: folder + "/d.csv")
    #expect(try refusal(player, 1).contains("restore it"))
    // The same bytes in another file will do.
    try write(0.5)
    #expect(try SingleCell.play(ids[1], with: player) == "\(ids[1]): played")
    #expect(player.row(ids[1]) != nil)
  }

  @Test("a result of a run during which a file was changed does not stay")
  func changedMeanwhile() throws {
    let player = try planned(.standard.adding(MeddlingMean.self))
    MeddlingMean.file.withLock { $0 = folder + "/d.csv" }
    #expect(try refusal(player, 0).contains("restore it"))
    #expect(results == [])
    MeddlingMean.file.withLock { $0 = nil }
    try write(0.5)
    _ = try SingleCell.play(player.manifest.cells[0].id, with: player)
    #expect(results.contains("\(player.manifest.cells[0].id).h5"))
  }
}

/// The mean, which adds a line to a file while it is at it.
private struct MeddlingMean: Aggregator {
  static let name = "sample-weighted-mean"
  static let summary = "Wrong: changes a file"
  static let file = Mutex<String?>(nil)
  init(_ settings: NoSettings) {}
  func weights(of updates: [UpdateFacts]) -> [Double]? {
    if let path = Self.file.withLock({ $0 }), let file = fopen(path, "a") {
      fputs("1.5,1\n", file)
      fclose(file)
    }
    let all = updates.reduce(0) { $0 + $1.samples }
    return updates.map { Double($0.samples) / Double(all) }
  }
  func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
    batch.weightedSum(weights(of: batch.facts)!)
  }
}
