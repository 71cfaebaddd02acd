import ArgumentParser
import Foundation
import Runs
import Scenarios
import Sweeps

/// How a sweep is given to Slurm.
struct SlurmArguments: ParsableArguments {
  @Flag(help: "Submit the cells to Slurm, with a final job that writes the tables.")
  var slurm = false

  @Option(help: ArgumentHelp("Slurm: the partition.", valueName: "name"))
  var partition: String?

  @Option(help: ArgumentHelp("Slurm: the account.", valueName: "name"))
  var account: String?

  @Option(help: ArgumentHelp("Slurm: time limit of a task, such as 2:00:00.", valueName: "time"))
  var time: String?

  @Option(help: ArgumentHelp("Slurm: memory of a task, such as 4G.", valueName: "size"))
  var mem: String?

  @Option(help: "Slurm: processors of a task; by default workers times threads.")
  var cpusPerTask: Int?

  @Option(help: "Slurm: cells per task; by default chosen for at most 1,000 tasks.")
  var cellsPerTask: Int?

  @Option(
    help: "Slurm: maximum number of tasks of an array that run at once; by default Slurm's limit.")
  var tasksAtOnce: Int?

  @Option(
    help:
      "Slurm: maximum number of tasks submitted at once; the rest follows when these have ended.")
  var maxTasks: Int?

  @Option(
    help: ArgumentHelp(
      "Slurm: maximum number of consecutive submissions that finish no cell.",
      valueName: "count"))
  var resubmissions: Int?

  @Option(
    help: ArgumentHelp(
      "Slurm: how long a file of another node may take to appear; by default 60 s.",
      valueName: "duration"))
  var fileDelay: String?

  @Option(
    help: ArgumentHelp(
      "Slurm: any other option of sbatch, such as gres=gpu:1; repeatable.",
      valueName: "key=value"))
  var slurmOption: [String] = []

  func validate() throws {
    let words = [
      ("partition", partition), ("account", account), ("time", time), ("mem", mem),
      ("file-delay", fileDelay), ("slurm-option", slurmOption.first),
    ]
    let numbers = [
      ("cpus-per-task", cpusPerTask), ("cells-per-task", cellsPerTask),
      ("tasks-at-once", tasksAtOnce), ("max-tasks", maxTasks),
    ]
    let given =
      words.filter { $0.1 != nil }.map(\.0) + numbers.filter { $0.1 != nil }.map(\.0)
      + (resubmissions == nil ? [] : ["resubmissions"])
    if !slurm, let first = given.first {
      throw ValidationError("--\(first): needs --slurm")
    }
    for (name, value) in words where value?.isEmpty ?? false {
      throw ValidationError("--\(name): found nothing, expected a value")
    }
    for (name, value) in numbers {
      if let value, !(1...1_000_000).contains(value) {
        throw ValidationError("--\(name): found \(value), expected a number from 1 to 1000000")
      }
    }
    if let resubmissions, !(0...100).contains(resubmissions) {
      throw ValidationError(
        "--resubmissions: found \(resubmissions), expected a number from 0 to 100")
    }
    if let fileDelay { _ = try FileDelay.seconds(fileDelay) }
    for option in slurmOption {
      if let fault = SlurmSettings.fault(ofOption: option) {
        throw ValidationError("--slurm-option: \(fault)")
      }
    }
  }

  /// What Slurm is asked for, with tasks that play cells as these arguments say.
  private func settings(_ play: SweepPlayArguments) -> SlurmSettings {
    var settings = SlurmSettings()
    settings.partition = partition
    settings.account = account
    settings.time = time
    settings.memory = mem
    settings.threads = play.threads ?? 1
    (settings.ranks, settings.launcher) = (play.ranks, play.launcher)
    settings.jobs =
      play.jobs ?? play.ranks.map { _ in 1 }
      ?? max(1, (cpusPerTask ?? settings.threads) / settings.threads)
    settings.cpusPerTask = cpusPerTask ?? settings.jobs * settings.threads
    settings.cellsPerTask = cellsPerTask
    settings.tasksAtOnce = tasksAtOnce
    settings.mostTasks = maxTasks
    settings.resubmissions = resubmissions ?? settings.resubmissions
    settings.fileDelay = fileDelay ?? settings.fileDelay
    settings.options = slurmOption
    settings.timeout = play.timeout
    settings.retries = play.retries
    settings.versions = play.versions
    return settings
  }

  /// Submits what is left of a sweep; the exit code.
  func submit(
    _ folder: SweepFolder, _ play: SweepPlayArguments, isDry: Bool = false,
    forgetsFailures: Bool = false
  ) throws(RunFailure) -> Int32 {
    let sweep = try SlurmSweep(folder, settings(play))
    var look = SlurmLook.options(folder)
    look.forgetsFailures = forgetsFailures
    let end = try sweep.submit(isDry: isDry, look: look)
    guard case .submitted = end, !isDry else {
      return try SlurmLook.report(end, folder, versions: play.versions)
    }
    _ = try SlurmLook.report(end, folder, versions: play.versions)
    Output.out("status: fedsim sweep status \(folder.path)")
    return 0
  }

  /// Refuses to play cells that Slurm's jobs play, where they were submitted from this folder.
  static func refuseLiving(_ folder: SweepFolder) throws(RunFailure) {
    guard let jobs = try SlurmJobs.refuseLiving(folder), let unknown = jobs.unknown else { return }
    let numbers = jobs.submission.jobs.joined(separator: " ")
    Output.error("note: the state of Slurm's jobs \(numbers) is unknown: \(unknown)")
  }
}

/// Reads how long a file may take to show.
enum FileDelay {
  static func seconds(_ text: String) throws -> Double {
    guard let seconds = SweepDriver.Options.seconds(text) else {
      throw ValidationError("--file-delay: found \(text), expected a duration such as 10 s")
    }
    return seconds
  }
}

/// Looking at results before and after Slurm's tasks.
enum SlurmLook {
  /// Some workers that read results.
  static func options(_ folder: SweepFolder) -> SweepDriver.Options {
    var options = SweepDriver.Options()
    options.jobs = min(4, ProcessInfo.processInfo.activeProcessorCount)
    options.arguments = SweepWorkCommand.arguments(folder, threads: 1)
    return options
  }

  /// Writes the tables where all is over, and says what was submitted where not.
  static func report(
    _ end: SlurmSweep.End, _ folder: SweepFolder, versions: Bool
  ) throws(RunFailure) -> Int32 {
    switch end {
    case .complete(let driver):
      return try SweepExit.report(.complete, driver, folder, versions: versions)
    case .submitted(let lines):
      for line in lines { Output.out(line) }
      return 0
    }
  }
}

/// `fedsim sweep part`: what a task of Slurm runs.
struct SweepPartCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "part", abstract: "Play the cells of one task.", shouldDisplay: false)

  @Argument(help: "The sweep's folder.", completion: .directory)
  var folder: String

  @Option(help: "The submission.")
  var submission: Int

  @Option(help: "The task.")
  var task: Int

  @Option(help: "Cells per task.")
  var cells: Int

  @Option(help: "How long a file may take to appear.", transform: FileDelay.seconds)
  var fileDelay: Double

  @OptionGroup var play: SweepPlayArguments

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let folder = SweepFolder(folder)
      let cells = try SweepPart.cells(
        of: folder, submission: submission, task: task, each: cells,
        fileDelay: fileDelay)
      let driver = try SweepDriver(folder, try play.options(folder))
      let progress = SweepProgress(driver, jobs: play.jobs)
      switch try driver.run(part: cells, { progress.show($0) }) {
      case .interrupted:
        Output.error("interrupted; finished cells are kept")
        return 130
      case .complete, .waiting:
        let count = "\(cells.count) cell\(cells.count == 1 ? "" : "s")"
        Output.out("\(count), \(driver.failedCount) failed")
        return driver.failedCount > 0 ? 3 : 0
      }
    } catch {
      return Output.report(error)
    }
  }
}

/// `fedsim sweep collect`: what the job runs that waits for the tasks.
struct SweepCollectCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "collect", abstract: "Write the tables, or submit missing cells again.",
    shouldDisplay: false)

  @Argument(help: "The sweep's folder.", completion: .directory)
  var folder: String

  @Option(help: "The submission.")
  var submission: Int

  @Option(help: "Number of cells in the submission.")
  var handed: Int

  @Option(help: "Number of earlier submissions that finished no cell.")
  var fruitless = 0

  @Option(help: "How long a file may take to appear.", transform: FileDelay.seconds)
  var fileDelay: Double

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let folder = SweepFolder(folder)
      let end = try SlurmSweep.collect(
        folder, submission: submission, handed: handed, fruitless: fruitless,
        fileDelay: fileDelay, look: SlurmLook.options(folder))
      return try SlurmLook.report(end, folder, versions: SlurmSweep.wantsVersions(folder))
    } catch {
      return Output.report(error)
    }
  }
}
