import FedSim
import Foundation
import Processes
import Schema
import Synchronization

/// A class in Python that is a part of the policy, in a separate process.
///
/// The process keeps nothing from one call to the next: what the part remembers is handed to each
/// call and comes back. One that died is replaced, and its call is made again, once.
public final class PolicyCode: @unchecked Sendable {
  /// What tells one from another.
  struct Key: Equatable {
    var seam: String
    var part: String
    var folder: String
    var settings: String
    var timeout: SimDuration
    var interpreter: String?
  }

  private static let all = Mutex<[(key: Key, code: PolicyCode)]>([])
  private static let failed = Mutex<(@Sendable (String) -> Never)?>(nil)

  /// What is said of it once: its process, and what that stated.
  private struct Loaded {
    var process: PythonProcess?
    var statement = PolicyStatement()
  }

  private let key: Key
  private let lock = NSLock()
  /// Reached under the lock.
  private var loaded: Loaded?

  private init(_ key: Key) { self.key = key }

  /// The code of some settings: of equal ones the same.
  static func shared(_ key: Key) -> PolicyCode {
    all.withLock { all in
      if let found = all.first(where: { $0.key == key }) { return found.code }
      let code = PolicyCode(key)
      all.append((key, code))
      return code
    }
  }

  /// What is done where a call fails; otherwise the process ends with exit code 3.
  public static func onFailure(_ body: @escaping @Sendable (String) -> Never) {
    failed.withLock { $0 = body }
  }

  // MARK: What it states

  /// What the class states; of one that cannot be loaded nothing.
  var statement: PolicyStatement { lock.withLock { load().statement } }

  /// Why it cannot be loaded; nil: it is.
  var fault: String? { statement.fault?.words }

  private func load() -> Loaded {
    if let loaded { return loaded }
    var fresh = Loaded()
    do throws(PythonProcess.Lost) {
      let process = try PythonProcess(
        "pyfedsim._policy", interpreter: key.interpreter, begin: begin,
        timeout: .microseconds(key.timeout.microseconds), limit: "\(key.timeout) (`timeout`)")
      fresh.statement = try Self.statement(process)
      if fresh.statement.fault == nil { fresh.process = process }
    } catch {
      fresh.statement.fault = PolicyFault(message: error.reason, traceback: "")
    }
    loaded = fresh
    return fresh
  }

  private var begin: [UInt8] {
    let begin = PolicyBegin(
      seam: key.seam, folder: key.folder, part: key.part, settings: key.settings)
    return (try? JSONEncoder().encode(begin)).map { Array($0) } ?? []
  }

  private static func statement(
    _ process: PythonProcess
  ) throws(PythonProcess.Lost) -> PolicyStatement {
    let bytes = try process.firstAnswer()
    guard let statement = try? JSONDecoder().decode(PolicyStatement.self, from: Data(bytes)),
      statement.format == PolicyBegin.currentFormat
    else {
      throw PythonProcess.Lost(reason: "the Python package pyfedsim is of another version")
    }
    return statement
  }

  // MARK: Calls

  /// Makes a call. `put` writes arrays into the memory, which is grown to `bytes` before.
  func call<Answer: Decodable>(
    _ call: some Encodable, memory: inout PythonMemory, bytes: Int = 0,
    put: (UnsafeMutableRawBufferPointer) -> Void = { _ in },
    take: (UnsafeMutableRawBufferPointer) -> Void = { _ in }
  ) -> Answer {
    lock.withLock {
      let now = load()
      do throws(PythonProcess.Lost) {
        guard let process = now.process else {
          throw PythonProcess.Lost(reason: now.statement.fault?.words ?? "it was not loaded")
        }
        let message = PolicyMessage(call, memory)
        return try Self.twice(process) { () throws(PythonProcess.Lost) in
          do throws(StartFault) {
            try process.memory.grow(to: bytes)
          } catch {
            throw PythonProcess.Lost(reason: "\(error)")
          }
          put(process.memory.bytes)
          let answer: (value: Answer, memory: PythonMemory) = try PolicyMessage.read(
            try process.ask(message.bytes))
          memory = answer.memory
          take(process.memory.bytes)
          return answer.value
        }
      } catch {
        giveUp(error.reason)
      }
    }
  }

  /// Does something with a process; one that dies is replaced, and it is done again, once.
  private static func twice<Value>(
    _ process: PythonProcess, _ body: () throws(PythonProcess.Lost) -> Value
  ) throws(PythonProcess.Lost) -> Value {
    do throws(PythonProcess.Lost) {
      return try body()
    } catch {
      guard error.isDeath else { throw error }
    }
    try process.restart()
    _ = try statement(process)
    do throws(PythonProcess.Lost) {
      return try body()
    } catch {
      guard error.isDeath else { throw error }
      throw PythonProcess.Lost(reason: "its process \(error.reason), twice")
    }
  }

  private func giveUp(_ reason: String) -> Never {
    let message = "\(key.seam) `\(key.part)`: \(reason)"
    if let failed = Self.failed.withLock({ $0 }) { failed(message) }
    try? FileHandle.standardError.write(contentsOf: Data((message + "\n").utf8))
    exit(3)
  }
}
