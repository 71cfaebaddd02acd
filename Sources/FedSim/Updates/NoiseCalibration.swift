/// What a version's sum is drawn from, as far as privacy may count on it.
public enum PrivacySampling: Sendable, Equatable {
  /// Nothing that is drawn: the member is in it.
  case none
  /// Each member with this probability, whatever the others are.
  case poisson(Double)
  /// This share of a known population, without replacement.
  case withoutReplacement(Double)

  /// What one version tells.
  public func curve(noiseMultiplier: Double) -> RenyiCurve {
    switch self {
    case .none: .gaussian(noiseMultiplier: noiseMultiplier)
    case .poisson(let rate): .poissonSampled(rate: rate, noiseMultiplier: noiseMultiplier)
    case .withoutReplacement(let rate):
      .sampledWithoutReplacement(rate: rate, noiseMultiplier: noiseMultiplier)
    }
  }

  /// The ε of this many versions.
  public func epsilon(noiseMultiplier: Double, versions: Int, delta: Double) -> Double {
    var curve = RenyiCurve()
    curve.compose(self.curve(noiseMultiplier: noiseMultiplier), times: versions)
    return curve.epsilon(delta: delta)
  }

  /// The least noise, to one part in a million, that keeps ε after this many versions; nil: no
  /// multiplier up to 10⁶ does.
  ///
  /// By bisection: ε falls as noise grows. What is returned keeps it.
  public func noiseMultiplier(epsilon: Double, versions: Int, delta: Double) -> Double? {
    func keeps(_ noise: Double) -> Bool {
      self.epsilon(noiseMultiplier: noise, versions: versions, delta: delta) <= epsilon
    }
    var (low, high) = (1e-6, 1.0)
    while !keeps(high) {
      if high >= 1e6 { return nil }
      (low, high) = (high, high * 2)
    }
    while high - low > 1e-6 * high {
      let middle = low + (high - low) / 2
      if middle <= low || middle >= high { break }
      if keeps(middle) { high = middle } else { low = middle }
    }
    return high
  }
}
