import Foundation

/// Memory that two processes share: a file without a name, in memory where the system has room for
/// that, which both have mapped.
public final class SharedMemory: @unchecked Sendable {
  /// The file, for a process that is started.
  public let descriptor: CInt
  /// The memory; it moves when it grows.
  public private(set) var bytes: UnsafeMutableRawBufferPointer

  private static let folders = ["/dev/shm", NSTemporaryDirectory()]

  /// Makes memory of at least this many bytes.
  ///
  /// Throws: why there is none.
  public init(size: Int) throws(StartFault) {
    var (found, reason): (CInt, CInt) = (-1, ENOENT)
    for folder in Self.folders where found < 0 {
      var path = Array("\(folder)/fedsim-XXXXXX".utf8CString)
      let made = mkstemp(&path)
      guard made >= 0 else {
        reason = errno
        continue
      }
      unlink(path)
      _ = fcntl(made, F_SETFD, FD_CLOEXEC)
      found = made
    }
    guard found >= 0 else { throw StartFault(error: reason) }
    descriptor = found
    bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    try grow(to: max(1, size))
  }

  /// The memory of a file that another process has made.
  public init(descriptor: CInt) {
    self.descriptor = descriptor
    bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  }

  deinit {
    unmap()
    close(descriptor)
  }

  private func unmap() {
    if let start = bytes.baseAddress { munmap(start, bytes.count) }
  }

  /// Makes sure that it has at least this many bytes, and that they can be written.
  ///
  /// Throws: where the disk or the memory for it is full.
  public func grow(to size: Int) throws(StartFault) {
    guard size > bytes.count else { return }
    let whole = max(size, 2 * bytes.count)
    #if os(Linux)
      let error = posix_fallocate(descriptor, 0, off_t(whole))
      guard error == 0 else { throw StartFault(error: error) }
    #else
      guard ftruncate(descriptor, off_t(whole)) == 0 else { throw StartFault(error: errno) }
    #endif
    try map(whole)
  }

  /// Maps what another process has made of it.
  public func map(_ size: Int) throws(StartFault) {
    guard size > bytes.count else { return }
    unmap()
    bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let start, start != MAP_FAILED else { throw StartFault(error: errno) }
    bytes = UnsafeMutableRawBufferPointer(start: start, count: size)
  }
}
