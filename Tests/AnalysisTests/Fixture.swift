import Foundation

/// `Fixtures/statistics.json`, which `Tests/Fixtures-scripts/make_statistics.py` wrote with SciPy.
struct Fixture: Decodable {
  struct Description: Decodable {
    let values, shares, quantiles, ecdfValues, ecdfShares: [Double]
    let mean, variance, median, interquartileMean, worstTenth, bestTenth, gini, jain: Double
  }
  struct Tails: Decodable {
    let twoSided, less, greater: Double
  }
  struct SignedRank: Decodable {
    let differences: [Double]
    let count, zeros: Int
    let positiveSum, negativeSum, rankBiserial, signTest, cohensD: Double
    let exact: Tails?
    let approximate, corrected: Tails
  }
  struct Location: Decodable {
    let differences: [Double]
    let level, value, low, high, achieved: Double
  }
  struct RankSum: Decodable {
    let first, second: [Double]
    let statistic, cliffsDelta, superiority: Double
    let exact: Tails?
    let approximate: Tails
  }
  struct Correlation: Decodable {
    let first, second: [Double]
    let coefficient, probability: Double
  }
  struct Several: Decodable {
    let probabilities, holm, benjaminiHochberg: [Double]
  }
  struct Resampled: Decodable {
    let values: [Double]
    let statistic: String
    let percentile, percentileError, bca, bcaError: [Double]
  }
  struct GivenResamples: Decodable {
    let drawn, jackknife: [Double]
    let observed, low, high: Double
  }
  struct Survival: Decodable {
    let happened, notUntil, times, shares: [Double]
  }

  let descriptions: [Description]
  let signedRanks: [SignedRank]
  let locations: [Location]
  let rankSums: [RankSum]
  let correlations: [Correlation]
  let several: [Several]
  let bootstraps: [Resampled]
  let givenResamples: [GivenResamples]
  let survivals: [Survival]

  /// The fixture, read.
  static func read(_ source: String = #filePath) throws -> Fixture {
    let folder = URL(fileURLWithPath: source).deletingLastPathComponent()
    let file = folder.appendingPathComponent("Fixtures/statistics.json")
    return try JSONDecoder().decode(Fixture.self, from: Data(contentsOf: file))
  }
}

/// Whether two numbers agree to 1e-10 of the larger, or of 1.
func agrees(_ a: Double, _ b: Double) -> Bool {
  a == b || abs(a - b) <= 1e-10 * max(1, abs(a), abs(b))
}

/// The same of lists.
func agrees(_ a: [Double], _ b: [Double]) -> Bool {
  a.count == b.count && zip(a, b).allSatisfy { agrees($0, $1) }
}
