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
///
/// With `correction: steps` the optimiser makes its step from the gradient alone, and −η·(c − cᵢ)
/// is added to what that gives: y ← step(y, g(y)) − η·(c − cᵢ). This is what NIID-Bench (Li et al.
/// 2022) and Flower's baseline of it run, with momentum or Adam, and with cᵢ⁺ as above. *Differs*
/// from the paper: where a step is not η·g(y), (x − y)/(K·η) is no mean of gradients.
public struct Scaffold: LocalAlgorithm {
  public static let name = "scaffold"
  public static let summary =
    "SGD corrected by control variates, one at the server and one on each device"

  /// Where the difference of the variates is added.
  public enum Correction: String, CaseIterable, Sendable {
    /// To each gradient, as in the paper.
    case gradients
    /// To what each step of the optimiser gives, as in NIID-Bench.
    case steps
  }

  public struct Settings: PartSettings {
    /// Where the difference is added; nil: to each gradient.
    public var correction: Correction?
    public init() {}
    public static var fields: [Field<Settings>] {
      [
        Field(
          "correction", \.correction, feature: .choice,
          "Added to `gradients` (the default; plain SGD only), or to `steps` of any optimiser")
      ]
    }
  }

  private let correctsSteps: Bool
  public init(_ settings: Settings) { correctsSteps = settings.correction == .steps }

  /// What the training began with, the device's variate, and one buffer more each way.
  public var needs: LocalNeeds {
    var needs = LocalNeeds()
    (needs.origin, needs.keepsState, needs.companions) = (true, true, 1)
    return needs
  }

  /// A variate is the mean of gradients only where a step is the gradient times the rate.
  public func objection(to plan: TrainingPlan) -> String? {
    plan.optimizer.isPlain || correctsSteps
      ? nil
      : "`scaffold` needs plain SGD: its variates are means of the steps' gradients; `scaffold: "
        + "{correction: steps}` takes any optimiser, as NIID-Bench's does"
  }

  /// Runs the batches with c − cᵢ added to each gradient, or to each step; where both are the same
  /// it is `sgd`.
  public func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    let shift = Self.difference(memory.received.first, memory.kept.first)
    return training.run(
      batches, from: memory, lossSum: lossSum,
      correction: shift.map { GradientCorrection(shift: $0, behindSteps: correctsSteps) },
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
