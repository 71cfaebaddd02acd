import Foundation
import Processes
import Runs
import Schema

/// Submits what is missing of a sweep to Slurm.
public struct SlurmSweep {
  /// Whether there is anything left to run.
  public enum End {
    /// Nothing is missing.
    case complete(SweepDriver)
    /// It was submitted, or written down where nothing was to be submitted; lines about it.
    case submitted([String])
  }

  private let folder: SweepFolder
  private var settings: SlurmSettings
  private let commands: SlurmCommands

  /// A sweep whose manifest is written. Throws: `RunFailure.input` for a folder that Slurm cannot
  /// write logs into.
  public init(_ folder: SweepFolder, _ settings: SlurmSettings) throws(RunFailure) {
    try self.init(folder.whole, settings, SlurmCommands(foundIn: settings.commands))
    self.settings.commands = commands.folder ?? settings.commands
    self.settings.libraries =
      ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? settings.libraries
  }

  private init(
    _ folder: SweepFolder, _ settings: SlurmSettings, _ commands: SlurmCommands
  ) throws(RunFailure) {
    (self.folder, self.settings, self.commands) = (folder, settings, commands)
    guard !folder.path.contains(where: { $0 == "\\" || $0.isNewline }) else {
      throw SweepFolder.refusal(
        folder.path,
        "Slurm does not accept paths with a backslash or a line break; give another --output")
    }
  }

  // MARK: By a person

  /// Looks what is missing, and submits it; `isDry`: writes scripts and submits nothing.
  ///
  /// Throws: `RunFailure.input` where somebody plays the sweep already, `.failed` where Slurm
  /// takes nothing.
  public func submit(
    isDry: Bool, look: SweepDriver.Options
  ) throws(RunFailure) -> End {
    guard isDry || commands.path("sbatch") != nil else { throw SlurmCommands.missing }
    let lock = try SweepLock(orNone: folder)
    defer { _ = lock }
    let jobs = try SlurmJobs.refuseLiving(folder)
    if !isDry, let unknown = jobs?.unknown {
      throw .failed("the state of this sweep's jobs is unknown: \(unknown)")
    }
    var look = look
    look.onlyLooks = true
    let driver = try SweepDriver(folder, look)
    if look.forgetsFailures { folder.forgetFailures(of: driver.manifest) }
    if try driver.run() == .complete { return .complete(driver) }
    return .submitted(try submit(driver, fruitless: 0, isDry: isDry))
  }

  /// Submits what a driver has found missing.
  private func submit(
    _ driver: SweepDriver, fruitless: Int, isDry: Bool
  ) throws(RunFailure) -> [String] {
    try folder.makeFolders(driver.manifest.store)
    let number = folder.lastSubmissionNumber + 1
    try folder.makeSubmissionFolder(number)
    let plan = SlurmPlan(
      driver.missing.map(\.id), number: number, name: driver.manifest.name, folder: folder,
      settings: settings, arraySize: try commands.arraySize())
    let program = ThisProgram.path
    try folder.keep(settings)
    for (path, text) in [
      (
        folder.slurmTaskPath,
        SlurmPlan.taskScript(program: program, folder: folder, settings: settings)
      ),
      (
        folder.slurmCollectorPath,
        SlurmPlan.collectorScript(program: program, folder: folder, settings: settings)
      ),
      (folder.submissionListPath(number), plan.cells.map { $0 + "\n" }.joined()),
      (folder.submissionCommandsPath(number), plan.script(fruitless: fruitless)),
    ] {
      try SweepFolder.place(Array(text.utf8), at: path)
    }
    if isDry { return [plan.script(fruitless: fruitless)] }
    return try submit(plan, fruitless: fruitless)
  }

  /// Submits arrays and collector; every job is written down as soon as it has a number.
  private func submit(_ plan: SlurmPlan, fruitless: Int) throws(RunFailure) -> [String] {
    var submission = SlurmSubmission(number: plan.number)
    var lines: [String] = []
    for array in plan.arrays {
      do throws(RunFailure) {
        let job = try commands.submit(plan.arguments(array))
        submission.arrays.append(.init(job: job, tasks: array.tasks))
        try folder.keep(submission)
        lines.append("submitted: job \(job), \(CountedNoun.text(array.tasks, "task"))")
      } catch {
        // The first says what is wrong; a later one that there is no room for more now.
        guard !submission.arrays.isEmpty else { throw error }
        lines.append(error.description)
        break
      }
    }
    let handed = plan.cells(inFirst: submission.arrays.count)
    do throws(RunFailure) {
      submission.collector = try commands.submit(
        plan.collectorArguments(
          after: submission.arrays.map(\.job), handed: handed, fruitless: fruitless))
      try folder.keep(submission)
    } catch {
      commands.cancel(submission.jobs)
      throw .failed("the collector: \(error.description)\nits arrays were cancelled")
    }
    let cells = CountedNoun.text(handed, "cell")
    lines.append(
      "submitted: job \(submission.collector ?? ""), the collector, for \(cells)")
    let later = plan.cells.count - handed + plan.later
    if later > 0 { lines.append("\(CountedNoun.text(later, "cell")) left to its next submission") }
    return lines
  }

  // MARK: By the collector

  /// Whether the sweep was submitted for versions.csv too.
  public static func wantsVersions(_ folder: SweepFolder) -> Bool {
    folder.slurmSettings?.versions ?? false
  }

  /// Looks what Slurm's tasks have left, and submits it again.
  ///
  /// `handed`: how many cells the submission gave out; `fruitless`: how many submissions before it
  /// finished nothing. Throws: `RunFailure.failed` where they are too many.
  public static func collect(
    _ folder: SweepFolder, submission number: Int, handed: Int, fruitless: Int, fileDelay: Double,
    look: SweepDriver.Options
  ) throws(RunFailure) -> End {
    let folder = folder.whole
    let manifest = try SweepPart.manifest(of: folder, fileDelay: fileDelay)
    let list = try SweepPart.list(of: folder, submission: number, fileDelay: fileDelay)
    guard let settings = folder.slurmSettings else {
      throw SweepFolder.refusal(folder.slurmSettingsPath, "the settings cannot be read")
    }
    var look = look
    look.onlyLooks = true
    let driver = try SweepDriver(folder, look)
    if try driver.run() == .complete { return .complete(driver) }
    let given = Set(list.prefix(handed))
    func isGiven(_ cell: SweepManifest.Cell) -> Bool { given.contains(cell.id) }
    let store = CellStore(manifest.store)
    let late = driver.missing.filter(isGiven).map(\.id)
    // Each was played, given up, or lost with its node; of the first two, files may come late.
    _ = FileWait(fileDelay).wait(listing: store.folder) {
      late.allSatisfy { store.mayHave($0) || folder.failure($0) != nil }
    }
    if !late.isEmpty, try driver.run() == .complete { return .complete(driver) }
    // A collector that was played again because its own node was lost.
    if let last = folder.lastSubmission, last.number > number {
      guard last.collector == nil else {
        return .submitted(["submission \(last.number) already exists"])
      }
      // It was lost before it had submitted the next one: nobody would gather what these leave.
      SlurmCommands(foundIn: settings.commands).cancel(last.jobs)
    }
    let lost = driver.missing.count(where: isGiven)
    let fruitless = !given.isEmpty && lost == given.count ? fruitless + 1 : 0
    guard fruitless <= settings.resubmissions else {
      throw .failed(
        "\(CountedNoun.text(driver.missing.count, "cell")) missing, and "
          + "\(CountedNoun.text(fruitless, "submission")) in a row finished nothing; "
          + "logs: \(folder.submissionPath(number))\n"
          + "the sweep's command continues with them, with --slurm or without")
    }
    let sweep = try SlurmSweep(folder, settings)
    var lines = [
      "\(CountedNoun.text(driver.missing.count, "cell")) to play, "
        + "\(lost) of them lost in submission \(number)"
    ]
    for attempt in 0... {
      do throws(RunFailure) {
        lines += try sweep.submit(driver, fruitless: fruitless, isDry: false)
        break
      } catch {
        guard attempt < 3 else { throw error }
        sleep(UInt32(min(fileDelay, 15)))
      }
    }
    return .submitted(lines)
  }
}

/// A number with its noun.
enum CountedNoun {
  static func text(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
