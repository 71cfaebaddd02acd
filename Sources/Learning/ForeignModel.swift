import Numerics

/// A model whose trainings and evaluations other code computes.
///
/// FedSim knows its tensors and its samples' numbers; it deals samples, orders batches, counts them
/// and plays all that happens to a training as with a network that it computes itself.
public protocol ForeignModel: AnyObject, Sendable {
  /// The tensors of the parameters.
  var layout: ParameterLayout { get }
  /// How many classes the labels of the samples tell apart.
  var classCount: Int { get }
  /// What a step costs; nil: nobody says.
  var cost: ForeignCost? { get }
  /// Runs some batches, and returns when they are done. Many threads may call it at once.
  ///
  /// A pure function: the batches 0 ..< n have the result of 0 ..< k and then, from the memory that
  /// these left, k ..< n.
  func train(_ batches: ForeignBatches, from memory: ForeignMemory) -> ForeignOutcome
  /// Evaluates parameters on some samples of a data set, a thousand at most.
  func evaluate(
    _ samples: ArraySlice<Int32>, of dataset: Dataset, by parameters: ParameterBuffer
  ) -> Evaluation
}

/// What a step of a foreign model asks of a device.
public struct ForeignCost: Sendable, Equatable {
  /// Operations of one step for each sample, forward and backward; a multiply-add counts as two.
  public let operationsPerSample: Int
  /// Values that layers with parameters give for each sample.
  public let valuesPerSample: Int

  /// A cost.
  public init(operationsPerSample: Int, valuesPerSample: Int = 0) {
    self.operationsPerSample = operationsPerSample
    self.valuesPerSample = valuesPerSample
  }
}

/// Some batches of a training.
public struct ForeignBatches: Sendable, Equatable {
  /// Whose training it is.
  public let owner: LocalTraining.Owner
  /// Their numbers, from 0 over all epochs.
  public let numbers: Range<Int>
  /// How many samples each has.
  public let sizes: [Int32]
  /// The samples, batch by batch.
  public let samples: [Int32]
  /// A number for each batch, where its random numbers come from.
  public let batchKeys: [UInt64]

  /// Batches.
  public init(
    owner: LocalTraining.Owner, numbers: Range<Int>, sizes: [Int32], samples: [Int32],
    batchKeys: [UInt64]
  ) {
    precondition(
      sizes.count == numbers.count && batchKeys.count == numbers.count, "one for each batch")
    self.owner = owner
    self.numbers = numbers
    self.sizes = sizes
    self.samples = samples
    self.batchKeys = batchKeys
  }
}

/// What a foreign training has from one batch to the next.
public struct ForeignMemory: Sendable {
  /// The parameters.
  public let parameters: ParameterBuffer
  /// What else it keeps, as bytes that only it reads; nil: nothing.
  public let state: ParameterBuffer?

  /// A memory.
  public init(parameters: ParameterBuffer, state: ParameterBuffer?) {
    self.parameters = parameters
    self.state = state
  }
}

/// What foreign batches leave.
public struct ForeignOutcome: Sendable {
  /// The memory after the last one.
  public let memory: ForeignMemory
  /// The sum of the losses of their samples.
  public let lossSum: Double

  /// What some batches leave.
  public init(memory: ForeignMemory, lossSum: Double) {
    self.memory = memory
    self.lossSum = lossSum
  }
}

extension LocalTraining {
  /// What other code receives for some batches: the samples and the keys that a network would use.
  func foreignBatches(_ batches: Range<Int>, _ scratch: Scratch) -> ForeignBatches {
    guard let noise else { preconditionFailure("a foreign training has a key") }
    var places = BatchPlaces(self, scratch)
    let perEpoch = plan.batchesPerEpoch(shardCount: shard.count)
    var (sizes, samples, keys) = ([Int32](), [Int32](), [UInt64]())
    samples.reserveCapacity(batches.count * min(plan.batchSize, shard.count))
    withUnsafeTemporaryAllocation(of: Int32.self, capacity: plan.batchSize) { rows in
      for batch in batches {
        let taken = places.fill(rows.baseAddress!, batch: batch)
        sizes.append(Int32(taken.count))
        samples.append(contentsOf: taken)
        keys.append(
          noise.key.number(
            slot: noise.firstSlot + UInt64(places.epoch), item: UInt64(batch % perEpoch)))
      }
    }
    return ForeignBatches(
      owner: owner ?? Owner(client: -1), numbers: batches, sizes: sizes, samples: samples,
      batchKeys: keys)
  }

  /// Has other code run the batches. Its state takes the place of an optimiser's.
  func run(
    _ batches: Range<Int>, by foreign: any ForeignModel, from memory: DeviceMemory, lossSum: Double,
    _ scratch: Scratch
  ) -> TrainingOutcome {
    let outcome = foreign.train(
      foreignBatches(batches, scratch),
      from: ForeignMemory(parameters: memory.parameters, state: memory.optimizerSlots.first))
    return TrainingOutcome(
      memory: memory.moved(
        to: outcome.memory.parameters,
        optimizerSlots: outcome.memory.state.map { [$0] } ?? [], lossSquares: nil),
      lossSum: lossSum + outcome.lossSum,
      samplesProcessed: plan.samples(inBatches: batches, shardCount: shard.count))
  }
}

extension Network.Score {
  /// What an evaluation found.
  init(_ evaluation: Evaluation) {
    self.init(
      lossSum: evaluation.lossSum, correct: evaluation.correct, count: evaluation.count,
      answers: evaluation.answers)
  }
}
