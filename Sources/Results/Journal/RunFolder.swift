import Foundation

/// The folder that is next to a result while its run lives, or waits to be resumed:
/// `NAME.h5.run`.
///
/// In it are `lock`, which the process that writes the result holds; `run.json`, which says what is
/// run; `journal`; `checkpoint`; and, while they are placed, `result` and `provenance.json`. It
/// counts as an unfinished run from when `run.json` is there until it is gone.
package final class RunFolder {
  /// Its path.
  package let path: String
  /// The result's path as it was given, for messages.
  package let result: String
  package let calls: FileCalls
  private var lock: Int32 = -1

  /// What a folder may hold, in the order in which it is removed.
  package enum Entry: String, CaseIterable {
    case manifest = "run.json"
    case newManifest = "run.json.new"
    case newCheckpoint = "checkpoint.new"
    case checkpoint, journal, result
    case provenance = "provenance.json"
    case lock
  }

  /// The path of a part.
  package func path(of entry: Entry) -> String { "\(path)/\(entry.rawValue)" }

  /// The path of the folder that belongs to a result's file.
  package static func path(beside target: String) -> String { target + ".run" }

  /// Whether an unfinished run is next to a result's file.
  package static func isUnfinished(beside target: String) -> Bool {
    var status = stat()
    return stat("\(path(beside: target))/\(Entry.manifest.rawValue)", &status) == 0
  }

  /// Makes the folder where it is not there, and takes its lock.
  ///
  /// The lock is the operating system's: it goes with the process that holds it, however that ends.
  /// With `onlyReads` it does without where nothing may be written: what is read is complete
  /// nevertheless.
  /// Without `takesLock` another process of the same run holds it.
  /// Throws: `ResultFault.inUse` where another process holds it, `.disk`.
  package init(
    beside target: String, for result: String, onlyReads: Bool = false, takesLock: Bool = true,
    calls: FileCalls = .system
  ) throws(ResultFault) {
    path = Self.path(beside: target)
    self.result = result
    self.calls = calls
    guard takesLock else { return }
    let isNew = calls.makeFolder(path) == 0
    guard isNew || errno == EEXIST || onlyReads && errno == EROFS else {
      throw .disk(path, "mkdir", errno)
    }
    do throws(ResultFault) {
      try takeLock()
    } catch {
      if onlyReads, case .disk(_, _, let reason) = error,
        [EROFS, EACCES, EPERM].contains(where: { reason == String(cString: strerror($0)) })
      {
        return
      }
      // A folder that was there may hold an unfinished run, and stays as it is.
      if isNew, lock >= 0 {
        giveUp()
      } else if isNew {
        // Empty, unless another process was quicker; then it stays.
        _ = calls.removeFolder(path)
      }
      throw error
    }
  }

  deinit { if lock >= 0 { _ = calls.close(lock) } }

  private func takeLock() throws(ResultFault) {
    let file = path(of: .lock)
    for _ in 0..<100 {
      let descriptor = calls.openFile(file, O_RDWR | O_CREAT)
      if descriptor < 0, errno == ENOENT {
        // Its last holder has just removed the folder.
        guard calls.makeFolder(path) == 0 || errno == EEXIST else {
          throw .disk(path, "mkdir", errno)
        }
        continue
      }
      guard descriptor >= 0 else { throw .disk(file, "open", errno) }
      let isTaken = calls.lock(descriptor) != 0
      // Some file systems have no locks; runs there are the user's to keep apart.
      if isTaken, ![ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL].contains(errno) {
        let number = errno
        _ = calls.close(descriptor)
        guard number == EWOULDBLOCK else { throw .disk(file, "flock", number) }
        throw .inUse(path: result, process: holder)
      }
      guard isStill(file, descriptor) else {
        _ = calls.close(descriptor)
        continue
      }
      lock = descriptor
      guard calls.truncate(descriptor, 0) == 0 else { throw .disk(file, "ftruncate", errno) }
      return try calls.writeAll(Array("process \(getpid())\n".utf8), to: descriptor, path: file)
    }
    throw .disk(file, "flock", EBUSY)
  }

  /// Whether a path still leads to an open file.
  private func isStill(_ file: String, _ descriptor: Int32) -> Bool {
    var (open, named) = (stat(), stat())
    return fstat(descriptor, &open) == 0 && stat(file, &named) == 0
      && open.st_ino == named.st_ino && open.st_dev == named.st_dev
  }

  /// Who holds the lock, in words.
  private var holder: String {
    let bytes = (try? calls.contents(of: path(of: .lock))) ?? []
    let text = String(decoding: bytes.prefix(60), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    return text.hasPrefix("process ") ? text : "another process"
  }

  /// Places a part, which is these pieces one after the other, whole or not at all; `syncs` waits
  /// until it is on the disk.
  ///
  /// Throws: `ResultFault.disk`.
  package func place(
    _ pieces: [[UInt8]], as entry: Entry, through: Entry, syncs: Bool
  ) throws(ResultFault) {
    let (file, new) = (path(of: entry), path(of: through))
    let descriptor = calls.openFile(new, O_WRONLY | O_CREAT | O_TRUNC)
    guard descriptor >= 0 else { throw .disk(new, "open", errno) }
    do throws(ResultFault) {
      for piece in pieces { try calls.writeAll(piece, to: descriptor, path: new) }
      if syncs, calls.sync(descriptor) != 0 { throw .disk(new, "fsync", errno) }
    } catch {
      _ = calls.close(descriptor)
      _ = calls.remove(new)
      throw error
    }
    guard calls.close(descriptor) == 0 else { throw .disk(new, "close", errno) }
    guard calls.rename(new, file) == 0 else { throw .disk(file, "rename", errno) }
    if syncs { try sync() }
  }

  /// Puts the names in the folder on the disk.
  ///
  /// Throws: `ResultFault.disk`.
  package func sync() throws(ResultFault) { try calls.syncFolder(path, for: path) }

  /// The bytes of a part; nil where there is none.
  ///
  /// Throws: `ResultFault.disk`.
  package func contents(of entry: Entry) throws(ResultFault) -> [UInt8]? {
    try calls.contents(of: path(of: entry))
  }

  /// Takes a part away, if it is there.
  ///
  /// Throws: `ResultFault.disk`.
  package func remove(_ entry: Entry) throws(ResultFault) {
    guard calls.remove(path(of: entry)) == 0 || errno == ENOENT else {
      throw .disk(path(of: entry), "unlink", errno)
    }
  }

  /// Takes the folder away: `run.json` first, so that what a kill leaves is no unfinished run.
  ///
  /// A file in it that is not the run's stays, and the folder with it.
  /// Throws: `ResultFault.disk`.
  package func removeAll() throws(ResultFault) {
    for entry in Entry.allCases { try remove(entry) }
    guard calls.removeFolder(path) == 0 || [ENOTEMPTY, EEXIST, ENOENT].contains(errno) else {
      throw .disk(path, "rmdir", errno)
    }
  }

  /// Whether the folder is still the one whose lock this process took; not if somebody has removed
  /// it, or has made another since.
  package var isHeld: Bool { lock >= 0 && isStill(path(of: .lock), lock) }

  /// Takes the folder away where nothing was begun in it.
  package func giveUp() { try? removeAll() }
}
