import Dispatch
import Foundation
import Runs

/// Ends the process when the user presses Ctrl-C: no result, exit code 130, and what was begun can
/// be continued with.
enum Interruption {
  nonisolated(unsafe) private static var source: (any DispatchSourceSignal)?

  /// Watches from now on.
  static func watch(_ gate: RunGate) {
    watch {
      guard gate.close() else { return }
      let advice = gate.resumable.map { "; resume with: fedsim resume \($0)" } ?? ""
      end("no complete result was written\(advice)")
    }
  }

  /// Watches from now on, for a command that keeps nothing of what it has begun.
  static func watch(saying words: String) {
    watch { end(words) }
  }

  private static func end(_ words: String) -> Never {
    Output.end("\ninterrupted; \(words)")
    _exit(130)
  }

  private static func watch(_ handler: @escaping @Sendable () -> Void) {
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler(handler: handler)
    source.resume()
    Self.source = source
  }
}
