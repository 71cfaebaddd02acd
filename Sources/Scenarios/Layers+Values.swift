import Learning
import Schema

/// One axis instead of several.
public struct FlattenPart: LayerPart {
  public static let name = "flatten"
  /// When to choose it.
  public static let summary = "Flattens several axes into one."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  public var layer: Network.Layer { .flatten }
}

/// The positive part of each value.
public struct ReLUPart: LayerPart {
  public static let name = "relu"
  public static let summary = "The positive part of each value."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  public var layer: Network.Layer { .activation(.relu) }
}

/// The positive part of each value, at most 6.
public struct ReLU6Part: LayerPart {
  public static let name = "relu6"
  public static let summary = "The positive part of each value, at most 6."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  public var layer: Network.Layer { .activation(.relu6) }
}

/// The positive part of each value, and a share of the negative one.
public struct LeakyReLUPart: LayerPart {
  public static let name = "leaky-relu"
  public static let summary =
    "The positive part of each value, plus a fraction of the negative part."

  public struct Settings: PartSettings {
    /// The share of negative values that is left.
    public var slope = 0.01

    public init() {}

    /// A bare value is `slope`.
    public static var shorthand: String? { "slope" }

    public static var fields: [Field<Settings>] {
      [
        Field("slope", \.slope, .fraction, "Factor on negative values.")
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = .activation(.leakyReLU(slope: Float(settings.slope)))
  }
}

/// The hyperbolic tangent of each value.
public struct TanhPart: LayerPart {
  public static let name = "tanh"
  public static let summary = "The hyperbolic tangent of each value."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  public var layer: Network.Layer { .activation(.tanh) }
}

/// 1/(1 + exp(-x)) of each value.
public struct SigmoidPart: LayerPart {
  public static let name = "sigmoid"
  public static let summary = "1/(1 + exp(-x)) of each value."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  public var layer: Network.Layer { .activation(.sigmoid) }
}

/// x·Φ(x) of each value.
public struct GELUPart: LayerPart {
  public static let name = "gelu"
  public static let summary = "x·Φ(x) of each value, the exact form; Φ is the normal distribution."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  public var layer: Network.Layer { .activation(.gelu) }
}

/// x/(1 + exp(-x)) of each value.
public struct SiLUPart: LayerPart {
  public static let name = "silu"
  public static let summary = "x/(1 + exp(-x)) of each value; also called swish."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  public var layer: Network.Layer { .activation(.silu) }
}

/// Positive shares that add up to 1.
public struct SoftmaxPart: LayerPart {
  public static let name = "softmax"
  /// When to choose it.
  public static let summary = "Positive shares with sum 1."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  public var layer: Network.Layer { .softmax }
}

/// In training, a share of the values is 0 and the others grow to make up for it.
public struct DropoutPart: LayerPart {
  public static let name = "dropout"
  public static let summary =
    "In training, sets a share of the values to 0 and scales the others up."

  public struct Settings: PartSettings {
    /// The share of values that are 0.
    public var rate = 0.5

    public init() {}

    /// A bare value is `rate`.
    public static var shorthand: String? { "rate" }

    public static var fields: [Field<Settings>] {
      [
        Field("rate", \.rate, .number(0...0.99), "Share of values set to 0.")
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = .dropout(rate: settings.rate)
  }
}

/// Channels in groups, each brought to mean 0 and variance 1, then scaled and shifted.
public struct GroupNormalisationPart: LayerPart {
  public static let name = "group-normalisation"
  public static let summary =
    "Normalises groups of channels to mean 0 and variance 1, then scales and shifts."

  public struct Settings: PartSettings {
    /// How many groups the channels form.
    public var groups = 1
    public var isUpdatable = true

    public init() {}

    /// A bare value is `groups`.
    public static var shorthand: String? { "groups" }

    public static var fields: [Field<Settings>] {
      [
        Field("groups", \.groups, .integer(1...1_000_000), "Number of channel groups."),
        Field("isUpdatable", \.isUpdatable, .flag, "Devices train and exchange the layer."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = Network.Layer.groupNormalisation(groups: settings.groups).updatable(
      settings.isUpdatable)
  }
}

/// Whole numbers become vectors; the first layer of a model of texts.
public struct EmbeddingPart: LayerPart {
  public static let name = "embedding"
  public static let summary =
    "Maps whole numbers to vectors; the first layer of text models."

  public struct Settings: PartSettings {
    /// How many numbers there are, from 0 on.
    public var count = 256
    /// How long a vector is.
    public var width = 8
    public var isUpdatable = true

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "count", \.count, .integer(1...10_000_000), "Number of distinct whole numbers, from 0 on."
        ),
        Field("width", \.width, .integer(1...1_000_000), "Length of a vector."),
        Field("isUpdatable", \.isUpdatable, .flag, "Devices train and exchange the layer."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = Network.Layer.embedding(count: settings.count, width: settings.width).updatable(
      settings.isUpdatable)
  }
}

/// A long short-term memory over [time, features].
public struct LSTMPart: LayerPart {
  public static let name = "lstm"
  public static let summary =
    "A long short-term memory over [time, features]."

  public struct Settings: PartSettings {
    /// How many units there are.
    public var units = 64
    /// Whether all states continue instead of the last.
    public var returnsSequence = false
    /// Whether the input gate is what the forget gate leaves.
    public var cifg: Bool?
    /// How wide the projection is through which states are seen; nil: there is none.
    public var projection: Int?
    public var isUpdatable = true

    public init() {}

    /// A bare value is `units`.
    public static var shorthand: String? { "units" }

    public static var fields: [Field<Settings>] {
      [
        Field("units", \.units, .integer(1...1_000_000), "Number of units."),
        Field(
          "returnsSequence", \.returnsSequence, .flag,
          "Return the states of all time steps instead of the last."),
        Field(
          "cifg", \.cifg, feature: .flag,
          "Couple the gates: the input gate is 1 less the forget gate, and there are three."),
        Field(
          "projection", \.projection, feature: .integer(1...100_000),
          "Width of a projection that replaces the states, for the next step and the next layer;"
            + " absent: none."),
        Field("isUpdatable", \.isUpdatable, .flag, "Devices train and exchange the layer."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    let (units, sequence) = (settings.units, settings.returnsSequence)
    let isCoupled = settings.cifg == true
    let layer: Network.Layer =
      if let projection = settings.projection {
        .projectedLSTM(
          units: units, projection: projection, isCoupled: isCoupled, returnsSequence: sequence)
      } else if isCoupled {
        .coupledLSTM(units: units, returnsSequence: sequence)
      } else {
        .lstm(units: units, returnsSequence: sequence)
      }
    self.layer = layer.updatable(settings.isUpdatable)
  }
}

/// A gated recurrent unit over [time, features].
public struct GRUPart: LayerPart {
  public static let name = "gru"
  public static let summary =
    "A gated recurrent unit over [time, features]."

  public struct Settings: PartSettings {
    /// How many units there are.
    public var units = 64
    /// Whether all states continue instead of the last.
    public var returnsSequence = false
    public var isUpdatable = true

    public init() {}

    /// A bare value is `units`.
    public static var shorthand: String? { "units" }

    public static var fields: [Field<Settings>] {
      [
        Field("units", \.units, .integer(1...1_000_000), "Number of units."),
        Field(
          "returnsSequence", \.returnsSequence, .flag,
          "Return the states of all time steps instead of the last."),
        Field("isUpdatable", \.isUpdatable, .flag, "Devices train and exchange the layer."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = Network.Layer.gru(units: settings.units, returnsSequence: settings.returnsSequence)
      .updatable(settings.isUpdatable)
  }
}
