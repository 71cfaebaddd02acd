import Numerics

/// A device's training, as a pure function of its values: same values, same bits, on any thread.
public struct LocalTraining: Sendable {
  /// The layers of the model that is trained, and its loss.
  public let network: Network
  /// The data that all shards point into.
  public let dataset: Dataset
  /// The device's samples, as indices into the data set; an index may occur more than once.
  public let shard: [Int32]
  /// Epochs, batch size and step.
  public let plan: TrainingPlan
  /// The order in which each epoch passes over the shard.
  public let order: BatchOrder
  /// Where dropout's numbers come from: a key, and the slot of the first epoch.
  public let noise: Noise?
  /// Labels that are trained on instead of the data's own, by these; nil: the data's own.
  public let relabelling: [Int32]?
  /// Whether the memory keeps the sum of the samples' squared losses.
  public let keepsLossSquares: Bool
  /// Whose training it is, for messages of foreign code; nil: nobody's.
  public let owner: Owner?

  /// Whose training it is.
  public struct Owner: Sendable, Codable, Equatable {
    /// The client in the partition.
    public let client: Int
    /// The device's number in the fleet; −1: the training is on no device.
    public let device: Int

    /// A client on a device.
    public init(client: Int, device: Int = -1) {
      self.client = client
      self.device = device
    }
  }

  /// A key of random numbers, and the slot of a training's first epoch.
  public struct Noise: Sendable, Codable {
    /// The device's key.
    public let key: StreamKey
    /// The data epoch that the training begins with.
    public let firstSlot: UInt64

    /// Numbers by this key.
    public init(key: StreamKey, firstSlot: UInt64) {
      self.key = key
      self.firstSlot = firstSlot
    }
  }

  /// A training of `network` on the shard.
  ///
  /// `noise` is needed for a network that draws numbers, where the order is not keyed itself;
  /// `relabelling` has a label for each class.
  public init(
    network: Network, dataset: Dataset, shard: [Int32], plan: TrainingPlan, order: BatchOrder,
    noise: Noise? = nil, relabelling: [Int32]? = nil, keepsLossSquares: Bool = false,
    owner: Owner? = nil
  ) {
    if case .keyed(let key, let firstSlot) = order, noise == nil {
      self.noise = Noise(key: key, firstSlot: firstSlot)
    } else {
      self.noise = noise
    }
    precondition(!network.isNoisy || self.noise != nil, "a network that draws numbers has a key")
    precondition(network.inputCount == dataset.sampleSize, "the network takes the samples")
    precondition(network.learns(dataset), "the network distinguishes the classes")
    precondition(Self.fit(relabelling, dataset, network), "labels are those of classes")
    self.relabelling = relabelling
    self.keepsLossSquares = keepsLossSquares
    self.owner = owner
    self.network = network
    self.dataset = dataset
    self.shard = shard
    self.plan = plan
    self.order = order
  }

  /// Whether labels can replace those of a data set in trainings of a network.
  static func fit(_ labels: [Int32]?, _ dataset: Dataset, _ network: Network) -> Bool {
    guard let labels else { return true }
    return dataset.kind == .classes && labels.count >= dataset.classCount
      && labels.allSatisfy { $0 >= 0 && Int($0) < network.classCount }
  }

  /// The same training by another plan, without the squares of losses.
  func with(plan: TrainingPlan) -> LocalTraining {
    LocalTraining(
      network: network, dataset: dataset, shard: shard, plan: plan, order: order, noise: noise,
      relabelling: relabelling, owner: owner)
  }

  /// Batches of the whole plan.
  public var batchCount: Int { plan.batchCount(shardCount: shard.count) }

  /// Runs the given batches of the plan, numbered from 0 over all epochs.
  ///
  /// Running 0 ..< k and then, from the memory and the loss sum that this left, k ..< n gives the
  /// bits of running 0 ..< n at once. `lossSum` of the outcome begins at `lossSum`; its other sums
  /// are of these batches alone. Where squares of losses are kept, their sum begins at the
  /// memory's. No batches: the memory comes back as it is. `correction` is added to each batch's
  /// mean gradient.
  public func run(
    _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double = 0,
    correction: GradientCorrection? = nil, kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    precondition(memory.parameters.count == network.layout.count, "parameters fit the network")
    precondition(correction?.fits(network.layout.count) ?? true, "a correction fits the network")
    precondition(
      batches.lowerBound >= 0 && batches.upperBound <= batchCount,
      "batches \(batches) of a plan of \(batchCount)")
    guard !batches.isEmpty else {
      return TrainingOutcome(memory: memory, lossSum: lossSum, samplesProcessed: 0)
    }
    if let foreign = network.foreign {
      precondition(correction == nil, "other code corrects its own gradients")
      return run(batches, by: foreign, from: memory, lossSum: lossSum, scratch)
    }
    let space = scratch.workspace(for: network, rows: min(plan.batchSize, shard.count))
    var score = Network.Score(
      lossSum: lossSum, squares: keepsLossSquares ? memory.lossSquares ?? 0 : nil)
    var places = BatchPlaces(self, scratch)
    let start = memory.parameters.storage
    let isPlain = isPlain && correction == nil
    let slots = isPlain ? [] : freshSlots(memory)
    let count = network.layout.count
    let output = scratch.takeOutput(count: count)
    let parameters = ParameterBuffer(uninitializedCount: count, in: output) { target in
      var samples = places.fill(space.samples.0, batch: batches.lowerBound)
      dataset.prefetch(samples)
      for batch in batches {
        space.gather(samples, of: dataset, kernels: kernels)
        relabel(space.labels, samples.count)
        let (rows, epoch) = (samples.count, places.epoch)
        let isOdd = (batch - batches.lowerBound) % 2 == 1
        let spare = isOdd ? space.samples.0 : space.samples.1
        samples =
          batch + 1 < batches.upperBound
          ? places.fill(spare, batch: batch + 1)
          : scratch.firstOfFollowing(into: spare, rows: space.rows, of: dataset)
        space.fetchAhead(samples, of: dataset)
        // The first step reads the start and writes the target whole; later ones run in place.
        let losses = network.lossCount(rows, in: space)
        var own = Network.Score(
          lossSum: losses == rows ? score.lossSum : 0, squares: score.squares)
        step(
          batch, rows, losses, parameters: batch == batches.lowerBound ? start : target,
          target: target, slots: slots, isPlain: isPlain, correction: correction,
          noise: batchNoise(batch, epoch: epoch), in: space, kernels: kernels, score: &own)
        if losses != rows {
          // The mean over positions counts once for each sample.
          own.lossSum = score.lossSum + own.lossSum / Double(losses) * Double(rows)
        }
        score = own
      }
    }
    return TrainingOutcome(
      memory: memory.moved(
        to: parameters, optimizerSlots: slots, lossSquares: score.squares),
      lossSum: score.lossSum,
      samplesProcessed: plan.samples(inBatches: batches, shardCount: shard.count))
  }

  /// Whether a step needs no separate gradient: plain SGD.
  private var isPlain: Bool { plan.optimizer.isPlain && plan.clipping == nil }

  private func step(
    _ batch: Int, _ rows: Int, _ losses: Int, parameters: UnsafePointer<Float>,
    target: UnsafeMutablePointer<Float>, slots: [ParameterBuffer], isPlain: Bool,
    correction: GradientCorrection?, noise: BatchNoise?, in space: Workspace, kernels: Kernels,
    score: inout Network.Score
  ) {
    let rate = plan.learningRate * plan.schedule.factor(step: batch, of: batchCount)
    guard !isPlain else {
      network.step(
        rows, scale: Float(-rate / Double(losses)), parameters: parameters, target: target,
        in: space, kernels: kernels, noise: noise, score: &score)
      network.moveStatistics(
        rows, parameters: parameters, target: target, in: space, kernels: kernels)
      return
    }
    let gradient = space.gradient
    network.gradient(
      rows, scale: Float(1 / Double(losses)), parameters: parameters, target: gradient, in: space,
      kernels: kernels, noise: noise, score: &score)
    correction?.pull(gradient, parameters, network.layout)
    plan.clipping?.apply(to: gradient, layout: network.layout, kernels: kernels)
    correction?.shift(gradient, network.layout)
    plan.optimizer.apply(
      gradient, step: batch, rate: rate, layout: network.layout, slots: slots,
      weights: parameters, target: target, kernels: kernels)
    correction?.follow(target, rate: rate, network.layout)
    network.moveStatistics(
      rows, parameters: parameters, target: target, in: space, kernels: kernels)
    network.keepFrozen(start: parameters, target: target)
  }

  private func relabel(_ labels: UnsafeMutablePointer<Int32>, _ count: Int) {
    guard let relabelling else { return }
    for row in 0..<count { labels[row] = relabelling[Int(labels[row])] }
  }

  /// The optimiser's slots, as the memory has them or zeros, free to be written.
  private func freshSlots(_ memory: DeviceMemory) -> [ParameterBuffer] {
    let count = network.layout.count
    return (0..<plan.optimizer.slotCount).map { slot in
      ParameterBuffer(count: count) { target in
        guard slot < memory.optimizerSlots.count, let to = target.baseAddress else { return }
        let kept = memory.optimizerSlots[slot]
        precondition(kept.count == count, "slots fit the network")
        to.update(from: kept.storage, count: count)
      }
    }
  }

  private func batchNoise(_ batch: Int, epoch: Int) -> BatchNoise? {
    noise.map {
      BatchNoise(
        key: $0.key, slot: $0.firstSlot + UInt64(epoch),
        batch: batch % plan.batchesPerEpoch(shardCount: shard.count))
    }
  }
}
