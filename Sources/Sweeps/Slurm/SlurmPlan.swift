/// How the cells of one submission are cut into arrays of tasks, and the commands that submit them.
package struct SlurmPlan {
  /// An array: its tasks are numbered on from the arrays before.
  package struct Array: Equatable {
    /// The first task.
    package let first: Int
    /// How many tasks it has.
    package let tasks: Int
  }

  /// The submission's number.
  package let number: Int
  /// The cells that are handed out, in order.
  package let cells: [String]
  /// The cells of one task; the last may have fewer.
  package let cellsPerTask: Int
  /// The arrays.
  package let arrays: [Array]
  /// How many cells are left to a later submission.
  package let later: Int
  private let settings: SlurmSettings
  private let folder: SweepFolder
  private let name: String

  /// A plan for these cells.
  package init(
    _ cells: [String], number: Int, name: String, folder: SweepFolder, settings: SlurmSettings,
    arraySize: Int
  ) {
    (self.number, self.name, self.folder, self.settings) = (number, name, folder, settings)
    cellsPerTask = settings.cellsPerTask(of: cells.count)
    let needed = (cells.count + cellsPerTask - 1) / cellsPerTask
    let tasks = min(needed, settings.mostTasks ?? needed)
    self.cells = [String](cells.prefix(tasks * cellsPerTask))
    later = cells.count - self.cells.count
    arrays = stride(from: 0, to: tasks, by: arraySize).map {
      Array(first: $0, tasks: min(arraySize, tasks - $0))
    }
  }

  /// How many tasks there are.
  package var tasks: Int { arrays.reduce(0) { $0 + $1.tasks } }

  /// How many cells the first arrays hold.
  package func cells(inFirst count: Int) -> Int {
    min(cells.count, arrays.prefix(count).reduce(0) { $0 + $1.tasks } * cellsPerTask)
  }

  /// The cells of a task.
  package static func cells(_ all: [String], ofTask task: Int, each count: Int) -> [String] {
    guard task >= 0, count > 0, task <= all.count / count else { return [] }
    return [String](all.dropFirst(task * count).prefix(count))
  }

  /// The arguments of `sbatch` for an array.
  package func arguments(_ array: Array) -> [String] {
    let limit = settings.tasksAtOnce.map { "%\($0)" } ?? ""
    return settings.arguments(name: name, plays: true) + [
      "--array=0-\(array.tasks - 1)\(limit)", "--output=\(log("task-%A_%a"))",
      folder.slurmTaskPath, String(number), String(array.first), String(cellsPerTask),
    ]
  }

  /// The arguments of `sbatch` for the collector that waits for these arrays, which were handed
  /// this many cells.
  package func collectorArguments(after jobs: [String], handed: Int, fruitless: Int) -> [String] {
    settings.arguments(name: name) + [
      "--dependency=afterany:\(jobs.joined(separator: ":"))", "--output=\(log("collect"))",
      folder.slurmCollectorPath, String(number), String(handed), String(fruitless),
    ]
  }

  /// A log's path as a pattern of Slurm's, in which `%%` is a `%`.
  private func log(_ name: String) -> String {
    "\(folder.submissionPath(number).replacing("%", with: "%%"))/\(name).log"
  }

  /// The same as a script, for a person's hands.
  func script(fruitless: Int) -> String {
    var lines = [
      "#!/bin/sh", "# Submits \(cells.count) cells of the sweep; the collector waits.", "set -e",
    ]
    var names: [String] = []
    for (index, array) in arrays.enumerated() {
      names.append("array\(index + 1)")
      lines.append("array\(index + 1)=$(\(ShellQuoting.command(["sbatch"] + arguments(array))))")
    }
    let words = collectorArguments(after: ["@"], handed: cells.count, fruitless: fruitless)
    // With several clusters the number comes with a name behind it.
    let waiting = names.map { "\"${\($0)%%;*}\"" }.joined(separator: ":")
    lines.append(
      ShellQuoting.command(["sbatch"] + words).replacing("afterany:@", with: "afterany:\(waiting)"))
    return lines.joined(separator: "\n") + "\n"
  }

  // MARK: What jobs run

  /// What a task runs: `task.sh SUBMISSION FIRST-TASK CELLS-PER-TASK`.
  static func taskScript(
    program: String, folder: SweepFolder, settings: SlurmSettings
  ) -> String {
    var words = [
      program, "sweep", "part", "--jobs", String(settings.jobs), "--threads",
      String(settings.threads), "--retries", String(settings.retries),
    ]
    if let timeout = settings.timeout { words += ["--timeout", timeout] }
    if let ranks = settings.ranks { words += ["--ranks", String(ranks)] }
    if let launcher = settings.launcher { words += ["--launcher", launcher] }
    words += ["--file-delay", settings.fileDelay]
    return head("A task of this sweep: task.sh SUBMISSION FIRST-TASK CELLS-PER-TASK", settings)
      + "exec \(ShellQuoting.command(words)) --submission \"$1\""
      + " --task \"$(($2 + SLURM_ARRAY_TASK_ID))\" --cells \"$3\""
      + " -- \(ShellQuoting.quoted(folder.path))\n"
  }

  /// What the collector runs: `collect.sh SUBMISSION CELLS FRUITLESS-SUBMISSIONS`.
  static func collectorScript(
    program: String, folder: SweepFolder, settings: SlurmSettings
  ) -> String {
    let words = [program, "sweep", "collect", "--file-delay", settings.fileDelay]
    return head("Collects this sweep: collect.sh SUBMISSION CELLS FRUITLESS-BEFORE", settings)
      + "exec \(ShellQuoting.command(words)) --submission \"$1\" --handed \"$2\" --fruitless \"$3\""
      + " -- \(ShellQuoting.quoted(folder.path))\n"
  }

  private static func head(_ purpose: String, _ settings: SlurmSettings) -> String {
    var text =
      "#!/bin/sh\n# \(purpose)\n# Written and overwritten by `fedsim sweep --slurm`.\n"
    // A job may begin with no environment at all.
    if let libraries = settings.libraries {
      text += "LD_LIBRARY_PATH=\(ShellQuoting.quoted(libraries)); export LD_LIBRARY_PATH\n"
    }
    return text
  }
}
