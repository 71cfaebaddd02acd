extension RandomStream {
  /// A standard normal variate. Draws: pairs of `uniform` until one is in the unit disc.
  ///
  /// Source: Marsaglia and Bray's polar method (1964); the second variate of a pair is not kept.
  public mutating func normal() -> Double {
    while true {
      let x = 2 * uniform() - 1
      let y = 2 * uniform() - 1
      let square = x * x + y * y
      if square > 0, square < 1 {
        return x * (-2 * Portable.log(square) / square).squareRoot()
      }
    }
  }

  /// An exponential variate with the given mean. Draws: one `uniformAboveZero`.
  public mutating func exponential(mean: Double) -> Double {
    -mean * Portable.log(uniformAboveZero())
  }

  /// exp(mu + sigma·z): a log-normal variate whose median is exp(mu). Draws: one `normal`.
  public mutating func logNormal(median: Double, sigma: Double) -> Double {
    median * Portable.exp(sigma * normal())
  }
}
