import Foundation

/// A process that is started, read to its end, and waited for.
enum ChildProcess {
  /// Runs a program whose standard output alone is of interest, until a moment.
  static func run(
    _ program: String, _ arguments: [String], deadline: ContinuousClock.Instant, mostBytes: Int
  ) -> LimitedProcess.End {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { return .died(words("a pipe cannot be made", errno), at: "") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var process = pid_t()
    let result = start(&process, program, arguments, output: ends[1])
    close(ends[1])
    defer { close(ends[0]) }
    guard result == 0 else { return .died(words("it could not be started", result), at: "") }
    let (bytes, stopped) = read(ends[0], until: deadline, mostBytes)
    if stopped != nil { kill(process, SIGKILL) }
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let (place, answer) = parts(of: bytes)
    let signal = status & 0x7F
    if let stopped { return .died(stopped, at: place) }
    if signal == SIGXCPU || signal == SIGKILL { return .died("it took too long", at: place) }
    if signal != 0 { return .died("signal \(signal)", at: place) }
    guard let answer else { return .died("exit code \((status >> 8) & 0xFF)", at: place) }
    return .answered(answer)
  }

  private static func words(_ what: String, _ error: CInt) -> String {
    "\(what): \(String(cString: strerror(error)))"
  }

  /// Starts it: no input, no errors, and no signal that this process ignores or holds back.
  private static func start(
    _ process: inout pid_t, _ program: String, _ arguments: [String], output: CInt
  ) -> CInt {
    #if canImport(Darwin)
      var (actions, attributes) = (posix_spawn_file_actions_t?.none, posix_spawnattr_t?.none)
    #else
      var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    for (descriptor, mode) in [(STDIN_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", mode, 0)
    }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (all, none) = (sigset_t(), sigset_t())
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    return posix_spawn(&process, program, &actions, &attributes, words, environ)
  }

  /// All that comes, and why no more was waited for; nil: it is all.
  private static func read(
    _ descriptor: CInt, until deadline: ContinuousClock.Instant, _ mostBytes: Int
  ) -> (bytes: [UInt8], stopped: String?) {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let left = (deadline - .now) / .milliseconds(1)
      guard left > 0 else { return (bytes, "it took too long") }
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, CInt(min(left, 60_000)) + 1) > 0 else { continue }
      let count = Foundation.read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return (bytes, nil) }
      bytes.append(contentsOf: piece[..<count])
      guard bytes.count <= mostBytes else { return (bytes, "its answer is too long") }
    }
  }

  /// The last place that was named, and the answer, if there is one.
  private static func parts(of bytes: [UInt8]) -> (place: String, answer: [UInt8]?) {
    var place = ""
    var rest = bytes[...]
    while let end = rest.firstIndex(of: 10) {
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      if line.elementsEqual("answer".utf8) { return (place, Array(rest)) }
      place = String(decoding: line.dropFirst(3), as: UTF8.self)
    }
    return (place, nil)
  }
}
