import FedSim
import Numerics
import Results
import Scenarios

/// What was made of an unfinished run without playing it.
public struct Recovery: Codable, Equatable, Sendable {
  /// The file that was written.
  public var result: String
  /// The digest of its content.
  public var contentDigest: String
  /// How many versions are in it, the initial model counted.
  public var versions: Int
  /// How many rounds are in it.
  public var rounds: Int
  /// The virtual time that the run had reached, in seconds.
  public var reachedSeconds: Double
  /// The virtual time that all other tables are of; nil: there are none.
  public var asOfSeconds: Double?
  /// Whether there is a checkpoint that is no good, and was left out.
  public var isCheckpointLeftOut: Bool

  /// Makes a result of what an unfinished run left, and leaves that as it is.
  ///
  /// Rounds and versions are all those of the journal; everything else is as of the checkpoint.
  /// `output` is where it goes; nil: under the result's own name. It may be on another disk than
  /// what the run left, which is only read.
  /// Throws: `RunFailure`.
  public static func perform(
    _ result: String, output: String? = nil, options: RunOptions = RunOptions(),
    registry: Registry = .standard, tell: (String) -> Void = { _ in }
  ) throws(RunFailure) -> Recovery {
    try perform(
      result, output: output, options: options, registry: registry, calls: .system, tell: tell)
  }

  /// The same by these calls of the operating system.
  package static func perform(
    _ result: String, output: String? = nil, options: RunOptions = RunOptions(),
    registry: Registry = .standard, calls: FileCalls, tell: (String) -> Void = { _ in }
  ) throws(RunFailure) -> Recovery {
    let result = try UnfinishedRun.result(result)
    let unfinished = try UnfinishedRun(
      beside: result, registry: registry, onlyReads: true, calls: calls)
    let output = output ?? result
    if Self.isWhole(output) {
      throw StoredRun.refusal(
        output, "a complete result of an earlier run is here; name another file with --output")
    }
    let file = try Run.output { () throws(ResultFault) in
      try ResultFile.prepare(output, calls: calls)
    }
    var options = options
    options.shakeTies = unfinished.manifest.shakeTies
    let inputs = try unfinished.manifest.inputs(
      unfinished.scenario, options, unfinished.folder.path(of: .manifest))
    try StandingResult.refuseOther(
      output, than: unfinished.scenario, inputs, advice: "name another file with --output")
    if let notice = unfinished.notice { tell(notice) }
    let found = try Found(unfinished, inputs, tell)
    guard !found.recorder.versions.isEmpty || !found.recorder.rounds.isEmpty else {
      throw StoredRun.refusal(
        unfinished.folder.path(of: .journal),
        "the run had neither published a version nor closed a round; `fedsim resume \(result)` "
          + "continues it"
      )
    }
    let document = found.recorder.document(
      found.simulation, of: unfinished.scenario,
      standing: .soFar(until: found.reached, asOf: found.asOf))
    do throws(ResultFault) {
      let digest = try file.write(document)
      try Provenance.clear(beside: output, calls: calls)
      return Recovery(
        result: output, contentDigest: digest, versions: found.recorder.versions.count,
        rounds: found.recorder.rounds.count, reachedSeconds: found.reached.seconds,
        asOfSeconds: found.asOf?.seconds, isCheckpointLeftOut: found.isLeftOut)
    } catch {
      throw .failed("the result cannot be written: \(error); the run's folder is unchanged")
    }
  }

  /// Whether a result is at a path that is not one of a run that was interrupted.
  static func isWhole(_ path: String) -> Bool {
    guard let document = try? ResultFile.read(path) else { return false }
    return document.root[attribute: "isComplete"] == nil
  }

  /// What there is of a run.
  private struct Found {
    var simulation: Simulation
    let recorder: RunRecorder
    let isLeftOut: Bool
    var reached = SimTime.start
    var asOf: SimTime?

    init(
      _ unfinished: UnfinishedRun, _ inputs: SimulationInputs, _ tell: (String) -> Void
    ) throws(RunFailure) {
      let saved = try LoadedCheckpoint(unfinished, inputs, tell)
      var done = saved.records
      (recorder, isLeftOut) = (saved.recorder, saved.isLeftOut)
      simulation = saved.simulation ?? Simulation(inputs)
      if saved.simulation != nil {
        asOf = simulation.progressTime
        reached = simulation.progressTime
      }
      for record in unfinished.records {
        if record.isOfTheRun {
          done -= 1
          if done >= 0 { continue }
        }
        take(record)
      }
    }

    private mutating func take(_ record: JournalRecord) {
      switch record {
      case .run, .spent: break
      case .version(let version):
        recorder.take(version)
        reached = max(reached, version.publishedAt)
      case .round(let round, let funnel):
        recorder.take(round, funnel)
        reached = max(reached, round.closedAt)
      case .central(let version):
        recorder.take(version)
        reached = max(reached, version.publishedAt)
      case .reached(let time): reached = max(reached, time)
      }
    }
  }
}
