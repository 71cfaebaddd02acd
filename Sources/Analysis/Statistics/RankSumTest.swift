import CGSL

/// Mann and Whitney's U test: whether numbers of one list tend to be greater than those of another
/// that is not paired with it.
///
/// Up to 50 numbers in all the probability is exact, ties or not: all divisions are counted.
/// Beyond, it is the normal approximation, corrected for ties and with half a step of continuity.
/// Source: Mann and Whitney (1947).
public struct RankSumTest: Codable, Equatable, Sendable {
  /// How many pairs of one of each have the first greater; equal ones count half.
  public let statistic: Double
  /// The probability of a statistic at least so far off, if all came from one distribution.
  public let probability: Double
  /// Whether all divisions were counted.
  public let isExact: Bool

  /// Up to this many numbers in all the probability is counted.
  public static let mostExact = 50

  /// Tests two lists, each with a number at least; NaN is left out.
  ///
  /// `isExact` nil chooses by number; true is for at most 50.
  public init(
    _ first: [Double], _ second: [Double], _ alternative: Alternative = .twoSided,
    isExact: Bool? = nil
  ) {
    let a = first.filter { !$0.isNaN }
    let b = second.filter { !$0.isNaN }
    precondition(!a.isEmpty && !b.isEmpty, "two lists are compared, each with at least one number")
    let ranks = Ranks(a + b)
    let doubled = ranks.doubled[..<a.count].reduce(0, +)
    statistic = Double(doubled - a.count * (a.count + 1)) / 2
    self.isExact = isExact ?? (a.count + b.count <= Self.mostExact)
    if self.isExact {
      precondition(a.count + b.count <= Self.mostExact, "too many values for an exact count")
      let counts = Ranks.choices(of: ranks.doubled, size: a.count)
      probability = alternative.probability(Ranks.tails(counts, at: doubled))
    } else {
      probability = Self.approximate(statistic, a.count, b.count, ranks, alternative)
    }
  }

  private static func approximate(
    _ statistic: Double, _ first: Int, _ second: Int, _ ranks: Ranks, _ alternative: Alternative
  ) -> Double {
    let (a, b) = (Double(first), Double(second))
    let n = a + b
    let spread = (a * b / 12 * (n + 1 - ranks.tieSum / (n * (n - 1)))).squareRoot()
    guard spread > 0 else { return 1 }
    let off = statistic - a * b / 2
    switch alternative {
    case .less: return gsl_cdf_ugaussian_P((off + 0.5) / spread)
    case .greater: return gsl_cdf_ugaussian_Q((off - 0.5) / spread)
    case .twoSided: return min(1, 2 * gsl_cdf_ugaussian_Q((abs(off) - 0.5) / spread))
    }
  }
}
