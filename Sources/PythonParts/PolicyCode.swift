import FedSim
import Foundation
import Processes
import Schema
import Synchronization

/// A class in Python that is a part of the policy, in a separate process.
///
/// The process keeps nothing from one call to the next: what the part remembers is handed to each
/// call and comes back. One that died is replaced, and its call is made again, once. Few processes
/// live at the same time: the one that was not asked for the longest ends, and is started again by
/// its next call.
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

  /// How many processes live at the same time: more than the parts of a policy.
  static let mostProcesses = 8

  private static let all = Mutex<[(key: Key, code: PolicyCode)]>([])
  /// The code whose process lives, the last asked at the end.
  private static let living = Mutex<[PolicyCode]>([])
  /// What is done where a call fails.
  public static let lastResort = LastResort()

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

  // MARK: What it states

  /// What the class states; of one that cannot be loaded nothing.
  var statement: PolicyStatement { lock.withLock { load().statement } }

  /// The class, as a result names it: its seam, `module:class` and its module's digest.
  var words: String { "\(key.seam) \(key.part)\(statement.digest.map { " sha256 \($0)" } ?? "")" }

  /// Why it cannot be loaded; nil: it is.
  var fault: String? { statement.fault?.words }

  private func load() -> Loaded {
    if let loaded { return loaded }
    var fresh = Loaded()
    do throws(PythonProcess.Lost) {
      let process = try start()
      fresh.statement = try Self.statement(process)
      if fresh.statement.fault == nil { fresh.process = process }
    } catch {
      fresh.statement.fault = PolicyFault(message: error.reason, traceback: "")
    }
    loaded = fresh
    if fresh.process != nil { Self.keep(self) }
    return fresh
  }

  private func start() throws(PythonProcess.Lost) -> PythonProcess {
    try PythonProcess(
      "pyfedsim._policy", interpreter: key.interpreter, begin: begin,
      timeout: .microseconds(key.timeout.microseconds), limit: "\(key.timeout) (`timeout`)")
  }

  /// The process of a class that can be loaded, started again where it was ended for others.
  private func process() throws(PythonProcess.Lost) -> PythonProcess {
    let now = load()
    if let fault = now.statement.fault { throw PythonProcess.Lost(reason: fault.words) }
    defer { Self.keep(self) }
    if let process = now.process { return process }
    let process = try start()
    if let fault = try Self.statement(process).fault {
      throw PythonProcess.Lost(reason: fault.words)
    }
    loaded?.process = process
    return process
  }

  // MARK: Few processes

  /// How many processes live.
  static var processCount: Int { living.withLock { $0.count } }

  /// Notes that a process was asked, and ends others: those not asked for longest, unless they are
  /// in a call.
  private static func keep(_ code: PolicyCode) {
    living.withLock { living in
      living.removeAll { $0 === code }
      living.append(code)
      var place = 0
      while living.count > mostProcesses, place < living.count - 1 {
        if living[place].endProcess() { living.remove(at: place) } else { place += 1 }
      }
    }
  }

  /// Ends the process, unless it is in a call; whether it was ended.
  private func endProcess() -> Bool {
    guard lock.try() else { return false }
    defer { lock.unlock() }
    loaded?.process = nil
    return true
  }

  // MARK: What it begins with

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
      do throws(PythonProcess.Lost) {
        let process = try process()
        let message = PolicyMessage(call, memory)
        return try PythonProcess.twice { () throws(PythonProcess.Lost) in
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
        } restart: { () throws(PythonProcess.Lost) in
          try process.restart()
          _ = try Self.statement(process)
        }
      } catch {
        Self.lastResort.end("\(key.seam) `\(key.part)`: \(error.reason)")
      }
    }
  }
}
