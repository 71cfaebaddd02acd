import Analysis
import FedSim
import Foundation
import Results
import Scenarios
import Schema

/// A stored run that was played again, and whether it is the run of its file.
public struct Replay: Codable, Equatable, Sendable {
  /// What is the same.
  public enum Verdict: String, Codable, CaseIterable, Sendable {
    /// The whole file, byte by byte.
    case sameBytes
    /// What is in the file; another library wrote it.
    case sameContent
    /// All that is in the file, descriptions aside. An older program wrote it: what later ones
    /// added is not in it, and their descriptions may use other words.
    case sameAsHeld
    /// Something differs.
    case different
  }

  /// The result file.
  public var result: String
  /// What is the same.
  public var verdict: Verdict
  /// The digest of the content as it is in the file now.
  public var storedDigest: String
  /// The digest of the content as it was played again.
  public var playedDigest: String
  /// Whether all events agree with the file's digest of them.
  public var hasSameEvents: Bool
  /// The first stored event that differs, where the file holds events.
  public var event: EventDifference?
  /// The first hour whose events differ, where the file holds digests by hour.
  public var hour: DocumentComparison.Row?
  /// The first round that does.
  public var round: DocumentComparison.Row?
  /// The first version that does.
  public var version: DocumentComparison.Row?
  /// Attributes that do; the first is the file's.
  public var attributes: [DocumentComparison.Difference]
  /// The first cell of each variable and text that does; the first is the file's.
  public var cells: [DocumentComparison.Difference]
  /// What only the file has (`isInA`), or only the new run has.
  public var missing: [DocumentComparison.Missing]
  /// What is wrong with the file.
  public var warnings: [String]

  /// Plays the run of a result again, in memory, with everything computed.
  ///
  /// `folder` is where paths in the scenario start.
  /// Throws: `RunFailure.input` for a file that is no result or that another version made, and for
  /// data that are missing or not as they were.
  public init(
    _ path: String, folder: String? = nil, observers: [any Observer] = [],
    options: RunOptions = RunOptions(), registry: Registry = .standard
  ) throws(RunFailure) {
    let file = try StoredResult(path)
    let stored = try StoredRun(file, folder: folder, registry: registry)
    self = try Self.played(file, stored, observers: observers, options: options).replay
  }

  /// Plays a stored run again; the comparison, and the facts of the run for claims.
  ///
  /// Throws: as `init`.
  static func played(
    _ file: StoredResult, _ stored: StoredRun, observers: [any Observer], options: RunOptions
  ) throws(RunFailure) -> (replay: Replay, facts: RunFacts) {
    var simulation = Simulation(try stored.inputs(options))
    let recorder = RunRecorder()
    simulation.run(observers: [recorder] + observers)
    let replay = try Replay(file, simulation, recorder.document(simulation, of: stored.scenario))
    return (replay, RunFacts(simulation, recorder))
  }

  /// The comparison of a file with the run that was played.
  private init(
    _ file: StoredResult, _ simulation: Simulation, _ document: ResultDocument
  ) throws(RunFailure) {
    let image: (bytes: [UInt8], contentDigest: String)
    do throws(ResultFault) {
      image = try ResultFile.image(of: document)
    } catch {
      throw .failed("the result cannot be built: \(error)")
    }
    result = file.path
    storedDigest = file.document.contentDigest
    playedDigest = image.contentDigest
    hasSameEvents = file.text(of: "eventDigest") == simulation.eventDigest.value.hexDigits
    warnings = [file.alteration].compactMap { $0 }
    let difference = DocumentComparison(file.document, document)
    (attributes, cells) = (difference.attributes, difference.cells)
    missing = difference.missing
    (hour, round, version) = (difference.hour, difference.round, difference.version)
    if FileManager.default.contents(atPath: file.location) == Data(image.bytes) {
      verdict = .sameBytes
    } else if storedDigest == playedDigest {
      verdict = .sameContent
    } else if difference.hasAllOfTheFirst, Self.isOlder(file.document) || !difference.cells.isEmpty
    {
      verdict = .sameAsHeld
    } else {
      verdict = .different
      if let a = StoredEvents(file.document), let b = StoredEvents(document) {
        event = StoredEvents.difference(a, b)
      }
    }
  }

  /// Whether a result is of an older schema than this engine writes.
  private static func isOlder(_ document: ResultDocument) -> Bool {
    guard case .integer(let schema)? = document.root[attribute: "schemaVersion"] else {
      return false
    }
    return schema < Int64(FedSimVersion.resultSchema)
  }

  /// Whether all that the file holds is reproduced.
  public var isSame: Bool { verdict != .different }
}
