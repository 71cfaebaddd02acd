import Foundation

/// A path under which a whole file will appear at once, or nothing.
///
/// The bytes go to `NAME.partial-PROCESS-N` next to it, or to a file that the caller names, to the
/// disk, and only then under the name. A process that is killed leaves at most such a partial file;
/// one that sees an error leaves none.
package struct PlacedFile: Sendable {
  /// The path as it was given, for messages.
  package let path: String
  /// The file itself, where the path is a link to it.
  package let target: String
  let folder: String
  let calls: FileCalls

  /// Checks that a file can be placed at a path, by making and removing a partial file.
  ///
  /// Throws: `ResultFault.missingFolder`, `.notAFile`, `.disk`.
  package init(_ path: String, calls: FileCalls = .system) throws(ResultFault) {
    try self.init(untried: path, calls: calls)
    let (probe, descriptor) = try makePartial()
    let isClosed = calls.close(descriptor) == 0
    let closing = errno
    guard calls.remove(probe) == 0 else { throw .disk(path, "unlink", errno) }
    guard isClosed else { throw .disk(path, "close", closing) }
  }

  /// Places a file at a path without a trial before, for callers that lose nothing where it fails.
  ///
  /// Throws: as the initializer and `place`.
  package static func place(
    _ bytes: [UInt8], at path: String, through: String? = nil, calls: FileCalls = .system
  ) throws(ResultFault) {
    try PlacedFile(untried: path, calls: calls).place(bytes, through: through)
  }

  /// Checks the path, and that its folder exists; whether the folder takes a file is not tried.
  init(untried path: String, calls: FileCalls) throws(ResultFault) {
    self.path = path
    self.calls = calls
    guard !path.isEmpty, !path.utf8.contains(0), !path.hasSuffix("/") else {
      throw .notAFile(path: path, found: path.isEmpty ? "an empty path" : "a folder's path")
    }
    let place = try PlacePath(path, .file)
    (target, folder) = (place.target, place.folder)
  }

  /// Takes what is under the path away, if anything does.
  ///
  /// Throws: `ResultFault.disk`.
  package func clear() throws(ResultFault) {
    guard calls.remove(target) == 0 || errno == ENOENT else {
      throw .disk(path, "unlink", errno)
    }
  }

  /// Replaces what is under the path by the bytes.
  ///
  /// They are gathered in a new file next to it, or in `through`, a path whose file is replaced;
  /// next to it, too, where the folder of that is gone or on another disk. Throws:
  /// `ResultFault.disk`; then the partial file is gone, and the path is as it was before (or has
  /// the whole new file, if the step is `fsync folder`).
  package func place(_ bytes: [UInt8], through: String? = nil) throws(ResultFault) {
    let partial: String
    let descriptor: Int32
    if let anew = try makeAnew(through) {
      (partial, descriptor) = anew
    } else {
      (partial, descriptor) = try makePartial()
    }
    let isNamed: Bool
    do throws(ResultFault) {
      try fill(descriptor, with: bytes)
      isNamed = try name(partial, mayBeElsewhere: partial == through)
    } catch {
      _ = calls.remove(partial)
      throw error
    }
    guard isNamed else { return try place(bytes) }
    try calls.syncFolder(folder, for: path)
  }

  /// Gives a gathered file its name; false: it could not, since the file's folder has gone or is on
  /// another disk, and the file is gone, too.
  private func name(_ partial: String, mayBeElsewhere: Bool) throws(ResultFault) -> Bool {
    if calls.rename(partial, target) == 0 { return true }
    let code = errno
    guard mayBeElsewhere, code == ENOENT || code == EXDEV else {
      throw .disk(path, "rename", code)
    }
    if code == EXDEV { _ = calls.remove(partial) }
    return false
  }

  func makePartial() throws(ResultFault) -> (path: String, descriptor: Int32) {
    for n in 0..<1000 {
      let partial = "\(target).partial-\(getpid())-\(n)"
      let descriptor = calls.create(partial)
      if descriptor >= 0 { return (partial, descriptor) }
      guard errno == EEXIST else { throw .disk(path, "open", errno) }
    }
    throw .disk(path, "open", EEXIST)
  }

  /// nil: no path, or one in a folder that is gone.
  private func makeAnew(
    _ partial: String?
  ) throws(ResultFault) -> (path: String, descriptor: Int32)? {
    guard let partial else { return nil }
    let descriptor = calls.openFile(partial, O_WRONLY | O_CREAT | O_TRUNC)
    if descriptor < 0, errno == ENOENT { return nil }
    guard descriptor >= 0 else { throw .disk(path, "open", errno) }
    return (partial, descriptor)
  }

  private func fill(_ descriptor: Int32, with bytes: [UInt8]) throws(ResultFault) {
    var isOpen = true
    defer { if isOpen { _ = calls.close(descriptor) } }
    try calls.writeAll(bytes, to: descriptor, path: path)
    guard calls.sync(descriptor) == 0 else { throw .disk(path, "fsync", errno) }
    isOpen = false
    guard calls.close(descriptor) == 0 else { throw .disk(path, "close", errno) }
  }
}
