import Foundation
import Synchronization

/// What is done where another process cannot compute something at all.
public final class LastResort: Sendable {
  private let body = Mutex<(@Sendable (String) -> Never)?>(nil)

  /// Nothing is arranged: the process says why, and ends with exit code 3.
  public init() {}

  /// Arranges what is done instead.
  public func arrange(_ body: @escaping @Sendable (String) -> Never) {
    self.body.withLock { $0 = body }
  }

  /// Does it.
  public func end(_ message: String) -> Never {
    if let arranged = body.withLock({ $0 }) { arranged(message) }
    try? FileHandle.standardError.write(contentsOf: Data((message + "\n").utf8))
    exit(3)
  }
}
