import Foundation
import Synchronization

/// Another program, as it is started: which files of this process it has, and nothing else of it.
public enum StartedProcess {
  /// A file that the program begins with.
  public enum File {
    /// One of this process.
    case own(CInt)
    /// One that is empty, or that nobody reads.
    case null
  }

  /// Starts a program; its number. Of the signals it ignores none and holds none back.
  ///
  /// `files` are by the numbers that they have there, from 0 on. In a separate group it hears no
  /// Ctrl-C. Throws: why it could not be started.
  private static func start(
    _ program: String, _ arguments: [String], files: [File], hasOwnGroup: Bool = false
  ) throws(StartFault) -> pid_t {
    #if canImport(Darwin)
      var (actions, attributes) = (posix_spawn_file_actions_t?.none, posix_spawnattr_t?.none)
    #else
      var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, file) in files.enumerated() {
      switch file {
      case .own(let descriptor):
        posix_spawn_file_actions_adddup2(&actions, descriptor, CInt(number))
      case .null:
        let mode = number == 0 ? O_RDONLY : O_WRONLY
        posix_spawn_file_actions_addopen(&actions, CInt(number), "/dev/null", mode, 0)
      }
    }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (all, none) = (sigset_t(), sigset_t())
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK)
        | (hasOwnGroup ? Int16(POSIX_SPAWN_SETPGROUP) : 0))
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var process = pid_t()
    let result = posix_spawn(&process, program, &actions, &attributes, words, environ)
    guard result == 0 else { throw StartFault(error: result) }
    return process
  }

  /// A program that is started with pipes for what it reads and what it writes.
  public struct Piped: Sendable {
    /// Its number.
    public let process: pid_t
    /// Where what it reads is written; -1: it reads nothing.
    public let input: CInt
    /// Where what it writes is read.
    public let output: CInt
  }

  /// Starts a program with a pipe as its standard output and, where it `reads`, another as its
  /// standard input; `files` are those that follow. No other program that is started has the ends
  /// of its pipes.
  public static func piped(
    _ program: String, _ arguments: [String], reads: Bool = true, files: [File] = [],
    hasOwnGroup: Bool = false
  ) throws(StartFault) -> Piped {
    // Between a pipe and its flag no other thread may start a program.
    let result: Result<Piped, StartFault> = starting.withLock { _ in
      Result { () throws(StartFault) in
        let input = reads ? try pipe() : nil
        let output = try pipe()
        defer {
          if let input { close(input.reading) }
          close(output.writing)
        }
        let process = try start(
          program, arguments,
          files: [input.map { .own($0.reading) } ?? .null, .own(output.writing)] + files,
          hasOwnGroup: hasOwnGroup)
        return Piped(process: process, input: input?.writing ?? -1, output: output.reading)
      }
    }
    return try result.get()
  }

  private static let starting = Mutex(())

  private static func pipe() throws(StartFault) -> (reading: CInt, writing: CInt) {
    var ends: [CInt] = [0, 0]
    guard Foundation.pipe(&ends) == 0 else { throw StartFault(error: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Waits for a process; how it ended, in words.
  @discardableResult
  public static func wait(for process: pid_t) -> (words: String, exitCode: Int32?) {
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    if signal != 0 { return ("was ended by signal \(signal)", nil) }
    let code = (status >> 8) & 0xFF
    return ("ended with exit code \(code)", code)
  }
}

/// Why a program could not be started, or has no memory to share.
public struct StartFault: Error, CustomStringConvertible {
  /// The error number.
  public let error: CInt
  /// The folder that it is about; nil: none.
  public var place: String?
  /// How many bytes were wanted there; nil: none.
  public var bytes: Int?
  /// In words.
  public var description: String {
    let reason = String(cString: strerror(error))
    let wanted = bytes.map { "\($0) bytes of shared memory: " } ?? ""
    return wanted + (place.map { "\($0): " } ?? "") + reason
  }
}
