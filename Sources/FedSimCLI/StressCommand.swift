import ArgumentParser
import Foundation
import Runs
import Scenarios
import Sweeps

/// `fedsim stress`.
struct StressCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "stress",
    abstract: "Search for a scenario in which a policy breaks an assertion or an invariant.",
    discussion: """
      Plays worlds drawn within the ranges of the scenario's `stress` section (without one: the \
      built-in changes). Checks invariants after every event, assertions, and reproducibility. The \
      first failing world is shrunk and written as NAME.stress-1.yaml. Exit code 1: something \
      broke, 2: bad input, 3: worlds cannot be played.
      """)

  @OptionGroup var source: ScenarioArguments

  @Option(
    parsing: .unconditional,
    help: """
      Number of worlds, each with a different seed; the first is the unmodified scenario. By \
      default 200, or unlimited within the time limit.
      """)
  var seeds: Int?

  @Option(
    name: .customLong("for"),
    parsing: .unconditional,
    help: ArgumentHelp("Time limit of the search, such as 10min.", valueName: "duration"))
  var time: String?

  @Option(parsing: .unconditional, help: "Number of different failures to search for.")
  var failures = 1

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Time limit for shrinking a failing scenario.", valueName: "duration"))
  var shrinkFor = "1 min"

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Time limit for one world; slower worlds are skipped.", valueName: "duration"))
  var timeout = "1 min"

  @Option(
    parsing: .unconditional,
    help: "Number of workers; by default one per processor. No finding depends on it.")
  var jobs: Int?

  @Option(
    help: ArgumentHelp(
      "Folder for the scenarios found; by default the scenario's folder.", valueName: "folder"),
    completion: .directory)
  var output: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Permute simultaneous events of the unmodified scenario, with this key.", valueName: "key"),
    transform: CountOption.key)
  var shakeTies: UInt64?

  @Option(
    help: ArgumentHelp(
      """
      Do not search: play all worlds and write a line of digests per world to this file. Two \
      builds with equal files have equal results.
      """, valueName: "path"), completion: .file())
  var digests: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Print the world of this number as a scenario, and play nothing.", valueName: "number"))
  var world: Int?

  @Flag(help: "Print what is varied, and play nothing.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "No progress on standard error.")
  var quiet = false

  /// What a search starts: the command is a worker, and what it prints goes to this file.
  @Option(help: .private)
  var work: String?

  func validate() throws {
    try CountOption.check("seeds", seeds, most: 10_000_000)
    try CountOption.check("jobs", jobs)
    try CountOption.check("world", world, least: 0, most: 10_000_000)
    try CountOption.check("failures", failures, most: 100)
    if digests != nil, time != nil {
      throw ValidationError("--digests: plays all worlds of --seeds, so --for has no effect")
    }
    for (name, value) in [("for", time), ("shrink-for", shrinkFor), ("timeout", timeout)] {
      if let value, SweepDriver.Options.seconds(value) == nil {
        throw ValidationError("--\(name): found \(value), expected a duration such as 10 min")
      }
    }
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      if let work {
        var options = RunOptions()
        Environment.set(&options)
        return try WorldWorker.serve(log: work, options: options, registry: registry)
      }
      return try search(try source.scenario(registry))
    } catch {
      return Output.report(error)
    }
  }

  private func search(_ scenario: Scenario) throws(RunFailure) -> Int32 {
    var run = RunOptions()
    Environment.set(&run)
    try Run.check(scenario, run)
    let stress = try Stress(scenario, options)
    if dryRun {
      for path in stress.space.paths { Output.out(path) }
      return 0
    }
    if let world {
      Output.out(try stress.text(of: world).trimmingCharacters(in: .newlines))
      return 0
    }
    if scenario.settings.expect != nil, scenario.settings.stress == nil, !quiet {
      Output.error("note: worlds are checked against assertions only if `stress` says what to vary")
    }
    let player = ProcessPlayer(workers)
    let shows = !quiet && isatty(2) == 1
    if let digests { return try writeDigests(stress, player, to: digests, shows: shows) }
    let report = try stress.search(player) { news in
      switch news {
      case .played(let count):
        if shows { Output.progress("\r\(count) worlds") }
      case .failed(let world, let text):
        if shows { Output.progress("\r\u{1B}[K") }
        if !quiet { Output.error("world \(world) fails: \(text)") }
      }
    }
    if shows { Output.progress("\r\u{1B}[K") }
    return tell(report)
  }

  private func writeDigests(
    _ stress: Stress, _ player: ProcessPlayer, to path: String, shows: Bool
  ) throws(RunFailure) -> Int32 {
    let file = try StressDigestFile(path)
    let lines = try stress.digests(player) { news in
      if shows, case .played(let count) = news { Output.progress("\r\(count) worlds") }
    }
    if shows { Output.progress("\r\u{1B}[K") }
    guard let lines else {
      Output.error("interrupted")
      return 130
    }
    try file.write(lines)
    Output.out("\(lines.count) worlds: digests in \(path)")
    return 0
  }

  private func tell(_ report: Stress.Report) -> Int32 {
    for failure in report.failures {
      Output.out("broken: \(failure.text)")
      Output.out(
        "  \(failure.file): \(failure.lines) lines, after \(failure.trials) smaller worlds")
      Output.out("  \(failure.command)")
    }
    Output.out(report.text)
    if report.isInterrupted {
      Output.error("interrupted")
      return report.failures.isEmpty ? 130 : 1
    }
    return report.failures.isEmpty ? 0 : 1
  }

  private var options: Stress.Options {
    var options = Stress.Options()
    options.seconds = time.flatMap { SweepDriver.Options.seconds($0) }
    options.worlds = seeds ?? (time == nil ? 200 : 10_000_000)
    options.failures = failures
    options.shrinkSeconds = SweepDriver.Options.seconds(shrinkFor) ?? 60
    options.shakeTies = shakeTies
    options.folder = output
    return options
  }

  private var workers: ProcessPlayer.Options {
    var workers = ProcessPlayer.Options()
    workers.jobs = jobs ?? ProcessInfo.processInfo.activeProcessorCount
    workers.timeout = SweepDriver.Options.seconds(timeout)
    workers.arguments = ["stress", "worker", "--work"]
    workers.interruption = StopSignals.watch()
    return workers
  }
}
