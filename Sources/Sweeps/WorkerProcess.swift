import Foundation
import Runs

/// A worker as its driver sees it: a process with two pipes.
final class WorkerProcess {
  /// When it got its last order.
  var began = ContinuousClock.now
  /// Whether it has answered anything.
  var hasAnswered = false
  /// Its exit code; nil while it lives, and where a signal ended it.
  private(set) var exitCode: Int32?
  /// When its order must be done.
  var deadline: ContinuousClock.Instant?
  /// Why the driver killed it, if it did.
  var killedFor: String?
  /// The pipe with its answers.
  let answers: CInt
  /// Its number.
  let process: pid_t
  private var orders: CInt
  private var buffer = LineBuffer()

  /// Starts a worker. Pipes are closed in every other program that is started.
  init(program: String, arguments: [String]) throws(RunFailure) {
    let (input, output) = (try WorkerProcess.pipe(), try WorkerProcess.pipe())
    #if canImport(Darwin)
      var (actions, attributes) = (posix_spawn_file_actions_t?.none, posix_spawnattr_t?.none)
    #else
      var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input.reading, 0)
    posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
    // What the driver ignores or holds back, its workers do not.
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
    var process = pid_t()
    let result = posix_spawn(&process, program, &actions, &attributes, words, environ)
    close(input.reading)
    close(output.writing)
    guard result == 0 else {
      close(input.writing)
      close(output.reading)
      throw .failed("a worker cannot be started: \(String(cString: strerror(result)))")
    }
    (orders, answers) = (input.writing, output.reading)
    self.process = process
  }

  private static func pipe() throws(RunFailure) -> (reading: CInt, writing: CInt) {
    var ends: [CInt] = [0, 0]
    guard Foundation.pipe(&ends) == 0 else {
      throw .failed("a pipe cannot be made: \(String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Hands out an order; a worker that is gone is noticed when its answers end.
  func send(_ order: WorkerOrder) { send(line: Array(order.line.utf8)) }

  /// Hands out a line with its end.
  func send(line: [UInt8]) { MessageLine.send(line, to: orders) }

  /// Reads the answers that have come; nil once there will be nothing more.
  ///
  /// Throws: `RunFailure.failed` for a line that is no answer.
  func receive<Answer: Decodable>(_ type: Answer.Type) throws(RunFailure) -> [Answer]? {
    guard let lines = receiveLines() else { return nil }
    var answers: [Answer] = []
    for line in lines {
      guard let answer = MessageLine.value(type, line) else {
        let start = String(decoding: line.prefix(80), as: UTF8.self)
        throw .failed("a worker's answer is not understood: \(start)")
      }
      answers.append(answer)
    }
    return answers
  }

  /// The lines that have come, without their ends; nil once there will be nothing more.
  private func receiveLines() -> [[UInt8]]? {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(answers, &piece, piece.count)
    if count < 0 { return errno == EINTR || errno == EAGAIN ? [] : nil }
    if count == 0 { return nil }
    return buffer.add(piece[..<count])
  }

  /// Says that there are no more orders; the worker ends, whatever it is doing.
  func dismiss() {
    if orders >= 0 { close(orders) }
    orders = -1
  }

  /// Ends it at once.
  func kill(for reason: String) {
    killedFor = reason
    Foundation.kill(process, SIGKILL)
  }

  /// Waits for its end; how it ended, in words.
  func reap() -> String {
    dismiss()
    close(answers)
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    if signal == 0 { exitCode = (status >> 8) & 0xFF }
    if let killedFor { return killedFor }
    if signal != 0 { return "the worker was ended by signal \(signal)" }
    return "the worker ended with exit code \((status >> 8) & 0xFF)"
  }

  /// Waits some seconds for its end, then kills it.
  func reapSoon() {
    dismiss()
    for _ in 0..<300 {
      var status: CInt = 0
      if waitpid(process, &status, WNOHANG) != 0 {
        close(answers)
        return
      }
      usleep(10_000)
    }
    kill(for: "the driver ended")
    _ = reap()
  }
}
