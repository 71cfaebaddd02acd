import Learning
import Schema

/// Each channel over a batch brought to mean 0 and variance 1, then scaled and shifted.
public struct BatchNormalisationPart: LayerPart {
  public static let name = "batch-normalisation"
  public static let summary =
    "Normalises channels by a batch's mean and variance, evaluates by running ones (Ioffe 2015)."

  public struct Settings: PartSettings {
    /// What is added to a variance.
    public var epsilon = 1e-5
    /// The share of a batch's statistics in the next running ones.
    public var momentum = 0.1
    public var isUpdatable = true

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("epsilon", \.epsilon, .number(1e-12...1), "Number added to a variance."),
        Field(
          "momentum", \.momentum, .fraction,
          "Share of a batch in the running statistics, as in PyTorch."),
        Field(
          "isUpdatable", \.isUpdatable, .flag,
          "Devices train and exchange the layer; if not, it uses the running statistics always."),
      ]
    }
  }

  public let layer: Network.Layer

  public init(_ settings: Settings) {
    layer = Network.Layer.batchNormalisation(
      epsilon: settings.epsilon, momentum: settings.momentum
    ).updatable(settings.isUpdatable)
  }
}
