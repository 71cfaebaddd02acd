import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim run`.
struct RunCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a scenario and write its result.",
    discussion: """
      A run replaces an earlier result of the same settings, seed and data. Another result is \
      replaced with --force only.

      Exit code 0: the run is complete, even if it published no version; 1: an assertion of \
      `expect` or an invariant is broken; 2: bad input, nothing was run; 3: the run failed; 130: \
      it was interrupted.
      """)

  @OptionGroup var source: ScenarioArguments

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The result file; by default results/NAME.h5.", valueName: "path"),
    completion: .file())
  var output: String?

  @Option(
    parsing: .unconditional,
    help: "Computing threads; by default one per processor. No result depends on it.")
  var threads: Int?

  @Option(help: "avx512, avx2 or baseline; by default the fastest. No result depends on it.")
  var kernels: Kernels?

  @Option(help: "When deferred trainings are computed. No result depends on it.")
  var compute: Compute = .lazy

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Permute simultaneous events of different devices, with this key.", valueName: "key"),
    transform: CountOption.key)
  var shakeTies: UInt64?

  @Option(
    help: ArgumentHelp(
      "Write the duration of each round, as JSON. No result depends on it.", valueName: "path"),
    completion: .file())
  var timings: String?

  @OptionGroup var ranks: RankArguments

  @OptionGroup var keeping: KeepingArguments

  @Flag(help: "Discard an unfinished run of this result.")
  var restart = false

  @Flag(help: "Replace the result of other settings, another seed or other data.")
  var force = false

  @Flag(help: "Write no journal and no checkpoints, to measure their cost.")
  var noJournal = false

  @Flag(help: "Check the invariants after every event; exit code 1 if one is broken.")
  var audit = false

  @OptionGroup var progress: ProgressArguments

  @Flag(help: "Print the summary as JSON.")
  var json = false

  func validate() throws {
    try CountOption.check("threads", threads)
    if ranks.mpi, source.isStandardInput {
      throw ValidationError("found - with --mpi; expected a scenario file that every rank can read")
    }
    if let kernels, !kernels.body.isSupported {
      throw ValidationError("--kernels: this processor cannot run \(kernels.rawValue)")
    }
    if noJournal, restart || keeping.isGiven {
      throw ValidationError(
        "--no-journal: no run folder is written, so --restart, --checkpoint-every and "
          + "--publish-every have no effect")
    }
  }

  func run(_ registry: Registry) -> Int32 {
    RankedRun.exitCode(ranks.mpi) { ranks throws(RunFailure) in
      let scenario = try source.scenario(registry)
      if scenario.settings.sweep != nil, !progress.quiet {
        Output.error("note: only the base scenario is run; `fedsim sweep` plays its `sweep`")
      }
      for warning in scenario.warnings { Output.error("warning: \(warning)") }
      var options = self.options
      options.ranks = ranks
      var run = Run(scenario, output: output, options: options, timings: timings)
      keeping.set(&run.safety)
      run.safety.restarts = restart
      run.safety.replacesOthers = force
      run.safety.isOn = !noJournal
      return run
    } playing: { run throws(RunFailure) in
      try ConsoleRun(run, source: source, progress, isJSON: json).exitCode()
    }
  }

  private var options: RunOptions {
    var options = RunOptions()
    ranks.set(&options, threads: threads)
    options.kernels = kernels?.body
    options.compute = compute == .lazy ? .lazy : .eager
    options.shakeTies = shakeTies
    options.audits = audit
    Environment.set(&options)
    return options
  }

  /// `--kernels`.
  enum Kernels: String, ExpressibleByArgument, CaseIterable {
    case avx512, avx2, baseline
    var body: RunOptions.Body { RunOptions.Body(rawValue: rawValue) ?? .baseline }
  }

  /// `--compute`.
  enum Compute: String, ExpressibleByArgument, CaseIterable { case lazy, eager }
}

/// What the environment says to the command.
enum Environment {
  /// `FEDSIM_DATA`: folders with data files, separated by colons; they replace installed ones.
  static func set(_ options: inout RunOptions) {
    let value = ProcessInfo.processInfo.environment["FEDSIM_DATA"] ?? ""
    options.dataFolders = value.split(separator: ":").map(String.init)
    options.searchesInstalledData = options.dataFolders.isEmpty
  }
}
