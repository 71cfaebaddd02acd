import Foundation
import Runs

/// Says to other processes that this one plays a sweep's cells; a dead process locks nothing.
///
/// A driver of all cells holds `lock` alone. Drivers of shards share it, and each holds a second
/// lock, its shard's.
final class SweepLock {
  private var descriptors: [CInt] = []

  /// Takes the lock. Throws: `RunFailure.input` that names the process that has it.
  init(_ folder: SweepFolder, _ shard: Shard?) throws(RunFailure) {
    try take(folder.lockPath(nil), isShared: shard != nil, folder)
    if let shard { try take(folder.lockPath(shard), isShared: false, folder) }
  }

  /// Takes the lock alone, or goes without it on a file system that has none.
  ///
  /// Throws: `RunFailure.input` that names the process that has it.
  init(orNone folder: SweepFolder) throws(RunFailure) {
    do throws(RunFailure) {
      try take(folder.lockPath(nil), isShared: false, folder)
    } catch {
      if Self.isHeld(folder) { throw error }
    }
  }

  /// Shares the lock where it can be shared, and goes without it elsewhere.
  init(sharing folder: SweepFolder) {
    let descriptor = open(folder.lockPath(nil), O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { return }
    descriptors.append(descriptor)
    if SweepLock.error(of: descriptor, LOCK_SH | LOCK_NB) == 0 { _ = ftruncate(descriptor, 0) }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  private func take(_ path: String, isShared: Bool, _ folder: SweepFolder) throws(RunFailure) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw SweepFolder.refusal(
        path, "the folder cannot be locked: \(String(cString: strerror(errno)))")
    }
    descriptors.append(descriptor)
    let error = SweepLock.error(of: descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB)
    guard error == 0 else {
      guard error == EWOULDBLOCK else {
        let words = String(cString: strerror(error))
        throw SweepFolder.refusal(path, "the folder cannot be locked: \(words)")
      }
      let holder = SweepLock.holder(descriptor)
      throw SweepFolder.refusal(
        folder.path,
        "another `fedsim sweep`\(holder.map { " (process \($0))" } ?? "") is running here; wait for"
          + " its end, or end it: the sweep can be continued")
    }
    // It names none of those that share it, and no longer the last that had it alone.
    _ = ftruncate(descriptor, 0)
    guard !isShared else { return }
    let text = "\(getpid())\n"
    _ = text.withCString { write(descriptor, $0, strlen($0)) }
  }

  /// Tries to take a lock for a tenth of a second, since a process that looks whether it is held
  /// has it for a moment: 0, or the error.
  private static func error(of descriptor: CInt, _ operation: CInt) -> CInt {
    for _ in 0..<20 {
      guard flock(descriptor, operation) != 0 else { return 0 }
      let error = errno
      guard error == EWOULDBLOCK else { return error }
      usleep(5_000)
    }
    return EWOULDBLOCK
  }

  /// The process that wrote its number into a lock.
  private static func holder(_ descriptor: CInt) -> String? {
    var bytes = [UInt8](repeating: 0, count: 32)
    lseek(descriptor, 0, SEEK_SET)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return nil }
    let text = String(decoding: bytes.prefix(count), as: UTF8.self)
    return Int(text.filter { $0 != "\n" }).map(String.init)
  }

  /// What trying to take the lock and letting go of it gave: 0, or the error; nil: there is none.
  private static func trial(_ folder: SweepFolder) -> CInt? {
    // A network's file system wants a file that can be written.
    var descriptor = open(folder.lockPath(nil), O_RDWR | O_CLOEXEC)
    if descriptor < 0 { descriptor = open(folder.lockPath(nil), O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return errno }
    flock(descriptor, LOCK_UN)
    return 0
  }

  /// Whether anybody plays cells of a sweep now.
  static func isHeld(_ folder: SweepFolder) -> Bool { trial(folder) == EWOULDBLOCK }
}
