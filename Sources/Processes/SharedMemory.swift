import Foundation

/// Memory that two processes share: a file without a name, in memory where the system has room for
/// that, which both have mapped.
public final class SharedMemory: @unchecked Sendable {
  /// The file, for a process that is started.
  public let descriptor: CInt
  /// The memory; it moves when it grows.
  public private(set) var bytes: UnsafeMutableRawBufferPointer

  private static let folders = ["/dev/shm", NSTemporaryDirectory()]

  /// Makes memory of at least this many bytes, in the first folder that has room.
  ///
  /// Throws: why there is none.
  public init(size: Int) throws(StartFault) {
    bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    var fault = StartFault(error: ENOENT)
    var found: CInt = -1
    for folder in Self.folders where found < 0 {
      do throws(StartFault) {
        found = try Self.makeFile(in: folder, size: max(1, size))
      } catch {
        fault = error
      }
    }
    descriptor = found
    guard found >= 0 else { throw fault }
    try map(max(1, size))
  }

  /// A file without a name that has room for this many bytes.
  private static func makeFile(in folder: String, size: Int) throws(StartFault) -> CInt {
    var path = Array("\(folder)/fedsim-memory-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    guard file >= 0 else { throw StartFault(error: errno, place: folder) }
    unlink(path)
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    do throws(StartFault) {
      try reserve(size, of: file)
    } catch {
      close(file)
      throw StartFault(error: error.error, place: folder, bytes: size)
    }
    return file
  }

  private static func reserve(_ size: Int, of file: CInt) throws(StartFault) {
    #if os(Linux)
      let error = posix_fallocate(file, 0, off_t(size))
      guard error == 0 else { throw StartFault(error: error, bytes: size) }
    #else
      guard ftruncate(file, off_t(size)) == 0 else { throw StartFault(error: errno, bytes: size) }
    #endif
  }

  /// The memory of a file that another process has made.
  public init(descriptor: CInt) {
    self.descriptor = descriptor
    bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  }

  deinit {
    unmap()
    if descriptor >= 0 { close(descriptor) }
  }

  private func unmap() {
    if let start = bytes.baseAddress { munmap(start, bytes.count) }
  }

  /// Makes sure that it has at least this many bytes, and that they can be written.
  ///
  /// Throws: where the disk or the memory for it is full.
  public func grow(to size: Int) throws(StartFault) {
    guard size > bytes.count else { return }
    try Self.reserve(size, of: descriptor)
    try map(size)
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
