import FedSim
import Foundation
import Learning
import Processes

/// A process of a trainer as the run sees it. One thread at a time uses it.
final class TrainerChannel: @unchecked Sendable {
  /// The process gives no answer.
  typealias Lost = PythonProcess.Lost

  private let process: PythonProcess
  private var area: SharedMemory { process.memory }
  /// The parameters that are at the start of the memory.
  private var held: ParameterBuffer?

  /// Starts a process; nothing is awaited.
  init(_ interpreter: String?, _ begin: TrainerBegin, timeout: SimDuration) throws(Lost) {
    process = try PythonProcess(
      "pyfedsim._worker", interpreter: interpreter,
      begin: (try? JSONEncoder().encode(begin)).map { Array($0) } ?? [],
      timeout: .microseconds(timeout.microseconds), limit: "\(timeout) (`task.python.timeout`)")
  }

  /// Replaces the process by a new one that has said what it is.
  func restart() throws(Lost) {
    held = nil
    try process.restart()
    _ = try statement()
  }

  // MARK: Messages

  /// What the trainer states.
  func statement() throws(Lost) -> (TrainerStatement, arrays: [[Int32]]) {
    let bytes = try process.firstAnswer()
    guard let statement = try? JSONDecoder().decode(TrainerStatement.self, from: Data(bytes)),
      statement.format == TrainerBegin.currentFormat
    else {
      throw Lost(reason: "the Python package pyfedsim is of another version")
    }
    if let fault = statement.fault { throw Lost(reason: fault.words) }
    var arrays: [[Int32]] = []
    let count = 1 + (statement.clients == nil ? 0 : 1) + (statement.hasTestOwners ? 1 : 0)
    for _ in 0..<count {
      let bytes = try process.receive()
      arrays.append(bytes.withUnsafeBytes { Array($0.bindMemory(to: Int32.self)) })
    }
    return (statement, arrays)
  }

  /// Version 0.
  func initial(seed: UInt64, count: Int) throws(Lost) -> ParameterBuffer {
    try ask(TrainerWords(.initial, [Int64(bitPattern: seed), reserve(4 * count)]))
    return copy(count, at: 0)
  }

  /// Has the process run some batches.
  func train(_ batches: ForeignBatches, from memory: ForeignMemory) throws(Lost) -> ForeignOutcome {
    let count = memory.parameters.count
    let (out, state) = (Self.rounded(4 * count), 2 * Self.rounded(4 * count))
    let stateBytes = memory.state?.byteCount ?? 0
    let size = try reserve(state + 2 * Self.rounded(stateBytes))
    hold(memory.parameters)
    memory.state?.withUnsafeBufferPointer {
      UnsafeMutableRawBufferPointer(rebasing: area.bytes[state...])
        .copyMemory(from: UnsafeRawBufferPointer($0))
    }
    var words = TrainerWords(
      .train,
      [
        size, Int64(batches.owner.client), Int64(batches.numbers.lowerBound),
        Int64(batches.numbers.count), Int64(batches.samples.count), Int64(out), Int64(state),
        Int64(stateBytes),
      ])
    words.add(batches.sizes)
    words.add(batches.samples)
    words.add(batches.batchKeys)
    let answer = try ask(words)
    guard let loss = answer.real(0), let left = answer.number(1), let end = answer.number(2),
      left >= 0, left % 4 == 0, mapped(Int(end)), state + Int(left) <= area.bytes.count
    else { throw Lost(reason: "an answer that is not understood") }
    return ForeignOutcome(
      memory: ForeignMemory(
        parameters: copy(count, at: out), state: left == 0 ? nil : copy(Int(left) / 4, at: state)),
      lossSum: loss)
  }

  /// Has the process evaluate parameters.
  func evaluate(
    _ samples: ArraySlice<Int32>, isTest: Bool, by parameters: ParameterBuffer
  ) throws(Lost) -> Evaluation {
    let size = try reserve(parameters.byteCount)
    hold(parameters)
    var words = TrainerWords(.evaluate, [size, isTest ? 1 : 0, Int64(samples.count)])
    words.add(Array(samples))
    let answer = try ask(words)
    guard let count = answer.number(0), let answers = answer.number(1),
      let correct = answer.number(2), let loss = answer.real(3)
    else { throw Lost(reason: "an answer that is not understood") }
    guard 0 <= correct, correct <= answers, answers <= count else {
      throw Lost(reason: "of \(count) answers \(answers) can be right and \(correct) are")
    }
    return Evaluation(
      count: Int(count), correct: Int(correct), lossSum: loss, answers: Int(answers))
  }

  /// Sends a request and waits for the answer.
  @discardableResult
  private func ask(_ words: TrainerWords) throws(Lost) -> TrainerAnswer {
    guard let answer = TrainerAnswer(try process.ask(words.bytes)) else {
      throw Lost(reason: "an answer that is not understood")
    }
    if answer.isFault { throw Lost(reason: answer.fault.words) }
    return answer
  }

  // MARK: Memory

  private static func rounded(_ bytes: Int) -> Int { (bytes + 63) / 64 * 64 }

  /// Makes sure that the memory has this many bytes; its size.
  @discardableResult
  private func reserve(_ bytes: Int) throws(Lost) -> Int64 {
    if bytes > area.bytes.count {
      do throws(StartFault) {
        try area.grow(to: bytes)
      } catch {
        throw Lost(reason: "\(error)")
      }
    }
    return Int64(area.bytes.count)
  }

  /// Maps what the process has added; whether that is possible.
  private func mapped(_ size: Int) -> Bool { (try? area.map(size)) != nil }

  /// Puts parameters at the start of the memory, unless they are there.
  private func hold(_ parameters: ParameterBuffer) {
    if held === parameters { return }
    held = parameters
    parameters.withUnsafeBufferPointer {
      area.bytes.copyMemory(from: UnsafeRawBufferPointer($0))
    }
  }

  private func copy(_ count: Int, at offset: Int) -> ParameterBuffer {
    let bytes = UnsafeRawBufferPointer(rebasing: area.bytes[offset..<offset + 4 * count])
    return ParameterBuffer(copying: bytes.bindMemory(to: Float.self))
  }
}
