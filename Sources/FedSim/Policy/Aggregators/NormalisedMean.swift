import Learning
import Schema

/// A mean of differences each of which is divided by what its device's steps add up to, so that a
/// device that took more steps does not draw the model to itself.
///
/// Source: Wang et al., "Tackling the objective inconsistency problem in heterogeneous federated
/// optimization" (2020), equation 9 (FedNova): x ← x + τ_eff·Σ pᵢ·Δᵢ/‖aᵢ‖₁, where Δᵢ/‖aᵢ‖₁ is the
/// learning rate times a mean of gradients. As in the authors' program τ_eff is Σ pᵢ·‖aᵢ‖₁, and
/// Σ pᵢ·τᵢ where training is pulled towards its beginning.
public struct NormalisedMean: Aggregator {
  public static let name = "normalised-mean"
  /// What it does, in one sentence.
  public static let summary =
    "FedNova: the mean of differences, each divided by the length of its training"

  public struct Settings: PartSettings {
    /// What updates count.
    public var weights = UpdateWeights.samples
    public init() {}
    public static var shorthand: String? { "weights" }
    public static var fields: [Field<Settings>] {
      [Field("weights", \.weights, .choice, "Weight of an update: equal, or by its samples")]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// It is made for differences, which it divides.
  public var needs: AggregatorNeeds { [.differences, .stepSums] }

  /// pᵢ·τ_eff/‖aᵢ‖₁; exactly pᵢ where all steps add up to the same, and nothing is pulled.
  public func weights(of updates: [UpdateFacts]) -> [Double]? {
    let shares = settings.weights.of(updates)
    let first = updates[0].stepSum
    if updates.allSatisfy({ $0.stepSum == first && $0.effectiveSteps == first }) { return shares }
    let effective = zip(shares, updates).reduce(0) { $0 + $1.0 * $1.1.effectiveSteps }
    return zip(shares, updates).map { $0 * effective / $1.stepSum }
  }

  /// The combination, of the same kind as the payload.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    batch.weightedSum(weights(of: batch.facts)!)
  }
}
