import DataSets
import Foundation
import Results
import Runs
import Scenarios
import Schema

/// Plays cells of one sweep, one after the other, in this process.
///
/// Data sets that were read stay for the next cell that asks for the same.
public final class CellPlayer {
  /// The sweep's folder.
  public let folder: SweepFolder
  /// What the sweep plays.
  public let manifest: SweepManifest

  private let store: CellStore
  private let registry: Registry
  private let options: RunOptions
  private let ranks: MPIRanks?
  private let cells: [String: SweepManifest.Cell]
  /// Whether the store has taken the result of the cell before.
  private var hasPlayed = false
  /// The calls by which results are written; tests let them fail.
  package var calls = FileCalls.system
  /// Files that were seen to be those of the manifest.
  private var unchanged: [String: FileIdentity] = [:]

  /// A player of a sweep's cells.
  ///
  /// Throws: `RunFailure.input` for a folder that holds no sweep.
  public init(
    _ folder: SweepFolder, threads: Int, ranks: MPIRanks? = nil,
    registry: Registry = .standard
  ) throws(RunFailure) {
    self.folder = folder
    self.registry = registry
    manifest = try folder.manifest()
    store = CellStore(manifest.store)
    cells = Dictionary(manifest.cells.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    var options = manifest.runOptions
    options.threads = max(1, threads)
    options.ranks = ranks
    self.ranks = ranks
    options.dataCache = DataCache()
    self.options = options
  }

  /// The row of a cell whose result is there.
  package func row(_ id: String) -> CellRow? {
    cells[id].flatMap { store.row(of: $0, targets: manifest.targets) }
  }

  /// How often a cell found its data read already.
  package var dataHits: Int { options.dataCache?.hits ?? 0 }

  /// Plays a cell, unless its result is there.
  package func play(_ id: String, gate: RunGate = RunGate()) -> WorkerAnswer {
    guard let cell = cells[id] else {
      return WorkerAnswer(id, .refused, reason: "the sweep has no cell \(id)")
    }
    if let row = row(id) { return WorkerAnswer(id, .there, row: row) }
    let hadAnother = store.mayHave(id)
    if hadAnother { store.remove(id) }
    // The result is not read again: the file is on the disk, and holds what the document holds.
    var written: CellRow?
    do throws(RunFailure) {
      // The other ranks play it, too.
      ranks?.announce(id)
      let run = try makeRun(cell)
      _ = try run.perform(gate: gate) { document in
        written = store.row(of: cell, document, targets: manifest.targets)
        hasPlayed = true
      }
      // What was changed meanwhile may have been read.
      do throws(RunFailure) {
        try checkFiles()
      } catch {
        store.remove(id)
        throw error
      }
    } catch {
      // The folder may not take files any more: the next cell finds out before it is played.
      hasPlayed = false
      return WorkerAnswer(id, error.isBadInput ? .refused : .failed, reason: error.description)
    }
    guard let row = written else {
      return WorkerAnswer(id, .failed, reason: "\(store.path(id)): the result is incomplete")
    }
    let reason = hadAnother ? "the result that was there was damaged, and is replaced" : nil
    return WorkerAnswer(id, .played, reason: reason, row: row)
  }

  /// The run of a cell, read by every rank.
  private func makeRun(_ cell: SweepManifest.Cell) throws(RunFailure) -> Run {
    try RankTalk.read(options.ranks) { () throws(RunFailure) in
      let scenario = try scenario(of: cell)
      var run = Run(scenario, output: store.path(cell.id), options: options)
      // A cell that is cut off is played again from its beginning.
      run.safety.isOn = false
      run.safety.isFolderTried = hasPlayed
      run.safety.calls = calls
      try checkFiles()
      return run
    }
  }

  /// Plays cells together with rank 0, which says which, until it says that there are no more. A
  /// cell that fails is its affair.
  func follow(_ ranks: MPIRanks) {
    while let id = ranks.awaitAnnouncement() {
      guard let cell = cells[id] else { continue }
      do throws(RunFailure) { try makeRun(cell).follow() } catch {}
    }
  }

  /// Says to the other ranks that there are no more cells.
  func dismissRanks() { ranks?.announce("") }

  /// Looks whether the files that cells read are those of their ids.
  private func checkFiles() throws(RunFailure) {
    for file in manifest.files {
      let identity = FileIdentity(file.path)
      if unchanged[file.path] == identity { continue }
      guard FileDigest.digest(ofFile: file.path) ?? "" == file.digest else {
        throw SweepFolder.refusal(
          file.path, "this file has changed since the sweep began; restore it")
      }
      unchanged[file.path] = identity
    }
  }

  private static let remedy =
    "`fedsim sweep FILE` writes it again, then `fedsim sweep retry FOLDER --failed` plays the cell"

  /// Reads the scenario of a cell as it was written with the manifest.
  private func scenario(of cell: SweepManifest.Cell) throws(RunFailure) -> Scenario {
    let path = folder.scenarioPath(cell.id)
    guard let data = FileManager.default.contents(atPath: path) else {
      throw SweepFolder.refusal(path, "the cell's scenario cannot be read; \(Self.remedy)")
    }
    let scenario: Scenario
    do throws(Faults) {
      // Paths in it start where the sweep's scenario is.
      scenario = try Scenario(
        text: String(decoding: data, as: UTF8.self), file: manifest.scenario, registry: registry)
    } catch {
      throw .input(error.faults)
    }
    guard scenario.digest == cell.scenario else {
      throw SweepFolder.refusal(
        path, "the cell's scenario was changed; remove it: \(Self.remedy)")
    }
    return scenario
  }
}

extension SweepManifest {
  /// How cells are computed: with the data folders that the sweep was checked with.
  var runOptions: RunOptions {
    var options = RunOptions()
    options.dataFolders = dataFolders ?? []
    options.searchesInstalledData = dataFolders == nil
    return options
  }
}
