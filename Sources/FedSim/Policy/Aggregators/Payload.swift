/// What an update carries, and so what an aggregation means.
public enum Payload: String, CaseIterable, Sendable {
  /// The trained weights: new = Σ pᵢ·wᵢ. With stale bases the model can move backwards.
  case weights
  /// Trained minus base: new = now + η·Σ pᵢ·Δᵢ.
  case delta
}
