import Foundation
import Runs

/// What was submitted at once: arrays, and the collector that waits for them.
public struct SlurmSubmission: Codable, Equatable, Sendable {
  /// An array of tasks.
  public struct Array: Codable, Equatable, Sendable {
    /// Slurm's number of it.
    public var job: String
    /// How many tasks it has.
    public var tasks: Int
  }

  /// Its number in the sweep, from 1.
  public var number: Int
  /// The arrays.
  public var arrays: [Array] = []
  /// Slurm's number of the collector; nil: there is none.
  public var collector: String?

  /// Slurm's numbers of all jobs.
  public var jobs: [String] { arrays.map(\.job) + (collector.map { [$0] } ?? []) }
}

extension SweepFolder {
  /// The folder with everything about Slurm.
  var slurmPath: String { "\(path)/slurm" }
  /// What is asked of Slurm.
  var slurmSettingsPath: String { "\(slurmPath)/settings.json" }
  /// What a task runs.
  var slurmTaskPath: String { "\(slurmPath)/task.sh" }
  /// What the collector runs.
  var slurmCollectorPath: String { "\(slurmPath)/collect.sh" }
  /// The folder of a submission, with its logs.
  func submissionPath(_ number: Int) -> String { "\(slurmPath)/\(number)" }
  /// The cells of a submission, one per line, in the order of its tasks.
  func submissionListPath(_ number: Int) -> String { "\(submissionPath(number))/cells.txt" }
  /// The jobs of a submission.
  func submissionJobsPath(_ number: Int) -> String { "\(submissionPath(number))/jobs.json" }
  /// The commands of a submission.
  func submissionCommandsPath(_ number: Int) -> String { "\(submissionPath(number))/commands.sh" }

  /// The same folder by its whole path, as other machines find it.
  public var whole: SweepFolder {
    SweepFolder(URL(fileURLWithPath: path).standardizedFileURL.path)
  }

  /// The numbers of all submissions, sorted.
  private var submissionNumbers: [Int] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: slurmPath)) ?? []
    return names.compactMap { Int($0) }.sorted()
  }

  /// The number of the newest submission, whether it was handed in or only written; 0: none.
  var lastSubmissionNumber: Int { submissionNumbers.last ?? 0 }

  /// The newest submission that was handed in; nil: none was.
  public var lastSubmission: SlurmSubmission? {
    submissionNumbers.reversed().lazy.compactMap { submission($0) }.first
  }

  /// A submission that was handed in.
  func submission(_ number: Int) -> SlurmSubmission? { read(submissionJobsPath(number)) }

  func keep(_ submission: SlurmSubmission) throws(RunFailure) {
    try Self.place(Self.json(submission), at: submissionJobsPath(submission.number))
  }

  /// What the sweep asks Slurm for; nil: it was never submitted.
  var slurmSettings: SlurmSettings? { read(slurmSettingsPath) }

  func keep(_ settings: SlurmSettings) throws(RunFailure) {
    try Self.place(Self.json(settings), at: slurmSettingsPath)
  }

  func makeSubmissionFolder(_ number: Int) throws(RunFailure) {
    try Self.makeFolder(submissionPath(number))
  }

  private func read<Value: Decodable>(_ path: String) -> Value? {
    FileManager.default.contents(atPath: path).flatMap {
      try? JSONDecoder().decode(Value.self, from: $0)
    }
  }

  private static func json(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else {
      preconditionFailure("the files contain only words and finite numbers")
    }
    return [UInt8](data) + [10]
  }
}

/// Waits for files that another machine has written and this one does not see yet.
struct FileWait {
  private let end: ContinuousClock.Instant

  /// Waits for this many seconds in all.
  init(_ seconds: Double) { end = .now + .seconds(seconds) }

  /// Looks until it is so, or the time is over; whether it is so.
  ///
  /// `folder` is listed before every look: that is what makes a network's file system ask its
  /// server.
  func wait(listing folder: String, until isSo: () -> Bool) -> Bool {
    var pause = 0.05
    while true {
      _ = try? FileManager.default.contentsOfDirectory(atPath: folder)
      if isSo() { return true }
      let left = (end - .now).seconds
      guard left > 0 else { return false }
      usleep(useconds_t(min(pause, left) * 1e6) + 1)
      pause = min(pause * 2, 2)
    }
  }
}
