import Foundation
import Runs
import Synchronization

/// Slurm's commands, as far as a sweep needs them.
package struct SlurmCommands {
  /// What a command left behind.
  struct Result {
    var code: Int32
    var out: String
    var error: String

    /// What it said of itself, for a message.
    var words: String {
      let text = [error, out].map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
      return text.first { !$0.isEmpty } ?? "it ended with exit code \(code)"
    }
  }

  /// The largest array where a cluster does not tell.
  ///
  /// Source: Slurm's slurm.conf(5), the default of MaxArraySize.
  static let usualArraySize = 1001

  private let folders: [String]

  /// The commands on the PATH, or else in a folder where they were found before.
  init(foundIn folder: String? = nil) {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    folders = path.split(separator: ":").map(String.init) + (folder.map { [$0] } ?? [])
  }

  /// Where a command is; nil: nowhere.
  func path(_ name: String) -> String? {
    folders.map { "\($0)/\(name)" }.first { path in
      var status = stat()
      return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        && access(path, X_OK) == 0
    }
  }

  /// The folder of `sbatch`; nil: there is none.
  var folder: String? {
    path("sbatch").map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
  }

  /// Runs a command to its end; nil where there is none of that name.
  func run(_ name: String, _ arguments: [String]) throws(RunFailure) -> Result? {
    guard let path = path(name) else { return nil }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let (out, error) = (Pipe(), Pipe())
    process.standardOutput = out
    process.standardError = error
    do { try process.run() } catch {
      throw .failed("\(path) cannot be started: \(error.localizedDescription)")
    }
    // Both at once: a reader that waits for one may be held up by the other.
    let said = Collected()
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) { [handle = error.fileHandleForReading] in
      let bytes = handle.readDataToEndOfFile()
      said.bytes.withLock { $0 = bytes }
    }
    let bytes = out.fileHandleForReading.readDataToEndOfFile()
    group.wait()
    process.waitUntilExit()
    let code =
      process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    return Result(
      code: code, out: String(decoding: bytes, as: UTF8.self),
      error: String(decoding: said.bytes.withLock { $0 }, as: UTF8.self))
  }

  private final class Collected: Sendable {
    let bytes = Mutex(Data())
  }

  // MARK: Submitting

  /// Why there is nothing to submit with.
  static let missing = RunFailure.failed(
    "sbatch is not on the PATH: submit a sweep on a machine with Slurm's commands"
      + " (`--slurm --dry-run` writes the scripts and prints the commands)")

  /// Submits a job; Slurm's number of it.
  ///
  /// Throws: `RunFailure.failed` with what `sbatch` says.
  func submit(_ arguments: [String]) throws(RunFailure) -> String {
    guard let result = try run("sbatch", arguments) else { throw Self.missing }
    guard result.code == 0 else {
      throw .failed("sbatch refuses it: \(result.words)\(Self.advice(result.words))")
    }
    // `--parsable` prints the number, and the cluster's name where there are several.
    let line = result.out.split(separator: "\n").last ?? ""
    let number = line.split(separator: ";").first.map(String.init) ?? ""
    guard !number.isEmpty, number.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      throw .failed("sbatch gave no number of a job: \(result.words)")
    }
    return number
  }

  private static func advice(_ words: String) -> String {
    let isLimit = ["submit limit", "SubmitJob", "SubmitLimit", "Invalid job array"].contains {
      words.contains($0)
    }
    return isLimit ? "\n--max-tasks N submits fewer tasks at once, the rest later" : ""
  }

  /// Ends jobs; what cannot be ended runs on.
  func cancel(_ jobs: [String]) {
    guard !jobs.isEmpty else { return }
    _ = try? run("scancel", jobs)
  }

  /// The most tasks of one array.
  func arraySize() throws(RunFailure) -> Int {
    guard let result = try run("scontrol", ["show", "config"]), result.code == 0 else {
      return Self.usualArraySize
    }
    return Self.arraySize(config: result.out)
  }

  /// The same by the text of `scontrol show config`.
  package static func arraySize(config: String) -> Int {
    var size = usualArraySize
    var tasks = Int.max
    for line in config.split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard parts.count == 2 else { continue }
      if parts[0] == "MaxArraySize" { size = Int(parts[1]) ?? size }
      if parts[0] == "SchedulerParameters" {
        for word in parts[1].split(separator: ",") where word.hasPrefix("max_array_tasks=") {
          tasks = Int(word.dropFirst("max_array_tasks=".count)) ?? tasks
        }
      }
    }
    return max(1, min(size, tasks))
  }
}
