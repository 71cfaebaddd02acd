import FedSim
import Foundation
import Results
import Scenarios

/// Keeps a run while it lives: its journal, its checkpoints, and the result so far where that is
/// asked for.
///
/// Files are written between two events and change nothing of the run. After a first failure
/// nothing more is written, and the run ends.
final class RunPersistence: Observer {
  /// The folder next to the result.
  let folder: RunFolder
  /// Why the run cannot continue, if it cannot.
  private(set) var failure: RunFailure?

  private let scenario: Scenario
  private let recorder: RunRecorder
  /// What is saved with the run.
  private let saved: [any SavedObserver]
  private let gate: RunGate
  private let journal: Journal
  /// Records that are in the journal from before and are still to be repeated.
  private var expected: ArraySlice<[UInt8]>
  /// Records of the run so far.
  private var records: Int
  private var rounds = 0
  private var clock: CheckpointClock
  private var isOnDisk = false
  /// Whether somebody has removed the folder: then nothing is kept any more.
  private var isGone = false
  /// When this process began, and how long others had played the run before, in seconds.
  private let began: ContinuousClock.Instant
  private let spentBefore: Double
  private let publication: (file: ResultFile, every: Duration)?
  private var hasPublished = false
  private var nextPublication = ContinuousClock.now

  /// Begins to keep a run, in a folder that this process holds.
  ///
  /// `standing` is what is in its journal, of which this many records of the run are done.
  /// Throws: `ResultFault`.
  init(
    _ run: Run, devices: Int, in folder: RunFolder, recorder: RunRecorder,
    invariants: Invariants?, gate: RunGate, file: ResultFile,
    since began: ContinuousClock.Instant, standing: Journal.Contents, ownRecords: [[UInt8]],
    done: Int
  ) throws(ResultFault) {
    self.folder = folder
    self.began = began
    spentBefore = run.unfinished?.wallSeconds ?? 0
    scenario = run.scenario
    self.recorder = recorder
    saved = [recorder] + (invariants.map { [$0] } ?? [])
    self.gate = gate
    expected = ownRecords[done...]
    records = done
    publication = run.safety.publishEvery.map { (file, $0.duration) }
    if let publication { nextPublication = .now + publication.every }
    let path = folder.path(of: .journal)
    journal = try gate.pass { () throws(ResultFault) in
      try Journal(path, after: standing, calls: folder.calls)
    }
    clock = CheckpointClock(
      run.safety.checkpoints, journal: journal.length, devices: devices)
    if done == 0 {
      add(.run(scenarioDigest: run.scenario.digest, engineVersion: FedSimVersion.current))
    }
  }

  // MARK: Records

  /// Keeps a version.
  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    add(.version(record))
  }

  /// Keeps a version that was trained centrally.
  func publishedCentrally(_ version: CentralVersion, _ simulation: borrowing Simulation) {
    add(.central(version))
  }

  /// Keeps a round.
  func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
    rounds += 1
    add(.round(record, simulation.participations.rounds[record.round]))
  }

  /// Adds a record of the run, or finds it where it is from before.
  private func add(_ record: JournalRecord) {
    let bytes = record.bytes
    records += 1
    if let before = expected.popFirst() {
      if before != bytes, failure == nil {
        failure = .failed(
          "\(folder.path(of: .journal)): the resumed run differs from the interrupted one"
            + " (record \(records)): a file that it reads has changed since; restore the file")
      }
      return
    }
    append(bytes)
  }

  private func append(_ bytes: [UInt8]) {
    attempt { () throws(ResultFault) in try journal.append(bytes) }
  }

  /// Does something with files at a moment at which the process is not ended.
  private func attempt(_ body: () throws(ResultFault) -> Void) {
    guard failure == nil, !isGone else { return }
    do throws(ResultFault) {
      try gate.pass(body)
    } catch {
      // The run itself is whole; it continues without what would have kept it.
      isGone = !folder.isHeld
      if !isGone { failure = .failed("the run cannot be saved: \(error)") }
    }
  }

  /// How long the run has been played until now, by all processes that did, in seconds.
  var wallSeconds: Double {
    let own = (ContinuousClock.now - began).components
    return spentBefore + Double(own.seconds) + Double(own.attoseconds) * 1e-18
  }

  /// Where a file is gathered: in the folder; nil: next to its place, for the folder is gone.
  func gatheringPath(of entry: RunFolder.Entry) -> String? {
    folder.isHeld ? folder.path(of: entry) : nil
  }

  // MARK: Between two events

  /// Writes what is due.
  ///
  /// Throws: `RunFailure` where the run cannot continue.
  func look(_ simulation: borrowing Simulation) throws(RunFailure) {
    if journal.isSyncDue { sync(simulation.progressTime) }
    // What is played again may yet be another run, and is in the journal anyway.
    if expected.isEmpty, clock.isDue(rounds: rounds, journal: journal.length) { save(simulation) }
    if expected.isEmpty, let publication, ContinuousClock.now >= nextPublication {
      publish(simulation, publication.file)
      nextPublication = .now + publication.every
    }
    if let failure { throw failure }
  }

  private func sync(_ time: SimTime) {
    append(JournalRecord.reached(time).bytes)
    append(JournalRecord.spent(Int64(wallSeconds * 1e6)).bytes)
    attempt { () throws(ResultFault) in
      try journal.sync()
      if !isOnDisk { try folder.sync() }
      isOnDisk = true
    }
  }

  /// Writes a checkpoint.
  private func save(_ simulation: borrowing Simulation) {
    let began = ContinuousClock.now
    guard let parts = SavedRun.parts(simulation, saved) else {
      failure = .failed("the run cannot be saved: a part of it cannot be encoded")
      return
    }
    let pieces = Checkpoint.pieces(records: records, parts: parts)
    append(JournalRecord.spent(Int64(wallSeconds * 1e6)).bytes)
    // Another run may have made a folder of this name since.
    if !folder.isHeld { isGone = true }
    attempt { () throws(ResultFault) in
      try journal.sync()
      try folder.place(pieces, as: .checkpoint, through: .newCheckpoint, syncs: true)
    }
    clock.wrote(rounds: rounds, journal: journal.length, cost: .now - began)
  }

  /// Places the result so far under the result's name.
  private func publish(_ simulation: borrowing Simulation, _ file: ResultFile) {
    let time = simulation.progressTime
    let document = recorder.document(
      copy simulation, of: scenario, standing: .soFar(until: time, asOf: time))
    attempt { () throws(ResultFault) in
      _ = try file.write(document, through: gatheringPath(of: .result))
      // One that is there is of another result.
      if !hasPublished { try Provenance.clear(beside: file.path, calls: folder.calls) }
      hasPublished = true
    }
  }

  /// Takes the folder away, after the result was placed. What is left of it where that fails does
  /// the result no harm.
  func end(_ tell: (String) -> Void) {
    guard folder.isHeld else {
      return tell(
        "the run's folder \(folder.path) was removed during the run; the result is complete")
    }
    do throws(ResultFault) {
      try folder.removeAll()
    } catch {
      tell(
        "the result is complete, but its run's folder could not be removed (\(error)); remove it")
    }
  }
}
