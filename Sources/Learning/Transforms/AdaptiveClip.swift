import Numerics
import Schema

/// Scales an update down to a norm that a share of updates does not exceed: the server learns it.
///
/// Source: Andrew et al., "Differentially private learning with adaptive clipping" (2021),
/// algorithm 1: Cₜ₊₁ = Cₜ·exp(−η·(b̄ − γ)), where b̄ is the share of updates with ‖Δ‖₂ ≤ C, its sum
/// with noise.
public struct AdaptiveClip: ToldTransform {
  public static let name = "adaptive-clip"
  /// What it does, in one sentence.
  public static let summary = "Clips an update to a norm that follows a quantile of norms"

  public struct Settings: PartSettings {
    /// The share of updates that is to stay as it is, γ.
    public var quantile = 0.5
    /// The bound of version 0, C₀.
    public var initial = 0.1
    /// How fast the bound moves, η.
    public var rate = 0.2
    /// The deviation of the noise on the number of updates within the bound, σ_b.
    public var countNoise = 0.0
    public init() {}
    public static var shorthand: String? { "quantile" }
    public static var fields: [Field<Settings>] {
      [
        Field("quantile", \.quantile, .fraction, "Share of updates that are not clipped, γ"),
        Field("initial", \.initial, .number(1e-12...1e12), "Norm bound of version 0"),
        Field("rate", \.rate, .number(0...10), "Learning rate of the bound, η"),
        Field(
          "countNoise", \.countNoise, .number(0...1e9),
          "Standard deviation of the noise on the number of updates within the bound (σ_b; a "
            + "twentieth of a version's updates in Andrew et al. 2021)"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// The bound of version 0.
  public var firstTold: Double { settings.initial }
  /// The noise on the number of updates within the bound.
  public var reportNoise: Double { settings.countNoise }
  /// What the server sent.
  public func largestNorm(told: Double?) -> Double? { told ?? settings.initial }

  /// A byte reports whether the update was within the bound, a float tells it.
  public func shape(_ form: inout UpdateForm) {
    form.reportBytes += 1
    form.bytesTold += 4
  }

  /// Draws: none. Order: the norm sums in order of the parameters, in `Double`.
  public func apply(_ update: inout OutgoingUpdate) {
    let (norm, most) = (update.norm, update.told ?? settings.initial)
    update.report = norm <= most ? 1 : 0
    update.clip(norm: norm, to: most)
  }

  /// Draws: one `normal`, where there is noise. The bound stays within 10⁻³⁰ and 10³⁰.
  public func tellNext(
    after told: Double, reports: [Double], _ stream: inout RandomStream
  ) -> Double {
    guard !reports.isEmpty else { return told }
    var within = reports.reduce(0, +)
    if settings.countNoise > 0 { within += settings.countNoise * stream.normal() }
    let share = within / Double(reports.count)
    let next = told * Portable.exp(-settings.rate * (share - settings.quantile))
    return min(max(next, 1e-30), 1e30)
  }
}
