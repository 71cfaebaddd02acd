import Learning
import Schema

/// What is trained: makes a network once the data's shape is known.
public protocol ModelSource: Part {
  /// The network for samples of `inputCount` values in `classCount` classes.
  func network(inputCount: Int, classCount: Int) -> Network
}

extension Seam where Value == any ModelSource {
  /// What is trained.
  public static var model: Seam { Seam("model", "What is trained?") }
}

/// Softmax regression: one dense layer.
public struct SoftmaxModel: ModelSource {
  /// The name in a scenario.
  public static let name = "softmax"
  /// When to choose it.
  public static let summary =
    "Softmax regression: one dense layer; convex, fast, about 0.84 on Fashion-MNIST."

  /// It has none.
  public typealias Settings = NoSettings

  /// The model.
  public init(_ settings: NoSettings) {}

  /// One layer from inputs to classes.
  public func network(inputCount: Int, classCount: Int) -> Network {
    Network(inputCount: inputCount, layers: [.dense(outputs: classCount, activation: .identity)])
  }
}

/// A multilayer perceptron: dense layers with rectifiers between them.
public struct MLPModel: ModelSource {
  /// The name in a scenario.
  public static let name = "mlp"
  /// When to choose it.
  public static let summary =
    "Dense layers with rectifiers between them; the 2NN of McMahan et al. by default."

  /// What can be set.
  public struct Settings: PartSettings {
    /// The widths of the hidden layers, from the input on.
    public var hidden = [200, 200]

    /// The defaults.
    public init() {}

    /// A bare list is the widths.
    public static var shorthand: String? { "hidden" }

    /// The fields.
    public static var fields: [Field<Settings>] {
      [
        Field(
          "hidden", \.hidden, .list(of: .integer(1...100_000), minimum: 1),
          "Widths of the hidden layers, from the input on.")
      ]
    }
  }

  private let settings: Settings

  /// A model by its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// The hidden layers, then one from the last of them to the classes.
  public func network(inputCount: Int, classCount: Int) -> Network {
    let hidden = settings.hidden.map { Network.Layer.dense(outputs: $0, activation: .relu) }
    return Network(
      inputCount: inputCount,
      layers: hidden + [.dense(outputs: classCount, activation: .identity)])
  }
}

/// How a device's parameters move with each batch.
public protocol LocalOptimizer: Part {
  /// The step on the mean gradient of a batch.
  var learningRate: Double { get }
}

extension Seam where Value == any LocalOptimizer {
  /// How a device's parameters move with each batch.
  public static var localOptimizer: Seam {
    Seam("local optimizer", "How do a device's parameters move with each batch?")
  }
}

/// Plain stochastic gradient descent on a device.
public struct LocalSGD: LocalOptimizer {
  /// The name in a scenario.
  public static let name = "sgd"
  /// When to choose it.
  public static let summary =
    "Plain stochastic gradient descent: no momentum, nothing to keep between tasks."

  /// What can be set.
  public struct Settings: PartSettings {
    /// The step on the mean gradient of a batch.
    public var learningRate = 0.05

    /// The defaults.
    public init() {}

    /// A bare number is the learning rate.
    public static var shorthand: String? { "learningRate" }

    /// The fields.
    public static var fields: [Field<Settings>] {
      [
        Field(
          "learningRate", \.learningRate, .positive, "The step on the mean gradient of a batch.")
      ]
    }
  }

  /// The step on the mean gradient of a batch.
  public let learningRate: Double

  /// An optimizer by its settings.
  public init(_ settings: Settings) { learningRate = settings.learningRate }
}
