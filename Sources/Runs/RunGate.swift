import Foundation

/// Lets another thread end the process at a moment at which no file is half written.
///
/// Files are written while the gate is held; who closes it waits for that, and nothing is written
/// afterwards.
public final class RunGate: Sendable {
  private let lock = NSLock()
  private let state = State()

  private final class State: @unchecked Sendable {
    // Read and written while the lock is held.
    var isDone = false
    var result: String?
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

  /// The result whose run can be resumed once the process has ended; nil: none was begun.
  ///
  /// For the caller that has closed the gate.
  public var resumable: String? { state.result }

  /// From now on the run of a result can be resumed.
  func begin(_ result: String) {
    lock.lock()
    defer { lock.unlock() }
    state.result = result
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
