import CGSL

/// Spearman's rank correlation of pairs.
public struct RankCorrelation: Codable, Equatable, Sendable {
  /// From -1 to 1; NaN where one side does not vary.
  public let coefficient: Double
  /// The probability of one at least so far from 0 without a relation, by Student's distribution
  /// with n - 2 degrees of freedom; NaN for fewer than three pairs.
  public let probability: Double

  /// Of pairs; those with NaN on a side are left out. Equal numbers share the mean of their ranks.
  public init(_ first: [Double], _ second: [Double]) {
    precondition(first.count == second.count, "pairs have two sides")
    let pairs = zip(first, second).filter { !$0.0.isNaN && !$0.1.isNaN }
    guard pairs.count > 1 else {
      (coefficient, probability) = (.nan, .nan)
      return
    }
    var work = [Double](repeating: 0, count: 2 * pairs.count)
    let rho = gsl_stats_spearman(pairs.map(\.0), 1, pairs.map(\.1), 1, pairs.count, &work)
    coefficient = rho
    let freedom = Double(pairs.count - 2)
    if freedom < 1 || rho.isNaN {
      probability = .nan
    } else if abs(rho) >= 1 {
      probability = 0
    } else {
      let t = abs(rho) * (freedom / ((1 - rho) * (1 + rho))).squareRoot()
      probability = 2 * gsl_cdf_tdist_Q(t, freedom)
    }
  }
}
