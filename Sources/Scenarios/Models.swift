import FedSim
import Learning
import Schema

/// What is trained: makes a network once the data's shape is known.
public protocol ModelSource: Part {
  /// The network for samples of the given shape in `classCount` classes.
  ///
  /// Throws: `LayerFault` for the first layer that does not fit.
  func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network

  /// The Core ML file that holds layers and weights; nil: the settings are all there is.
  var file: FileName? { get }
}

extension ModelSource {
  public var file: FileName? { nil }
}

extension Seam where Value == any ModelSource {
  /// What is trained.
  public static var model: Seam { Seam("model", "Which model is trained?") }
}

/// Softmax regression: one dense layer.
public struct SoftmaxModel: ModelSource {
  public static let name = "softmax"
  public static let summary =
    "Softmax regression: one dense layer; convex, fast, about 0.84 on Fashion-MNIST."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  /// One layer from inputs to classes.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    try Network(
      sampleShape: sampleShape, layers: [.dense(outputs: classCount, activation: .identity)],
      loss: loss)
  }
}

/// A multilayer perceptron: dense layers with rectifiers between them.
public struct MLPModel: ModelSource {
  public static let name = "mlp"
  public static let summary =
    "Dense layers with ReLU between them; by default the 2NN of McMahan et al."

  public struct Settings: PartSettings {
    /// The widths of the hidden layers, from the input on.
    public var hidden = [200, 200]

    public init() {}

    /// A bare list is the widths.
    public static var shorthand: String? { "hidden" }

    public static var fields: [Field<Settings>] {
      [
        Field(
          "hidden", \.hidden, .list(of: .integer(1...100_000), minimum: 1),
          "Widths of the hidden layers, starting at the input.")
      ]
    }
  }

  private let settings: Settings

  /// A model by its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// The hidden layers, then one from the last of them to the classes.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    let hidden = settings.hidden.map { Network.Layer.dense(outputs: $0, activation: .relu) }
    return try Network(
      sampleShape: sampleShape,
      layers: hidden + [.dense(outputs: classCount, activation: .identity)], loss: loss)
  }
}

/// The convolutional network of McMahan et al.
///
/// Source: McMahan et al., "Communication-efficient learning of deep networks from decentralized
/// data" (2017), §3; the rectifier after each convolution is behind the pooling, which is the
/// same. 1,663,370 parameters for 28×28 pixels and 10 classes.
public struct McMahanCNN: ModelSource {
  public static let name = "cnn-mcmahan"
  public static let summary =
    "Two convolutions of 5×5 with pooling, a dense layer of 512: the CNN of McMahan et al."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  /// 5×5×32, pooling, 5×5×64, pooling, 512, classes.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    try Network(
      sampleShape: sampleShape,
      layers: [
        .convolution(.init(filters: 32, size: 5, padding: .same)),
        .maxPooling(size: 2, stride: 2), .activation(.relu),
        .convolution(.init(filters: 64, size: 5, padding: .same)),
        .maxPooling(size: 2, stride: 2), .activation(.relu),
        .dense(outputs: 512, activation: .relu),
        .dense(outputs: classCount, activation: .identity),
      ], loss: loss)
  }
}

/// A long short-term memory over a sequence, and a dense layer.
public struct LSTMModel: ModelSource {
  public static let name = "lstm"
  public static let summary =
    "A long short-term memory over [time, features]; a dense layer takes the last state."

  public struct Settings: PartSettings {
    /// How many units the memory has.
    public var units = 64

    public init() {}

    /// A bare number is the units.
    public static var shorthand: String? { "units" }

    public static var fields: [Field<Settings>] {
      [Field("units", \.units, .integer(1...100_000), "Number of LSTM units.")]
    }
  }

  private let settings: Settings

  /// A model by its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// The memory, then one dense layer to the classes.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    try Network(
      sampleShape: sampleShape,
      layers: [
        .lstm(units: settings.units, returnsSequence: false),
        .dense(outputs: classCount, activation: .identity),
      ], loss: loss)
  }
}

/// Layers as the scenario lists them.
public struct LayersModel: ModelSource {
  public static let name = "layers"
  /// When to choose it.
  public static let summary = "A list of layers; the last one gives the classes."

  public struct Settings: PartSettings {
    /// The layers, from the input on.
    public var layers = [Choice<any LayerPart>(FlattenPart.self) { $0 }]

    public init() {}

    /// A bare list is the layers.
    public static var shorthand: String? { "layers" }

    public static var fields: [Field<Settings>] {
      [
        Field(
          "layers", \.layers, .list(of: .part(.layer), minimum: 1), required: true,
          "The layers, starting at the input.")
      ]
    }
  }

  private let settings: Settings

  /// A model by its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// The layers, whose last has as many outputs as there are classes.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    let layers = settings.layers.map(\.value.layer)
    let network = try Network(sampleShape: sampleShape, layers: layers, loss: loss)
    guard network.classCount >= classCount else {
      throw LayerFault(
        layer: layers.count, kind: layers[layers.count - 1].kind,
        message: "gives \(network.classCount) outputs for \(classCount) "
          + (loss == .squaredDifference ? "numbers a sample" : "classes"))
    }
    return network
  }
}
