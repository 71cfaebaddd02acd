import Schema

/// SGD on the shared model, and in addition a model of the device's own that is pulled
/// towards the shared one.
///
/// Source: Li et al., "Ditto: Fair and robust federated learning through personalization" (2021),
/// algorithm 1: the shared model is trained as in FedAvg; a device's own v takes steps
/// v ← v − η·(∇F(v) + λ·(v − b)), where b is the model that the training began with.
///
/// The steps of v are on the same batches as those of the shared model, one on each.
public struct Ditto: LocalAlgorithm {
  public static let name = "ditto"
  public static let summary =
    "SGD, and a personal model on each device that is pulled towards the shared model"

  public struct Settings: PartSettings {
    /// How strong the pull is.
    public var lambda = 0.1
    /// The learning rate of a device's own model; nil: that of training.
    public var learningRate: Double?
    public init() {}
    public static var shorthand: String? { "lambda" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "lambda", \.lambda, .number(0...1e6),
          "Strength of the pull towards the shared model, λ; 0: devices learn alone"),
        Field(
          "learningRate", \.learningRate, optional: .positive,
          "Learning rate of the personal model; absent: that of `task.training`"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// What the training began with, a model of the device's own, and two steps for each batch.
  public var needs: LocalNeeds {
    var needs = LocalNeeds()
    (needs.origin, needs.keepsState, needs.ownModel, needs.passes) = (true, true, true, 2)
    return needs
  }

  /// Runs the batches as `sgd` does, bit for bit, and then those of the device's own model.
  ///
  /// The memory keeps that model as it was before the training, as it is now, and its optimiser's
  /// slots. Before the first training it is the model that this begins with.
  public func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    let shared = training.run(
      batches, from: memory, lossSum: lossSum, kernels: kernels, scratch: scratch)
    guard let origin = memory.origin else { return shared }
    let isUnderWay = memory.kept.count > 1
    let before = memory.kept.first ?? origin
    let start = DeviceMemory(
      parameters: isUnderWay ? memory.kept[1] : before,
      optimizerSlots: isUnderWay ? Array(memory.kept[2...]) : [])
    let own = training.with(plan: training.plan.with(learningRate: settings.learningRate)).run(
      batches, from: start,
      correction: settings.lambda > 0
        ? GradientCorrection(pull: settings.lambda, towards: origin) : nil,
      kernels: kernels, scratch: scratch)
    return TrainingOutcome(
      memory: DeviceMemory(
        parameters: shared.parameters, optimizerSlots: shared.memory.optimizerSlots,
        origin: origin, received: memory.received,
        kept: [before, own.parameters] + own.memory.optimizerSlots,
        lossSquares: shared.memory.lossSquares),
      lossSum: shared.lossSum, samplesProcessed: shared.samplesProcessed)
  }

  /// The device's own model; where it went to infinity, what it was before.
  public func auxiliaryOutput(
    of training: LocalTraining, batches: Int, _ memory: DeviceMemory
  ) -> AuxiliaryOutput {
    guard memory.kept.count > 1 else { return AuxiliaryOutput(kept: memory.kept) }
    return AuxiliaryOutput(kept: [memory.kept[1].isFinite ? memory.kept[1] : memory.kept[0]])
  }
}
