/// How a device trains: how often over its data, in batches of what size, with what step.
public struct TrainingPlan: Equatable, Sendable, Codable {
  /// How long a training is.
  public enum Length: Equatable, Sendable, Codable {
    /// Passes over the shard.
    case epochs(Int)
    /// Batches, over as many passes as they need; the last pass may be cut short.
    case steps(Int)
  }

  /// How long a training is.
  public let length: Length
  /// Samples in a batch; the last batch of an epoch holds what is left.
  public let batchSize: Int
  /// How the parameters move with each batch.
  public let optimizer: Optimizer
  /// How the learning rate changes from batch to batch.
  public let schedule: LearningRateSchedule
  /// A bound on each batch's mean gradient.
  public let clipping: GradientClipping?
  /// Batches at most, however long a training is; nil: no limit.
  public let maximumSteps: Int?

  /// A plan of some length.
  public init(
    length: Length, batchSize: Int, optimizer: Optimizer,
    schedule: LearningRateSchedule = .constant, clipping: GradientClipping? = nil,
    maximumSteps: Int? = nil
  ) {
    switch length {
    case .epochs(let count), .steps(let count): precondition(count >= 0, "a length is a count")
    }
    precondition(batchSize > 0, "batches hold samples")
    precondition(maximumSteps ?? 0 >= 0, "a limit is a count")
    self.maximumSteps = maximumSteps
    self.length = length
    self.batchSize = batchSize
    self.optimizer = optimizer
    self.schedule = schedule
    self.clipping = clipping
  }

  /// A plan of `epochs` passes of plain SGD.
  public init(epochs: Int, batchSize: Int, learningRate: Double) {
    self.init(
      length: .epochs(epochs), batchSize: batchSize, optimizer: .sgd(learningRate: learningRate))
  }

  /// The step on the mean loss of a batch, before the schedule's factor.
  public var learningRate: Double { optimizer.learningRate }

  /// Passes over a shard of `shardCount` samples; one that is cut short counts.
  public func epochs(shardCount: Int) -> Int {
    if case .epochs(let epochs) = length, maximumSteps == nil { return epochs }
    let perEpoch = batchesPerEpoch(shardCount: shardCount)
    let steps = batchCount(shardCount: shardCount)
    return perEpoch == 0 ? 0 : (steps + perEpoch - 1) / perEpoch
  }

  /// Batches in an epoch over `shardCount` samples; a ragged last batch counts.
  public func batchesPerEpoch(shardCount: Int) -> Int {
    (shardCount + batchSize - 1) / batchSize
  }

  /// Batches of the whole plan over `shardCount` samples.
  public func batchCount(shardCount: Int) -> Int {
    let perEpoch = batchesPerEpoch(shardCount: shardCount)
    let limit = maximumSteps ?? .max
    switch length {
    case .epochs(let epochs): return min(epochs * perEpoch, limit)
    case .steps(let steps): return perEpoch == 0 ? 0 : min(steps, limit)
    }
  }

  /// The same plan with what is given in place of its values, and this many batches at most.
  public func with(
    epochs: Int? = nil, batchSize: Int? = nil, learningRate: Double? = nil,
    maximumSteps: Int? = nil
  ) -> TrainingPlan {
    var optimizer = optimizer
    if let learningRate { optimizer.learningRate = learningRate }
    return TrainingPlan(
      length: epochs.map { .epochs($0) } ?? length, batchSize: batchSize ?? self.batchSize,
      optimizer: optimizer, schedule: schedule, clipping: clipping,
      maximumSteps: maximumSteps ?? self.maximumSteps)
  }

  /// The epoch of a batch, and the positions in that epoch's order that the batch takes.
  ///
  /// Batches are numbered from 0 over the whole plan.
  public func place(ofBatch batch: Int, shardCount: Int) -> (epoch: Int, positions: Range<Int>) {
    let perEpoch = batchesPerEpoch(shardCount: shardCount)
    precondition(perEpoch > 0 && batch >= 0, "no batch \(batch) in a shard of \(shardCount)")
    let first = batch % perEpoch * batchSize
    return (batch / perEpoch, first..<min(first + batchSize, shardCount))
  }

  /// How many samples the batches process, repetitions counted.
  public func samples(inBatches batches: Range<Int>, shardCount: Int) -> Int {
    func before(_ batch: Int) -> Int {
      let perEpoch = batchesPerEpoch(shardCount: shardCount)
      guard perEpoch > 0 else { return 0 }
      return batch / perEpoch * shardCount + min(batch % perEpoch * batchSize, shardCount)
    }
    return before(batches.upperBound) - before(batches.lowerBound)
  }
}
