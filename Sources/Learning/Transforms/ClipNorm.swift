import Numerics
import Schema

/// Scales an update down to a largest Euclidean norm.
///
/// Source: McMahan et al., "Learning differentially private recurrent language models" (2018), §3:
/// Δ ← Δ·min(1, C/‖Δ‖₂).
public struct ClipNorm: UpdateTransform {
  public static let name = "clip-norm"
  /// What it does, in one sentence.
  public static let summary = "Clips an update to a maximum Euclidean norm"

  public struct Settings: PartSettings {
    /// The largest norm.
    public var maximum = 1.0
    public init() {}
    public static var shorthand: String? { "maximum" }
    public static var fields: [Field<Settings>] {
      [Field("maximum", \.maximum, .positive, "Maximum norm")]
    }
  }

  private let settings: Settings
  /// A transform with this bound.
  public init(_ settings: Settings) { self.settings = settings }

  /// The bound.
  public func largestNorm(told: Double?) -> Double? { settings.maximum }

  /// Draws: none. Order: the norm sums in order of the parameters, in `Double`.
  public func apply(_ update: inout OutgoingUpdate) {
    update.clip(norm: update.norm, to: settings.maximum)
  }
}
