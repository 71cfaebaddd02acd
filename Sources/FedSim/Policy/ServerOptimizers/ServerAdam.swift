import Schema

/// Steps are as long as m is large compared with the root of recent squares: FedAdam.
///
/// Source: Reddi et al. (2021), algorithm 2, FedAdam: v ← β₂·v + (1 − β₂)·Δ².
public struct ServerAdam: AdaptiveOptimizer {
  public static let name = "adam"
  /// What it does, in one sentence.
  public static let summary = "FedAdam: a mean of updates divided by the root of their mean square"

  public typealias Settings = AdaptiveSettings

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// The step that it takes.
  public var shared: AdaptiveStep { settings.shared }

  /// The next v.
  public func accumulated(_ v: Double, _ square: Double) -> Double {
    settings.beta2 * v + (1 - settings.beta2) * square
  }
}
