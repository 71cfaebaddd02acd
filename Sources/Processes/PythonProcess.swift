import Foundation

/// A Python process that runs a module of the package pyfedsim and answers messages, one at a time.
/// One thread at a time uses it.
public final class PythonProcess: @unchecked Sendable {
  /// The process gives no answer.
  public struct Lost: Error {
    /// Why, in words.
    public let reason: String
    /// Whether it ended by itself, so that another may be asked.
    public var isDeath: Bool

    /// A process that gives no answer.
    public init(reason: String, isDeath: Bool = false) {
      (self.reason, self.isDeath) = (reason, isDeath)
    }
  }

  /// What both have in memory; the process knows it as descriptor 3.
  public let memory: SharedMemory
  private let interpreter: String
  private let module: String
  private let begin: [UInt8]
  private let timeout: Duration
  private let limit: String
  private var process: pid_t = 0
  private var (requests, answers) = (CInt(-1), CInt(-1))
  /// How often it was started.
  public private(set) var starts = 0

  /// Starts a process and sends it the first message; nothing is awaited.
  ///
  /// An answer that takes longer than `timeout` ends it; `limit` is that in words.
  public init(
    _ module: String, interpreter: String?, begin: [UInt8], timeout: Duration, limit: String
  ) throws(Lost) {
    guard let found = PythonInterpreter.find(interpreter) else {
      throw Lost(reason: "no `python3` is on the PATH; FEDSIM_PYTHON names one")
    }
    // A process that dies is noticed, and ends nothing else.
    signal(SIGPIPE, SIG_IGN)
    (self.interpreter, self.module, self.begin) = (found, module, begin)
    (self.timeout, self.limit) = (timeout, limit)
    do throws(StartFault) {
      memory = try SharedMemory(size: 64)
    } catch {
      throw Lost(reason: "\(error)")
    }
    try start()
  }

  deinit { stop() }

  /// Runs a module as `-m` does, with one thread. A library of arithmetic looks at these variables
  /// when it is loaded, which the import of a package may do.
  private static let beginning = """
    import os, runpy, sys
    for name in "OMP", "OPENBLAS", "MKL", "NUMEXPR":
        os.environ.setdefault(name + "_NUM_THREADS", "1")
    module = sys.argv.pop()
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    """

  private func start() throws(Lost) {
    do throws(StartFault) {
      let started = try StartedProcess.piped(
        interpreter, ["-c", Self.beginning, module],
        files: [.own(STDERR_FILENO), .own(memory.descriptor)], hasOwnGroup: true)
      (process, requests, answers) = (started.process, started.input, started.output)
    } catch {
      throw Lost(reason: "`\(interpreter)` cannot be started: \(error)")
    }
    starts += 1
    _ = MessagePipe.send(begin, to: requests)
  }

  /// Replaces the process by a new one, which is sent the first message.
  public func restart() throws(Lost) {
    stop()
    try start()
  }

  /// Ends the process.
  private func stop() {
    guard requests >= 0 else { return }
    kill(process, SIGKILL)
    _ = ended()
  }

  /// Waits for the process, which has closed its pipe or is killed; how it ended.
  private func ended() -> String {
    guard requests >= 0 else { return "has ended" }
    close(requests)
    close(answers)
    (requests, answers) = (-1, -1)
    return StartedProcess.wait(for: process).words
  }

  /// Does something with a process that keeps nothing from one request to the next: one that dies
  /// is replaced, and it is done again, once.
  public static func twice<Value>(
    _ body: () throws(Lost) -> Value, restart: () throws(Lost) -> Void
  ) throws(Lost) -> Value {
    do throws(Lost) {
      return try body()
    } catch {
      guard error.isDeath else { throw error }
    }
    try restart()
    do throws(Lost) {
      return try body()
    } catch {
      guard error.isDeath else { throw error }
      throw Lost(reason: "the Python process \(error.reason), twice")
    }
  }

  // MARK: Messages

  /// Sends a message and waits for the answer.
  public func ask(_ message: [UInt8]) throws(Lost) -> [UInt8] {
    guard requests >= 0, MessagePipe.send(message, to: requests) else {
      throw Lost(reason: ended(), isDeath: true)
    }
    return try receive()
  }

  /// The first answer, which says what the process is.
  public func firstAnswer() throws(Lost) -> [UInt8] {
    do throws(Lost) {
      return try receive()
    } catch {
      guard error.isDeath else { throw error }
      throw Lost(
        reason: "`\(interpreter) -m \(module)` \(error.reason) before it was ready; it needs the"
          + " Python package pyfedsim of this version of FedSim")
    }
  }

  /// The next message, if it comes in time.
  public func receive() throws(Lost) -> [UInt8] {
    guard requests >= 0 else { throw Lost(reason: "has ended", isDeath: true) }
    let end = ContinuousClock.now + timeout
    while true {
      let left = (end - ContinuousClock.now).components
      let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
      guard milliseconds >= 0 else {
        stop()
        throw Lost(reason: "no answer within \(limit); the process was ended")
      }
      var descriptor = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
      if poll(&descriptor, 1, CInt(min(milliseconds + 1, 1_000_000))) > 0 { break }
    }
    guard let bytes = MessagePipe.receive(from: answers) else {
      throw Lost(reason: ended(), isDeath: true)
    }
    return bytes
  }
}
