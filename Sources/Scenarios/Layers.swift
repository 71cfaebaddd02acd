import Learning
import Schema

/// One layer of a model.
public protocol LayerPart: Part {
  /// The layer as the engine has it.
  var layer: Network.Layer { get }
}

extension Seam where Value == any LayerPart {
  /// What is one layer of a model?
  public static var layer: Seam { Seam("layer", "Which layers does a model have?") }
}

/// What follows a layer's sums, by a word.
public enum ActivationWord: String, CaseIterable, Sendable {
  /// The sum as it is.
  case identity
  /// The positive part.
  case relu
  /// The positive part, at most 6.
  case relu6
  /// The positive part, and a hundredth of the negative one.
  case leakyReLU = "leaky-relu"
  /// The hyperbolic tangent.
  case tanh
  /// 1/(1 + e⁻ˣ).
  case sigmoid
  /// x·Φ(x).
  case gelu
  /// x/(1 + e⁻ˣ).
  case silu

  /// The function.
  var activation: Network.Activation {
    switch self {
    case .identity: .identity
    case .relu: .relu
    case .relu6: .relu6
    case .leakyReLU: .leakyReLU(slope: 0.01)
    case .tanh: .tanh
    case .sigmoid: .sigmoid
    case .gelu: .gelu
    case .silu: .silu
    }
  }
}

extension Network.Layer {
  /// The layer, or the same one frozen.
  func updatable(_ isUpdatable: Bool) -> Network.Layer { isUpdatable ? self : .frozen(self) }
}

extension Form where Value == Network.Convolution.Padding {
  /// `same`, `valid`, or a number.
  static var padding: Form {
    Form(
      shape: .text, expected: "`same`, `valid` or a whole number below the filter's size",
      parse: { text, isQuoted in
        switch text {
        case "same": return .same
        case "valid": return .valid
        default:
          guard !isQuoted, Text.isInteger(text), let count = Int(text), count >= 0 else {
            return nil
          }
          return .count(count)
        }
      },
      write: { padding in
        switch padding {
        case .same: .text("same")
        case .valid: .text("valid")
        case .count(let count): .text(String(count))
        }
      })
  }
}

/// Every output sees every input; several axes count as flat.
public struct DensePart: LayerPart {
  public static let name = "dense"
  public static let summary =
    "Connects every input to every output; several axes are flattened."

  public struct Settings: PartSettings {
    /// How many outputs there are.
    public var units = 10
    /// What follows the sums.
    public var activation = ActivationWord.identity
    /// Whether the layer sees the last axis alone, the same at each place.
    public var eachPlace = false
    public var isUpdatable = true

    public init() {}

    /// A bare value is `units`.
    public static var shorthand: String? { "units" }

    public static var fields: [Field<Settings>] {
      [
        Field("units", \.units, .integer(1...1_000_000), "Number of outputs."),
        Field("activation", \.activation, .choice, "Activation function."),
        Field(
          "eachPlace", \.eachPlace, .flag,
          "Connect the last axis alone, with the same weights at each place, such as each time."),
        Field("isUpdatable", \.isUpdatable, .flag, "Devices train and exchange the layer."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    let (units, activation) = (settings.units, settings.activation.activation)
    let layer: Network.Layer =
      settings.eachPlace
      ? .placewiseDense(outputs: units, activation: activation)
      : .dense(outputs: units, activation: activation)
    self.layer = layer.updatable(settings.isUpdatable)
  }
}

/// Filters over an image of [height, width, channels].
public struct ConvolutionPart: LayerPart {
  public static let name = "convolution"
  public static let summary =
    "Filters over an image of [height, width, channels]."

  public struct Settings: PartSettings {
    /// How many filters there are.
    public var filters = 32
    /// Height and width of a filter, or its steps along a sequence.
    public var size = 3
    /// How far a filter moves.
    public var stride = 1
    /// Zeros around the image: none, as many as keep its size, or a number.
    public var padding = Network.Convolution.Padding.valid
    /// Parts of the channels that are filtered apart.
    public var groups = 1
    /// What follows the sums.
    public var activation = ActivationWord.identity
    /// Whether each filter has a number that is added.
    public var bias = true
    public var isUpdatable = true

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("filters", \.filters, .integer(1...1_000_000), "Number of filters."),
        Field(
          "size", \.size, .integer(1...1000),
          "Height and width of a filter, or its steps along a sequence."),
        Field("stride", \.stride, .integer(1...1000), "Step of a filter."),
        Field(
          "padding", \.padding, .padding,
          "Zeros at the edges: none, enough to keep the size, or a number."),
        Field(
          "groups", \.groups, .integer(1...1_000_000),
          "Number of channel groups that are filtered separately."),
        Field("activation", \.activation, .choice, "Activation function."),
        Field("bias", \.bias, .flag, "Add a trained number to each filter's sums."),
        Field("isUpdatable", \.isUpdatable, .flag, "Devices train and exchange the layer."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = Network.Layer.convolution(settings.convolution).updatable(settings.isUpdatable)
  }
}

extension ConvolutionPart.Settings {
  /// What they ask for.
  fileprivate var convolution: Network.Convolution {
    .init(
      filters: filters, size: size, stride: stride, padding: padding, groups: groups,
      activation: activation.activation, hasBias: bias)
  }
}

/// Filters over the steps of a sequence of [time, features].
public struct SequenceConvolutionPart: LayerPart {
  public static let name = "convolution-1d"
  public static let summary =
    "Filters over the steps of a sequence of [time, features]."

  public typealias Settings = ConvolutionPart.Settings

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = Network.Layer.sequenceConvolution(settings.convolution)
      .updatable(settings.isUpdatable)
  }
}

/// The largest value of each window.
public struct MaxPoolingPart: LayerPart {
  public static let name = "max-pooling"
  public static let summary =
    "The maximum of each window."

  public struct Settings: PartSettings {
    /// Height and width of a window.
    public var size = 2

    /// How far a window moves; nil: its size.
    public var stride: Int?

    public init() {}

    /// A bare value is `size`.
    public static var shorthand: String? { "size" }

    public static var fields: [Field<Settings>] {
      [
        Field("size", \.size, .integer(1...1000), "Height and width of a window."),
        Field(
          "stride", \.stride, optional: .integer(1...1000),
          "Step of the window; absent: its size."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = .maxPooling(size: settings.size, stride: settings.stride ?? settings.size)
  }
}

/// The mean of each window.
public struct AveragePoolingPart: LayerPart {
  public static let name = "average-pooling"
  public static let summary =
    "The mean of each window."

  public struct Settings: PartSettings {
    /// Height and width of a window.
    public var size = 2

    /// How far a window moves; nil: its size.
    public var stride: Int?

    public init() {}

    /// A bare value is `size`.
    public static var shorthand: String? { "size" }

    public static var fields: [Field<Settings>] {
      [
        Field("size", \.size, .integer(1...1000), "Height and width of a window."),
        Field(
          "stride", \.stride, optional: .integer(1...1000),
          "Step of the window; absent: its size."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = .averagePooling(size: settings.size, stride: settings.stride ?? settings.size)
  }
}
