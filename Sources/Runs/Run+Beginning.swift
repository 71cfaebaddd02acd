import FedSim
import Foundation
import Numerics
import Results
import Scenarios
import Schema

/// A run that is about to be played, from its start or from a checkpoint.
struct Play {
  /// The run, as it is; nil: it is being played.
  var simulation: Simulation?
  /// What was recorded of it.
  let recorder: RunRecorder
  /// What looks at it after every event; nil: nothing does.
  let invariants: Invariants?
  /// What keeps it; nil: nothing does.
  let persistence: RunPersistence?
}

extension Run {
  /// Refuses to begin again next to an unfinished run, or one that lives.
  func refuseUnfinished() throws(RunFailure) {
    let target = PlacePath.target(of: output)
    guard unfinished == nil, RunFolder.isUnfinished(beside: target) else { return }
    let manifest = try Run.output { () throws(ResultFault) in
      // A live process holds the lock, and is reported.
      try RunFolder(beside: target, for: output, calls: safety.calls).contents(of: .manifest)
    }
    guard let manifest, !safety.restarts else { return }
    throw .unfinished(
      result: output, folder: RunFolder.path(beside: target),
      since: RunManifest(manifest)?.startedAt)
  }

  /// Makes ready what is played.
  ///
  /// Throws: `RunFailure`; then what was not begun has left nothing.
  func begin(
    _ inputs: SimulationInputs, _ file: ResultFile, _ gate: RunGate,
    _ start: (text: String, clock: ContinuousClock.Instant), _ tell: (String) -> Void
  ) throws(RunFailure) -> Play {
    if safety.publishEvery != nil, Recovery.isWhole(output) {
      throw StoredRun.refusal(
        output,
        "a complete result of an earlier run is here, and partial results would replace it; "
          + "name another file, or leave out --publish-every")
    }
    if let unfinished { return try goOn(unfinished, inputs, file, gate, start.clock, tell) }
    let recorder = RunRecorder()
    let invariants = options.audits ? Invariants() : nil
    let simulation = Simulation(inputs)
    guard safety.isOn else {
      return Play(
        simulation: simulation, recorder: recorder, invariants: invariants, persistence: nil)
    }
    let manifest = RunManifest(
      self, dataDigest: inputs.task.digest.hexDigits, startedAt: start.text)
    let folder = try Run.output { () throws(ResultFault) in
      try RunFolder(beside: file.target, for: output, calls: safety.calls)
    }
    // Another run may have begun and ended while this one read its data.
    if !safety.restarts, RunFolder.isUnfinished(beside: file.target) {
      throw .unfinished(result: output, folder: folder.path, since: nil)
    }
    let persistence = try Run.output { () throws(ResultFault) in
      do throws(ResultFault) {
        for entry in RunFolder.Entry.allCases where entry != .lock { try folder.remove(entry) }
        try gate.pass { () throws(ResultFault) in
          try folder.place([manifest.bytes], as: .manifest, through: .newManifest, syncs: false)
        }
        return try RunPersistence(
          self, devices: inputs.deviceCount, in: folder, recorder: recorder,
          invariants: invariants, gate: gate, file: file, since: start.clock,
          standing: Journal.Contents(), ownRecords: [], done: 0)
      } catch {
        folder.giveUp()
        throw error
      }
    }
    gate.begin(output)
    return Play(
      simulation: simulation, recorder: recorder, invariants: invariants, persistence: persistence)
  }

  /// Resumes a run: from its checkpoint, or from its start where there is no good one.
  private func goOn(
    _ unfinished: UnfinishedRun, _ inputs: SimulationInputs, _ file: ResultFile, _ gate: RunGate,
    _ began: ContinuousClock.Instant, _ tell: (String) -> Void
  ) throws(RunFailure) -> Play {
    let saved = try LoadedCheckpoint(unfinished, inputs, tell)
    let (recorder, invariants) = (saved.recorder, saved.invariants)
    if let simulation = saved.simulation {
      tell("\(output): resumes at \(simulation.progressTime.words), version \(simulation.version)")
    } else {
      let none = "there is no checkpoint to resume from, so "
      tell("\(output): \(saved.isLeftOut ? "" : none)the run starts again")
    }
    let (journal, own, done) = (unfinished.journal, unfinished.ownRecords, saved.records)
    let persistence = try Run.output { () throws(ResultFault) in
      try RunPersistence(
        self, devices: inputs.deviceCount, in: unfinished.folder, recorder: recorder,
        invariants: invariants, gate: gate, file: file, since: began, standing: journal,
        ownRecords: own, done: done)
    }
    gate.begin(output)
    return Play(
      simulation: saved.simulation ?? Simulation(inputs), recorder: recorder,
      invariants: invariants, persistence: persistence)
  }

  /// Resumption of the run whose result was to be at a path.
  ///
  /// Only threads, kernels and the mode of computing are taken from `options`.
  /// Throws: `RunFailure.input` where there is none, or this engine cannot resume it.
  public static func resuming(
    _ result: String, options: RunOptions = RunOptions(), registry: Registry = .standard
  ) throws(RunFailure) -> Run {
    try resuming(result, options: options, registry: registry, calls: .system)
  }

  /// The same by these calls of the operating system.
  package static func resuming(
    _ result: String, options: RunOptions = RunOptions(), registry: Registry = .standard,
    calls: FileCalls
  ) throws(RunFailure) -> Run {
    let result = try UnfinishedRun.result(result)
    let follows = (options.ranks?.rank ?? 0) > 0
    let unfinished = try UnfinishedRun(
      beside: result, registry: registry, follows: follows, calls: calls)
    var options = options
    options.shakeTies = unfinished.manifest.shakeTies
    options.audits = unfinished.manifest.audits
    var run = Run(unfinished, output: result, options: options)
    run.safety.calls = calls
    run.safety.checkpoints =
      unfinished.manifest.checkpointEvery.flatMap { CheckpointPace($0) } ?? .itself
    run.safety.publishEvery = unfinished.manifest.publishEvery.flatMap { WallTime($0) }
    return run
  }
}
