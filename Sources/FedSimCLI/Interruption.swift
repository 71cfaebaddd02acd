import Dispatch
import Foundation
import Runs

/// Ends the process when the user presses Ctrl-C: no result, exit code 130.
enum Interruption {
  nonisolated(unsafe) private static var source: (any DispatchSourceSignal)?

  /// Watches from now on.
  static func watch(_ gate: RunGate) {
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler {
      guard gate.close() else { return }
      Output.end("\ninterrupted; no result was written")
      _exit(130)
    }
    source.resume()
    Self.source = source
  }
}
