import Foundation

/// A path under which a whole file will appear at once, or nothing.
///
/// The bytes go to `NAME.partial-PROCESS-N` beside it, to the disk, and only then under the name. A
/// process that is killed leaves at most such a partial file; one that sees an error leaves none.
package struct PlacedFile: Sendable {
  /// The path as it was given, for messages.
  package let path: String
  /// The file itself, where the path is a link to it.
  package let target: String
  private let folder: String
  private let calls: FileCalls

  /// Checks that a file can be placed at a path, by making and removing a partial file.
  ///
  /// Throws: `ResultFault.missingFolder`, `.notAFile`, `.disk`.
  package init(_ path: String, calls: FileCalls = .system) throws(ResultFault) {
    self.path = path
    self.calls = calls
    guard !path.isEmpty, !path.utf8.contains(0), !path.hasSuffix("/") else {
      throw .notAFile(path: path, found: path.isEmpty ? "an empty path" : "a folder's path")
    }
    var status = stat()
    var target = path
    if stat(path, &status) == 0 {
      let kind = status.st_mode & S_IFMT
      guard kind == S_IFREG else {
        throw .notAFile(path: path, found: kind == S_IFDIR ? "a folder" : "a device or socket")
      }
      // A link to a file stays a link: the file behind it is replaced.
      if let real = realpath(path, nil) {
        target = String(cString: real)
        free(real)
      }
    }
    self.target = target
    let parts = target.split(separator: "/", omittingEmptySubsequences: false)
    let parent = parts.dropLast().joined(separator: "/")
    folder = parts.count == 1 ? "." : parent.isEmpty ? "/" : parent
    guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw .missingFolder(path: path, folder: folder)
    }
    let (probe, descriptor) = try makePartial()
    let isClosed = calls.close(descriptor) == 0
    let closing = errno
    guard calls.remove(probe) == 0 else { throw .disk(path, "unlink", errno) }
    guard isClosed else { throw .disk(path, "close", closing) }
  }

  /// Takes what stands under the path away, if anything does.
  ///
  /// Throws: `ResultFault.disk`.
  package func clear() throws(ResultFault) {
    guard calls.remove(target) == 0 || errno == ENOENT else {
      throw .disk(path, "unlink", errno)
    }
  }

  /// Replaces what stands under the path by the bytes.
  ///
  /// They are gathered in a new file beside it, or in `through`, a path on the same disk whose file
  /// is replaced.
  /// Throws: `ResultFault.disk`; then the partial file is gone, and the path is as it was before
  /// (or has the whole new file, if the step is `fsync folder`).
  package func place(_ bytes: [UInt8], through: String? = nil) throws(ResultFault) {
    let (partial, descriptor): (String, Int32)
    if let through {
      (partial, descriptor) = (through, try makeAnew(through))
    } else {
      (partial, descriptor) = try makePartial()
    }
    do throws(ResultFault) {
      try fill(descriptor, with: bytes)
      guard calls.rename(partial, target) == 0 else { throw .disk(path, "rename", errno) }
    } catch {
      _ = calls.remove(partial)
      throw error
    }
    try syncFolder()
  }

  private func makePartial() throws(ResultFault) -> (path: String, descriptor: Int32) {
    for n in 0..<1000 {
      let partial = "\(target).partial-\(getpid())-\(n)"
      let descriptor = calls.create(partial)
      if descriptor >= 0 { return (partial, descriptor) }
      guard errno == EEXIST else { throw .disk(path, "open", errno) }
    }
    throw .disk(path, "open", EEXIST)
  }

  private func makeAnew(_ partial: String) throws(ResultFault) -> Int32 {
    let descriptor = calls.openFile(partial, O_WRONLY | O_CREAT | O_TRUNC)
    guard descriptor >= 0 else { throw .disk(path, "open", errno) }
    return descriptor
  }

  private func fill(_ descriptor: Int32, with bytes: [UInt8]) throws(ResultFault) {
    var isOpen = true
    defer { if isOpen { _ = calls.close(descriptor) } }
    try calls.writeAll(bytes, to: descriptor, path: path)
    guard calls.sync(descriptor) == 0 else { throw .disk(path, "fsync", errno) }
    isOpen = false
    guard calls.close(descriptor) == 0 else { throw .disk(path, "close", errno) }
  }

  /// Puts the new name on the disk too. Some file systems cannot do this for a folder; that is no
  /// fault.
  private func syncFolder() throws(ResultFault) {
    let descriptor = calls.openFolder(folder)
    guard descriptor >= 0 else { throw .disk(path, "open folder", errno) }
    defer { _ = calls.close(descriptor) }
    guard calls.sync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
      throw .disk(path, "fsync folder", errno)
    }
  }
}
