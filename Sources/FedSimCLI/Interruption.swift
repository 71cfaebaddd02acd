import Dispatch
import Foundation
import Runs

/// Ends the process when the user presses Ctrl-C: no result, exit code 130, and what was begun can
/// be gone on with.
enum Interruption {
  nonisolated(unsafe) private static var source: (any DispatchSourceSignal)?

  /// Watches from now on.
  static func watch(_ gate: RunGate) {
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler {
      guard gate.close() else { return }
      let advice = gate.resumable.map { "; go on with: fedsim resume \($0)" } ?? ""
      Output.end("\ninterrupted; no result was written\(advice)")
      _exit(130)
    }
    source.resume()
    Self.source = source
  }
}
