import CGSL

/// Wilcoxon's signed-rank test: whether paired differences are centred at 0.
///
/// Differences of 0 are left out and counted (Wilcoxon's own way), those of equal size share the
/// mean of their ranks. Up to 50 differences the probability is exact, ties or not: all signs are
/// counted. Beyond, it is the normal approximation, corrected for ties. Two differences tie only
/// if they are the same number. Source: Wilcoxon (1945); Pratt and Gibbons (1981).
public struct SignedRankTest: Codable, Equatable, Sendable {
  /// Differences other than 0.
  public let count: Int
  /// Differences of 0, which say nothing.
  public let zeros: Int
  /// The sum of the ranks of the differences above 0.
  public let positiveSum: Double
  /// The sum of the ranks of the differences below 0.
  public let negativeSum: Double
  /// The probability of sums at least as far apart if signs were drawn; 1 without differences.
  public let probability: Double
  /// Whether all signs were counted, or the normal distribution replaces them.
  public let isExact: Bool

  /// Up to this many differences the probability is counted.
  public static let mostExact = 50

  /// Tests differences; NaN is left out, infinities count as the largest.
  ///
  /// `isExact` nil chooses by number; true is for at most 50. With `continuity` the approximation
  /// moves half a rank towards the mean, as SciPy's `correction`.
  public init(
    _ differences: [Double], _ alternative: Alternative = .twoSided, isExact: Bool? = nil,
    continuity: Bool = false
  ) {
    let known = differences.filter { !$0.isNaN }
    let others = known.filter { $0 != 0 }
    let ranks = Ranks(others.map { abs($0) })
    let doubled = zip(others, ranks.doubled).reduce(0) { $0 + ($1.0 > 0 ? $1.1 : 0) }
    let all = ranks.doubled.reduce(0, +)
    count = others.count
    zeros = known.count - others.count
    positiveSum = Double(doubled) / 2
    negativeSum = Double(all - doubled) / 2
    self.isExact = isExact ?? (others.count <= Self.mostExact)
    precondition(
      !self.isExact || count <= Self.mostExact, "too many signs for an exact count")
    if others.isEmpty {
      probability = 1
    } else if self.isExact {
      probability = alternative.probability(
        Ranks.tails(Ranks.choices(of: ranks.doubled), at: doubled))
    } else {
      probability = Self.approximate(
        Double(doubled) / 2, count: others.count, ranks, alternative, continuity)
    }
  }

  private static func approximate(
    _ sum: Double, count: Int, _ ranks: Ranks, _ alternative: Alternative, _ continuity: Bool
  ) -> Double {
    let n = Double(count)
    let variance = n * (n + 1) * (2 * n + 1) / 24 - ranks.tieSum / 48
    var off = sum - n * (n + 1) / 4
    if continuity {
      switch alternative {
      case .twoSided: off -= off > 0 ? 0.5 : off < 0 ? -0.5 : 0
      case .less: off += 0.5
      case .greater: off -= 0.5
      }
    }
    let z = off / variance.squareRoot()
    return alternative.probability((gsl_cdf_ugaussian_P(z), gsl_cdf_ugaussian_Q(z)))
  }

  /// The matched-pairs rank-biserial correlation: the ranks above 0 less those below, by all of
  /// them; from -1 to 1, and 0 without differences.
  public var rankBiserial: Double {
    count == 0 ? 0 : (positiveSum - negativeSum) / (positiveSum + negativeSum)
  }
}

/// The sign test: whether paired differences are above 0 as often as below.
///
/// Differences of 0 are left out and counted.
public struct SignTest: Codable, Equatable, Sendable {
  /// Differences above 0.
  public let positive: Int
  /// Differences below 0.
  public let negative: Int
  /// Differences of 0.
  public let zeros: Int
  /// The probability of so uneven signs, if each were as likely; exact.
  public let probability: Double

  /// Tests differences; NaN is left out.
  public init(_ differences: [Double], _ alternative: Alternative = .twoSided) {
    positive = differences.count { $0 > 0 }
    negative = differences.count { $0 < 0 }
    zeros = differences.count { $0 == 0 }
    let n = UInt32(positive + negative)
    let above = positive == 0 ? 1 : gsl_cdf_binomial_Q(UInt32(positive - 1), 0.5, n)
    probability = alternative.probability(
      (gsl_cdf_binomial_P(UInt32(positive), 0.5, n), above))
  }
}
