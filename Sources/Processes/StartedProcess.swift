import Foundation

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
  public static func start(
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

  /// Two ends of a pipe, which other programs that are started do not have.
  public static func pipe() throws(StartFault) -> (reading: CInt, writing: CInt) {
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

/// Why a program could not be started.
public struct StartFault: Error, CustomStringConvertible {
  /// The error number.
  public let error: CInt
  /// In words.
  public var description: String { String(cString: strerror(error)) }
}
