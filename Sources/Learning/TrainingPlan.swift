/// How a device trains: how often over its data, in batches of what size, with what step.
public struct TrainingPlan: Equatable, Sendable {
  /// Passes over the shard.
  public let epochs: Int
  /// Samples in a batch; the last batch of an epoch holds what is left.
  public let batchSize: Int
  /// The step of stochastic gradient descent, on the mean loss of a batch.
  public let learningRate: Double

  /// A plan of `epochs` passes.
  public init(epochs: Int, batchSize: Int, learningRate: Double) {
    precondition(epochs >= 0 && batchSize > 0, "epochs and batches are whole")
    self.epochs = epochs
    self.batchSize = batchSize
    self.learningRate = learningRate
  }

  /// Batches in an epoch over `shardCount` samples; a ragged last batch counts.
  public func batchesPerEpoch(shardCount: Int) -> Int {
    (shardCount + batchSize - 1) / batchSize
  }

  /// Batches of the whole plan over `shardCount` samples.
  public func batchCount(shardCount: Int) -> Int {
    epochs * batchesPerEpoch(shardCount: shardCount)
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
