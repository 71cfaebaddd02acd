import Learning
import Schema

/// How a device's parameters move with each batch.
public protocol LocalOptimizer: Part {
  /// The optimizer.
  var optimizer: Optimizer { get }
}

extension Seam where Value == any LocalOptimizer {
  /// How a device's parameters move with each batch.
  public static var localOptimizer: Seam {
    Seam("local optimizer", "How does a device update its parameters?")
  }
}

/// Stochastic gradient descent on a device.
public struct LocalSGD: LocalOptimizer {
  public static let name = "sgd"
  public static let summary =
    "Stochastic gradient descent; by default without state."

  public struct Settings: PartSettings {
    /// The step on the mean gradient of a batch.
    public var learningRate = 0.05
    /// What is left of the velocity after each step.
    public var momentum = 0.0
    /// Whether the step looks ahead along the velocity.
    public var nesterov = false
    /// The share of each parameter that is added to its gradient.
    public var weightDecay = 0.0

    public init() {}

    /// A bare number is the learning rate.
    public static var shorthand: String? { "learningRate" }

    public static var fields: [Field<Settings>] {
      [
        Field(
          "learningRate", \.learningRate, .positive,
          "Learning rate on the mean gradient of a batch."),
        Field(
          "momentum", \.momentum, .number(0...0.9999),
          "Decay of the velocity, which the device keeps in its checkpoint."),
        Field(
          "nesterov", \.nesterov, .flag, "Use Nesterov momentum."),
        Field(
          "weightDecay", \.weightDecay, .number(0...1),
          "Weight decay: share of each parameter added to its gradient."),
      ]
    }

    /// Nesterov's step needs a velocity.
    public func contradictions() -> [(key: String, message: String)] {
      nesterov && momentum == 0 ? [("nesterov", "`nesterov` needs a `momentum` above 0")] : []
    }
  }

  /// The optimizer.
  public let optimizer: Optimizer

  /// An optimizer by its settings.
  public init(_ settings: Settings) {
    optimizer = .sgd(
      learningRate: settings.learningRate, momentum: settings.momentum,
      nesterov: settings.nesterov, weightDecay: settings.weightDecay)
  }
}

/// Adam on a device.
public struct LocalAdam: LocalOptimizer {
  public static let name = "adam"
  public static let summary =
    "Adam: steps scaled by running means of the gradient and its square, reset for each training."

  public struct Settings: PartSettings {
    /// The size of a step.
    public var learningRate = 0.001
    /// What is left of the mean gradient after each step.
    public var beta1 = 0.9
    /// What is left of the mean squared gradient after each step.
    public var beta2 = 0.999
    /// What is added to the root of the mean squared gradient.
    public var epsilon = 1e-8
    /// The share of each parameter that is added to its gradient.
    public var weightDecay = 0.0

    public init() {}

    /// A bare number is the learning rate.
    public static var shorthand: String? { "learningRate" }

    public static var fields: [Field<Settings>] {
      [
        Field("learningRate", \.learningRate, .positive, "Learning rate."),
        Field(
          "beta1", \.beta1, .number(0...0.9999),
          "Decay of the mean gradient."),
        Field(
          "beta2", \.beta2, .number(0...0.999999),
          "Decay of the mean squared gradient."),
        Field(
          "epsilon", \.epsilon, .positive,
          "Added to the root of the mean squared gradient."),
        Field(
          "weightDecay", \.weightDecay, .number(0...1),
          "Weight decay: share of each parameter added to its gradient."),
      ]
    }
  }

  /// The optimizer.
  public let optimizer: Optimizer

  /// An optimizer by its settings.
  public init(_ settings: Settings) {
    optimizer = .adam(
      learningRate: settings.learningRate, beta1: settings.beta1, beta2: settings.beta2,
      epsilon: settings.epsilon, weightDecay: settings.weightDecay)
  }
}
