import Learning
import Schema

/// The mean of each channel over all places.
public struct GlobalAveragePoolingPart: LayerPart {
  public static let name = "global-average-pooling"
  public static let summary = "The mean of each channel over the whole image or sequence."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  public var layer: Network.Layer { .globalAveragePooling }
}

/// The channels of each place, brought to mean 0 and variance 1, then scaled and shifted.
public struct LayerNormalisationPart: LayerPart {
  public static let name = "layer-normalisation"
  public static let summary =
    "Normalises the last axis at each place to mean 0 and variance 1, then scales and shifts."

  public struct Settings: PartSettings {
    public var isUpdatable = true

    public init() {}

    public static var fields: [Field<Settings>] {
      [Field("isUpdatable", \.isUpdatable, .flag, "Devices train and exchange the layer.")]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = Network.Layer.layerNormalisation.updatable(settings.isUpdatable)
  }
}

/// A learned vector for each time.
public struct PositionsPart: LayerPart {
  public static let name = "positions"
  public static let summary = "Adds a learned vector for each time to [time, features]."

  public struct Settings: PartSettings {
    public var isUpdatable = true

    public init() {}

    public static var fields: [Field<Settings>] {
      [Field("isUpdatable", \.isUpdatable, .flag, "Devices train and exchange the layer.")]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = Network.Layer.positions.updatable(settings.isUpdatable)
  }
}

/// Multi-head attention of a sequence to itself.
public struct AttentionPart: LayerPart {
  public static let name = "attention"
  public static let summary =
    "Multi-head scaled dot-product attention of [time, features] to itself (Vaswani et al. 2017)."

  public struct Settings: PartSettings {
    /// How many heads the features are divided into.
    public var heads = 1
    /// Whether a place attends only to itself and to those before it.
    public var causal = false
    public var isUpdatable = true

    public init() {}

    /// A bare value is `heads`.
    public static var shorthand: String? { "heads" }

    public static var fields: [Field<Settings>] {
      [
        Field("heads", \.heads, .integer(1...1000), "Number of heads; it divides the features."),
        Field("causal", \.causal, .flag, "A place attends to itself and earlier places only."),
        Field("isUpdatable", \.isUpdatable, .flag, "Devices train and exchange the layer."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = Network.Layer.attention(heads: settings.heads, isCausal: settings.causal).updatable(
      settings.isUpdatable)
  }
}

/// The sum of what layers make of the input, and what a shortcut makes of it.
public struct ResidualPart: LayerPart {
  public static let name = "residual"
  public static let summary =
    "Adds the output of its layers to that of a shortcut, or to the input (He et al. 2016)."

  public struct Settings: PartSettings {
    /// The layers, from the input on.
    public var layers = [Choice<any LayerPart>(FlattenPart.self) { $0 }]
    /// The layers of the other way; none: the input itself.
    public var shortcut: [Choice<any LayerPart>] = []

    public init() {}

    /// A bare list is the layers.
    public static var shorthand: String? { "layers" }

    public static var fields: [Field<Settings>] {
      [
        Field(
          "layers", \.layers, .list(of: .part(.layer), minimum: 1), required: true,
          "The layers, starting at the input."),
        Field(
          "shortcut", \.shortcut, .list(of: .part(.layer), minimum: 0),
          "The layers of the shortcut; none: the input itself."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = .residual(
      layers: settings.layers.map(\.value.layer), shortcut: settings.shortcut.map(\.value.layer))
  }
}

/// A frozen dense layer with a trained adapter of low rank.
public struct LoRAPart: LayerPart {
  public static let name = "lora"
  public static let summary =
    "A frozen dense layer with a trained low-rank adapter; only that is exchanged (Hu et al. 2021)."

  public struct Settings: PartSettings {
    /// How many outputs there are.
    public var units = 10
    /// The inner size of the adapter.
    public var rank = 4
    /// The adapter's factor is this through its rank; nil: the rank, so that the factor is 1.
    public var alpha: Double?
    /// Whether the layer sees the last axis alone, the same at each place.
    public var eachPlace = false
    /// What follows the sums.
    public var activation = ActivationWord.identity

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("units", \.units, .integer(1...1_000_000), "Number of outputs."),
        Field("rank", \.rank, .integer(1...100_000), "Inner size of the adapter."),
        Field(
          "alpha", \.alpha, optional: .number(0...1e6),
          "The adapter's factor is alpha/rank; absent: the rank, so the factor is 1."),
        Field(
          "eachPlace", \.eachPlace, .flag,
          "Connect the last axis alone, with the same weights at each place, such as each time."),
        Field("activation", \.activation, .choice, "Activation function."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = .lowRank(
      Network.LowRank(
        outputs: settings.units, rank: settings.rank,
        alpha: settings.alpha ?? Double(settings.rank), eachPlace: settings.eachPlace,
        activation: settings.activation.activation))
  }
}

/// An embedding whose vectors are also those of the scores.
public struct TiedEmbeddingPart: LayerPart {
  public static let name = "tied-embedding"
  public static let summary =
    "An embedding, layers, and scores for each token by the embedding's own vectors; no bias."

  public struct Settings: PartSettings {
    /// How many tokens there are, from 0 on.
    public var count = 256
    /// How long a vector is.
    public var width = 8
    /// The layers between vectors and scores.
    public var layers = [Choice<any LayerPart>(FlattenPart.self) { $0 }]
    public var isUpdatable = true

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("count", \.count, .integer(1...10_000_000), "Number of tokens, from 0 on."),
        Field("width", \.width, .integer(1...1_000_000), "Length of a vector."),
        Field(
          "layers", \.layers, .list(of: .part(.layer), minimum: 1), required: true,
          "The layers behind the embedding, which give [time, width] as well."),
        Field("isUpdatable", \.isUpdatable, .flag, "Devices train and exchange the layer."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = Network.Layer.tiedEmbedding(
      count: settings.count, width: settings.width, layers: settings.layers.map(\.value.layer)
    ).updatable(settings.isUpdatable)
  }
}
