import FedSim
import Foundation
import Results
import Scenarios
import Schema

/// A bundle whose run was played again, and whether it is the run of the bundle.
public struct BundleReplay: Codable, Equatable, Sendable {
  /// The comparison of the bundle's result with the run.
  public var replay: Replay
  /// The outcome of the scenario's claims in the run that was played; empty: there are none.
  public var claims: [ClaimVerdict]
  /// The data files of this machine that have the digests of the bundle.
  public var dataFiles: Int

  /// Plays the run of a bundle again.
  ///
  /// `folder` is where paths in the scenario start; nil: the bundle's folder. The result is
  /// unpacked into a temporary folder, which is removed.
  /// Throws: `RunFailure.input` for a bundle that is damaged, altered or of another version, and
  /// for data files that are missing or have other digests, each by its name.
  public init(
    _ path: String, folder: String? = nil, observers: [any Observer] = [],
    options: RunOptions = RunOptions(), registry: Registry = .standard
  ) throws(RunFailure) {
    let archive = try BundleArchive(path)
    let place = try UnpackedResult(archive.result)
    defer { place.remove() }
    let file = try StoredResult(path, at: place.path)
    let stored = try StoredRun(file, folder: folder, registry: registry)
    let text = String(decoding: archive.scenario, as: UTF8.self)
    let claiming = try BundleClaims(text, of: stored, in: path).scenario
    var expected = BundleManifest(of: file, stored, claiming)
    (expected.dataFiles, expected.members) = (archive.manifest.dataFiles, archive.manifest.members)
    guard expected == archive.manifest else {
      throw StoredRun.refusal(
        path,
        "\(ResultBundle.Name.manifest) does not belong to \(ResultBundle.Name.result) and "
          + "\(ResultBundle.Name.scenario): the bundle was altered")
    }
    try BundleData(stored, options).check(archive.manifest.dataFiles)
    let (replay, facts) = try Replay.played(
      file, stored, observers: observers, options: options)
    (self.replay, claims) = (replay, claiming.verdicts(facts))
    dataFiles = archive.manifest.dataFiles.count
  }

  /// Whether all that the bundle's result holds is reproduced.
  public var isSame: Bool { replay.isSame }

  /// The outcome, a line per item.
  public var text: String {
    var lines = [replay.text]
    if dataFiles > 0 { lines.append("data: \(Words.count(dataFiles, "file")) as in the bundle") }
    let broken = claims.filter { !$0.holds }
    lines += broken.map { "broken: \($0.claim): found \($0.found)" }
    if !claims.isEmpty {
      lines.append(
        broken.isEmpty
          ? "assertions: all \(claims.count) hold"
          : "assertions: \(broken.count) of \(claims.count) broken")
    }
    return lines.joined(separator: "\n")
  }
}

/// The result of a bundle as a file, in a new folder that only this user can read.
private struct UnpackedResult {
  private let folder: String
  /// The file.
  var path: String { "\(folder)/\(ResultBundle.Name.result)" }

  /// Writes it. Throws: `RunFailure.failed`.
  init(_ bytes: [UInt8]) throws(RunFailure) {
    var template = Array((NSTemporaryDirectory() + "/fedsim-bundle-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw .failed(
        "no temporary folder can be made in \(NSTemporaryDirectory()): "
          + String(cString: strerror(errno)))
    }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    do throws(ResultFault) { try PlacedFile.place(bytes, at: path) } catch {
      remove()
      throw .failed("the bundle cannot be unpacked: \(error)")
    }
  }

  /// Takes the folder away.
  func remove() { try? FileManager.default.removeItem(atPath: folder) }
}
