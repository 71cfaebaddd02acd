import ArgumentParser
import Foundation
import Runs
import Scenarios
import Sweeps

/// `fedsim sweep`.
struct SweepCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sweep",
    abstract: "Play the trials of a scenario's `sweep` section.",
    discussion: """
      `fedsim sweep FILE` plays them; the same command again continues an interrupted sweep. The \
      tables table.csv and table.h5 are in the sweep's folder.

      Options such as --jobs, --shard and --set: `fedsim sweep run --help`.
      """,
    subcommands: [
      SweepRunCommand.self, SweepStatusCommand.self, SweepRetryCommand.self,
      SweepTableCommand.self, SweepCellCommand.self, SweepWorkCommand.self,
      SweepPartCommand.self, SweepCollectCommand.self,
    ], defaultSubcommand: SweepRunCommand.self)
}

/// How cells are played, for every command that plays some.
struct SweepPlayArguments: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: "Number of workers; by default one per processor. No table depends on it.")
  var jobs: Int?

  @Option(
    parsing: .unconditional,
    help: "Threads per worker; by default the processors divided by the workers.")
  var threads: Int?

  @Option(
    parsing: .unconditional,
    help: "MPI ranks that play a cell together (docs/scale-out.md). No table depends on it.")
  var ranks: Int?

  @Option(
    help: ArgumentHelp(
      "The command that starts ranks, such as `srun --mpi=pmix`; by default mpirun.",
      valueName: "command"))
  var launcher: String?

  @Option(
    help: ArgumentHelp("Only every n-th cell, from the i-th on.", valueName: "i/n"))
  var shard: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Time limit of one attempt at a cell, such as 10 min.", valueName: "duration"))
  var timeout: String?

  @Option(parsing: .unconditional, help: "Number of retries of a cell that failed.")
  var retries = 2

  @Flag(help: "Also write versions.csv, with a row per version of each cell.")
  var versions = false

  @Flag(name: .shortAndLong, help: "No progress on standard error.")
  var quiet = false

  func validate() throws {
    try CountOption.check("jobs", jobs)
    try CountOption.check("threads", threads)
    try CountOption.check("ranks", ranks)
    if launcher != nil, ranks == nil { throw ValidationError("--launcher: needs --ranks") }
    if let launcher, launcher.allSatisfy({ $0 == " " }) {
      throw ValidationError("--launcher: found nothing, expected a command")
    }
    if let shard, Shard(shard) == nil {
      throw ValidationError("--shard: found \(shard), expected i/n such as 2/8, i from 1 to n")
    }
    if let timeout, SweepDriver.Options.seconds(timeout) == nil {
      throw ValidationError("--timeout: found \(timeout), expected a duration such as 10 min")
    }
    guard (0...100).contains(retries) else {
      throw ValidationError("--retries: found \(retries), expected a number from 0 to 100")
    }
  }

  /// The driver's options for a folder.
  func options(_ folder: SweepFolder) throws(RunFailure) -> SweepDriver.Options {
    let processors = ProcessInfo.processInfo.activeProcessorCount
    var options = SweepDriver.Options()
    options.jobs = jobs ?? max(1, processors / (ranks ?? 1))
    options.shard = shard.flatMap { Shard($0) }
    options.timeout = timeout.flatMap { SweepDriver.Options.seconds($0) }
    options.retries = retries
    let each = options.jobs * (ranks ?? 1)
    options.arguments = SweepWorkCommand.arguments(
      folder, threads: threads ?? max(1, processors / each))
    if let ranks {
      try options.startRanks(ranks, by: launcher ?? SweepDriver.Options.usualLauncher)
    }
    options.interruption = StopSignals.watch()
    return options
  }

  /// Plays what is left of a sweep, and writes its tables; the exit code.
  func play(
    _ folder: SweepFolder, forgetsFailures: Bool = false
  ) throws(RunFailure) -> Int32 {
    var options = try options(folder)
    options.forgetsFailures = forgetsFailures
    let driver = try SweepDriver(folder, options)
    let progress = quiet ? nil : SweepProgress(driver, jobs: jobs)
    let end = try driver.run { progress?.show($0) }
    progress?.clear()
    return try SweepExit.report(end, driver, folder, versions: versions)
  }
}

/// What a sweep's end means, in words and as an exit code.
enum SweepExit {
  static func report(
    _ end: SweepDriver.End, _ driver: SweepDriver, _ folder: SweepFolder, versions: Bool
  ) throws(RunFailure) -> Int32 {
    switch end {
    case .interrupted:
      Output.error("interrupted; finished cells are kept, and the same command continues")
      return 130
    case .waiting(let cells):
      Output.out("\(cells) cell\(cells == 1 ? " is" : "s are") left to other shards; no table yet")
      Output.out("then: fedsim sweep table \(folder.path)")
      return 0
    case .complete:
      let table = SweepTable(driver)
      try table.write(to: folder, versions: versions)
      let failed = table.failedCount
      Output.out("\(table.count) cells, \(failed == 0 ? "none" : "\(failed)") failed")
      Output.out("table: \(folder.tablePath), \(folder.arraysPath)")
      guard failed > 0 else { return 0 }
      Output.error("failed cells: \(folder.failedPath); logs: \(folder.path)/logs")
      Output.error("retry: fedsim sweep retry \(folder.path) --failed")
      return 3
    }
  }
}

/// `fedsim sweep FILE`.
struct SweepRunCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Play all unfinished cells of a sweep.")

  @OptionGroup var source: ScenarioArguments
  @OptionGroup var play: SweepPlayArguments
  @OptionGroup var slurm: SlurmArguments

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The sweep's folder; by default results/NAME.", valueName: "folder"),
    completion: .directory)
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Folder of the cells' results; by default next to the sweep's folder, for this build.",
      valueName: "folder"), completion: .directory)
  var store: String?

  @Flag(
    help: """
      Print the cells, and write and play nothing; with --slurm write scripts, print the commands, \
      and submit nothing.
      """)
  var dryRun = false

  @Flag(help: "Write the manifest and the list of cells, and play nothing.")
  var plan = false

  func validate() throws {
    for (name, value) in [("output", output), ("store", store)] where value == "" {
      throw ValidationError("--\(name): found an empty path, expected a folder")
    }
    guard slurm.slurm else { return }
    if play.shard != nil { throw ValidationError("--shard: Slurm's tasks are the shards") }
    if plan { throw ValidationError("--plan: with --slurm use --dry-run") }
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let scenario = try source.scenario(registry)
      var options = RunOptions()
      Environment.set(&options)
      let begin = SweepPreparation(scenario, output: output, store: store, options: options)
      if dryRun, !slurm.slurm {
        Output.out(try begin.listing(play.shard.flatMap { Shard($0) }))
        return 0
      }
      try SlurmArguments.refuseLiving(begin.folder)
      let begun = try begin.begin()
      if let notice = begun.notice { Output.error(notice) }
      if plan {
        Output.out("\(begun.cells) cells planned in \(begun.folder.path)")
        let ofFirst =
          begun.listed < begun.cells ? ", of which the first rung has \(begun.listed)" : ""
        Output.out("list: \(begun.folder.listPath)\(ofFirst)")
        return 0
      }
      if slurm.slurm { return try slurm.submit(begun.folder, play, isDry: dryRun) }
      return try play.play(begun.folder)
    } catch {
      return Output.report(error)
    }
  }
}

/// `fedsim sweep status`.
struct SweepStatusCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the progress of a sweep.")

  @Argument(help: "The sweep's folder.", completion: .directory)
  var folder: String

  @Flag(help: "Print the status as JSON.")
  var json = false

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let status = try SweepStatus(SweepFolder(folder))
      Output.out(json ? status.json : status.text)
      return 0
    } catch {
      return Output.report(error)
    }
  }
}

/// `fedsim sweep retry`.
struct SweepRetryCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Play a sweep's failed cells again, and all unfinished ones.")

  @Argument(help: "The sweep's folder.", completion: .directory)
  var folder: String

  @Flag(help: "Play the cells that failed.")
  var failed = false

  @OptionGroup var play: SweepPlayArguments
  @OptionGroup var slurm: SlurmArguments

  func validate() throws {
    guard failed else {
      throw ValidationError("choose the cells to play again: --failed")
    }
    if slurm.slurm, play.shard != nil {
      throw ValidationError("--shard: Slurm's tasks are the shards")
    }
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let folder = SweepFolder(folder)
      try SlurmArguments.refuseLiving(folder)
      _ = try folder.manifestOfThisBuild()
      return slurm.slurm
        ? try slurm.submit(folder, play, forgetsFailures: true)
        : try play.play(folder, forgetsFailures: true)
    } catch {
      return Output.report(error)
    }
  }
}

/// `fedsim sweep table`.
struct SweepTableCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "table", abstract: "Write the tables of a sweep from the finished cells.")

  @Argument(help: "The sweep's folder.", completion: .directory)
  var folder: String

  @Option(parsing: .unconditional, help: "Workers that read results; by default one per processor.")
  var jobs: Int?

  @Flag(help: "Also write versions.csv, with a row per version of each cell.")
  var versions = false

  func validate() throws { try CountOption.check("jobs", jobs) }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let folder = SweepFolder(folder)
      var options = SweepDriver.Options()
      options.jobs = jobs ?? ProcessInfo.processInfo.activeProcessorCount
      options.onlyLooks = true
      options.arguments = SweepWorkCommand.arguments(folder, threads: 1)
      let driver = try SweepDriver(folder, options)
      let end = try driver.run()
      if case .waiting(let cells) = end {
        Output.error("\(cells) cell\(cells == 1 ? " is" : "s are") not finished; no table")
        return 3
      }
      return try SweepExit.report(end, driver, folder, versions: versions)
    } catch {
      return Output.report(error)
    }
  }
}

/// `fedsim sweep cell`.
struct SweepCellCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "cell",
    abstract: "Play one cell of a sweep, for GNU parallel and batch systems.")

  @Argument(help: "The sweep's folder.", completion: .directory)
  var folder: String

  @Argument(help: "The cell's id, a line of cells.txt.")
  var id: String

  @Option(parsing: .unconditional, help: "Threads that compute.")
  var threads = 1

  func validate() throws { try CountOption.check("threads", threads) }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let folder = SweepFolder(folder)
      _ = try folder.manifestOfThisBuild()
      let result = try SingleCell.play(id, of: folder, threads: threads, registry: registry)
      Output.out(result)
      return 0
    } catch {
      return Output.report(error)
    }
  }
}

/// `fedsim sweep work`: what a driver starts.
struct SweepWorkCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "work", abstract: "Play cells for a driver.", shouldDisplay: false)

  @Argument(help: "The sweep's folder.", completion: .directory)
  var folder: String

  @Option(parsing: .unconditional, help: "Threads that compute.")
  var threads = 1

  @Flag(help: "Play each cell together with the other processes that MPI has started.")
  var mpi = false

  func validate() throws { try CountOption.check("threads", threads) }

  static func arguments(_ folder: SweepFolder, threads: Int) -> [String] {
    ["sweep", "work", "--threads", String(threads), "--", folder.path]
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let ranks = mpi ? try MPIRanks() : nil
      return try CellWorker.serve(
        SweepFolder(folder), threads: threads, ranks: ranks, registry: registry)
    } catch {
      return Output.report(error)
    }
  }
}
