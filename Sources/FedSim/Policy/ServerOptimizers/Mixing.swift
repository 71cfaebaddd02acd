import Learning
import Schema

/// A mixture of the model and what was trained: FedAsync's step.
///
/// Source: Xie, Koyejo, Gupta, "Asynchronous federated optimization" (2020), algorithm 1:
/// x ← (1 − α)·x + α·x′, with α·s(τ) in place of α where old updates count less.
public struct Mixing: ServerOptimizer {
  public static let name = "mixing"
  /// What it does, in one sentence.
  public static let summary = "FedAsync: (1 − α) of the model plus α of the trained model"

  public struct Settings: PartSettings {
    /// The share of what was trained.
    public var alpha = 0.6
    public init() {}
    public static var shorthand: String? { "alpha" }
    public static var fields: [Field<Settings>] {
      [Field("alpha", \.alpha, .fraction, "Weight of the trained model, α")]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// A mean of old and new ones is one of statistics, too.
  public var movesStatistics: Bool { true }

  /// Differences are mixed as the model that they lead to. Order: element by element, in `Double`,
  /// rounded to float once.
  public func step(
    from current: ParameterBuffer, by combined: CombinedUpdate, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    let (alpha, new) = (settings.alpha, combined.parameters)
    if combined.payload == .delta { return .combining(current, new) { $0 + alpha * $1 } }
    return .combining(current, new) { (1 - alpha) * $0 + alpha * $1 }
  }
}
