import Schema

/// As Adam, with a v that changes by no more than the square: FedYogi.
///
/// Source: Reddi et al. (2021), algorithm 2, FedYogi: v ← v − (1 − β₂)·Δ²·sign(v − Δ²).
public struct ServerYogi: AdaptiveOptimizer {
  public static let name = "yogi"
  /// What it does, in one sentence.
  public static let summary =
    "FedYogi: like Adam, but v changes by at most the square of the update"

  public typealias Settings = AdaptiveSettings

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// The step that it takes.
  public var shared: AdaptiveStep { settings.shared }

  /// The next v.
  public func accumulated(_ v: Double, _ square: Double) -> Double {
    v - (1 - settings.beta2) * square * Double((v > square ? 1 : 0) - (v < square ? 1 : 0))
  }
}
