import Foundation
import Runs
import Scenarios

/// How far a sweep is.
public struct SweepStatus: Codable, Equatable, Sendable {
  /// The sweep's folder.
  public let folder: String
  /// Variants and replicas.
  public let variants: Int
  /// Replicas of each variant.
  public let replicas: Int
  /// Cells of each rung whose result is there; the last rung is the unchanged scenario.
  public let finished: [Int]
  /// How many cells each rung plays, if no variant drops out because it failed.
  public let needed: [Int]
  /// Cells that were given up.
  public let failed: [String]
  /// Whether a driver is at work.
  public let isRunning: Bool
  /// Whether the table is there.
  public let hasTable: Bool
  /// What Slurm says of the newest submission; nil: the sweep was never submitted.
  public let slurm: SlurmJobs?

  /// Looks at a sweep; results are counted, not read.
  ///
  /// Throws: `RunFailure.input` for a folder that holds no sweep.
  public init(_ folder: SweepFolder) throws(RunFailure) {
    let manifest = try folder.manifest()
    let store = CellStore(manifest.store)
    self.folder = folder.path
    variants = manifest.variants.count
    replicas = manifest.replicas
    needed = manifest.neededCells
    finished = (0..<manifest.rungs).map { rung in
      manifest.cells(ofRung: rung).count { store.mayHave($0.id) }
    }
    var failed: [String] = []
    for cell in manifest.cells
    where folder.failure(cell.id) != nil && !failed.contains(cell.id) && !store.mayHave(cell.id) {
      failed.append(cell.id)
    }
    self.failed = failed
    isRunning = SweepLock.isHeld(folder)
    hasTable = FileManager.default.fileExists(atPath: folder.tablePath)
    slurm = SlurmJobs(folder)
  }

  /// Some lines for a person.
  public var text: String {
    var lines = ["\(folder): \(variants) variants, \(replicas) replicas"]
    for (rung, number) in finished.enumerated() {
      let name = finished.count == 1 ? "" : rung == finished.count - 1 ? "whole " : "rung \(rung) "
      // A store may hold cells that another sweep played on.
      let count = needed[rung]
      lines.append("\(name)cells finished: \(min(number, count)) of \(count)")
    }
    lines.append("failed: \(failed.count)")
    for id in failed { lines.append("  \(id)  log: \(SweepFolder(folder).logPath(id))") }
    lines.append(isRunning ? "a driver is running" : "no driver is running")
    if let slurm { lines.append(slurm.text) }
    lines.append(hasTable ? "table: \(SweepFolder(folder).tablePath)" : "no table yet")
    return lines.joined(separator: "\n")
  }

  /// The status as JSON.
  public var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      preconditionFailure("a status holds words and whole numbers only")
    }
    return String(decoding: data, as: UTF8.self)
  }
}

/// One cell played without a driver.
public enum SingleCell {
  /// Plays a cell, unless its result is there; one line about it.
  ///
  /// Throws: `RunFailure` where it fails.
  public static func play(
    _ id: String, of folder: SweepFolder, threads: Int, registry: Registry
  ) throws(RunFailure) -> String {
    try play(id, with: CellPlayer(folder, threads: threads, registry: registry))
  }

  /// The same with a player that has played others.
  package static func play(
    _ id: String, with player: CellPlayer
  ) throws(RunFailure) -> String {
    let folder = player.folder
    try folder.makeFolders(player.manifest.store)
    let answer = player.play(id)
    switch answer.kind {
    case .played: return "\(id): played"
    case .there: return "\(id): already finished"
    case .refused: throw SweepFolder.refusal(folder.path, answer.reason ?? "")
    case .missing, .failed: throw .failed(answer.reason ?? "")
    }
  }
}

extension SweepDriver.Options {
  /// Reads a duration such as `10 min`, in seconds; nil for anything else, and for none.
  public static func seconds(_ text: String) -> Double? {
    guard case .number(let seconds, .duration) = SweepScalar(.text(text)), seconds > 0 else {
      return nil
    }
    return seconds
  }
}
