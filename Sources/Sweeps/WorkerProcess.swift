import Foundation
import Processes
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
    do throws(StartFault) {
      let child = try StartedProcess.piped(program, arguments)
      (process, orders, answers) = (child.process, child.input, child.output)
    } catch {
      throw .failed("a worker cannot be started: \(error)")
    }
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
    let end = StartedProcess.wait(for: process)
    exitCode = end.exitCode
    return killedFor ?? "the worker \(end.words)"
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
