import Synchronization

/// A local training that is described now and computed when somebody needs it, once.
///
/// It holds what it starts from, so base versions live exactly as long as something may need them;
/// once computed it holds its result alone.
public final class DeferredTraining: Sendable {
  /// What a training starts from.
  public indirect enum Start: Sendable, Codable {
    /// A published version.
    case parameters(ParameterBuffer)
    /// Where an earlier stretch of the same training ended.
    case checkpoint(DeferredTraining)
    /// That, moved to another base: checkpoint − old + new, element by element in `Double`.
    case rebased(DeferredTraining, old: ParameterBuffer, new: ParameterBuffer)
    /// A published version, with some ranges as another training left them.
    case joined(ParameterBuffer, keeping: [Range<Int>], of: DeferredTraining)
    /// A published version with what came with it, some ranges and what else is kept from the
    /// device's training before; none: it is the first.
    case continued(
      ParameterBuffer, receiving: [ParameterBuffer], keeping: [Range<Int>],
      after: [DeferredTraining])
  }

  /// What a computed training gives.
  public struct Value: Sendable, Codable {
    /// The device's memory at the end, with the trained parameters; of a last stretch these alone.
    public let memory: DeviceMemory
    /// The sum of the losses of all samples processed since the training began.
    public let lossSum: Double
    /// The sum of their squares, where the training keeps it; nil, too, where no batch ran.
    public let lossSquares: Double?
    /// Evaluation on the device's validation samples; nil without any or where none was asked for.
    public let validation: Evaluation?
    /// What a last stretch leaves for the device's next training and for the server.
    public let auxiliaryOutput: AuxiliaryOutput
    /// The trained parameters.
    public var parameters: ParameterBuffer { memory.parameters }
  }

  enum State {
    case described(Start)
    case computed(Value)
  }

  let description: TrainingDescription
  private let algorithm: any LocalAlgorithm
  private let kernels: Kernels
  /// Who computes it; nil: the thread that asks.
  private let executor: (any TrainingExecutor)?
  private let state: Mutex<State>
  /// Who computes it, as `Trainer`'s raw value.
  private let trainerValue: Atomic<Int>

  /// Which rank computes a training. All ranks agree on it.
  public enum Trainer: Equatable, Sendable {
    /// That is not decided.
    case none
    /// This one. Another may still compute it for itself: it is a pure function.
    case rank(Int)
    /// All have its value.
    case all
  }

  /// Which rank computes it; of no meaning where one process plays the run.
  public var trainer: Trainer {
    get {
      switch trainerValue.load(ordering: .relaxed) {
      case -2: .all
      case -1: .none
      case let rank: .rank(rank)
      }
    }
    set {
      let value =
        switch newValue {
        case .all: -2
        case .none: -1
        case .rank(let rank): rank
        }
      trainerValue.store(value, ordering: .relaxed)
    }
  }

  /// Describes the given batches of a training; `validation` lists samples to evaluate the end on,
  /// `isLast` tells that no training continues from there. `model` is the place of network and
  /// algorithm in the run's `TrainingCatalog`. `executor` computes it; nil: the thread that asks.
  public convenience init(
    _ training: LocalTraining, by algorithm: any LocalAlgorithm, batches: Range<Int>,
    from start: Start, validation: [Int32], isLast: Bool = false, model: Int = 0, kernels: Kernels,
    executor: (any TrainingExecutor)? = nil
  ) {
    self.init(
      TrainingDescription(
        training: training, batches: batches, validation: validation, isLast: isLast, model: model),
      by: algorithm, state: .described(start), kernels: kernels, executor: executor)
  }

  init(
    _ description: TrainingDescription, by algorithm: any LocalAlgorithm, state: State,
    kernels: Kernels, executor: (any TrainingExecutor)?
  ) {
    self.description = description
    self.algorithm = algorithm
    self.kernels = kernels
    self.executor = executor
    self.state = Mutex(state)
    // What is restored as computed is so on every rank.
    let isComputed = if case .computed = state { true } else { false }
    trainerValue = Atomic(isComputed ? -2 : -1)
  }

  /// Where it is; if another thread is at it, after that.
  var stateNow: State { state.withLock { $0 } }

  /// Whether the value is there.
  public var isComputed: Bool {
    state.withLock { if case .computed = $0 { true } else { false } }
  }

  /// The value, computed on this thread unless it is there or another thread is at it.
  public func value(_ scratch: Scratch) -> Value {
    state.withLock { state in
      switch state {
      case .computed(let value):
        return value
      case .described(let start):
        let value = compute(from: start, scratch)
        state = .computed(value)
        return value
      }
    }
  }

  /// Takes over the value that another rank has computed.
  func take(_ value: Value) {
    state.withLock { state in
      if case .described = state { state = .computed(value) }
    }
  }

  /// The trainings of the same device that it begins with, as far as they are not computed.
  package var begunBy: DeferredTraining? {
    guard case .described(let start) = stateNow else { return nil }
    switch start {
    case .parameters: return nil
    case .checkpoint(let earlier), .rebased(let earlier, _, _), .joined(_, _, let earlier):
      return earlier
    case .continued(_, _, _, let after): return after.first
    }
  }

  /// How many batches it is.
  public var batchCount: Int { description.batches.count }

  var training: LocalTraining { description.training }
  var batches: Range<Int> { description.batches }

  /// What a sum takes of the value, neither kept nor gathered with what else belongs to a value;
  /// nil where another thread is at it and this one is not to wait. `following` is what the thread
  /// will most likely run next.
  func passed(
    _ scratch: Scratch, waits: Bool, before following: DeferredTraining? = nil
  ) -> (ParameterBuffer, StreamedSum.Score)? {
    waits
      ? state.withLock { pass($0, scratch, following) }
      : state.withLockIfAvailable { pass($0, scratch, following) }
  }

  private func pass(
    _ state: State, _ scratch: Scratch, _ following: DeferredTraining?
  ) -> (ParameterBuffer, StreamedSum.Score) {
    switch state {
    case .computed(let value):
      let score = StreamedSum.Score(
        lossSum: value.lossSum, lossSquares: value.lossSquares, validation: value.validation)
      return (value.parameters, score)
    case .described(let start):
      let answer = run(from: start, scratch, before: following)
      let outcome = answer.outcome
      let score = StreamedSum.Score(
        lossSum: outcome.lossSum, lossSquares: outcome.memory.lossSquares,
        validation: answer.validation)
      return (outcome.parameters, score)
    }
  }

  /// What the steps of its first batches add up to, as `TrainingPlan.stepSum`; where that is not
  /// defined, how many they are.
  public func stepSum(batches: Int, pull: Double) -> Double {
    training.plan.stepSum(batches: batches, of: training.batchCount, pull: pull) ?? Double(batches)
  }

  /// The loss of some parameters on the training's samples, each counting as often as it occurs.
  public func loss(of parameters: ParameterBuffer, _ scratch: Scratch) -> Evaluation {
    Evaluation(
      of: training.network, parameters: parameters, dataset: training.dataset,
      samples: training.shard, kernels: kernels, scratch: scratch)
  }

  /// Computes the value, unless it is there or another thread is at it. `following` is what the
  /// thread will most likely run next.
  public func computeUnlessBusy(_ scratch: Scratch, before following: DeferredTraining? = nil) {
    _ = state.withLockIfAvailable { state in
      if case .described(let start) = state {
        state = .computed(compute(from: start, scratch, before: following))
      }
    }
  }

  /// Runs the batches, and evaluates where that is asked for.
  private func run(
    from start: Start, _ scratch: Scratch, before following: DeferredTraining?
  ) -> TrainingAnswer {
    let (memory, lossSum) = beginning(start, scratch)
    let request = TrainingRequest(description, memory: memory, lossSum: lossSum)
    if let executor { return executor.answer(request) }
    scratch.following = following
    defer { scratch.following = nil }
    return request.answer(by: algorithm, kernels: kernels, scratch: scratch)
  }

  private func compute(
    from start: Start, _ scratch: Scratch, before following: DeferredTraining? = nil
  ) -> Value {
    let answer = run(from: start, scratch, before: following)
    let outcome = answer.outcome
    let isLast = description.isLast
    let kept = isLast ? DeviceMemory(parameters: outcome.parameters) : outcome.memory
    let auxiliaryOutput =
      isLast
      ? algorithm.auxiliaryOutput(
        of: training, batches: description.batches.upperBound, outcome.memory)
      : AuxiliaryOutput()
    return Value(
      memory: kept, lossSum: outcome.lossSum, lossSquares: outcome.memory.lossSquares,
      validation: answer.validation, auxiliaryOutput: auxiliaryOutput)
  }

  /// The memory that the batches begin with, and the losses before them.
  private func beginning(_ start: Start, _ scratch: Scratch) -> (DeviceMemory, Double) {
    let needsOrigin = algorithm.needs.origin
    switch start {
    case .parameters(let parameters):
      return (DeviceMemory(parameters: parameters, origin: needsOrigin ? parameters : nil), 0)
    case .checkpoint(let earlier):
      let value = earlier.value(scratch)
      return (value.memory, value.lossSum)
    case .rebased(let earlier, let old, let new):
      let value = earlier.value(scratch)
      let memory = DeviceMemory(
        parameters: Self.moved(value.parameters, from: old, to: new),
        optimizerSlots: value.memory.optimizerSlots, origin: needsOrigin ? new : nil,
        received: value.memory.received, kept: value.memory.kept,
        lossSquares: value.memory.lossSquares)
      return (memory, value.lossSum)
    case .joined(let version, let ranges, let earlier):
      let parameters = version.replacing(ranges, from: earlier.value(scratch).parameters)
      return (DeviceMemory(parameters: parameters, origin: needsOrigin ? parameters : nil), 0)
    case .continued(let version, let received, let ranges, let earlier):
      let value = earlier.first?.value(scratch)
      let parameters = value.map { version.replacing(ranges, from: $0.parameters) } ?? version
      let memory = DeviceMemory(
        parameters: parameters, origin: needsOrigin ? parameters : nil, received: received,
        kept: value?.auxiliaryOutput.kept ?? [])
      return (memory, 0)
    }
  }

  private static func moved(
    _ parameters: ParameterBuffer, from old: ParameterBuffer, to new: ParameterBuffer
  ) -> ParameterBuffer {
    ParameterBuffer(count: parameters.count) { target in
      for i in 0..<target.count {
        target[i] = Float(Double(parameters[i]) - Double(old[i]) + Double(new[i]))
      }
    }
  }
}
