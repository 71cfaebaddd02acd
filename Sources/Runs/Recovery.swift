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
  /// The virtual time that the run had come to, in seconds.
  public var reachedSeconds: Double
  /// The virtual time that all other tables are of; nil: there are none.
  public var asOfSeconds: Double?

  /// Makes a result of what an unfinished run left, and leaves that as it is.
  ///
  /// Rounds and versions are all those of the journal; everything else is as of the checkpoint.
  /// `output` is where it goes; nil: under the result's own name.
  /// Throws: `RunFailure`.
  public static func perform(
    _ result: String, output: String? = nil, options: RunOptions = RunOptions(),
    registry: Registry = .standard, tell: (String) -> Void = { _ in }
  ) throws(RunFailure) -> Recovery {
    let result = UnfinishedRun.result(result)
    let unfinished = try UnfinishedRun(beside: result, registry: registry)
    let output = output ?? result
    let file = try Run.output { () throws(ResultFault) in try ResultFile.prepare(output) }
    var options = options
    options.shakeTies = unfinished.card.shakeTies
    let inputs = try unfinished.card.inputs(
      unfinished.scenario, options, unfinished.folder.path(of: .card))
    let found = try Found(unfinished, inputs, tell)
    guard !found.recorder.versions.isEmpty || !found.recorder.rounds.isEmpty else {
      throw StoredRun.refusal(
        unfinished.folder.path(of: .journal),
        "the run had published nothing and closed no round; `fedsim resume \(result)` plays it")
    }
    let document = found.recorder.document(
      found.simulation, of: unfinished.scenario,
      standing: .soFar(until: found.reached, asOf: found.asOf))
    do throws(ResultFault) {
      let digest = try file.write(document)
      return Recovery(
        result: output, contentDigest: digest, versions: found.recorder.versions.count,
        rounds: found.recorder.rounds.count, reachedSeconds: found.reached.seconds,
        asOfSeconds: found.asOf?.seconds)
    } catch {
      throw .failed("the result cannot be written: \(error); the run's folder stays as it is")
    }
  }

  /// What there is of a run.
  private struct Found {
    var simulation: Simulation
    let recorder: RunRecorder
    var reached = SimTime.start
    var asOf: SimTime?

    init(
      _ unfinished: UnfinishedRun, _ inputs: SimulationInputs, _ tell: (String) -> Void
    ) throws(RunFailure) {
      var recorder = RunRecorder()
      var saved: Simulation?
      var done = 0
      if let checkpoint = try unfinished.checkpoint(tell: tell) {
        do throws(ArchiveFault) {
          let invariants = unfinished.card.audits ? [Invariants()] : []
          saved = try SavedRun.restore(checkpoint.parts, inputs, [recorder] + invariants)
          done = checkpoint.records
        } catch {
          tell(
            "\(unfinished.folder.path(of: .checkpoint)): this checkpoint is left out: \(error)")
          recorder = RunRecorder()
        }
      }
      self.recorder = recorder
      simulation = saved ?? Simulation(inputs)
      if saved != nil {
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
      case .run: break
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
