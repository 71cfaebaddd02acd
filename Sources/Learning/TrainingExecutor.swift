/// Where described trainings are computed: by the thread that asks, unless an executor does it.
///
/// A training is a pure function, so no result depends on where it is computed.
public protocol TrainingExecutor: AnyObject, Sendable {
  /// Computes a training, and returns when it is done. Many threads may call it at once.
  func answer(_ request: TrainingRequest) -> TrainingAnswer
}

/// What a training of some batches is, besides what it begins with.
public struct TrainingDescription: Sendable {
  /// Network, data, shard, plan and orders.
  public let training: LocalTraining
  /// Its batches, numbered from 0 over all epochs.
  public let batches: Range<Int>
  /// Samples to evaluate the end on; empty: it is not evaluated.
  public let validation: [Int32]
  /// Whether no training continues from its end.
  public let isLast: Bool
  /// Which of the run's models it trains, by its place in the `TrainingCatalog`.
  public let model: Int
}

/// A training with all that it begins with.
public struct TrainingRequest: Sendable {
  /// The training.
  public let description: TrainingDescription
  /// What the device has in memory as the batches begin.
  public let memory: DeviceMemory
  /// The losses of the batches before.
  public let lossSum: Double

  /// A request.
  public init(_ description: TrainingDescription, memory: DeviceMemory, lossSum: Double) {
    self.description = description
    self.memory = memory
    self.lossSum = lossSum
  }

  /// Runs the batches on this thread, and evaluates where that is asked for.
  public func answer(
    by algorithm: any LocalAlgorithm, kernels: Kernels, scratch: Scratch
  ) -> TrainingAnswer {
    let training = description.training
    let outcome = algorithm.run(
      training, description.batches, from: memory, lossSum: lossSum, kernels: kernels,
      scratch: scratch)
    let evaluation =
      description.validation.isEmpty
      ? nil
      : Evaluation(
        of: training.network, parameters: outcome.parameters, dataset: training.dataset,
        samples: description.validation, kernels: kernels, scratch: scratch)
    return TrainingAnswer(outcome: outcome, validation: evaluation)
  }
}

/// What came of a training.
public struct TrainingAnswer: Sendable {
  /// Its memory after the last batch, and its sums.
  public let outcome: TrainingOutcome
  /// Its evaluation; nil where none was asked for.
  public let validation: Evaluation?

  /// An answer.
  public init(outcome: TrainingOutcome, validation: Evaluation?) {
    self.outcome = outcome
    self.validation = validation
  }
}
