import Learning
import Schema

/// Some steps on a device's own training samples before it is evaluated.
public struct FineTuningSettings: PartSettings {
  /// Batches.
  public var steps = 10
  /// Their learning rate; nil: that of training.
  public var learningRate: Double?

  public init() {}
  public static var shorthand: String? { "steps" }
  public static var fields: [Field<FineTuningSettings>] {
    [
      Field("steps", \.steps, .integer(1...1_000_000), "Batches of the device's local samples"),
      Field(
        "learningRate", \.learningRate, optional: .positive,
        "Learning rate of fine-tuning; absent: that of `task.training`"),
    ]
  }

  /// The plan of training, with these steps.
  func plan(_ plan: TrainingPlan) -> TrainingPlan {
    var optimizer = plan.optimizer
    if let learningRate { optimizer.learningRate = learningRate }
    return TrainingPlan(
      length: .steps(steps), batchSize: plan.batchSize, optimizer: optimizer,
      clipping: plan.clipping)
  }
}
