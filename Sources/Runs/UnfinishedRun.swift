import FedSim
import Foundation
import Numerics
import Results
import Scenarios
import Schema

/// What is next to a result whose run has not ended: its folder, locked, with what is in it.
struct UnfinishedRun {
  /// The folder.
  let folder: RunFolder
  /// What is run.
  let manifest: RunManifest
  let scenario: Scenario
  /// What is whole of the journal.
  let journal: Journal.Contents
  /// The journal's records.
  let records: [JournalRecord]

  /// The result's path, where it or that of its run's folder was given.
  ///
  /// Throws: `RunFailure.input` for any other folder.
  static func result(_ path: String) throws(RunFailure) -> String {
    var result = path
    while result.count > 1, result.hasSuffix("/") { result.removeLast() }
    var status = stat()
    let isFolder = stat(result, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    if isFolder, !result.hasSuffix(".run"), let real = realpath(result, nil) {
      // Such as `.` in the run's folder.
      defer { free(real) }
      result = String(cString: real)
    }
    if result.hasSuffix(".run") { return String(result.dropLast(4)) }
    guard !isFolder else {
      throw StoredRun.refusal(
        path,
        "this is a folder; expected the result of a run, or the run's folder next to it (….h5.run)")
    }
    return result
  }

  /// What to say where there is no result of this name.
  static func absence(of result: String) -> String {
    guard RunFolder.isUnfinished(beside: PlacePath.target(of: result)) else {
      let bundle = result.hasSuffix(".zip") ? ", or a bundle of one (`fedsim bundle`)" : ""
      return "there is no such file; expected the result of a run" + bundle
    }
    return "its run has not ended: `fedsim resume \(result)` continues it if it was stopped, and "
      + "`fedsim recover \(result)` writes what it has so far"
  }

  /// Looks at what is next to a result, and takes its lock; a reader does without where
  /// nothing may be written, and so does a rank that follows another.
  ///
  /// Throws: `RunFailure.input` where nothing unfinished is there, or nothing that can be
  /// resumed; `.output` where another process has it.
  init(
    beside result: String, registry: Registry, onlyReads: Bool = false, follows: Bool = false,
    calls: FileCalls = .system
  ) throws(RunFailure) {
    let target = PlacePath.target(of: result)
    let path = RunFolder.path(beside: target)
    guard RunFolder.isUnfinished(beside: target) else {
      throw StoredRun.refusal(
        result,
        FileManager.default.fileExists(atPath: target)
          ? "there is no unfinished run of this file (\(path))\(Self.state(of: target))"
          : "there is neither a result nor an unfinished run (\(path)) here")
    }
    do throws(ResultFault) {
      folder = try RunFolder(
        beside: target, for: result, onlyReads: onlyReads, takesLock: !follows, calls: calls)
      guard let bytes = try folder.contents(of: .manifest), let manifest = RunManifest(bytes) else {
        throw .damaged(
          path: folder.path(of: .manifest),
          found: "this does not describe the run; start again with `fedsim run … --restart`")
      }
      self.manifest = manifest
      journal = Journal.read(try folder.contents(of: .journal) ?? [])
    } catch {
      throw error.isOfTheDisk ? .failed("\(error)") : .output(error)
    }
    scenario = try manifest.readScenario(folder.path(of: .manifest), registry)
    records = Self.records(of: journal)
    if case .run(let digest, let version)? = records.first,
      digest != manifest.scenarioDigest || version != manifest.engineVersion
    {
      throw StoredRun.refusal(
        folder.path(of: .journal), "this is the journal of another run than run.json's")
    }
  }

  /// What a file is that has no run next to it.
  private static func state(of file: String) -> String {
    guard let document = try? ResultFile.read(file) else { return ", which is not a result" }
    return document.root[attribute: "isComplete"] == nil
      ? ": its run is complete"
      : ", which is incomplete: name the result whose run was interrupted"
  }

  /// What is to be said of its journal; nil: nothing.
  var notice: String? {
    guard journal.rest > 0 else { return nil }
    return "\(folder.path(of: .journal)): \(journal.rest) bytes behind record "
      + "\(journal.records.count) are not a complete record, and are ignored"
  }

  /// The records as far as each is one.
  private static func records(of journal: Journal.Contents) -> [JournalRecord] {
    var records: [JournalRecord] = []
    for bytes in journal.records {
      guard let record = JournalRecord(bytes) else { break }
      records.append(record)
    }
    return records
  }

  /// The bytes of the records that are of the run, in order.
  var ownRecords: [[UInt8]] {
    zip(journal.records, records).filter { $1.isOfTheRun }.map(\.0)
  }

  /// How long the run was played before, by the wall's clock, in seconds.
  var wallSeconds: Double {
    for record in records.reversed() {
      if case .spent(let microseconds) = record { return Double(microseconds) / 1e6 }
    }
    return 0
  }
}

/// What a run's checkpoint gives back.
struct LoadedCheckpoint {
  /// The run; nil: there is no checkpoint, or none that is any good.
  var simulation: Simulation?
  /// What was recorded until then.
  var recorder = RunRecorder()
  /// What looks at the run; nil: nothing does.
  var invariants: Invariants?
  /// How many records of the run its journal had.
  var records = 0
  /// Whether a checkpoint was left out.
  var isLeftOut = false

  /// Takes up the checkpoint of an unfinished run; `tell` receives what is wrong with one.
  ///
  /// Throws: `RunFailure.failed` where it cannot be read.
  init(
    _ unfinished: UnfinishedRun, _ inputs: SimulationInputs, _ tell: (String) -> Void
  ) throws(RunFailure) {
    let audits = unfinished.manifest.audits
    if audits { invariants = Invariants() }
    let bytes: [UInt8]?
    do throws(ResultFault) {
      bytes = try unfinished.folder.contents(of: .checkpoint)
    } catch {
      throw .failed("\(error)")
    }
    guard let bytes else { return }
    let path = unfinished.folder.path(of: .checkpoint)
    do throws(LeftOut) {
      guard let checkpoint = Checkpoint(bytes) else { throw LeftOut(reason: "the file is damaged") }
      guard checkpoint.records <= unfinished.ownRecords.count else {
        throw LeftOut(
          reason: unfinished.journal.records.isEmpty
            ? "the journal that belongs to it is missing or damaged"
            : "the journal ends before it")
      }
      simulation = try Self.restore(checkpoint, inputs, recorder, invariants)
      records = checkpoint.records
    } catch {
      tell("\(path): this checkpoint is ignored: \(error.reason)")
      isLeftOut = true
      // They may have taken a part of it.
      recorder = RunRecorder()
      if audits { invariants = Invariants() }
    }
  }

  private struct LeftOut: Error { var reason: String }

  /// The run of a checkpoint, with what was recorded of it put back into these.
  private static func restore(
    _ checkpoint: Checkpoint, _ inputs: SimulationInputs, _ recorder: RunRecorder,
    _ invariants: Invariants?
  ) throws(LeftOut) -> Simulation {
    do throws(ArchiveFault) {
      return try SavedRun.restore(
        checkpoint.parts, inputs, [recorder] + (invariants.map { [$0] } ?? []))
    } catch {
      throw LeftOut(reason: "\(error)")
    }
  }
}
