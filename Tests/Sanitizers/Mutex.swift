import Glibc

/// A lock that the thread sanitizer sees, with the interface of `Synchronization.Mutex`.
///
/// Swift's own is a futex whose atomics are in code that the sanitizer does not look at, so it
/// reports every access under the lock. `Scripts/sanitize thread` gives each module that uses a
/// mutex this file; what a module declares hides what it imports.
struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let value: UnsafeMutablePointer<Value>

  init(_ initial: consuming sending Value) {
    lock = .allocate(capacity: 1)
    value = .allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    value.initialize(to: initial)
  }

  deinit {
    value.deinitialize(count: 1)
    value.deallocate()
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body(&value.pointee)
  }

  borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard pthread_mutex_trylock(lock) == 0 else { return nil }
    defer { pthread_mutex_unlock(lock) }
    return try body(&value.pointee)
  }
}
