import Schema

/// What a sweep asks Slurm for, and how its tasks play cells; kept in the sweep's folder, so that
/// the collector asks for the same.
public struct SlurmSettings: Codable, Equatable, Sendable {
  /// Tasks of one submission, where nothing says how many cells a task has.
  static let usualTasks = 1000

  /// The partition; nil: the cluster's own.
  public var partition: String?
  /// The account that is charged.
  public var account: String?
  /// The time limit of a task, in Slurm's form.
  public var time: String?
  /// The memory of a task, in Slurm's form.
  public var memory: String?
  /// Processors of a task.
  public var cpusPerTask = 1
  /// Cells of a task; nil: as many as give at most a thousand tasks.
  public var cellsPerTask: Int?
  /// Tasks of an array that run at once; nil: as many as Slurm lets.
  public var tasksAtOnce: Int?
  /// Tasks of one submission; nil: all that are needed.
  public var mostTasks: Int?
  /// How often in a row what is missing is submitted again after one that finished nothing.
  public var resubmissions = 3
  /// How long a file of another node may take to show, as it was written.
  public var fileDelay = "60 s"
  /// Other options of `sbatch`, each as `KEY=VALUE` or `KEY`.
  public var options: [String] = []

  /// Workers of a task.
  public var jobs = 1
  /// Threads of a worker, or of each of its ranks.
  public var threads = 1
  /// Ranks that play a cell together; nil: one process plays it.
  public var ranks: Int?
  /// The command that starts ranks; nil: the usual one.
  public var launcher: String?
  /// How long one attempt at a cell may take, as it was written; nil: as long as it takes.
  public var timeout: String?
  /// How often a cell is tried again that failed.
  public var retries = 2
  /// Whether the collector writes versions.csv too.
  public var versions = false

  /// Where Slurm's commands were found, for jobs that have no PATH.
  public internal(set) var commands: String?
  /// Where the system looked for libraries, for jobs that start without an environment.
  public internal(set) var libraries: String?

  /// One processor a task, and everything else as the cluster has it.
  public init() {}

  // MARK: Options

  /// Options that a submission needs for itself.
  private static let own = [
    "array", "clusters", "dependency", "error", "input", "job-name", "open-mode", "output",
    "parsable", "quiet", "test-only", "wait", "wrap",
  ]

  /// What is wrong with another option; nil: nothing.
  public static func fault(ofOption option: String) -> String? {
    let key = option.prefix { $0 != "=" }
    let isPlain = key.unicodeScalars.allSatisfy { scalar in
      ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "-"
    }
    guard isPlain, let first = key.first, first != "-" else {
      return "found \(option), expected KEY=VALUE or KEY, a long option of sbatch without its --,"
        + " such as gres=gpu:1"
    }
    guard !own.contains(String(key)) else {
      return "found \(key), which the sweep sets itself"
    }
    let named = [
      "partition": "partition", "account": "account", "time": "time", "mem": "mem",
      "cpus-per-task": "cpus-per-task", "ntasks": "cpus-per-task", "nodes": "cells-per-task",
    ]
    return named[String(key)].map { "found \(key), which has a separate option: --\($0)" }
  }

  /// The cells of one task, for this many cells.
  func cellsPerTask(of cells: Int) -> Int {
    cellsPerTask ?? max(1, (cells + Self.usualTasks - 1) / Self.usualTasks)
  }

  /// What every job of the sweep asks for, those that play cells with all their ranks.
  func arguments(name: String, plays: Bool = false) -> [String] {
    let ranks = plays ? ranks ?? 1 : 1
    var words = ["--parsable", "--job-name=fedsim-\(name)", "--ntasks=\(ranks)"]
    words.append("--cpus-per-task=\(cpusPerTask)")
    for (key, value) in [
      ("partition", partition), ("account", account), ("time", time), ("mem", memory),
    ] {
      if let value { words.append("--\(key)=\(value)") }
    }
    // A lost node's tasks are played again by Slurm itself, and their logs continue.
    words += ["--requeue", "--open-mode=append"]
    return words + options.map { "--\($0)" }
  }
}

/// Words as a shell reads them.
package enum ShellQuoting {
  /// A word that a shell takes as it is, whatever is in it.
  package static func quoted(_ word: String) -> String {
    let isPlain = word.unicodeScalars.allSatisfy { scalar in
      ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        || ("0"..."9").contains(scalar) || "-_./=:,%+@".unicodeScalars.contains(scalar)
    }
    if isPlain, !word.isEmpty { return word }
    return "'" + word.replacing("'", with: "'\\''") + "'"
  }

  /// A command.
  static func command(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }
}
