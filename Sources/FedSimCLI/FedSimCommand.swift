import ArgumentParser
import Foundation
import Runs
import Scenarios
import Synchronization

/// The command `fedsim`; another package builds its own with a registry of its own.
public enum FedSimCommand {
  /// Runs the command with the arguments of the process, and ends the process.
  ///
  /// Exit codes: 0 done, 1 an expectation or comparison failed, 2 bad input, 3 the run failed, 130
  /// interrupted.
  public static func main(registry: Registry = .standard) {
    // A reader that goes away, such as `head`, does not end the run.
    signal(SIGPIPE, SIG_IGN)
    exit(run(Array(CommandLine.arguments.dropFirst()), registry: registry))
  }

  /// Runs the command with these arguments; the exit code.
  static func run(_ arguments: [String], registry: Registry) -> Int32 {
    if let code = refuse(arguments) { return code }
    do {
      let command = try Root.parseAsRoot(arguments)
      if let command = command as? any RegistryCommand {
        return command.run(registry)
      }
      var plain = command
      try plain.run()
      return 0
    } catch {
      let text = Root.fullMessage(for: error)
      if Root.exitCode(for: error) == .success {
        Output.out(text)
        return 0
      }
      Output.error(text)
      return 2
    }
  }

  /// A subcommand that does not exist, with the nearest that does.
  private static func refuse(_ arguments: [String]) -> Int32? {
    guard let first = arguments.first, !first.hasPrefix("-") else { return nil }
    let known = Root.configuration.subcommands.map { $0._commandName } + ["help"]
    guard !known.contains(first) else { return nil }
    let nearest = Nearest.word(to: first, among: known).map { "did you mean `\($0)`?" }
    let advice = nearest ?? "known commands: " + known.joined(separator: ", ")
    Output.error("there is no command `\(first)`; \(advice)")
    return 2
  }
}

/// A subcommand that works with the parts of a registry.
protocol RegistryCommand: ParsableCommand {
  /// Does it; the exit code.
  func run(_ registry: Registry) -> Int32
}

/// `fedsim`.
struct Root: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fedsim",
    abstract: "Simulates federated learning on mobile devices, on a virtual clock.",
    version: FedSimVersion.current,
    subcommands: [
      RunCommand.self, ResumeCommand.self, RecoverCommand.self, CheckCommand.self,
      ReportCommand.self, PlotCommand.self, CompareCommand.self, ReplayCommand.self,
      ExplainCommand.self, ExportCommand.self, ValidateCommand.self, ListCommand.self,
      InitCommand.self, TraceCommand.self, SweepCommand.self, StressCommand.self,
    ])
}

/// The two streams of a command.
enum Output {
  /// A line to standard output.
  static func out(_ text: String) { write(text, to: .standardOutput) }
  /// A line to standard error.
  static func error(_ text: String) { write(text, to: .standardError) }

  /// Progress, which is silent after `end`; it stands on standard error as it is, without a line
  /// end.
  static func progress(_ text: String) {
    ended.withLock { isEnded in
      if !isEnded { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
    }
  }

  /// A last line to standard error: no progress comes behind it.
  static func end(_ text: String) {
    ended.withLock { isEnded in
      isEnded = true
      error(text)
    }
  }

  private static let ended = Mutex(false)

  private static func write(_ text: String, to file: FileHandle) {
    try? file.write(contentsOf: Data((text.hasSuffix("\n") ? text : text + "\n").utf8))
  }

  /// Faults, one a line, then their count and that nothing came of the command; the exit code.
  static func report(_ failure: RunFailure, nothingWas done: String = "run") -> Int32 {
    error(failure.description)
    if failure.isBadInput {
      let count = failure.count == 1 ? "1 fault" : "\(failure.count) faults"
      error("\(count); nothing was \(done)")
    }
    return failure.isBadInput ? 2 : 3
  }
}
