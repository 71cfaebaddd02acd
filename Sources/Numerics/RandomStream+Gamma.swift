extension RandomStream {
  /// The logarithm of a gamma variate with the given shape and scale 1.
  ///
  /// The logarithm stays finite where the variate itself would be 0, as for shapes near 0.001.
  /// Draws: pairs of `normal` and `uniformAboveZero` until one is accepted; below shape 1 one more
  /// `uniformAboveZero`. Source: Marsaglia and Tsang, "A simple method for generating gamma
  /// variables" (2000), without the squeeze; for shapes below 1 their section 6, in logarithms.
  public mutating func logGamma(shape: Double) -> Double {
    precondition(shape > 0 && shape.isFinite, "a gamma variate needs a shape above 0")
    if shape < 1 {
      let boosted = logGamma(shape: shape + 1)
      return boosted + Portable.log(uniformAboveZero()) / shape
    }
    let d = shape - 1.0 / 3
    let c = 1 / (9 * d).squareRoot()
    while true {
      let x = normal()
      let root = 1 + c * x
      let u = uniformAboveZero()
      guard root > 0 else { continue }
      let v = root * root * root
      let logV = Portable.log(v)
      if Portable.log(u) < 0.5 * x * x + d - d * v + d * logV {
        return Portable.log(d) + logV
      }
    }
  }

  /// A gamma variate with the given shape and scale 1; its mean is the shape. Draws: one
  /// `logGamma`.
  public mutating func gamma(shape: Double) -> Double {
    Portable.exp(logGamma(shape: shape))
  }

  /// A point of the symmetric Dirichlet distribution: `count` shares that add up to 1.
  ///
  /// Draws: `count` `logGamma`s of shape `alpha`, in order. Order: the shares are summed from the
  /// first to the last.
  public mutating func dirichlet(alpha: Double, count: Int) -> [Double] {
    precondition(count > 0, "a Dirichlet point needs a share")
    var shares: [Double] = []
    for _ in 0..<count { shares.append(logGamma(shape: alpha)) }
    var largest = shares[0]
    for share in shares where share > largest { largest = share }
    var sum = 0.0
    for k in 0..<count {
      shares[k] = Portable.exp(shares[k] - largest)
      sum += shares[k]
    }
    for k in 0..<count { shares[k] /= sum }
    return shares
  }
}
