import Foundation
import Synchronization

/// A second process of this program that does one task within limits of time and memory: whatever
/// a damaged file does to a library, it does it there.
///
/// The task writes its answer to standard output: lines that begin with "at " and name the place at
/// which it is, then one line "answer", then bytes. A program offers tasks by `offer`, and does
/// them where it is started with the words that it offered.
public enum LimitedProcess {
  /// How it ended.
  public enum End: Equatable, Sendable {
    /// With these bytes as its answer.
    case answered([UInt8])
    /// Without an answer: how it ended in words, and the last place that it named, "" for none.
    case died(String, at: String)
  }

  /// The words with which this program is started to do a task; nil: it offers none.
  private static let offered = Mutex<[String]?>(nil)

  /// Says that this program, started with these words, a number of seconds, a number of bytes and
  /// the words of a task, calls `limit` and does the task.
  public static func offer(_ words: [String]) { offered.withLock { $0 = words } }

  /// Whether tasks can be done in a second process.
  public static var isOffered: Bool { offered.withLock { $0 != nil } }

  /// Does a task that works with a file of this many bytes; nil: this program offers none.
  ///
  /// Limits: 5 s of processor time, 9 s by the wall clock and 900 MB of memory, and more for more
  /// than 16 MiB: 1 s for each 16 MiB, and 16 bytes for each byte.
  public static func run(_ task: [String], fileSize: Int) -> End? {
    guard let words = offered.withLock({ $0 }) else { return nil }
    let more = max(0, fileSize - 1 << 24)
    let seconds = 5 + more >> 24
    let bytes = 900_000_000 + 16 * more
    let arguments = words + ["\(seconds)", "\(bytes)"] + task
    return ChildProcess.run(
      ThisProgram.path, arguments, deadline: .now + .seconds(2 * seconds - 1), mostBytes: bytes)
  }

  /// Limits this process, which is one for a task.
  public static func limit(seconds: Int, bytes: Int) {
    func set(_ resource: CInt, _ value: Int) {
      var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
      #if os(Linux)
        setrlimit(__rlimit_resource_t(UInt32(resource)), &limit)
      #else
        setrlimit(resource, &limit)
      #endif
    }
    #if os(Linux)
      set(CInt(RLIMIT_CPU.rawValue), seconds)
      set(CInt(RLIMIT_AS.rawValue), bytes)
      set(CInt(RLIMIT_CORE.rawValue), 0)
    #else
      set(RLIMIT_CPU, seconds)
      set(RLIMIT_AS, bytes)
      set(RLIMIT_CORE, 0)
    #endif
  }

  /// Says where the task is.
  public static func tell(place: String) { write(Array("at \(place)\n".utf8)) }

  /// Hands over the answer.
  public static func answer(_ bytes: [UInt8]) { write(Array("answer\n".utf8) + bytes) }

  private static func write(_ bytes: [UInt8]) {
    var start = 0
    while start < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.write(STDOUT_FILENO, $0.baseAddress! + start, bytes.count - start)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      start += count
    }
  }
}
