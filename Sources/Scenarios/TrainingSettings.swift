import FedSim
import Learning
import Schema

/// How a device trains: epochs, batches, loss, optimizer and local algorithm.
public struct TrainingSettings: PartSettings {
  /// Passes over the client's samples, unless `steps` are given.
  public var epochs = 1
  /// Batches instead of passes.
  public var steps: Int?
  /// Samples in a batch.
  public var batchSize = 10
  /// What is lowered.
  public var loss = LossName.crossEntropy
  /// How the parameters move.
  public var optimizer = Choice<any LocalOptimizer>(LocalSGD.self) { $0 }
  /// How the learning rate changes from batch to batch.
  public var schedule = Choice<any LearningRateRule>(ConstantRate.self) { $0 }
  /// The longest mean gradient of a batch.
  public var clipNorm: Double?
  /// The largest element of a batch's mean gradient.
  public var clipValue: Double?
  public var algorithm = Choice<any LocalAlgorithm>(FedAvgLocal.self) { $0 }
  /// The order in which data epochs visit a client's samples; nil: keyed shuffles.
  public var orders: FileName?

  public init() {}

  public static var fields: [Field<TrainingSettings>] {
    [
      Field("epochs", \.epochs, .integer(1...10_000), "Passes over the client's samples."),
      Field(
        "steps", \.steps, optional: .integer(1...10_000_000),
        "Number of batches instead of passes; absent: as many as `epochs` needs."),
      Field("batchSize", \.batchSize, .integer(1...1_000_000), "Samples per batch."),
      Field("loss", \.loss, .choice, "Which loss does training minimise?"),
      Field(
        "optimizer", \.optimizer, .part(.localOptimizer),
        "How does a device update its parameters?"),
      Field(
        "schedule", \.schedule, .part(.learningRateRule),
        "How does the learning rate change over a device's own steps?"),
      Field(
        "clipNorm", \.clipNorm, optional: .positive,
        "Maximum norm of a batch's mean gradient; longer ones are scaled down."),
      Field(
        "clipValue", \.clipValue, optional: .positive,
        "Maximum magnitude of an element of a batch's mean gradient; larger ones are clipped."),
      Field("algorithm", \.algorithm, .part(.localAlgorithm), "How does a device train?"),
      Field(
        "orders", \.orders, optional: .file,
        "NPZ file with `orders`, [client][data epoch][position in the client's training "
          + "samples]; absent: keyed shuffles."),
    ]
  }

  /// One kind of clipping at a time.
  public func contradictions() -> [(key: String, message: String)] {
    clipNorm != nil && clipValue != nil
      ? [("clipValue", "clip gradients by `clipNorm` or by `clipValue`, not by both")] : []
  }

  /// The plan of a local training.
  public var plan: TrainingPlan {
    TrainingPlan(
      length: steps.map { .steps($0) } ?? .epochs(epochs), batchSize: batchSize,
      optimizer: optimizer.value.optimizer, schedule: schedule.value.schedule,
      clipping: clipNorm.map { .norm($0) } ?? clipValue.map { .value($0) })
  }
}

/// What training lowers; of what, the data's targets say.
public enum LossName: String, CaseIterable, Sendable {
  /// −log of the softmax at the label, at each position where there is one.
  case crossEntropy = "cross-entropy"
  /// The mean over the outputs of the squared difference from the targets, or from the label's
  /// unit vector.
  case meanSquaredError = "mean-squared-error"

  /// The loss for such targets; nil: there is none.
  public func loss(for targets: Dataset.TargetKind) -> Network.Loss? {
    switch (self, targets) {
    case (.crossEntropy, .classes): .crossEntropy
    case (.meanSquaredError, .classes): .meanSquaredError
    case (.meanSquaredError, .values): .squaredDifference
    case (.crossEntropy, .tokens): .crossEntropyAtPositions
    case (.crossEntropy, .values), (.meanSquaredError, .tokens): nil
    }
  }
}

/// How the learning rate changes over a device's own steps.
public protocol LearningRateRule: Part {
  /// The factor of the learning rate at each of a device's steps.
  var schedule: LearningRateSchedule { get }
}

extension Seam where Value == any LearningRateRule {
  /// How the learning rate changes over a device's own steps.
  public static var learningRateRule: Seam {
    Seam("learning rate", "How does the learning rate change over a device's own steps?")
  }
}

/// The same learning rate all the time.
public struct ConstantRate: LearningRateRule {
  public static let name = "constant"
  /// When to choose it.
  public static let summary = "A constant learning rate."

  public typealias Settings = NoSettings

  /// The rule.
  public init(_ settings: NoSettings) {}

  public var schedule: LearningRateSchedule { .constant }
}

/// A learning rate that falls in steps.
public struct StepRate: LearningRateRule {
  public static let name = "step"
  /// When to choose it.
  public static let summary =
    "The learning rate is multiplied by a factor after a fixed number of local batches."

  public struct Settings: PartSettings {
    /// How many batches a rate holds.
    public var every = 100
    /// What it is multiplied with then.
    public var factor = 0.5

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("every", \.every, .integer(1...10_000_000), "Number of batches between two changes."),
        Field("factor", \.factor, .positive, "Factor on the learning rate."),
      ]
    }
  }

  public let schedule: LearningRateSchedule

  /// A rule by its settings.
  public init(_ settings: Settings) {
    schedule = .step(every: settings.every, factor: settings.factor)
  }
}

/// A learning rate that falls with each batch.
public struct ExponentialRate: LearningRateRule {
  public static let name = "exponential"
  /// When to choose it.
  public static let summary = "The learning rate is multiplied by a factor after each local batch."

  public struct Settings: PartSettings {
    /// What it is multiplied with.
    public var factor = 0.99

    public init() {}

    /// A bare number is the factor.
    public static var shorthand: String? { "factor" }

    public static var fields: [Field<Settings>] {
      [Field("factor", \.factor, .positive, "Factor after each batch.")]
    }
  }

  public let schedule: LearningRateSchedule

  /// A rule by its settings.
  public init(_ settings: Settings) { schedule = .exponential(factor: settings.factor) }
}

/// A learning rate that falls along half a cosine.
public struct CosineRate: LearningRateRule {
  public static let name = "cosine"
  public static let summary =
    "The learning rate follows half a cosine over the batches of a local training."

  public struct Settings: PartSettings {
    /// The share that the step after the last would have.
    public var minimum = 0.0

    public init() {}

    /// A bare number is the minimum.
    public static var shorthand: String? { "minimum" }

    public static var fields: [Field<Settings>] {
      [
        Field(
          "minimum", \.minimum, .fraction, "Share of the learning rate at the end of the cosine.")
      ]
    }
  }

  public let schedule: LearningRateSchedule

  /// A rule by its settings.
  public init(_ settings: Settings) { schedule = .cosine(minimum: settings.minimum) }
}
