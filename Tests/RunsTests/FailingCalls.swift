import Foundation
import Results
import Runs

/// Calls of the operating system of which the n-th fails, and all writes after it where the disk is
/// to be full.
final class FailingCalls: @unchecked Sendable {
  /// How many calls were made.
  private(set) var count = 0
  /// The call that failed.
  private(set) var hit = ""
  private let failing: Int
  private let number: Int32
  private let isFull: Bool
  /// Descriptors of folders that are open.
  private var folders: Set<Int32> = []

  /// The n-th call fails for a reason; 0: none does.
  init(at n: Int = 0, _ number: Int32 = EIO, isFull: Bool = false) {
    failing = n
    self.number = number
    self.isFull = isFull
  }

  private func fails(_ call: String, writes: Bool = false) -> Bool {
    count += 1
    if count == failing { hit = call }
    let fails = count == failing || isFull && writes && failing > 0 && count > failing
    if fails { errno = number }
    return fails
  }

  /// The calls.
  var calls: FileCalls {
    let system = FileCalls.system
    var calls = system
    calls.create = { self.fails("create", writes: true) ? -1 : system.create($0) }
    calls.openFile = { path, flags in
      self.fails("open", writes: flags & O_CREAT != 0) ? -1 : system.openFile(path, flags)
    }
    calls.write = { self.fails("write", writes: true) ? -1 : system.write($0, $1) }
    calls.sync = { self.fails("fsync") ? -1 : system.sync($0) }
    calls.syncData = { self.fails("fdatasync") ? -1 : system.syncData($0) }
    calls.truncate = { self.fails("ftruncate") ? -1 : system.truncate($0, $1) }
    calls.close = { descriptor in
      let isFolder = self.folders.remove(descriptor) != nil
      let fails = self.fails(isFolder ? "closeFolder" : "close")
      let status = system.close(descriptor)
      if fails { errno = self.number }
      return fails ? -1 : status
    }
    calls.rename = { self.fails("rename") ? -1 : system.rename($0, $1) }
    calls.remove = { self.fails("remove") ? -1 : system.remove($0) }
    calls.makeFolder = { self.fails("makeFolder", writes: true) ? -1 : system.makeFolder($0) }
    calls.removeFolder = { self.fails("removeFolder") ? -1 : system.removeFolder($0) }
    calls.openFolder = { path in
      if self.fails("openFolder") { return -1 }
      let descriptor = system.openFolder(path)
      self.folders.insert(descriptor)
      return descriptor
    }
    return calls
  }

  /// Lets a run fail at a share of the calls that it makes, or soon after: some, such as a close,
  /// fail without harm. The folder that it leaves.
  static func interrupt(
    at share: Double, of count: Int, _ run: (Folder, FileCalls) throws -> Run
  ) throws -> Folder {
    for n in Int(Double(count) * share)...count {
      let folder = try Folder()
      let run = try run(folder, FailingCalls(at: n).calls)
      do throws(RunFailure) {
        _ = try run.perform()
      } catch {
        return folder
      }
    }
    throw Harmless()
  }

  /// No call from there on ends a run.
  private struct Harmless: Error {}
}
