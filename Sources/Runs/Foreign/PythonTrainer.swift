import Dispatch
import FedSim
import Foundation
import Learning
import Processes
import Scenarios
import Synchronization

/// A trainer in Python, in as many processes as threads ask for something at the same time.
///
/// A process keeps nothing from one request to the next, so one that died is replaced, and its
/// request is made again, once.
final class PythonTrainer: ForeignModel {
  /// `module:function`.
  let source: String
  /// What the trainer states.
  let statement: TrainerStatement
  let layout: ParameterLayout
  let train: Dataset
  let test: Dataset
  /// The natural clients; nil: there are none.
  let users: DataUsersLists?
  private let begin: TrainerBegin
  private let settings: PythonSettings
  /// The names of the groups and how many devices each has.
  private let groups: [(name: String, count: Int)]
  private let state: Mutex<State>
  private let free: DispatchSemaphore
  /// What is done where something cannot be computed.
  let lastResort = LastResort()
  private let trainings = Atomic<Int>(0)

  private struct State {
    /// Processes that nobody uses, the last used at the end.
    var idle: [TrainerChannel]
    /// What differed when it was computed twice: a line each.
    var warnings: [String] = []
    var differing = 0
  }

  /// Natural clients as the trainer states them.
  struct DataUsersLists {
    var names: [String]
    var shards: [[Int32]]
    var tests: [[Int32]]
  }

  /// Why there is no trainer.
  struct NotReady: Error { let reason: String }

  var classCount: Int { statement.classes }
  var cost: ForeignCost? {
    statement.operations.map {
      ForeignCost(operationsPerSample: $0, valuesPerSample: statement.values ?? 0)
    }
  }

  /// The trainer, as a result names it: `module:function` and its module's digest.
  var words: String { "trainer \(source)\(statement.digest.map { " sha256 \($0)" } ?? "")" }
  /// What computes in FedSim's place: versions of Python and of libraries, and the processor.
  var versions: [String] { statement.versions.map { "\($0.name) \($0.version)" } }

  /// Differences that were found, for the run's summary.
  var warnings: [String] {
    state.withLock { state in
      let more = state.differing - state.warnings.count
      return state.warnings + (more > 0 ? ["and \(more) more trainings of such a kind"] : [])
    }
  }

  /// Starts one process and asks it what the trainer has.
  init(
    _ settings: PythonSettings, folder: String, threads: Int,
    groups: [(name: String, count: Int)]
  ) throws(NotReady) {
    self.settings = settings
    self.groups = groups
    source = settings.trainer
    begin = TrainerBegin(
      folder: folder, trainer: settings.trainer, settings: settings.settings.json)
    let channel: TrainerChannel
    let stated: (TrainerStatement, arrays: [[Int32]])
    do throws(TrainerChannel.Lost) {
      channel = try TrainerChannel(settings.interpreter, begin, timeout: settings.timeout)
      stated = try channel.statement()
    } catch {
      throw NotReady(reason: error.reason)
    }
    statement = stated.0
    layout = try Self.layout(of: stated.0)
    let data = try TrainerSamples(stated.0, stated.arrays)
    (train, test, users) = (data.train, data.test, data.users)
    state = Mutex(State(idle: [channel]))
    free = DispatchSemaphore(value: settings.workers ?? max(1, threads))
  }

  private static func layout(of statement: TrainerStatement) throws(NotReady) -> ParameterLayout {
    var (tensors, names) = ([TensorSpec](), [String]())
    for tensor in statement.tensors {
      guard !tensor.name.isEmpty, tensor.shape.allSatisfy({ $0 > 0 }) else {
        throw NotReady(reason: "the tensor `\(tensor.name)` of shape \(tensor.shape) is empty")
      }
      let name = ModelTable.variable(of: tensor.name)
      guard name.count <= 80 else {
        throw NotReady(reason: "the tensor `\(tensor.name)`: a name has at most 80 characters")
      }
      guard !names.contains(name) else {
        throw NotReady(reason: "two tensors have the name `\(name)` in a result")
      }
      names.append(name)
      tensors.append(
        TensorSpec(
          name: tensor.name, shape: tensor.shape, offset: tensors.last?.range.upperBound ?? 0,
          isStatistic: tensor.isStatistic))
    }
    guard !tensors.isEmpty else { throw NotReady(reason: "the trainer has no parameters") }
    return ParameterLayout(tensors)
  }

  /// Version 0.
  func initial(seed: UInt64) throws(NotReady) -> ParameterBuffer {
    do throws(TrainerChannel.Lost) {
      let channel = try channel(first: false)
      defer { give(channel) }
      let parameters = try channel.initial(seed: seed, count: layout.count)
      guard parameters.isFinite else {
        throw TrainerChannel.Lost(
          reason: "initial(\(seed)): \(unfit(parameters)) is infinite or not a number")
      }
      return parameters
    } catch {
      throw NotReady(reason: error.reason)
    }
  }

  // MARK: Requests

  func train(_ batches: ForeignBatches, from memory: ForeignMemory) -> ForeignOutcome {
    let number = trainings.add(1, ordering: .relaxed).oldValue
    let isChecked = settings.checkEvery > 0 && number % settings.checkEvery == 0
    let what = { self.words(batches) }
    let outcome = ask(what) { channel throws(TrainerChannel.Lost) in
      let outcome = try channel.train(batches, from: memory)
      let parameters = outcome.memory.parameters
      guard parameters.isFinite, outcome.lossSum.isFinite else {
        let name = parameters.isFinite ? "the sum of losses" : self.unfit(parameters)
        throw TrainerChannel.Lost(reason: "\(name) is infinite or not a number")
      }
      return outcome
    }
    guard isChecked else { return outcome }
    let again = ask(what, first: true) { channel throws(TrainerChannel.Lost) in
      try channel.train(batches, from: memory)
    }
    if let difference = outcome.difference(from: again, layout) { warn(what(), difference) }
    return outcome
  }

  func evaluate(
    _ samples: ArraySlice<Int32>, of dataset: Dataset, by parameters: ParameterBuffer
  ) -> Evaluation {
    if samples.isEmpty { return Evaluation(count: 0, correct: 0, lossSum: 0) }
    let isTest = dataset === test
    return ask({ "evaluation of \(samples.count) \(isTest ? "test" : "training") samples" }) {
      channel throws(TrainerChannel.Lost) in
      let found = try channel.evaluate(samples, isTest: isTest, by: parameters)
      guard found.lossSum.isFinite else {
        throw TrainerChannel.Lost(reason: "the sum of losses is infinite or not a number")
      }
      return found
    }
  }

  /// Asks a process that has nothing to do, or waits for one; `first`: the one that had nothing to
  /// do for the longest time.
  private func ask<Value>(
    _ what: () -> String, first: Bool = false,
    _ body: (TrainerChannel) throws(TrainerChannel.Lost) -> Value
  ) -> Value {
    do throws(TrainerChannel.Lost) {
      let channel = try channel(first: first)
      defer { give(channel) }
      return try PythonProcess.twice { () throws(TrainerChannel.Lost) in
        try body(channel)
      } restart: { () throws(TrainerChannel.Lost) in
        try channel.restart()
      }
    } catch {
      lastResort.end("trainer `\(source)`, \(what()): \(error.reason)")
    }
  }

  /// A process that nobody uses, a new one, or the next that is given back.
  private func channel(first: Bool) throws(TrainerChannel.Lost) -> TrainerChannel {
    free.wait()
    let idle = state.withLock { state in
      first && state.idle.count > 1 ? state.idle.removeFirst() : state.idle.popLast()
    }
    if let idle { return idle }
    let channel = try TrainerChannel(settings.interpreter, begin, timeout: settings.timeout)
    _ = try channel.statement()
    return channel
  }

  private func give(_ channel: TrainerChannel) {
    state.withLock { $0.idle.append(channel) }
    free.signal()
  }

  // MARK: Words

  /// A training in words: whose, and which batches.
  private func words(_ batches: ForeignBatches) -> String {
    let (first, last) = (batches.numbers.lowerBound, batches.numbers.upperBound - 1)
    let numbers = first == last ? "batch \(first)" : "batches \(first) to \(last)"
    let owner = batches.owner
    let client = owner.client < 0 ? "collected samples" : "client \(owner.client)"
    return client + (path(of: owner.device).map { " (\($0))" } ?? "") + ", " + numbers
  }

  private func path(of device: Int) -> String? {
    var rest = device
    for group in groups where rest >= 0 {
      if rest < group.count { return "\(group.name)/\(rest)" }
      rest -= group.count
    }
    return nil
  }

  /// The first tensor with a number that is infinite or none.
  private func unfit(_ parameters: ParameterBuffer) -> String {
    let tensor = layout.tensors.first { !parameters.values(of: $0).allSatisfy(\.isFinite) }
    return tensor.map { "`\($0.name)`" } ?? "a parameter"
  }

  private func warn(_ what: String, _ difference: String) {
    let line =
      "trainer `\(source)`, \(what): computed twice, \(difference); results of this run are not"
      + " reproducible"
    state.withLock { state in
      state.differing += 1
      if state.warnings.count < 5 { state.warnings.append(line) }
    }
  }
}

extension ForeignOutcome {
  /// What is not the same; nil: every bit is.
  func difference(from other: ForeignOutcome, _ layout: ParameterLayout) -> String? {
    let (a, b) = (memory.parameters, other.memory.parameters)
    for tensor in layout.tensors {
      let places = tensor.range.filter { a[$0].bitPattern != b[$0].bitPattern }
      guard !places.isEmpty else { continue }
      let most = places.map { abs(a[$0] - b[$0]) }.max() ?? 0
      return "`\(tensor.name)` differs by up to \(most)"
    }
    if lossSum != other.lossSum { return "the sum of losses differs: \(lossSum), \(other.lossSum)" }
    let (mine, theirs) = (memory.state?.values ?? [], other.memory.state?.values ?? [])
    return mine.map(\.bitPattern) == theirs.map(\.bitPattern) ? nil : "the memory differs"
  }
}
