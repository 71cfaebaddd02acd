import Learning

/// One update at its aggregation.
public struct AggregatedUpdate: Sendable {
  /// The device's number in the fleet.
  public let device: Int
  /// Distinct samples it was trained on.
  public let samples: Int
  /// Versions published since its base.
  public let staleness: Int
  /// The trained parameters.
  public let parameters: ParameterBuffer
  /// What its training started from; where nobody needs it, the current model.
  public let base: ParameterBuffer
  /// The mean loss of `base` on the device's samples, where the aggregator needs it.
  public let baseLoss: Double?
  /// What its training's steps add up to, as in `UpdateFacts`.
  public let stepSum: Double
  /// What it counts in the length of the next step, as in `UpdateFacts`.
  public let effectiveSteps: Double

  /// An update.
  public init(
    device: Int, samples: Int, staleness: Int, parameters: ParameterBuffer, base: ParameterBuffer,
    baseLoss: Double? = nil, stepSum: Double = 1, effectiveSteps: Double? = nil
  ) {
    self.device = device
    self.samples = samples
    self.staleness = staleness
    self.parameters = parameters
    self.base = base
    self.baseLoss = baseLoss
    self.stepSum = stepSum
    self.effectiveSteps = effectiveSteps ?? stepSum
  }
}

/// The updates of one aggregation, in device order, with the sums that most aggregators need.
public struct AggregationBatch: Sendable {
  /// The updates, in device order; at least one.
  public let updates: [AggregatedUpdate]
  /// What updates carry.
  public let payload: Payload
  /// The current model.
  public let current: ParameterBuffer
  /// What old updates count.
  public let staleness: StalenessRule?
  /// How many devices each group of the fleet has; their numbers follow one another.
  public let groupSizes: [Int]
  let kernels: Kernels
  let pool: WorkerPool

  /// Updates of one model, at least one, in device order; without `groupSizes` the fleet is one
  /// group that ends with the last of them.
  ///
  /// Shapes: all buffers have the size of `current`.
  public init(
    updates: [AggregatedUpdate], payload: Payload, current: ParameterBuffer,
    staleness: StalenessRule? = nil, groupSizes: [Int] = [], kernels: Kernels = .best,
    pool: WorkerPool
  ) {
    precondition(!updates.isEmpty, "an aggregation has an update")
    let sizes = groupSizes.isEmpty ? [updates.last!.device + 1] : groupSizes
    precondition(updates.last!.device < sizes.reduce(0, +), "devices are of the fleet")
    precondition(
      zip(updates, updates.dropFirst()).allSatisfy { $0.device <= $1.device },
      "updates are in device order")
    precondition(
      updates.allSatisfy {
        $0.parameters.count == current.count && $0.base.count == current.count
      }, "buffers have one size")
    self.updates = updates
    self.payload = payload
    self.current = current
    self.staleness = staleness
    self.groupSizes = sizes
    self.kernels = kernels
    self.pool = pool
  }

  /// What is known of the updates besides their parameters, in their order.
  public var facts: [UpdateFacts] {
    updates.map {
      UpdateFacts(
        samples: $0.samples, staleness: $0.staleness, stepSum: $0.stepSum,
        effectiveSteps: $0.effectiveSteps)
    }
  }

  /// What the payload carries of each update, xᵢ.
  public var values: UpdateValues {
    UpdateValues(
      updates.map(\.parameters), bases: payload == .delta ? updates.map(\.base) : [])
  }

  /// The differences that updates bring, whatever the payload carries: Δᵢ = wᵢ − bᵢ.
  public var differences: UpdateValues {
    UpdateValues(updates.map(\.parameters), bases: updates.map(\.base))
  }

  /// Σ pᵢ·xᵢ, where xᵢ is what the payload carries, with old updates counting as the scenario says.
  ///
  /// Order: of the updates, in `Double`, rounded to float once. Where weights of old updates leave
  /// a rest to the current model, that comes first.
  public func weightedSum(_ weights: [Double]) -> ParameterBuffer {
    precondition(weights.count == updates.count, "one weight an update")
    let shares = StalenessRule.shares(staleness, weights, facts)
    switch payload {
    case .weights:
      let rest = shares.rest.map { [Aggregation.Term(current, weight: $0)] } ?? []
      let terms = zip(updates, shares.weights).map { Aggregation.Term($0.parameters, weight: $1) }
      return Aggregation.weights(rest + terms, kernels: kernels, pool: pool)
    case .delta:
      return moved(shares.weights, from: ParameterBuffer(count: current.count) { _ in })
    }
  }

  /// `from` + Σ pᵢ·(wᵢ − bᵢ), with the weights as they are.
  func moved(_ weights: [Double], from: ParameterBuffer) -> ParameterBuffer {
    let terms = zip(updates, weights).map {
      Aggregation.Difference($0.parameters, base: $0.base, weight: $1)
    }
    return Aggregation.deltas(terms, now: from, rate: 1, kernels: kernels, pool: pool)
  }

  /// The plain mean of some of the updates, in the order of all.
  func mean(of places: [Int]) -> ParameterBuffer {
    AggregationBatch(
      updates: places.map { updates[$0] }, payload: payload, current: current, kernels: kernels,
      pool: pool
    ).weightedSum(places.map { _ in 1 / Double(places.count) })
  }
}
