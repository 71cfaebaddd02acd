import Foundation

/// A path under which a folder of files will appear at once, or nothing.
///
/// The files go into `NAME.partial-PROCESS-N` next to it, to the disk, and only then the folder
/// gets its name. A process that is killed leaves at most such a partial folder; one that sees an
/// error leaves none.
package struct PlacedFolder: Sendable {
  /// The path as it was given, for messages.
  package let path: String
  private let target: String
  private let folder: String
  private let calls: FileCalls

  /// Checks that a folder can be placed at a path, by making and removing a partial one.
  ///
  /// Throws: `ResultFault.missingFolder`, `.notAFile` where something other than a folder is
  /// there, `.disk`.
  package init(_ path: String, calls: FileCalls = .system) throws(ResultFault) {
    self.path = path
    self.calls = calls
    var target = path
    while target.count > 1, target.hasSuffix("/") { target.removeLast() }
    guard !target.isEmpty, !path.utf8.contains(0), !["/", ".", ".."].contains(target) else {
      throw .notAFile(path: path, found: "a path that is no folder's name")
    }
    let place = try PlacePath(target, .folder)
    (self.target, folder) = (place.target, place.folder)
    _ = calls.removeFolder(try makePartial())
  }

  /// The names of what is in the folder now, sorted; none where there is no folder.
  package var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: target)) ?? []).sorted()
  }

  /// Replaces what is under the path by a folder of files.
  ///
  /// Throws: `ResultFault.disk`; then the partial folder is gone, and the path is as it was before
  /// (or has the whole new folder, if the step is of the parent folder).
  package func place(_ files: [(name: String, bytes: [UInt8])]) throws(ResultFault) {
    let partial = try makePartial()
    do throws(ResultFault) {
      for (name, bytes) in files {
        try PlacedFile.place(bytes, at: "\(partial)/\(name)", calls: calls)
      }
      try putInPlace(partial)
    } catch {
      try? FileManager.default.removeItem(atPath: partial)
      throw error
    }
    try calls.syncFolder(folder, for: path)
  }

  /// Gives a folder the name, and removes what had it.
  private func putInPlace(_ partial: String) throws(ResultFault) {
    // An empty folder, or none, is replaced in one step.
    if calls.rename(partial, target) == 0 { return }
    guard errno == ENOTEMPTY || errno == EEXIST else { throw .disk(path, "rename", errno) }
    let old = partial + "-before"
    guard calls.rename(target, old) == 0 else { throw .disk(path, "rename", errno) }
    guard calls.rename(partial, target) == 0 else {
      let number = errno
      _ = calls.rename(old, target)
      throw .disk(path, "rename", number)
    }
    try? FileManager.default.removeItem(atPath: old)
  }

  private func makePartial() throws(ResultFault) -> String {
    for n in 0..<1000 {
      let partial = "\(target).partial-\(getpid())-\(n)"
      if calls.makeFolder(partial) == 0 { return partial }
      guard errno == EEXIST else { throw .disk(path, "mkdir", errno) }
    }
    throw .disk(path, "mkdir", EEXIST)
  }
}
