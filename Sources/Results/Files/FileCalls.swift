import Foundation

/// The calls of the operating system that placing a file makes; tests put failing ones in their
/// place.
package struct FileCalls: Sendable {
  /// Makes a file that did not exist: a descriptor, or -1.
  package var create: @Sendable (String) -> Int32
  /// Writes some of the bytes: how many, or -1.
  package var write: @Sendable (Int32, UnsafeRawBufferPointer) -> Int
  /// Waits until a file's bytes are on the disk: 0, or -1.
  package var sync: @Sendable (Int32) -> Int32
  /// Closes a descriptor: 0, or -1.
  package var close: @Sendable (Int32) -> Int32
  /// Gives a file another name, replacing what stands there: 0, or -1.
  package var rename: @Sendable (String, String) -> Int32
  /// Opens a folder: a descriptor, or -1.
  package var openFolder: @Sendable (String) -> Int32

  /// The system's own.
  package static let system = FileCalls(
    create: { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) },
    write: { Foundation.write($0, $1.baseAddress, $1.count) },
    sync: { fsync($0) },
    close: { Foundation.close($0) },
    rename: { Foundation.rename($0, $1) },
    openFolder: { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })

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
}

extension ResultFault {
  /// A refusal of the operating system, with the words for an error number.
  static func disk(_ path: String, _ step: String, _ number: Int32) -> ResultFault {
    .disk(path: path, step: step, reason: String(cString: strerror(number)))
  }
}
