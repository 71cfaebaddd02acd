import DataSets
import FedSim
import Foundation
import Numerics
import Results
import Scenarios
import Schema

/// A result in one archive with all that is needed to check it on another machine.
///
/// The archive is a zip file and an RO-Crate 1.1: scenario, result, digests of the data files,
/// claims, version, and metadata (docs/bundle.md). Equal results and options give equal bytes.
public struct ResultBundle: Sendable {
  /// The members' names.
  enum Name {
    static let manifest = "bundle.json"
    static let result = "result.h5"
    static let scenario = "scenario.yaml"
    static let metadata = "ro-crate-metadata.json"
    /// All names, in the order of the archive.
    static let all = [manifest, scenario, result, metadata]
  }

  /// What came of it.
  public enum Outcome: Sendable {
    /// The bundle was written.
    case written(Summary)
    /// The run is not reproduced here; nothing was written.
    case different(Replay)
  }

  /// What was written.
  public struct Summary: Equatable, Sendable {
    /// The bundle's path.
    public var path: String
    /// Its length.
    public var bytes: Int
    /// The files outside the bundle whose digests it has.
    public var dataFiles: Int
    /// The claims about the run.
    public var claims: Int
    /// Those that do not hold, if the run was played.
    public var broken: [ClaimVerdict] = []
    /// Why there are no claims, where that may surprise.
    public var warning: String?
  }

  /// The result file.
  public let result: String
  /// Where paths in the scenario start; nil: the scenario's folder at the time of the run.
  public var folder: String?
  /// The scenario file with the claims; nil: that of the run, by its provenance.
  public var claims: String?
  /// Whether the run is played again first, and packed only if it is reproduced.
  public var replays = true
  /// The date of the metadata, as YYYY-MM-DD; nil: the day of the run, by its provenance.
  public var date: String?
  /// Who made the result, for the metadata.
  public var authors: [String] = []
  /// The address of the result's licence, for the metadata.
  public var licence: String?

  /// A bundle of a result; nothing is read or written yet.
  public init(_ result: String) { self.result = result }

  /// Where the bundle of a result is, unless the user says so: `night.bundle.zip` for `night.h5`.
  public static func path(for result: String) -> String {
    (result.hasSuffix(".h5") ? String(result.dropLast(3)) : result) + ".bundle.zip"
  }

  /// Whether a file begins as a bundle does.
  public static func isBundle(_ path: String) -> Bool {
    StandingFile.head(path)?.starts(with: [0x50, 0x4b]) ?? false
  }

  /// Writes the bundle, whole or not at all; an earlier bundle there is replaced.
  ///
  /// Reads every file that the scenario names, and plays the run with these observers.
  /// Throws: `RunFailure.input` for a file that is no complete result of this version or was
  /// altered, for data that are missing or not as they were, for a date that is none, for claims
  /// that are wrong, and where another file is in the way; `.output` for a place that takes no
  /// file; `.failed` if it cannot be written.
  public func write(
    to path: String, observers: [any Observer] = [], options: RunOptions = RunOptions(),
    registry: Registry = .standard
  ) throws(RunFailure) -> Outcome {
    let place = try StandingFile.place(for: path) { head in
      head.hasPrefix("PK\u{3}\u{4}") && head.prefix(64).contains(Name.manifest)
    }
    let file = try StoredResult(result)
    let stored = try StoredRun(file, folder: folder, registry: registry)
    if let alteration = file.alteration { throw StoredRun.refusal(result, alteration) }
    let provenance = provenance(of: file)
    let day = try day(provenance)
    let claims = try BundleClaims(
      stored, file: claims, runOf: provenance, text: file.scenarioText, registry: registry)
    var manifest = BundleManifest(of: file, stored, claims.scenario)
    var played: (replay: Replay, facts: RunFacts)?
    manifest.dataFiles = try BundleData(stored, options).files { () throws(RunFailure) in
      if replays {
        played = try Replay.played(file, stored, observers: observers, options: options)
      } else {
        _ = try stored.inputs(options)
      }
    }
    if let replay = played?.replay, !replay.isSame { return .different(replay) }
    var metadata = BundleMetadata(manifest, name: stored.scenario.settings.name ?? "", day: day)
    (metadata.authors, metadata.licence) = (authors, licence)
    let bytes = ZipArchive.bytes(
      of: try members(manifest, metadata, scenario: claims.text, result: contents(of: file)))
    do throws(ResultFault) { try place.place(bytes) } catch {
      throw .failed("the bundle cannot be written: \(error)")
    }
    return .written(
      Summary(
        path: path, bytes: bytes.count, dataFiles: manifest.dataFiles.count,
        claims: manifest.claims.count,
        broken: played.map { claims.scenario.verdicts($0.facts).filter { !$0.holds } } ?? [],
        warning: claims.warning))
  }

  /// The members of the archive, the manifest with their digests first.
  private func members(
    _ manifest: BundleManifest, _ metadata: BundleMetadata, scenario: String, result: [UInt8]
  ) throws(RunFailure) -> [(name: String, contents: [UInt8])] {
    guard result.count + scenario.utf8.count < ZipArchive.mostBytes - 1 << 24 else {
      throw StoredRun.refusal(
        self.result, "a result of \(result.count) bytes is too large: a bundle has 4 GiB at most")
    }
    var (manifest, metadata) = (manifest, metadata)
    (metadata.scenarioBytes, metadata.resultBytes) = (scenario.utf8.count, result.count)
    let members: [(name: String, contents: [UInt8])] = [
      (Name.scenario, Array(scenario.utf8)), (Name.result, result),
      (Name.metadata, metadata.bytes),
    ]
    manifest.members = members.map { name, contents in
      BundleManifest.Member(name: name, sha256: Self.sha256(contents), bytes: contents.count)
    }
    return [(Name.manifest, manifest.bytes)] + members
  }

  /// SHA-256 in 64 hexadecimal digits.
  static func sha256(_ bytes: [UInt8]) -> String {
    var digest = SHA256()
    digest.update(bytes)
    return digest.hexDigest()
  }

  private func contents(of file: StoredResult) throws(RunFailure) -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: file.location) else {
      throw StoredRun.refusal(result, "the file cannot be read")
    }
    return Array(data)
  }

  /// What the file next to the result says of its run; nil: there is none, or of another result.
  private func provenance(of file: StoredResult) -> Provenance? {
    guard let data = FileManager.default.contents(atPath: Provenance.path(for: result)),
      let provenance = try? JSONDecoder().decode(Provenance.self, from: data),
      provenance.contentDigest == file.document.contentDigest
    else { return nil }
    return provenance
  }

  /// The date of the metadata: no clock is read, so that the next bundle has the same.
  private func day(_ provenance: Provenance?) throws(RunFailure) -> String {
    if let date {
      guard Self.isDay(date) else {
        throw StoredRun.refusal("--date", "`\(date)` is no date, expected YYYY-MM-DD")
      }
      return date
    }
    let day = String(provenance?.startedAt.prefix(10) ?? "")
    if Self.isDay(day) { return day }
    throw StoredRun.refusal(
      Provenance.path(for: result),
      "there is no provenance of this result, which has the day of its run; give it with --date "
        + "YYYY-MM-DD")
  }

  /// Whether a text is a day of the calendar.
  private static func isDay(_ text: String) -> Bool {
    let pieces = text.split(separator: "-", omittingEmptySubsequences: false)
    guard pieces.map(\.utf8.count) == [4, 2, 2],
      pieces.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
      let year = Int(pieces[0]), let month = Int(pieces[1]), let day = Int(pieces[2]),
      (1...12).contains(month)
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...lengths[month - 1]).contains(day)
  }
}

extension BundleManifest {
  /// What a result says of its run, with the claims of a scenario; data files and members are not
  /// in it yet.
  init(of file: StoredResult, _ stored: StoredRun, _ claiming: Scenario) {
    engineVersion = file.engineVersion
    contentDigest = file.document.contentDigest
    scenarioDigest = stored.scenario.digest
    dataDigest = file.text(of: "dataDigest") ?? ""
    eventDigest = file.text(of: "eventDigest") ?? ""
    claims = claiming.claimWords
    (dataFiles, members) = ([], [])
  }
}
