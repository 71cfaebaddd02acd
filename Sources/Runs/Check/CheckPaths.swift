import Foundation
import Scenarios

/// A scenario that is to be checked.
struct CheckedFile: Sendable {
  /// Its path.
  let path: String
  /// Whether it was named itself, and not found in a folder.
  let isNamed: Bool
  /// The path of its baseline.
  var baseline: String { Baseline.path(beside: path) }
  /// Whether that is there.
  var hasBaseline: Bool { FileManager.default.fileExists(atPath: baseline) }
  /// The path of another scenario whose baseline would be the same; nil: there is none.
  var twin: String? {
    let stem = baseline.dropLast(".baseline".count)
    return [".yaml", ".yml"].map { stem + $0 }.first {
      $0 != path && FileManager.default.fileExists(atPath: $0)
    }
  }
}

/// The scenarios at and below some paths.
enum CheckPaths {
  /// The scenarios, in the order of the paths and of their names; and what is wrong with paths.
  static func files(_ paths: [String]) -> (files: [CheckedFile], faults: [(String, String)]) {
    var files: [CheckedFile] = []
    var faults: [(String, String)] = []
    for path in paths {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        faults.append((path, "there is no such file or folder"))
        continue
      }
      guard isFolder.boolValue else {
        add(CheckedFile(path: path, isNamed: true))
        continue
      }
      let folder = path.hasSuffix("/") ? path : path + "/"
      let (names, unread) = listing(folder)
      faults += unread.map { (folder + $0, "cannot read this folder") }
      for name in names where name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
        add(CheckedFile(path: folder + name, isNamed: false))
      }
      for name in names where name.hasSuffix(".baseline") {
        let stem = folder + name.dropLast(".baseline".count)
        let hasScenario = [".yaml", ".yml"].contains {
          FileManager.default.fileExists(atPath: stem + $0)
        }
        if !hasScenario {
          faults.append((folder + name, "there is no scenario next to this recording"))
        }
      }
    }
    func add(_ file: CheckedFile) {
      if let there = files.firstIndex(where: { $0.path == file.path }) {
        if file.isNamed { files[there] = file }
      } else {
        files.append(file)
      }
    }
    return (files, faults)
  }

  /// The files below a folder, whose path ends with a slash, and the folders there that cannot be
  /// listed; links are followed.
  private static func listing(_ folder: String) -> (names: [String], unread: [String]) {
    var (names, unread): ([String], [String]) = ([], [])
    // Folders that are still to be listed, each with the real paths of those that it is in.
    var waiting = [(name: "", above: Set<String>())]
    while let (name, above) = waiting.popLast() {
      let real = URL(fileURLWithPath: folder + name).resolvingSymlinksInPath().path
      // A link to a folder that it is in leads nowhere new.
      if above.contains(real) { continue }
      guard let entries = try? FileManager.default.contentsOfDirectory(atPath: folder + name)
      else {
        unread.append(name)
        continue
      }
      for entry in entries where !entry.hasPrefix(".") {
        var isFolder: ObjCBool = false
        let path = name + entry
        if FileManager.default.fileExists(atPath: folder + path, isDirectory: &isFolder),
          isFolder.boolValue
        {
          waiting.append((path + "/", above.union([real])))
        } else {
          names.append(path)
        }
      }
    }
    return (names.sorted(), unread.sorted())
  }
}
