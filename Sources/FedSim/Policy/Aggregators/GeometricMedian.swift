import Learning
import Schema

/// The point from which the distances to all updates add up to least.
///
/// Source: Pillutla, Kakade, Harchaoui, "Robust aggregation for federated learning" (2022),
/// algorithm 2, the smoothed Weiszfeld algorithm: from the weighted mean v on,
/// v ← Σ βᵢ·xᵢ / Σ βᵢ with βᵢ = αᵢ / max(ν, ‖v − xᵢ‖).
public struct GeometricMedian: Aggregator {
  public static let name = "geometric-median"
  /// What it does, in one sentence.
  public static let summary = "RFA: the point with the minimum sum of distances to the updates"

  public struct Settings: PartSettings {
    /// What updates count.
    public var weights = UpdateWeights.samples
    /// Steps at most.
    public var iterations = 4
    /// The least distance that is divided by.
    public var smoothing = 1e-6
    /// The relative change at which it ends early.
    public var tolerance = 1e-6
    public init() {}
    public static var shorthand: String? { "iterations" }
    public static var fields: [Field<Settings>] {
      [
        Field("weights", \.weights, .choice, "Weight of an update: by its samples, or equal"),
        Field("iterations", \.iterations, .integer(1...10_000), "Maximum number of iterations"),
        Field("smoothing", \.smoothing, .positive, "Minimum distance used as a divisor, ν"),
        Field(
          "tolerance", \.tolerance, .number(0...1),
          "Stop early when the sum of distances changes by less than this share"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Order: sums over updates in their order, in `Double`, rounded to float once at the end.
  /// Complexity: O(iterations · updates · parameters), all updates at once, 16 bytes a parameter.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    let shares = settings.weights.of(batch.facts)
    let values = batch.values
    func distances(_ point: [Double]) -> [Double] {
      values.squaredDistances(to: point, pool: batch.pool).map { $0.squareRoot() }
    }
    func objective(_ distances: [Double]) -> Double {
      zip(shares, distances).reduce(0) { $0 + $1.0 * $1.1 }
    }
    var point = values.weightedSum(shares, pool: batch.pool)
    var far = distances(point)
    var value = objective(far)
    for _ in 0..<settings.iterations {
      var weights = zip(shares, far).map { $0 / max(settings.smoothing, $1) }
      let total = weights.reduce(0, +)
      guard total > 0 else { break }
      for place in weights.indices { weights[place] /= total }
      point = values.weightedSum(weights, pool: batch.pool)
      far = distances(point)
      let before = value
      value = objective(far)
      if (before - value).magnitude < settings.tolerance * value { break }
    }
    return ParameterBuffer(nearest: point)
  }
}
