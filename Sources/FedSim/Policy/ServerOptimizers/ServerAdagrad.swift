import Schema

/// The settings of Adagrad, whose v forgets nothing.
public struct AdagradSettings: PartSettings {
  /// The rate.
  public var learningRate = 0.1
  /// How much of m stays.
  public var beta1 = 0.0
  /// What is added to √v.
  public var tau = 1e-3
  /// What v begins with; nil: τ².
  public var initial: Double?
  public init() {}
  public static var shorthand: String? { "learningRate" }
  public static var fields: [Field<AdagradSettings>] {
    AdaptiveSettings.common(\.learningRate, \.beta1, \.tau, \.initial)
  }

  var shared: AdaptiveStep {
    AdaptiveStep(rate: learningRate, beta1: beta1, tau: tau, start: initial ?? tau * tau)
  }
}

/// Steps become shorter where updates have been large: FedAdagrad.
///
/// Source: Reddi et al. (2021), algorithm 2, FedAdagrad: v ← v + Δ².
public struct ServerAdagrad: AdaptiveOptimizer {
  public static let name = "adagrad"
  /// What it does, in one sentence.
  public static let summary = "FedAdagrad: shorter steps for parameters with large past updates"

  public typealias Settings = AdagradSettings

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// The step that it takes.
  public var shared: AdaptiveStep { settings.shared }

  /// The next v.
  public func accumulated(_ v: Double, _ square: Double) -> Double {
    v + square
  }
}
