import CGSL

/// Hodges and Lehmann's estimate of where paired differences are centred: the median of the means
/// of all pairs of them, each with itself included.
///
/// The interval goes with the signed-rank test: it holds the shifts that the test would not
/// refuse. Up to 50 differences it follows from the exact distribution, beyond from the normal
/// approximation. Few differences cannot give the wanted confidence: then the interval is the
/// widest there is, and its level says what it has. Source: Hodges and Lehmann (1963).
public struct LocationEstimate: Codable, Equatable, Sendable {
  /// The estimate; NaN without differences.
  public let value: Double
  /// The interval, with the confidence that it has; nil for fewer than two differences.
  public let interval: Interval?

  /// Of finite differences; others are left out.
  public init(_ differences: [Double], level: Double = 0.95) {
    precondition(level > 0 && level < 1, "a confidence is between 0 and 1")
    let known = differences.filter(\.isFinite)
    var means: [Double] = []
    for (index, value) in known.enumerated() {
      for other in known[index...] { means.append((value + other) / 2) }
    }
    means.sort()
    value = Statistics.quantile(0.5, ofSorted: means)
    guard known.count > 1 else {
      interval = nil
      return
    }
    let (rank, confidence) = Self.rank(count: known.count, level)
    interval = Interval(
      low: means[rank - 1], high: means[means.count - rank], level: confidence)
  }

  /// Which of the means, from either end, bounds the interval, and the confidence that it has.
  private static func rank(count: Int, _ level: Double) -> (Int, Double) {
    if count > SignedRankTest.mostExact {
      let n = Double(count)
      let spread = (n * (n + 1) * (2 * n + 1) / 24).squareRoot()
      let z = gsl_cdf_ugaussian_Qinv((1 - level) / 2)
      return (max(1, Int((n * (n + 1) / 4 - z * spread).rounded(.down))), level)
    }
    let ways = Ranks.choices(of: (1...count).map { $0 })
    let all = ways.reduce(0, +)
    // P(W ≤ rank - 1) is at most half of what is left over.
    var rank = 0
    var below = 0.0
    var outside = 0.0
    while rank < ways.count, (below + ways[rank]) / all <= (1 - level) / 2 {
      below += ways[rank]
      outside = below
      rank += 1
    }
    return rank == 0 ? (1, 1 - 2 * ways[0] / all) : (rank, 1 - 2 * outside / all)
  }
}
