import ArgumentParser
import Foundation
import Runs
import Scenarios
import Sweeps

/// `fedsim stress`.
struct StressCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "stress",
    abstract: "Search for a world in which a policy breaks a claim or an invariant.",
    discussion: """
      Plays worlds drawn within the ranges of the scenario's `stress` section (without one: the \
      built-in changes) and looks at every event, at the claims, and whether runs come out again. \
      The first world that fails is made smaller and written as NAME.stress-1.yaml. Exit code 1: \
      something broke, 2: bad input, 3: worlds cannot be played.
      """)

  @OptionGroup var source: ScenarioArguments

  @Option(
    help: """
      How many worlds are played, each with a seed of its own; the first is the scenario as it \
      stands. By default 200, or as many as there is time for.
      """)
  var seeds: Int?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("How long is searched at most, such as 10min.", valueName: "duration"))
  var time: String?

  @Option(help: "How many different failures are looked for.")
  var failures = 1

  @Option(
    help: ArgumentHelp(
      "How long a failing world is made smaller at most.", valueName: "duration"))
  var shrinkFor = "1 min"

  @Option(
    help: ArgumentHelp(
      "How long one world may take; those that take longer are given up.", valueName: "duration"))
  var timeout = "1 min"

  @Option(help: "Workers at once; by default one a processor. Nothing found depends on it.")
  var jobs: Int?

  @Option(
    help: ArgumentHelp(
      "Where scenarios are written; by default beside the scenario.", valueName: "folder"))
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Permute simultaneous events of the scenario as it stands, by this key.", valueName: "key"))
  var shakeTies: UInt64?

  @Option(
    help: ArgumentHelp(
      """
      Search nothing: play all worlds and write what becomes of each to this file, a line of \
      digests a world. Two builds that write the same file do the same.
      """, valueName: "path"))
  var digests: String?

  @Option(
    help: ArgumentHelp(
      "Print a world as a scenario, by its number, and play nothing.", valueName: "number"))
  var world: Int?

  @Flag(help: "Print what varies, and play nothing.")
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
      throw ValidationError("--digests: plays all worlds of --seeds, so --for has nothing to end")
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
      Output.error("note: worlds are held to claims once `stress` says what varies")
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
