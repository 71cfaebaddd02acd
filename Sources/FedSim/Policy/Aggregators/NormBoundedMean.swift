import Learning
import Schema

/// A mean of updates none of which moves further than a bound.
///
/// Source: Sun et al., "Can you really backdoor federated learning?" (2019), §4:
/// Δᵢ / max(1, ‖Δᵢ‖ / M) before the mean.
public struct NormBoundedMean: Aggregator {
  public static let name = "norm-bounded-mean"
  /// What it does, in one sentence.
  public static let summary = "The mean of differences, each clipped to a maximum norm"

  public struct Settings: PartSettings {
    /// The largest norm.
    public var maximum = 1.0
    /// What updates count.
    public var weights = UpdateWeights.uniform
    public init() {}
    public static var shorthand: String? { "maximum" }
    public static var fields: [Field<Settings>] {
      [
        Field("maximum", \.maximum, .positive, "Maximum norm of a difference, M"),
        Field("weights", \.weights, .choice, "Weight of an update: equal, or by its samples"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  public var countsStaleness: Bool { true }
  /// Norms are those of differences, whatever is sent.
  public var needs: AggregatorNeeds { .bases }

  /// Order: as of `weightedSum`; an update that is scaled down is followed by what of its base
  /// makes up for that, where updates carry weights. Complexity: O(updates · parameters), all at
  /// once.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    let norms = batch.differences.squaredNorms(pool: batch.pool).map { $0.squareRoot() }
    let (weights, rest) = StalenessRule.shares(
      batch.staleness, settings.weights.of(batch.facts), batch.facts)
    let factors = norms.map { $0 > settings.maximum ? settings.maximum / $0 : 1 }
    if batch.payload == .delta {
      return batch.moved(
        zip(weights, factors).map { $0 * $1 },
        from: ParameterBuffer(count: batch.current.count) { _ in })
    }
    var terms = rest.map { [Aggregation.Term(batch.current, weight: $0)] } ?? []
    for (place, update) in batch.updates.enumerated() {
      let (weight, factor) = (weights[place], factors[place])
      terms.append(Aggregation.Term(update.parameters, weight: weight * factor))
      if factor < 1 { terms.append(Aggregation.Term(update.base, weight: weight * (1 - factor))) }
    }
    return Aggregation.weights(terms, kernels: batch.kernels, pool: batch.pool)
  }
}
