import DataSets
import Processes
import Results

/// What this program does where it was started to read a file that may be damaged.
public enum LimitedTask {
  /// The hidden command.
  public static let command = "read-limited"

  /// Does a task; `words` are those behind the command: seconds, bytes, and the task's own.
  public static func serve(_ words: [String]) {
    guard words.count > 2, let seconds = Int(words[0]), let bytes = Int(words[1]) else { return }
    LimitedProcess.limit(seconds: seconds, bytes: bytes)
    if words[2] == LimitedReading.task {
      LimitedReading.serve(Array(words[3...]))
    } else {
      DataTasks.serve(Array(words[2...]))
    }
  }
}
