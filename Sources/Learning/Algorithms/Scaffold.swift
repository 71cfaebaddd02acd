import Schema

/// SGD whose gradients are corrected by the difference of the server's and the device's own
/// control variate.
///
/// Source: Karimireddy et al., "SCAFFOLD: stochastic controlled averaging for federated learning"
/// (2020), algorithm 1 with option II: y ← y − η·(g(y) − cᵢ + c); then cᵢ⁺ = cᵢ − c + (x −
/// y)/(K·η), and the server's c ← c + (1/N)·Σ (cᵢ⁺ − cᵢ) over the devices of the round.
///
/// With a schedule, K·η is the sum of the rates of the batches that ran; partial work has its own
/// K.
public struct Scaffold: LocalAlgorithm {
  public static let name = "scaffold"
  public static let summary =
    "SGD corrected by control variates, one at the server and one on each device"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// What the training began with, the device's variate, and one buffer more each way.
  public var needs: LocalNeeds {
    var needs = LocalNeeds()
    (needs.origin, needs.keepsState, needs.companions) = (true, true, 1)
    return needs
  }

  /// A variate is the mean of gradients only where a step is the gradient times the rate.
  public func objection(to plan: TrainingPlan) -> String? {
    plan.optimizer.isPlain
      ? nil : "`scaffold` needs plain SGD: its variates are means of the steps' gradients"
  }

  /// Runs the batches with c − cᵢ added to each gradient; where both are the same it is `sgd`.
  public func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    let shift = Self.difference(memory.received.first, memory.kept.first)
    return training.run(
      batches, from: memory, lossSum: lossSum,
      correction: shift.map { GradientCorrection(shift: $0) },
      kernels: kernels, scratch: scratch)
  }

  /// The device's next variate, and by how much it differs from the last.
  ///
  /// Where a training went to infinity, or no batch ran, the variate stays. Order: element by
  /// element, in `Double`, rounded to float once.
  public func auxiliaryOutput(
    of training: LocalTraining, batches: Int, _ memory: DeviceMemory
  ) -> AuxiliaryOutput {
    guard batches > 0, let origin = memory.origin, memory.parameters.isFinite else {
      return AuxiliaryOutput(kept: memory.kept)
    }
    let (plan, all) = (training.plan, training.batchCount)
    let length = (0..<batches).reduce(0.0) {
      $0 + plan.learningRate * plan.schedule.factor(step: $1, of: all)
    }
    guard length > 0 else { return AuxiliaryOutput(kept: memory.kept) }
    let slope = ParameterBuffer.combining(origin, memory.parameters) { ($0 - $1) / length }
    let change =
      memory.received.first.map { c in
        ParameterBuffer.combining(slope, c) { $0 - $1 }
      } ?? slope
    let kept =
      memory.kept.first.map { own in
        ParameterBuffer.combining(own, change) { $0 + $1 }
      } ?? change
    return AuxiliaryOutput(kept: [kept], sent: [change])
  }

  /// c + (1/N)·Σ of what came.
  ///
  /// Order: of the updates, in `Double`, rounded to float once.
  public func companions(
    after current: [ParameterBuffer], sent: [[ParameterBuffer]], devices: Int, pool: WorkerPool
  ) -> [ParameterBuffer] {
    let changes = sent.compactMap(\.first).filter(\.isFinite)
    guard !changes.isEmpty else { return current }
    let share = 1 / Double(devices)
    let all = current + changes
    let weights = current.map { _ in 1.0 } + changes.map { _ in share }
    return [ParameterBuffer(nearest: UpdateValues(all).weightedSum(weights, pool: pool))]
  }

  /// a − b, where no buffer means zeros; nil: it is zero everywhere.
  private static func difference(_ a: ParameterBuffer?, _ b: ParameterBuffer?) -> ParameterBuffer? {
    let found: ParameterBuffer? =
      switch (a, b) {
      case (nil, nil): nil
      case (let a?, nil): a
      case (nil, let b?): .combining(b, b) { value, _ in -value }
      case (let a?, let b?): .combining(a, b) { $0 - $1 }
      }
    let isZero = found?.withUnsafeBufferPointer { $0.allSatisfy { $0 == 0 } }
    return isZero == false ? found : nil
  }
}
