import Synchronization

/// Knows which files were opened while something was read.
///
/// A data source says nothing of the files behind it. A cache of what was read asks a witness,
/// so that a file that has changed since is noticed.
package final class FileWitness: Sendable {
  @TaskLocal private static var current: FileWitness?

  private let seen = Mutex<[String]>([])

  /// A witness that has seen nothing.
  package init() {}

  /// The paths of the files that were opened, in the order of their first opening.
  package var paths: [String] { seen.withLock { $0 } }

  /// Watches this thread while `body` runs; a witness around it sees the same files.
  package func watch<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let outer = Self.current
    // `withValue` rethrows untyped, so the result travels inside.
    let result = Self.$current.withValue(self) { () -> Result<Value, Failure> in
      do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }
    for path in paths { outer?.note(path) }
    return try result.get()
  }

  /// Tells the witness of this thread, if there is one, that a file is opened.
  static func opened(_ path: String) { current?.note(path) }

  /// Takes in a file that was read before.
  package func note(_ path: String) {
    seen.withLock { paths in
      if !paths.contains(path) { paths.append(path) }
    }
  }

  /// The same for the witness of this thread.
  package static func noteAgain(_ paths: [String]) {
    for path in paths { current?.note(path) }
  }
}
