import Numerics
import Schema

/// Sends the opposite of what it learned.
///
/// Source: Li et al., "RSA: Byzantine-robust stochastic aggregation methods" (2019), §6: Δ becomes
/// −σ·Δ.
public struct SignFlip: Attack {
  public static let name = "sign-flip"
  /// What it does, in one sentence.
  public static let summary = "Sends the negative of its difference"

  public struct Settings: PartSettings {
    /// How many times the difference.
    public var scale = 1.0
    public init() {}
    public static var shorthand: String? { "scale" }
    public static var fields: [Field<Settings>] {
      [Field("scale", \.scale, .positive, "Factor on the negative difference")]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// b − σ·(w − b). Draws: none.
  public func forge(
    _ update: AttackedUpdate, _ stream: inout RandomStream
  ) -> ParameterBuffer {
    update.scaled(-settings.scale)
  }
}

/// Sends a multiple of what it learned, so that a mean becomes its own model.
///
/// Source: Bagdasaryan et al., "How to backdoor federated learning" (2020), equation 3, model
/// replacement: Δ becomes γ·Δ, where γ is the number of updates by the server's learning rate.
public struct ScaledUpdate: Attack {
  public static let name = "scaled"
  public static let summary = "Model replacement: sends a multiple of its difference"

  public struct Settings: PartSettings {
    /// How many times the difference.
    public var factor = 10.0
    /// Whether it trains on wrong labels, as `label-flip` does.
    public var flipsLabels = true
    public init() {}
    public static var shorthand: String? { "factor" }
    public static var fields: [Field<Settings>] {
      [
        Field("factor", \.factor, .positive, "Factor on the difference, gamma"),
        Field(
          "flipsLabels", \.flipsLabels, .flag,
          "Train on wrong labels: of C classes, y becomes C - 1 - y"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Those of `label-flip`, if it flips any.
  public func relabelling(classCount: Int) -> [Int32]? {
    settings.flipsLabels
      ? LabelFlip(LabelFlip.Settings()).relabelling(classCount: classCount) : nil
  }

  /// b + γ·(w − b). Draws: none.
  public func forge(
    _ update: AttackedUpdate, _ stream: inout RandomStream
  ) -> ParameterBuffer {
    update.scaled(settings.factor)
  }
}

extension AttackedUpdate {
  /// b + f·(w − b); what was trained where that is not finite, which is rejected.
  fileprivate func scaled(_ factor: Double) -> ParameterBuffer {
    parameters.isFinite
      ? .combining(parameters, base) { $1 + factor * ($0 - $1) } : parameters
  }
}
