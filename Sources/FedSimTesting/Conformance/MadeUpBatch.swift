import FedSim
import Learning
import Numerics

/// Updates made up for a check.
struct MadeUpBatch {
  /// What is special about them, in a few words.
  var name: String
  var samples: [Int]
  var staleness: [Int]
  /// The result of each training. Shapes: [update][parameter].
  var values: [[Float]]
  /// What each began with. Shapes: [update][parameter].
  var bases: [[Float]]
  var current: [Float]

  static let parameterCount = 9

  /// Parameters drawn from −scale ..< scale.
  ///
  /// Draws: one `uniform` a parameter, at slot `slot` of `conformance` (seed 1).
  init(
    _ name: String, slot: UInt64, samples: [Int], staleness: [Int]? = nil, scale: Double = 1
  ) {
    var stream = StreamKey(seed: 1, purpose: "conformance").stream(slot: slot)
    func drawn() -> [Float] {
      (0..<Self.parameterCount).map { _ in Float(scale * (2 * stream.uniform() - 1)) }
    }
    self.name = name
    self.samples = samples
    self.staleness = staleness ?? samples.map { _ in 0 }
    current = drawn()
    let now = current
    bases = self.staleness.map { $0 == 0 ? now : drawn() }
    values = samples.map { _ in drawn() }
  }

  /// The same with other parameters: the value that all have, everywhere.
  func filled(_ name: String, with value: Float) -> MadeUpBatch {
    var batch = self
    batch.name = name
    let row = [Float](repeating: value, count: Self.parameterCount)
    batch.values = values.map { _ in row }
    batch.bases = bases.map { _ in row }
    batch.current = row
    return batch
  }

  /// What each device sent, dealt out to the devices in another order.
  func dealt(_ order: [Int]) -> MadeUpBatch {
    var batch = self
    batch.samples = order.map { samples[$0] }
    batch.staleness = order.map { staleness[$0] }
    batch.values = order.map { values[$0] }
    batch.bases = order.map { bases[$0] }
    return batch
  }

  /// The batch as an aggregator gets it. Its buffers are allocated in the order `allocated`.
  func batch(
    _ payload: Payload, kernels: Kernels = .best, pool: WorkerPool, allocated: [Int]? = nil
  ) -> AggregationBatch {
    var buffers = [ParameterBuffer?](repeating: nil, count: values.count)
    for place in allocated ?? Array(values.indices) {
      buffers[place] = ParameterBuffer(values[place])
    }
    let now = ParameterBuffer(current)
    let updates = values.indices.map { place in
      AggregatedUpdate(
        device: 2 * place + 1, samples: samples[place], staleness: staleness[place],
        parameters: buffers[place]!,
        base: staleness[place] == 0 ? now : ParameterBuffer(bases[place]))
    }
    return AggregationBatch(
      updates: updates, payload: payload, current: now, kernels: kernels, pool: pool)
  }
}

extension MadeUpBatch {
  /// Updates as they usually are.
  static let usual = MadeUpBatch(
    "5 updates", slot: 0, samples: [4, 7, 1, 9, 4], staleness: [0, 1, 0, 3, 0])
  /// Updates that nothing tells apart but their parameters.
  static let alike = MadeUpBatch("updates of 4 samples each", slot: 1, samples: [4, 4, 4, 4, 4])
  /// The same with parameters whose sum in `Float` depends on its order.
  static let cancelling: MadeUpBatch = {
    var batch = MadeUpBatch("large values that cancel out", slot: 2, samples: [4, 4, 4, 4, 4])
    let large: [Float] = [2e8, 1, -2e8, 1, 0.25]
    batch.values = large.map { [Float](repeating: $0, count: parameterCount) }
    batch.bases = batch.bases.map { $0.map { _ in 0 } }
    batch.current = batch.current.map { _ in 0 }
    return batch
  }()

  /// Batches out of which only numbers may come.
  static let extremes = [
    usual, alike,
    MadeUpBatch("a single update", slot: 3, samples: [3]),
    MadeUpBatch("two updates", slot: 4, samples: [1, 1000]),
    MadeUpBatch("values of 1e30", slot: 5, samples: [4, 7, 1, 9, 4], scale: 1e30),
    MadeUpBatch("values of 1e-30", slot: 6, samples: [4, 7, 1, 9, 4], scale: 1e-30),
    alike.filled("all values 0.5", with: 0.5), alike.filled("all values 0", with: 0),
    MadeUpBatch(
      "updates 1,000 versions old", slot: 7, samples: [4, 7, 1], staleness: [1000, 1000, 1000]),
  ]

  /// Batches in which a weight is zero, or would be by an unlucky rule.
  static let weightless = [
    MadeUpBatch(
      "an update of 0 samples among others", slot: 8, samples: [4, 0, 2, 4],
      staleness: [1, 0, 2, 1]),
    MadeUpBatch("no update is stale", slot: 9, samples: [4, 7, 1, 9, 4]),
    MadeUpBatch(
      "all updates are equally stale", slot: 10, samples: [4, 4, 4], staleness: [2, 2, 2]),
  ]
}
