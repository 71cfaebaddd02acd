import Analysis
import Foundation
import Results
import Scenarios
import Schema

/// What two results have in common, and where they first part.
public struct Comparison: Codable, Equatable, Sendable {
  /// What is the same.
  public enum Verdict: String, Codable, CaseIterable, Sendable {
    /// The files.
    case sameBytes
    /// What is in the files; other libraries or another program wrote one of them.
    case sameContent
    /// Something differs.
    case different
  }

  /// How the first differing event was looked for.
  public enum Search: String, Codable, CaseIterable, Sendable {
    /// There is nothing to look for.
    case notNeeded
    /// In the `events` of both files.
    case stored
    /// By playing both runs again.
    case played
    /// It was not asked for.
    case notAsked
    /// A run cannot be played again.
    case notPossible
  }

  /// The first file.
  public var a: String
  /// The second file.
  public var b: String
  /// What is the same.
  public var verdict: Verdict
  /// The outcomes of the two runs, equal or not.
  public var outcomes: [DocumentComparison.Difference]
  /// Attributes that differ: versions, seed, digests.
  public var attributes: [DocumentComparison.Difference]
  /// Settings that differ, by their paths in the resolved scenarios.
  public var settings: [DocumentComparison.Difference]
  /// The first hour whose events differ, where both files hold digests by hour.
  public var hour: DocumentComparison.Row?
  /// The first event that differs.
  public var event: EventDifference?
  /// How it was looked for.
  public var search: Search
  /// Why it could not be, where it could not.
  public var obstacle: String?
  /// The first round that differs.
  public var round: DocumentComparison.Row?
  /// The first version that differs.
  public var version: DocumentComparison.Row?
  /// The first cell that differs of each variable and text that does.
  public var cells: [DocumentComparison.Difference]
  /// What only one file has.
  public var missing: [DocumentComparison.Missing]
  /// What is wrong with the files: changed after they were written, or not what the run produces.
  public var warnings: [String]

  /// Compares two result files.
  ///
  /// `replays` allows to play both runs again; `folder` is where paths in their scenarios start.
  /// Throws: `RunFailure.input` for a file that is no result.
  public init(
    _ a: String, _ b: String, replays: Bool = true, folder: String? = nil,
    options: RunOptions = RunOptions(), registry: Registry = .standard
  ) throws(RunFailure) {
    let stored = (try StoredResult(a), try StoredResult(b))
    let documents = DocumentComparison(stored.0.document, stored.1.document)
    (self.a, self.b) = (a, b)
    (attributes, settings) = (documents.attributes, Self.settings(stored.0, stored.1))
    outcomes = Self.outcomes(stored.0.document, stored.1.document)
    (hour, round, version) = (documents.hour, documents.round, documents.version)
    (cells, missing) = (documents.cells, documents.missing)
    warnings = [stored.0.alteration, stored.1.alteration].compactMap { $0 }
    search = .notNeeded
    if FileManager.default.contentsEqual(atPath: a, andPath: b) {
      verdict = .sameBytes
    } else if stored.0.document.contentDigest == stored.1.document.contentDigest {
      verdict = .sameContent
    } else {
      verdict = .different
      try look(stored, replays ? options : nil, folder, registry)
    }
  }

  /// Looks for the first event that differs.
  private mutating func look(
    _ stored: (StoredResult, StoredResult), _ options: RunOptions?, _ folder: String?,
    _ registry: Registry
  ) throws(RunFailure) {
    if let first = StoredEvents(stored.0.document), let second = StoredEvents(stored.1.document) {
      event = StoredEvents.difference(first, second)
      search = .stored
      if event != nil || (first.isWhole && second.isWhole && hasEqualDigests) { return }
    }
    guard !hasEqualDigests else {
      search = .notNeeded
      return
    }
    guard let options else {
      search = .notAsked
      return
    }
    do throws(RunFailure) {
      let runs = (
        try StoredRun(stored.0, folder: folder, registry: registry),
        try StoredRun(stored.1, folder: folder, registry: registry)
      )
      let played = try SideBySide(runs.0, runs.1, options)
      event = played.difference
      search = .played
      warnings += played.notReproduced.map {
        "\($0) is not reproducible: its run, replayed by this engine, has other events or other "
          + "ledgers, so the first differing event is that of the replayed runs"
      }
    } catch {
      search = .notPossible
      obstacle = error.description
    }
  }

  /// Whether the digests of all events agree, and the order of ties.
  private var hasEqualDigests: Bool {
    !attributes.contains { ["eventDigest", "shakeTies"].contains($0.place) }
  }

  private static func settings(
    _ a: StoredResult, _ b: StoredResult
  ) -> [DocumentComparison.Difference] {
    guard let first = try? YAMLReader.read(a.scenarioText, file: a.path),
      let second = try? YAMLReader.read(b.scenarioText, file: b.path)
    else { return [] }
    return SettingDifferences.between(first, second)
  }

  /// Whether both hold the same.
  public var isSame: Bool { verdict != .different }
}
