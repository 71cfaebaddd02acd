import Foundation

/// The calls of the operating system that files are written by; tests put failing ones in their
/// place.
package struct FileCalls: Sendable {
  /// Makes a file that did not exist: a descriptor, or -1.
  package var create: @Sendable (String) -> Int32
  /// Opens a file with these flags, making it where they say so: a descriptor, or -1.
  package var openFile: @Sendable (String, Int32) -> Int32
  /// Reads some bytes: how many, 0 at the end, or -1.
  package var read: @Sendable (Int32, UnsafeMutableRawBufferPointer) -> Int
  /// Writes some of the bytes: how many, or -1.
  package var write: @Sendable (Int32, UnsafeRawBufferPointer) -> Int
  /// Waits until a file's bytes are on the disk: 0, or -1.
  package var sync: @Sendable (Int32) -> Int32
  /// The same without its times: 0, or -1.
  package var syncData: @Sendable (Int32) -> Int32
  /// Cuts a file to a length: 0, or -1.
  package var truncate: @Sendable (Int32, Int) -> Int32
  /// Closes a descriptor: 0, or -1.
  package var close: @Sendable (Int32) -> Int32
  /// Gives a file another name, replacing what is there: 0, or -1.
  package var rename: @Sendable (String, String) -> Int32
  /// Removes a file: 0, or -1.
  package var remove: @Sendable (String) -> Int32
  /// Makes a folder: 0, or -1.
  package var makeFolder: @Sendable (String) -> Int32
  /// Removes an empty folder: 0, or -1.
  package var removeFolder: @Sendable (String) -> Int32
  /// Opens a folder: a descriptor, or -1.
  package var openFolder: @Sendable (String) -> Int32
  /// Takes the lock of an open file, without waiting for it: 0, or -1.
  package var lock: @Sendable (Int32) -> Int32

  /// The system's own.
  package static let system = FileCalls(
    create: { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) },
    openFile: { open($0, $1 | O_CLOEXEC, 0o666) },
    read: { Foundation.read($0, $1.baseAddress, $1.count) },
    write: { Foundation.write($0, $1.baseAddress, $1.count) },
    sync: { fsync($0) },
    syncData: {
      #if canImport(Darwin)
        fsync($0)
      #else
        fdatasync($0)
      #endif
    },
    truncate: { ftruncate($0, off_t($1)) },
    close: { Foundation.close($0) },
    rename: { Foundation.rename($0, $1) },
    remove: { unlink($0) },
    makeFolder: { mkdir($0, 0o777) },
    removeFolder: { rmdir($0) },
    openFolder: { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) },
    lock: { flock($0, LOCK_EX | LOCK_NB) })

  /// Writes all bytes to a descriptor.
  ///
  /// Throws: `ResultFault.disk`.
  package func writeAll(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(ResultFault) {
    var start = 0
    while start < bytes.count {
      let written = bytes.withUnsafeBytes { write(descriptor, .init(rebasing: $0[start...])) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw .disk(path, "write", written == 0 ? ENOSPC : errno) }
      start += written
    }
  }

  /// Puts the names in a folder on the disk; `path` is what a message is about. Some file systems
  /// cannot do this; that is no fault.
  ///
  /// Throws: `ResultFault.disk`.
  package func syncFolder(_ folder: String, for path: String) throws(ResultFault) {
    let descriptor = openFolder(folder)
    guard descriptor >= 0 else { throw .disk(path, "open folder", errno) }
    defer { _ = close(descriptor) }
    guard sync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
      throw .disk(path, "fsync folder", errno)
    }
  }

  /// All bytes of a file; nil where there is none.
  ///
  /// Throws: `ResultFault.disk`.
  package func contents(of path: String) throws(ResultFault) -> [UInt8]? {
    let descriptor = openFile(path, O_RDONLY)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .disk(path, "open", errno)
    }
    defer { _ = close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = piece.withUnsafeMutableBytes { read(descriptor, $0) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .disk(path, "read", errno) }
      if count == 0 { return bytes }
      bytes += piece[..<count]
    }
  }
}

extension ResultFault {
  /// A refusal of the operating system, with the words for an error number.
  static func disk(_ path: String, _ step: String, _ number: Int32) -> ResultFault {
    .disk(path: path, step: step, reason: String(cString: strerror(number)))
  }

  /// Whether the disk is to blame, and neither the path nor the user's rights: it is full, or it
  /// fails.
  package var isOfTheDisk: Bool {
    guard case .disk(_, _, let reason) = self else { return false }
    return [ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM].contains {
      reason == String(cString: strerror($0))
    }
  }
}
