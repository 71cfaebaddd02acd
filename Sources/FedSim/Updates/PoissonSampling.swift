import Numerics

extension RenyiCurve {
  /// The Gaussian mechanism on a sample that each member of a population is in with probability
  /// `rate`, whatever the others are; neighbours differ by one member that is there or not.
  ///
  /// Source: Mironov, Talwar, Zhang, "Rényi differential privacy of the sampled Gaussian mechanism"
  /// (2019), §3.3. For orders that are not whole, terms of alternating signs are added by their
  /// magnitude, as in dp-accounting: a bound.
  public static func poissonSampled(rate: Double, noiseMultiplier: Double) -> RenyiCurve {
    precondition(rate >= 0 && rate <= 1, "a rate is between 0 and 1")
    if rate == 0 { return RenyiCurve() }
    guard rate < 1, noiseMultiplier > 0 else { return gaussian(noiseMultiplier: noiseMultiplier) }
    let terms = PoissonTerms(rate: rate, sigma: noiseMultiplier)
    return RenyiCurve(
      orders.map { order in
        let log = order == order.rounded() ? terms.whole(Int(order)) : terms.fractional(order)
        return max(0, log) / (order - 1)
      })
  }
}

/// ln A_α of the paper.
private struct PoissonTerms {
  private let sigma: Double
  private let logRate: Double
  private let logRest: Double
  private let split: Double

  init(rate: Double, sigma: Double) {
    self.sigma = sigma
    logRate = Portable.log(rate)
    logRest = Portable.log1p(-rate)
    split = sigma * sigma * Portable.log(1 / rate - 1) + 0.5
  }

  /// Σ over i of C(α, i)·(1 − q)^(α − i)·q^i·e^((i² − i)/2σ²).
  func whole(_ order: Int) -> Double {
    var (sum, choose) = (-Double.infinity, 0.0)
    for i in 0...order {
      let n = Double(i)
      sum = Portable.logSum(
        sum,
        choose + n * logRate + Double(order - i) * logRest + (n * n - n) / (2 * sigma * sigma))
      choose += Portable.log(Double(order - i) / Double(i + 1))
    }
    return sum
  }

  /// The two integrals left and right of the point where both densities are equal, each as a
  /// series; infinite where it does not converge.
  func fractional(_ order: Double) -> Double {
    let root = 2.0.squareRoot() * sigma
    let double = 2 * sigma * sigma
    var (left, right, choose) = (-Double.infinity, -Double.infinity, 0.0)
    var last = (-Double.infinity, -Double.infinity)
    for i in 0..<1000 {
      let (n, rest) = (Double(i), order - Double(i))
      let low =
        choose + n * logRate + rest * logRest + (n * n - n) / double
        + Portable.logHalfErfc((n - split) / root)
      let high =
        choose + rest * logRate + n * logRest + (rest * rest - rest) / double
        + Portable.logHalfErfc((split - rest) / root)
      left = Portable.logSum(left, low)
      right = Portable.logSum(right, high)
      let sum = Portable.logSum(left, right)
      if low < last.0, high < last.1, max(low, high) < sum - 30 { return sum }
      last = (low, high)
      choose += Portable.log(rest.magnitude / (n + 1))
    }
    return .infinity
  }
}
