import FedSim
import Foundation
import Results
import Scenarios
import Schema

/// What stands beside a result that a run has not come to: its folder, locked, with what is in it.
struct UnfinishedRun {
  /// The folder.
  let folder: RunFolder
  /// What is run.
  let card: RunCard
  /// The scenario.
  let scenario: Scenario
  /// What is whole of the journal.
  let journal: Journal.Contents
  /// The journal's records.
  let records: [JournalRecord]

  /// The result's path without a `.run` that was given with it.
  static func result(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path.hasSuffix(".run") ? String(path.dropLast(4)) : path
  }

  /// The file that a result's path leads to, where it is a link.
  static func target(_ path: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK,
      let real = realpath(path, nil)
    else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  /// Looks at what stands beside a result, and takes its lock.
  ///
  /// Throws: `RunFailure.input` where nothing unfinished stands there, or nothing that can be gone
  /// on with; `.output` where another process has it.
  init(
    beside result: String, registry: Registry, calls: FileCalls = .system
  ) throws(RunFailure) {
    let target = Self.target(result)
    let path = RunFolder.path(beside: target)
    guard RunFolder.isUnfinished(beside: target) else {
      let isThere = FileManager.default.fileExists(atPath: target)
      throw StoredRun.refusal(
        result,
        isThere
          ? "no unfinished run stands beside this file (\(path)): its run came to its end"
          : "there is neither a result nor an unfinished run (\(path)) here")
    }
    do throws(ResultFault) {
      folder = try RunFolder(beside: target, for: result, calls: calls)
      guard let bytes = try folder.contents(of: .card), let card = RunCard(bytes) else {
        throw .damaged(
          path: folder.path(of: .card),
          found: "this does not say what was run; begin anew with `fedsim run … --restart`")
      }
      self.card = card
      journal = Journal.read(try folder.contents(of: .journal) ?? [])
    } catch {
      throw error.isOfTheDisk ? .failed("\(error)") : .output(error)
    }
    scenario = try card.readScenario(folder.path(of: .card), registry)
    records = Self.records(of: journal)
    if case .run(let digest, let version)? = records.first,
      digest != card.scenarioDigest || version != card.engineVersion
    {
      throw StoredRun.refusal(
        folder.path(of: .journal), "this is the journal of another run than run.json's")
    }
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

  /// The checkpoint; nil: there is none, or `tell` was told what is wrong with it.
  ///
  /// Throws: `RunFailure.output` where it cannot be read.
  func checkpoint(tell: (String) -> Void) throws(RunFailure) -> Checkpoint? {
    let bytes: [UInt8]?
    do throws(ResultFault) {
      bytes = try folder.contents(of: .checkpoint)
    } catch {
      throw .failed("\(error)")
    }
    guard let bytes else { return nil }
    let path = folder.path(of: .checkpoint)
    guard let checkpoint = Checkpoint(bytes) else {
      tell("\(path): the checkpoint is damaged, and is left out")
      return nil
    }
    guard checkpoint.records <= ownRecords.count else {
      tell("\(path): the journal ends before this checkpoint, which is left out")
      return nil
    }
    return checkpoint
  }
}
