import Foundation
import Results
import Runs
import Schema

/// The folder of one sweep, and the places in it.
public struct SweepFolder: Sendable {
  /// The folder, without a `/` at its end.
  public let path: String

  /// A sweep's folder; nothing is read or made yet.
  public init(_ path: String) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.path = path
  }

  /// The manifest.
  public var manifestPath: String { "\(path)/sweep.json" }
  /// The ids of all cells of the first rung, one per line.
  public var listPath: String { "\(path)/cells.txt" }
  /// The long table.
  public var tablePath: String { "\(path)/table.csv" }
  /// The table with the axes as dimensions.
  public var arraysPath: String { "\(path)/table.h5" }
  /// The table with a row per version.
  public var versionsPath: String { "\(path)/versions.csv" }
  /// The cells that failed.
  public var failedPath: String { "\(path)/failed.csv" }

  /// The resolved scenario of a cell.
  public func scenarioPath(_ id: String) -> String { "\(path)/cells/\(id).yaml" }
  /// What was written to standard error while a cell was played.
  public func logPath(_ id: String) -> String { "\(path)/logs/\(id).log" }
  /// Why a cell was given up.
  func failurePath(_ id: String) -> String { "\(path)/failures/\(id).json" }
  /// The file that is locked while cells are played; shards have one each.
  func lockPath(_ shard: Shard?) -> String {
    "\(path)/lock" + (shard.map { ".\($0.number)-of-\($0.count)" } ?? "")
  }

  /// Whether a manifest is here.
  public var exists: Bool { FileManager.default.fileExists(atPath: manifestPath) }

  /// Reads the manifest.
  ///
  /// Throws: `RunFailure.input` where there is none, or one of another version.
  public func manifest() throws(RunFailure) -> SweepManifest {
    guard let data = FileManager.default.contents(atPath: manifestPath) else {
      throw Self.refusal(
        path, "this is not a sweep's folder: there is no sweep.json; `fedsim sweep FILE` makes one")
    }
    struct Head: Decodable {
      var format: Int
      var engineVersion: String
    }
    guard let head = try? JSONDecoder().decode(Head.self, from: data) else {
      throw Self.refusal(manifestPath, "this is not a manifest of a sweep")
    }
    guard head.format == SweepManifest.format, head.engineVersion == FedSimVersion.current else {
      throw Self.refusal(
        manifestPath,
        "this sweep is from FedSim \(head.engineVersion), but this is \(FedSimVersion.current)")
    }
    do {
      return try JSONDecoder().decode(SweepManifest.self, from: data)
    } catch {
      throw Self.refusal(manifestPath, "this manifest of a sweep is incomplete")
    }
  }

  /// Reads the manifest of a sweep whose cells this very program may play: results of two builds
  /// would be under the same ids.
  ///
  /// Throws: `RunFailure.input` where there is none, or one of another version or build.
  public func manifestOfThisBuild() throws(RunFailure) -> SweepManifest {
    let manifest = try manifest()
    guard manifest.build == FileDigest.ofThisProgram else {
      throw Self.refusal(
        path, "another build of fedsim began this sweep; use the sweep's own command to continue")
    }
    return manifest
  }

  /// Writes what a sweep needs before its first cell: scenarios, list, and the manifest last.
  package func write(_ plan: SweepPlan) throws(RunFailure) {
    try makeFolders(plan.manifest.store)
    var list = ""
    var written = Set<String>()
    for (cell, text) in zip(plan.manifest.cells, plan.texts)
    where written.insert(cell.id).inserted {
      // What is played behind a rung, the rung decides.
      if cell.rung == 0 { list += cell.id + "\n" }
      try Self.writeOnce(text, to: scenarioPath(cell.id))
    }
    try Self.place(Array(list.utf8), at: listPath)
    try Self.place(plan.manifest.json(), at: manifestPath)
  }

  /// Writes the scenarios of cells that are no longer there; the plan is that of the manifest.
  func writeMissing(_ plan: SweepPlan) throws(RunFailure) {
    try Self.makeFolder("\(path)/cells")
    for (cell, text) in zip(plan.manifest.cells, plan.texts)
    where !FileManager.default.fileExists(atPath: scenarioPath(cell.id)) {
      try Self.writeOnce(text, to: scenarioPath(cell.id))
    }
  }

  /// Makes the folders that runs write into.
  func makeFolders(_ store: String) throws(RunFailure) {
    for folder in [path, "\(path)/cells", "\(path)/logs", "\(path)/failures", store] {
      try Self.makeFolder(folder)
    }
  }

  /// Makes a folder and those above it.
  static func makeFolder(_ folder: String) throws(RunFailure) {
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      var above = URL(fileURLWithPath: folder).standardizedFileURL
      while above.path.count > 1, !FileManager.default.fileExists(atPath: above.path) {
        above.deleteLastPathComponent()
      }
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: above.path, isDirectory: &isFolder)
      guard isFolder.boolValue else {
        throw refusal(folder, "the folder cannot be made: \(above.path) is a file")
      }
      throw .disk(folder, "mkdir", error)
    }
  }

  /// Writes a text that no other run writes differently; without a wait for the disk, since the
  /// manifest is not there before it.
  private static func writeOnce(_ text: String, to path: String) throws(RunFailure) {
    let bytes = Data(text.utf8)
    if FileManager.default.contents(atPath: path) == bytes { return }
    do {
      try bytes.write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw .disk(path, "write", error)
    }
  }

  /// Replaces a file, whole or not at all.
  static func place(_ bytes: [UInt8], at path: String) throws(RunFailure) {
    do throws(ResultFault) { try PlacedFile.place(bytes, at: path) } catch { throw .output(error) }
  }

  /// A refusal that names a file or a folder.
  static func refusal(_ path: String, _ message: String) -> RunFailure {
    .input([Fault(at: Place(file: path), .file(message))])
  }
}

extension RunFailure {
  /// What the operating system said, as all who write files tell it: a disk that is full or fails
  /// is no bad input.
  fileprivate static func disk(_ path: String, _ step: String, _ error: any Error) -> RunFailure {
    let underlying = (error as? CocoaError)?.underlying as? POSIXError
    let reason = underlying.map { String(cString: strerror($0.code.rawValue)) }
    return .output(
      .disk(path: path, step: step, reason: reason ?? error.localizedDescription))
  }
}

/// Why a cell was given up, as it is kept in a sweep's folder.
package struct CellFailure: Codable, Equatable {
  /// How often it was tried.
  package var attempts: Int
  /// What came of the last attempt.
  package var reason: String

  /// The number of attempts, and why the last one failed.
  package init(attempts: Int, reason: String) {
    self.attempts = attempts
    self.reason = reason
  }
}

extension SweepFolder {
  /// Why a cell was given up; nil: it was not.
  func failure(_ id: String) -> CellFailure? {
    FileManager.default.contents(atPath: failurePath(id)).flatMap {
      try? JSONDecoder().decode(CellFailure.self, from: $0)
    }
  }

  func keep(_ failure: CellFailure, of id: String) throws(RunFailure) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(failure) else { return }
    try Self.place(Array(data) + [10], at: failurePath(id))
  }

  /// Forgets that a cell was given up.
  func forgetFailure(_ id: String) { unlink(failurePath(id)) }

  /// Forgets that any cell of a sweep was given up. Precondition: nobody else plays them.
  func forgetFailures(of manifest: SweepManifest) {
    for cell in manifest.cells { forgetFailure(cell.id) }
  }
}

/// A part of a sweep's cells: every `count`-th, beginning with number `number` from 1.
public struct Shard: Equatable, Sendable {
  /// Which part, from 1.
  public let number: Int
  /// How many parts there are.
  public let count: Int

  /// Reads `i/n`.
  public init?(_ text: String) {
    let pieces = text.split(separator: "/", omittingEmptySubsequences: false)
    guard pieces.count == 2, let number = Int(pieces[0]), let count = Int(pieces[1]), number >= 1,
      count >= number, count <= 100_000
    else { return nil }
    self.number = number
    self.count = count
  }

  /// Whether a cell is in it.
  func has(_ index: Int) -> Bool { index % count == number - 1 }
}
