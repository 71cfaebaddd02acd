/// A device's training, as a pure function of its values: same values, same bits, on any thread.
public struct LocalTraining: Sendable {
  /// The model.
  public let network: Network
  /// The data that all shards point into.
  public let dataset: Dataset
  /// The device's samples, as indices into the data set; an index may occur more than once.
  public let shard: [Int32]
  /// Epochs, batch size and step.
  public let plan: TrainingPlan
  /// The order in which each epoch passes over the shard.
  public let order: BatchOrder

  /// A training of `network` on the shard.
  public init(
    network: Network, dataset: Dataset, shard: [Int32], plan: TrainingPlan, order: BatchOrder
  ) {
    precondition(network.inputCount == dataset.sampleSize, "the network takes the samples")
    precondition(network.classCount >= dataset.classCount, "the network tells the classes apart")
    self.network = network
    self.dataset = dataset
    self.shard = shard
    self.plan = plan
    self.order = order
  }

  /// Batches of the whole plan.
  public var batchCount: Int { plan.batchCount(shardCount: shard.count) }

  /// Runs the given batches of the plan, numbered from 0 over all epochs.
  ///
  /// Running 0 ..< k and then, from the memory and the loss sum that this left, k ..< n gives the
  /// bits of running 0 ..< n at once. `lossSum` of the outcome begins at `lossSum`; its other sums
  /// are of these batches alone. No batches: the memory comes back as it is.
  public func run(
    _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double = 0, kernels: Kernels,
    scratch: Scratch
  ) -> TrainingOutcome {
    precondition(memory.parameters.count == network.layout.count, "parameters fit the network")
    precondition(
      batches.lowerBound >= 0 && batches.upperBound <= batchCount,
      "batches \(batches) of a plan of \(batchCount)")
    guard !batches.isEmpty else {
      return TrainingOutcome(
        memory: memory, lossSum: lossSum, samplesProcessed: 0, distinctSamples: 0)
    }
    let space = scratch.workspace(for: network, rows: min(plan.batchSize, shard.count))
    var score = Network.Score(lossSum: lossSum)
    var visits = Visits(shardCount: shard.count)
    let start = memory.parameters.storage
    let parameters = ParameterBuffer(uninitializedCount: network.layout.count) { target in
      var positions: [Int32] = []
      var epoch = -1
      for batch in batches {
        let place = plan.place(ofBatch: batch, shardCount: shard.count)
        if place.epoch != epoch {
          epoch = place.epoch
          positions = order.positions(epoch: epoch, shardCount: shard.count)
        }
        let rows = place.positions.count
        visits.add(positions[place.positions])
        let samples = positions[place.positions].lazy.map { shard[Int($0)] }
        dataset.gather(samples, into: space.activations[0], kernels: kernels)
        dataset.gatherLabels(samples, into: space.labels)
        // The first step reads the start and writes the target whole; later ones run in place.
        network.step(
          rows, scale: Float(-plan.learningRate / Double(rows)),
          parameters: batch == batches.lowerBound ? start : target, target: target, in: space,
          kernels: kernels, score: &score)
      }
    }
    return TrainingOutcome(
      memory: DeviceMemory(parameters: parameters), lossSum: score.lossSum,
      samplesProcessed: plan.samples(inBatches: batches, shardCount: shard.count),
      distinctSamples: visits.count)
  }

  /// Places of the shard visited so far.
  private struct Visits {
    private var seen: [Bool]
    private(set) var count = 0

    init(shardCount: Int) { seen = Array(repeating: false, count: shardCount) }

    mutating func add(_ positions: ArraySlice<Int32>) {
      for position in positions where !seen[Int(position)] {
        seen[Int(position)] = true
        count += 1
      }
    }
  }
}
