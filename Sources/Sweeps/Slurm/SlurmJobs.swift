import Runs

/// What Slurm says of the jobs of a sweep's newest submission.
public struct SlurmJobs: Codable, Equatable, Sendable {
  /// The submission.
  public let submission: SlurmSubmission
  /// Tasks that run.
  public private(set) var running = 0
  /// Tasks that wait.
  public private(set) var waiting = 0
  /// The collector's state in Slurm's words; nil: it is over, or there is none.
  public private(set) var collector: String?
  /// Why Slurm could not be asked; nil: it was.
  public private(set) var unknown: String?

  /// Asks Slurm; nil where the sweep was never submitted.
  public init?(_ folder: SweepFolder) {
    guard let submission = folder.lastSubmission else { return nil }
    self.submission = submission
    guard !submission.jobs.isEmpty else { return }
    let commands = SlurmCommands(foundIn: folder.slurmSettings?.commands)
    let arguments = [
      "--noheader", "--array", "--format=%F %T", "--jobs=\(submission.jobs.joined(separator: ","))",
    ]
    do throws(RunFailure) {
      guard let result = try commands.run("squeue", arguments) else {
        unknown = "squeue is not on the PATH"
        return
      }
      // Jobs that Slurm has forgotten are over.
      guard result.code == 0 || result.error.contains("Invalid job id") else {
        unknown = result.words
        return
      }
      count(result.out)
    } catch {
      unknown = error.description
    }
  }

  private mutating func count(_ text: String) {
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 2 else { continue }
      if words[0] == submission.collector {
        collector = words[1]
      } else if ["RUNNING", "COMPLETING", "SUSPENDED", "STOPPED"].contains(words[1]) {
        running += 1
      } else {
        waiting += 1
      }
    }
  }

  /// Whether any job waits or runs, as far as Slurm could be asked.
  public var areAlive: Bool { running + waiting > 0 || collector != nil }

  /// One line for a person.
  public var text: String {
    let tasks = submission.arrays.reduce(0) { $0 + $1.tasks }
    let arrays = submission.arrays.map(\.job).joined(separator: ", ")
    var line =
      "slurm, submission \(submission.number): \(CountedNoun.text(tasks, "task")) (job \(arrays))"
    if submission.arrays.isEmpty { line = "slurm, submission \(submission.number): no tasks" }
    if let unknown { return line + ", whose state is unknown: \(unknown)" }
    line += areAlive ? ", \(running) running, \(waiting) waiting" : ", none left"
    guard let job = submission.collector else { return line }
    return line + "; collector (job \(job)) \(collector?.lowercased() ?? "ended")"
  }

  /// Refuses what would play cells that Slurm's jobs play already.
  ///
  /// Throws: `RunFailure.input` while any of them waits or runs.
  public static func refuseLiving(_ folder: SweepFolder) throws(RunFailure) -> SlurmJobs? {
    guard let jobs = SlurmJobs(folder) else { return nil }
    guard jobs.areAlive else { return jobs }
    let numbers = jobs.submission.jobs.joined(separator: " ")
    throw SweepFolder.refusal(
      folder.path,
      "Slurm's jobs \(numbers) play this sweep (tasks: \(jobs.running) running,"
        + " \(jobs.waiting) waiting); wait for them, or end them: scancel \(numbers)")
  }
}
