import FedSim
import Scenarios
import Schema

/// Why a device contributed to a round, or to a run, or did not: its story in plain sentences.
public struct Explanation: Codable, Equatable, Sendable {
  /// What decided it.
  public enum Cause: String, Codable, CaseIterable, Sendable {
    /// An update of it became part of a version.
    case contributed
    /// Conditions that a task needs never held, or never at once.
    case neverHeld
    /// Its next task was not due before the end.
    case notDue
    /// They held, and the system did not start the task in time.
    case notStarted
    /// No background window opened.
    case noWindow
    /// Nothing lets the app run.
    case nothingRuns
    /// It has no training data.
    case noData
    /// A condition of the app did not hold when it ran.
    case notEligible
    /// It was offline while its app ran.
    case offline
    /// The server could not be reached.
    case serverUnreachable
    /// The server believed itself offline.
    case serverOffline
    /// A request without an update was lost.
    case requestLost
    /// The server said no.
    case rejected
    /// It waited, and the round's cohort was formed without it.
    case notChosen
    /// It waited, and no cohort was formed.
    case noCohort
    /// It had done its work before, and paused before it asks again.
    case pausing
    /// It had trained on the latest version already.
    case nothingNew
    /// Its task expired first.
    case expired
    /// Its app was killed.
    case killed
    /// A condition of the app was lost.
    case conditionsLost
    /// Its training threw an error.
    case threw
    /// Its checkpoint was given up.
    case givenUp
    /// It was not ready yet.
    case notReady
    /// Its update was lost on the way and not sent again in time.
    case uploadLost
    /// Its update was not sent in time.
    case notSent
    /// Its update waited at the server for those of others.
    case waiting
    /// Its update came after its round was over.
    case late
    /// Its update's base was too old.
    case stale
    /// The server had an update of it on the same version.
    case duplicate
    /// A later update of it took its place.
    case replaced
    /// Its parameters were not finite.
    case notFinite
    /// Its round was skipped.
    case roundSkipped
    /// The server restarted and lost its update.
    case serverRestarted
    /// The device did not keep its update.
    case notKept
    /// The device cannot train the model.
    case unfit
    /// The device was not in the fleet, or left it.
    case absent
    /// It had no good token, or the server did not know it.
    case unidentified
    /// App and server did not understand one another, or their stream broke.
    case misunderstood
    /// Its user had its data erased, or removed the app.
    case erased
    /// It collects for central training, and no training read a file of it in that time.
    case collects
  }

  /// The device's path.
  public var device: String
  /// The round; nil: the whole run.
  public var round: Int?
  /// Whether an update of it became part of a version in that time, or a file part of a central
  /// training.
  public var contributed: Bool
  /// What decided it.
  public var cause: Cause
  /// The same in a few words.
  public var causeText: String
  /// What is wrong with the result file.
  public var warnings: [String]
  /// The story, a sentence or two an entry; the last one says what came of it.
  public var sentences: [String]

  /// The story, and one line that names the cause.
  public var text: String { (sentences + ["Cause: \(causeText)."]).joined(separator: "\n") }

  /// Plays the run of a result again and tells of one device.
  ///
  /// No training is computed: the world, and what devices and server do, do not depend on trained
  /// values, and the run's digest of events and its ledgers are compared with the file's. Where a
  /// value decides (`stop.accuracy`, parameters that are not finite) everything is computed.
  /// `folder` is where paths in the scenario start, `mostSentences` bounds the story's middle.
  /// Throws: `RunFailure.input` for a file that is no result, a device or round that is not there,
  /// and data that are not as they were.
  public init(
    result path: String, device: String, round: Int? = nil, folder: String? = nil,
    mostSentences: Int = 60, options: RunOptions = RunOptions(), registry: Registry = .standard
  ) throws(RunFailure) {
    let stored = try StoredRun(path, folder: folder, registry: registry)
    let number = try Self.number(of: device, in: stored)
    if let round, !(1...max(1, stored.roundCount)).contains(round) {
      throw StoredRun.refusal(
        path,
        "there is no round \(round): the run had \(Words.count(stored.roundCount, "round")), "
          + "counting the one that was open at its end")
    }
    var inputs = try stored.inputs(options)
    let learns = !inputs.omitsArithmetic
    inputs.omitsArithmetic = !learns || !inputs.followsLearning
    var (simulation, watch) = Self.play(inputs, number)
    if !stored.isSame(simulation), learns, inputs.omitsArithmetic {
      inputs.omitsArithmetic = false
      (simulation, watch) = Self.play(inputs, number)
    }
    guard stored.isSame(simulation) else {
      throw StoredRun.refusal(
        path,
        "the replayed run differs from the one in the file: a file that the scenario names, such "
          + "as a table of intervals, has changed since")
    }
    let stoppedAt = simulation.isStuck ? simulation.now : nil
    if stoppedAt != nil {
      // What never held is seen in the time that the run did not play.
      inputs.stopsWhenStuck = false
      watch = Self.play(inputs, number).1
    }
    let story = Story(inputs, watch, round: round, mostSentences: mostSentences)
    let verdict = story.verdict
    self.device = device
    self.round = round
    warnings = [stored.alteration].compactMap { $0 }
    contributed = verdict.cause == .contributed
    cause = verdict.cause
    causeText = verdict.headline
    sentences = story.sentences(verdict)
    if let stoppedAt {
      sentences.insert(
        "The run stopped early, at \(stoppedAt.words), because no device could ever contribute; "
          + "this is what would have happened until its end.", at: 0)
    }
  }

  private static func play(
    _ inputs: SimulationInputs, _ device: Int
  ) -> (Simulation, DeviceWatch) {
    let watch = DeviceWatch(device)
    var simulation = Simulation(inputs)
    simulation.run(observers: [watch])
    return (simulation, watch)
  }

  /// The number in the fleet of the device of a path.
  static func number(of path: String, in stored: StoredRun) throws(RunFailure) -> Int {
    let fleet = stored.scenario.settings.fleet
    var first = 0
    let pieces = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let ordinal = pieces.count == 2 ? Int(pieces[1]) : nil
    for group in fleet {
      if group.name == pieces[0], let ordinal, (0..<group.count).contains(ordinal) {
        return first + ordinal
      }
      first += group.count
    }
    var message = "there is no device `\(path)`"
    if let group = fleet.first(where: { $0.name == pieces[0] }) {
      message +=
        ": `\(group.name)` has \(Words.count(group.count, "device")), \(group.name)/0 to "
        + "\(group.name)/\(group.count - 1)"
    } else if let near = SpellingSuggestion.word(to: pieces[0], among: fleet.map(\.name)) {
      message += "; did you mean `\(near)/\(ordinal.map { "\($0)" } ?? "0")`?"
    } else {
      message += "; known groups: " + fleet.map(\.name).joined(separator: ", ")
    }
    throw StoredRun.refusal(stored.path, message)
  }
}
