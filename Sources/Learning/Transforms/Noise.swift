import Numerics
import Schema

/// Adds normal noise to an update on its device.
///
/// Source: Dwork and Roth, "The algorithmic foundations of differential privacy" (2014), appendix
/// A; on devices: Truex et al., "LDP-Fed" (2020). Noise of the server is `server.privacy`.
public struct GaussianNoise: UpdateTransform {
  public static let name = "gaussian-noise"
  /// What it does, in one sentence.
  public static let summary = "Adds Gaussian noise to each parameter of an update, on the device"

  public struct Settings: PartSettings {
    /// The deviation of the noise on each parameter.
    public var deviation = 0.01
    public init() {}
    public static var shorthand: String? { "deviation" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "deviation", \.deviation, .number(0...1e30),
          "Standard deviation of the noise on each parameter")
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Every parameter is sent, whatever was left out before.
  public func shape(_ form: inout UpdateForm) { form.sendsAll() }

  /// Draws: one `normal` a parameter that travels, in their order.
  public func apply(_ update: inout OutgoingUpdate) {
    guard update.parameters.isFinite else { return }
    update.setDifferences { $1 + settings.deviation * $2.normal() }
  }
}

/// Adds Laplace noise to an update on its device.
///
/// Source: Dwork et al., "Calibrating noise to sensitivity in private data analysis" (2006).
public struct LaplaceNoise: UpdateTransform {
  public static let name = "laplace-noise"
  public static let summary = "Adds Laplace noise to each parameter of an update, on the device"

  public struct Settings: PartSettings {
    /// The scale of the noise on each parameter.
    public var scale = 0.01
    public init() {}
    public static var shorthand: String? { "scale" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "scale", \.scale, .number(0...1e30),
          "Mean magnitude of the noise on each parameter; the standard deviation is √2 times this")
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Every parameter is sent, whatever was left out before.
  public func shape(_ form: inout UpdateForm) { form.sendsAll() }

  /// Draws: one `below` 2 and one `exponential` a parameter that travels, in their order.
  public func apply(_ update: inout OutgoingUpdate) {
    guard update.parameters.isFinite else { return }
    update.setDifferences { _, difference, stream in
      let sign = stream.below(2) == 0 ? -1.0 : 1.0
      return difference + sign * stream.exponential(mean: settings.scale)
    }
  }
}

extension UpdateForm {
  /// All parameters are sent as floats.
  mutating func sendsAll() {
    (numbers, bitsPerNumber, bitsPerPlace, scaleBytes, seedBytes) = (count, nil, 0, 0, 0)
  }
}
