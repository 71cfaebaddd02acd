extension TrainingPlan {
  /// What the local steps of a training add up to if each gradient is 1, in learning rates: ‖aᵢ‖₁,
  /// where aᵢ says what each gradient counts in the difference, as long as nothing in it is
  /// negative. Plain SGD: the number of batches.
  ///
  /// `pull` is μ of a pull towards where the training began. nil for optimisers whose steps are no
  /// sums of gradients. Source: Wang et al., "Tackling the objective inconsistency problem in
  /// heterogeneous federated optimization" (2020), §4.1 and table 1; the recursion is that of steps
  /// v ← ρ·v + g, w ← w − η·v.
  public func stepSum(batches: Int, of all: Int, pull: Double = 0) -> Double? {
    guard case .sgd(let momentum, let nesterov) = optimizer.rule, optimizer.weightDecay == 0
    else { return nil }
    if momentum == 0, pull == 0, case .constant = schedule { return Double(batches) }
    var (velocity, way) = (0.0, 0.0)
    for step in 0..<batches {
      let gradient = 1 - pull * learningRate * way
      velocity = momentum * velocity + gradient
      way +=
        schedule.factor(step: step, of: all)
        * (nesterov ? gradient + momentum * velocity : velocity)
    }
    return way
  }
}
