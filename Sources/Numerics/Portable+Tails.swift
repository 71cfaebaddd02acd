extension Portable {
  /// ln(1 + x), also where x is far below 1. NaN below −1.
  ///
  /// Source: Kahan's quotient, in which the rounding of 1 + x cancels; below 10⁻⁵ the power series.
  public static func log1p(_ x: Double) -> Double {
    if x.magnitude < 1e-5 { return x * (1 - x * (0.5 - x / 3)) }
    let sum = 1 + x
    if !sum.isFinite || sum <= 0 { return log(sum) }
    return log(sum) * (x / (sum - 1))
  }

  /// eˣ − 1, also where x is near 0.
  public static func expm1(_ x: Double) -> Double {
    if x.magnitude < 1e-5 { return x * (1 + x * (0.5 + x / 6)) }
    return exp(x) - 1
  }

  /// ln(eˣ + eʸ), where neither need be a number that a `Double` holds.
  public static func logSum(_ x: Double, _ y: Double) -> Double {
    let (low, high) = x < y ? (x, y) : (y, x)
    return low == -.infinity ? high : high + log1p(exp(low - high))
  }

  /// The logarithm of ½·erfc(x), the mass of a standard normal variable above √2·x.
  ///
  /// Below 2.5 by the series of erf with positive terms, above by the continued fraction of erfc
  /// (Abramowitz and Stegun 1964, 7.1.6 and 7.1.14); relative error of erfc below 10⁻¹¹.
  public static func logHalfErfc(_ x: Double) -> Double {
    if x.isNaN { return .nan }
    if x >= 2.5 { return log(0.5 * fraction(x)) - x * x }
    if x > -2.5 { return log(0.5 * (1 - erf(x))) }
    let tail = x < -30 ? 0 : fraction(-x) * exp(-x * x)
    return log1p(-0.5 * tail)
  }

  /// The number above which a standard normal variable is with the probability `tail`.
  ///
  /// By bisection of `logHalfErfc` down to neighbouring numbers; to about 11 digits. Infinite for 0
  /// and 1.
  public static func normalQuantile(above tail: Double) -> Double {
    guard tail > 0, tail < 1 else { return tail <= 0 ? .infinity : tail >= 1 ? -.infinity : .nan }
    if tail > 0.5 { return -normalQuantile(above: 1 - tail) }
    let wanted = log(tail)
    var (low, high) = (0.0, 40.0)
    while true {
      let middle = 0.5 * (low + high)
      guard middle > low, middle < high else { return middle }
      if logHalfErfc(middle * 0.5.squareRoot()) > wanted { low = middle } else { high = middle }
    }
  }

  /// 2/√π.
  private static let twoOverRootPi = 1.128_379_167_095_512_57

  /// erf(x) for |x| ≤ 2.5: 2/√π·e^(−x²)·Σ 2ⁿx²ⁿ⁺¹/(1·3·…·(2n+1)).
  private static func erf(_ x: Double) -> Double {
    var (term, sum) = (x, x)
    for n in 1..<80 {
      term *= 2 * x * x / Double(2 * n + 1)
      sum += term
    }
    return twoOverRootPi * exp(-x * x) * sum
  }

  /// erfc(x)·e^(x²) for x ≥ 2.5.
  private static func fraction(_ x: Double) -> Double {
    var tail = x
    for n in stride(from: 120, to: 0, by: -1) { tail = x + 0.5 * Double(n) / tail }
    return 0.5 * twoOverRootPi / tail
  }
}
