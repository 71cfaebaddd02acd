import ArgumentParser
import Foundation
import Processes
import Runs
import Scenarios
import Synchronization

/// The command `fedsim`; another package builds its own with its own registry.
public enum FedSimCommand {
  /// Runs the command with the arguments of the process, and ends the process.
  ///
  /// Exit codes: 0 done, 1 an expectation or comparison failed, 2 bad input, 3 the run failed, or
  /// standard output could not be written, 130 interrupted.
  public static func main(registry: Registry = .standard) {
    // A reader that goes away, such as `head`, does not end the run.
    signal(SIGPIPE, SIG_IGN)
    Output.keepStreams()
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == LimitedTask.command {
      LimitedTask.serve(Array(arguments.dropFirst()))
      exit(0)
    }
    if arguments.first == TrainingWorkers.command { exit(TrainingWorker.serve(registry: registry)) }
    TrainingWorkers.offer()
    LimitedProcess.offer([LimitedTask.command])
    let code = run(arguments, registry: registry)
    exit(code == 0 && Output.isIncomplete ? 3 : code)
  }

  /// Runs the command with these arguments; the exit code.
  static func run(_ arguments: [String], registry: Registry) -> Int32 {
    if let code = refuse(arguments) { return code }
    if arguments.sorted() == ["--verbose", "--version"] {
      Output.out(BuildReport.text)
      return 0
    }
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
      if let advice = advice(on: arguments, text) { Output.error(advice) }
      return 2
    }
  }

  /// What an option that does not exist is in a scenario, if it is a word of the field.
  private static func advice(on arguments: [String], _ message: String) -> String? {
    guard message.contains("Unknown option"),
      let option = arguments.first(where: { $0.hasPrefix("--") && message.contains("'\($0)'") })
    else { return nil }
    return SpellingSuggestion.advice(for: String(option.dropFirst(2))).map { "\(option): \($0)" }
  }

  /// A subcommand that does not exist, with the nearest that does.
  private static func refuse(_ arguments: [String]) -> Int32? {
    let asked = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
    guard let first = asked.first, !first.hasPrefix("-") else { return nil }
    let known = Root.configuration.subcommands.map { $0._commandName } + ["help"]
    guard !known.contains(first) else { return nil }
    if first.hasSuffix(".yaml") || first.hasSuffix(".yml") {
      Output.error("there is no command `\(first)`; a scenario is played by: fedsim run \(first)")
      return 2
    }
    if first.hasSuffix(".h5") {
      Output.error("there is no command `\(first)`; a result is shown by: fedsim report \(first)")
      return 2
    }
    let nearest = SpellingSuggestion.word(to: first, among: known).map { "did you mean `\($0)`?" }
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
    discussion: """
      `fedsim init --example` writes a scenario to begin with, `fedsim run` plays it.

      `fedsim --version --verbose` says what a report of a problem needs: build, libraries, \
      processor, kernels.
      """,
    version: FedSimVersion.current,
    subcommands: [
      RunCommand.self, ResumeCommand.self, RecoverCommand.self, CheckCommand.self,
      ReportCommand.self, PlotCommand.self, CompareCommand.self, ReplayCommand.self,
      BundleCommand.self, ExplainCommand.self, ExportCommand.self, ValidateCommand.self,
      ListCommand.self,
      SchemaCommand.self, InitCommand.self, TraceCommand.self, SweepCommand.self,
      StressCommand.self, PlanRanksCommand.self, ConformCommand.self,
      PublishedCommand.self,
    ])
}

/// The two streams of a command.
enum Output {
  /// A line to standard output.
  static func out(_ text: String) {
    let failure = write(text.withoutControls, to: STDOUT_FILENO)
    // A reader that went away wants no more.
    guard failure != 0, failure != EPIPE, !incomplete.exchange(true, ordering: .relaxed) else {
      return
    }
    error("standard output: write failed: \(String(cString: strerror(failure)))")
  }
  /// A line to standard error.
  static func error(_ text: String) { _ = write(text.withoutControls, to: STDERR_FILENO) }

  /// Whether a line to standard output is not there whole, since its disk is full or fails.
  static var isIncomplete: Bool { incomplete.load(ordering: .relaxed) }
  private static let incomplete = Atomic(false)

  /// Gives a stream that was closed to nobody: a file that is opened would take its place, and what
  /// is reported would be in the file.
  static func keepStreams() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", O_RDWR)
    }
  }

  /// Writes nothing from now on: another process speaks.
  static func silence() { silent.store(true, ordering: .relaxed) }
  private static let silent = Atomic(false)

  /// Progress, which is silent after `end`; it is on standard error as it is, without a line
  /// end.
  static func progress(_ text: String) {
    ended.withLock { isEnded in
      if !isEnded { _ = write(bytes: text.utf8, to: STDERR_FILENO) }
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

  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    write(bytes: (text.hasSuffix("\n") ? text : text + "\n").utf8, to: descriptor)
  }

  /// Writes all of it; the error number, 0: it is written.
  static func write(bytes: String.UTF8View, to descriptor: Int32) -> Int32 {
    var rest = silent.load(ordering: .relaxed) ? [] : Array(bytes)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EAGAIN {
        // A terminal or pipe that another program has set not to wait.
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&ready, 1, -1)
        continue
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? ENOSPC : errno }
      rest = rest.dropFirst(count)
    }
    return 0
  }

  /// Faults, one per line, then their count and that nothing came of the command; the exit code.
  static func report(_ failure: RunFailure, nothingWas done: String = "run") -> Int32 {
    error(failure.description)
    if failure.isBadInput {
      var count = failure.count == 1 ? "1 fault" : "\(failure.count) faults"
      if failure.count > RunFailure.mostShown {
        count += ", the first \(RunFailure.mostShown) are shown"
      }
      error("\(count); nothing was \(done)")
    }
    return failure.isBadInput ? 2 : 3
  }
}
