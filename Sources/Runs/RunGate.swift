import Foundation

/// Lets another thread end the process at a moment at which no file is half written.
///
/// Files are written while the gate is held; who closes it waits for that, and nothing is written
/// afterwards.
public final class RunGate: Sendable {
  private let lock = NSLock()
  private let state = State()

  private final class State: @unchecked Sendable {
    var isDone = false  // Read and written while the lock is held.
  }

  /// An open gate.
  public init() {}

  /// Closes the gate for ever, unless the result is written already; whether it is closed.
  public func close() -> Bool {
    lock.lock()
    guard state.isDone else { return true }
    lock.unlock()
    return false
  }

  /// Writes a file.
  func pass<Value, Failure: Error>(
    isLast: Bool = false, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    lock.lock()
    defer { lock.unlock() }
    let value = try body()
    if isLast { state.isDone = true }
    return value
  }
}
