import Learning
import Numerics
import Schema

/// The mean, in which late updates count less the older they are and more the more they differ.
///
/// Source: Abdelmoniem et al., "REFL: Resource-efficient federated learning" (2023), §4.2: a fresh
/// update counts 1, a late one (1 − β)/(τ + 1) + β·(1 − e^(−Λ/Λmax)) with
/// Λ = ‖(Δ + n·Δ̄)/(n + 1) − Δ̄‖² / ‖Δ̄‖², where Δ̄ is the mean difference of the n fresh ones and
/// Λmax the largest of the late ones.
public struct LateAwareMean: Aggregator {
  public static let name = "refl-mean"
  /// What it does, in one sentence.
  public static let summary = "Late updates have less weight with age and more with their deviation"

  public struct Settings: PartSettings {
    /// How much it counts that an update differs.
    public var beta = 0.35
    public init() {}
    public static var shorthand: String? { "beta" }
    public static var fields: [Field<Settings>] {
      [Field("beta", \.beta, .fraction, "Influence of a late update's deviation, β")]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Distances between updates are measured by differences, whatever is sent.
  public var needs: AggregatorNeeds { .bases }

  /// Order: of the updates. Where no update is fresh only age counts. Complexity: O(updates ·
  /// parameters), all at once.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    let updates = batch.updates
    let fresh = updates.count { $0.staleness == 0 }
    var weights = updates.map { $0.staleness == 0 ? 1 : (1 - settings.beta) / age($0) }
    if fresh > 0, fresh < updates.count {
      let differences = batch.differences
      let center = differences.weightedSum(
        updates.map { $0.staleness == 0 ? 1 / Double(fresh) : 0 }, pool: batch.pool)
      // ‖(Δ + n·Δ̄)/(n + 1) − Δ̄‖² is ‖Δ − Δ̄‖²/(n + 1)²: what is common falls out of the ratio.
      let distances = differences.squaredDistances(to: center, pool: batch.pool)
      var most = 0.0
      for (place, update) in updates.enumerated() where update.staleness > 0 {
        most = max(most, distances[place])
      }
      for (place, update) in updates.enumerated() where update.staleness > 0 && most > 0 {
        weights[place] += settings.beta * (1 - Portable.exp(-distances[place] / most))
      }
    }
    let total = weights.reduce(0, +)
    // With β = 1 and late updates alone nobody has any weight.
    guard total > 0 else { return batch.mean(of: Array(updates.indices)) }
    return batch.weightedSum(weights.map { $0 / total })
  }

  private func age(_ update: AggregatedUpdate) -> Double { Double(update.staleness) + 1 }
}
