import Foundation
import Synchronization

/// Threads that stay on one processor until this is released.
public final class ConfinedThreads: Sendable {
  /// The threads by the system's numbers, and where each could run before.
  private let threads = Mutex<[(thread: pid_t, before: [Int])]>([])

  /// No threads yet.
  public init() {}

  deinit { release() }

  /// Has the calling thread run on one processor only, where the system does that.
  public func confineCaller(to processor: Int) {
    guard let thread = Processors.caller else { return }
    threads.withLock { threads in
      if !threads.contains(where: { $0.thread == thread }) {
        let before = Processors.allowed
        guard !before.isEmpty else { return }
        threads.append((thread, before))
      }
      Processors.confine(thread, to: [processor])
    }
  }

  /// Lets them run where they could before; those that have ended are left out.
  public func release() {
    threads.withLock { threads in
      for entry in threads where access("/proc/self/task/\(entry.thread)", F_OK) == 0 {
        Processors.confine(entry.thread, to: entry.before)
      }
      threads = []
    }
  }
}
