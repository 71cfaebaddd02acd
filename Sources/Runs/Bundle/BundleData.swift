import DataSets
import FedSim
import Foundation
import Numerics
import Scenarios
import Schema

/// The files outside a bundle that its run reads.
struct BundleData {
  /// The folders in which files may be, each with a `/` at its end or empty: the scenario's first.
  private let folders: [String]

  /// The files of a stored run.
  init(_ stored: StoredRun, _ options: RunOptions) {
    let own = stored.scenario.path(of: ".")
    folders = ([own == "." ? "" : own] + options.dataFolders).map {
      $0.isEmpty || $0.hasSuffix("/") ? $0 : $0 + "/"
    }
  }

  /// The files that are read while `body` runs, with their digests, sorted by path.
  ///
  /// Throws: what `body` throws; `RunFailure.input` for a file that cannot be read.
  func files(
    readBy body: () throws(RunFailure) -> Void
  ) throws(RunFailure) -> [BundleManifest.DataFile] {
    let witness = FileWitness()
    try witness.watch(body)
    var files: [BundleManifest.DataFile] = []
    for path in witness.paths {
      let name = name(of: path)
      guard !files.contains(where: { $0.path == name }) else { continue }
      guard let (digest, bytes) = Self.digest(of: path) else {
        throw StoredRun.refusal(path, "the file cannot be read")
      }
      files.append(.init(path: name, sha256: digest, bytes: bytes))
    }
    return files.sorted { $0.path < $1.path }
  }

  /// Holds the files of this machine to those of a bundle.
  ///
  /// Throws: `RunFailure.input` with a fault for each that is missing or has another digest.
  func check(_ files: [BundleManifest.DataFile]) throws(RunFailure) {
    var faults: [Fault] = []
    for file in files {
      guard let path = find(file.path) else {
        let searched = folders.map { "`\($0.isEmpty ? "." : $0)`" }.joined(separator: ", ")
        faults.append(
          fault(
            file.path,
            "this data file of the bundle's run is missing (searched: \(searched)); expected "
              + "\(file.bytes) bytes with SHA-256 \(file.sha256); put it there, or name its folder"
              + " by --folder"))
        continue
      }
      let found = Self.digest(of: path)
      guard found?.sha256 != file.sha256 else { continue }
      faults.append(
        fault(
          path,
          found == nil
            ? "this data file cannot be read"
            : "this data file has SHA-256 \(found?.sha256 ?? "") (\(found?.bytes ?? 0) bytes), but "
              + "the bundle's run read \(file.sha256) (\(file.bytes) bytes)"))
    }
    if !faults.isEmpty { throw .input(faults) }
  }

  private func fault(_ path: String, _ message: String) -> Fault {
    Fault(at: Place(file: path), .file(message))
  }

  /// A path as another machine can use it.
  private func name(of path: String) -> String {
    for folder in folders where !folder.isEmpty && path.hasPrefix(folder) {
      return String(path.dropFirst(folder.count))
    }
    return path.hasPrefix("./") ? String(path.dropFirst(2)) : path
  }

  /// Where a file of a bundle is here; nil: nowhere. An installed file may also be in a folder with
  /// data.
  private func find(_ name: String) -> String? {
    let isAbsolute = name.hasPrefix("/")
    let last = name.split(separator: "/").last.map(String.init) ?? name
    let paths =
      isAbsolute
      ? [name] + folders.dropFirst().map { $0 + last } : folders.map { $0 + name }
    return paths.first { Self.isFile($0) }
  }

  private static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// SHA-256 and length of a file's bytes; nil: it cannot be read.
  private static func digest(of path: String) -> (sha256: String, bytes: Int)? {
    guard isFile(path),
      let data = try? Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
    else { return nil }
    var digest = SHA256()
    digest.update(data)
    return (digest.hexDigest(), data.count)
  }
}
