import Learning
import Numerics
import Schema

/// Updates count more the higher the loss is that they began with.
///
/// Source: Li et al., "Fair resource allocation in federated learning" (2020), algorithm 2,
/// q-FedAvg: Δₖ = Fₖ^q·L·(w − wₖ), hₖ = q·Fₖ^(q−1)·‖L·(w − wₖ)‖² + L·Fₖ^q, w ← w − Σ Δₖ / Σ hₖ.
public struct FairAggregator: Aggregator {
  public static let name = "q-ffl"
  /// What it does, in one sentence.
  public static let summary = "q-FedAvg: updates of devices with a high loss have more weight"

  public struct Settings: PartSettings {
    /// How much fairness.
    public var q = 1.0
    /// The constant that bounds the loss's smoothness.
    public var lipschitz = 10.0
    public init() {}
    public static var shorthand: String? { "q" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "q", \.q, .number(0...100), "Influence of the loss on the weight; 0: the uniform mean"),
        Field(
          "lipschitz", \.lipschitz, .positive,
          "L, the inverse of the devices' learning rate in the paper"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// The step is made of differences, whatever is sent; F is the loss before the training.
  public var needs: AggregatorNeeds { [.bases, .baseLosses] }

  /// Order: Σ h, then the step, in the order of the updates. Losses are 10⁻¹⁰ at least, as in the
  /// authors' program; they are divided by the largest, whose q-th power the quotient does not
  /// need. Complexity: O(updates · parameters), all at once.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    let norms = batch.differences.squaredNorms(pool: batch.pool)
    // All is divided by L, so that q = 0 gives whole numbers.
    let losses = batch.updates.map { max(0, $0.baseLoss ?? 0) + 1e-10 }
    let most = losses.max()!
    var steps: [Double] = []
    var total = 0.0
    for (loss, norm) in zip(losses, norms) {
      let step = power(loss / most, settings.q)
      steps.append(step)
      total += settings.q == 0 ? 1 : settings.q * step / loss * settings.lipschitz * norm + step
    }
    let weights = steps.map { total > 0 && total < .infinity ? $0 / total : 0 }
    let isDelta = batch.payload == .delta
    return batch.moved(
      weights, from: isDelta ? ParameterBuffer(count: batch.current.count) { _ in } : batch.current)
  }

  private func power(_ base: Double, _ exponent: Double) -> Double {
    exponent == 0 ? 1 : exponent == 1 ? base : Portable.exp(exponent * Portable.log(base))
  }
}
