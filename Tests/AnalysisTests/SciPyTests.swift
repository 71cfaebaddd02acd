import Foundation
import Testing

import Analysis

@Suite("Statistics agree with SciPy")
struct SciPyTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture.read() }

  @Test("means, variances, quantiles, tails and distributions")
  func descriptions() {
    for (number, d) in fixture.descriptions.enumerated() {
      let x = d.values
      #expect(agrees(Statistics.mean(x), d.mean), "\(number)")
      #expect(agrees(Statistics.variance(x), d.variance), "\(number)")
      #expect(agrees(Statistics.median(x), d.median), "\(number)")
      #expect(agrees(Statistics.quantiles(d.shares, of: x), d.quantiles), "\(number)")
      #expect(agrees(Statistics.interquartileMean(x), d.interquartileMean), "\(number)")
      #expect(agrees(Statistics.meanOfLowest(0.1, of: x), d.worstTenth), "\(number)")
      #expect(agrees(Statistics.meanOfHighest(0.1, of: x), d.bestTenth), "\(number)")
      let steps = Statistics.distribution(x)
      #expect(agrees(steps.map(\.value), d.ecdfValues), "\(number)")
      #expect(agrees(steps.map(\.share), d.ecdfShares), "\(number)")
    }
  }

  @Test("Gini's coefficient and Jain's index, by all pairs")
  func evenness() {
    for (number, d) in fixture.descriptions.enumerated() {
      #expect(agrees(Statistics.gini(d.values), d.gini), "\(number)")
      #expect(agrees(Statistics.jain(d.values), d.jain), "\(number)")
    }
  }

  @Test("the signed-rank test: exact with and without ties, approximate, with continuity")
  func signedRanks() {
    for (number, s) in fixture.signedRanks.enumerated() {
      let test = SignedRankTest(s.differences)
      #expect(test.count == s.count && test.zeros == s.zeros, "\(number)")
      #expect(test.positiveSum == s.positiveSum, "\(number)")
      #expect(test.negativeSum == s.negativeSum, "\(number)")
      #expect(agrees(test.rankBiserial, s.rankBiserial), "\(number)")
      #expect(agrees(EffectSize.rankBiserial(s.differences), s.rankBiserial), "\(number)")
      #expect(test.isExact == (s.count <= 50), "\(number)")
      if let exact = s.exact {
        check("\(number)", exact) { SignedRankTest(s.differences, $0).probability }
      } else {
        #expect(!test.isExact, "\(number)")
      }
      check("\(number)", s.approximate) {
        SignedRankTest(s.differences, $0, isExact: false).probability
      }
      check("\(number)", s.corrected) {
        SignedRankTest(s.differences, $0, isExact: false, continuity: true).probability
      }
      #expect(agrees(SignTest(s.differences).probability, s.signTest), "\(number)")
      #expect(agrees(EffectSize.cohensD(s.differences), s.cohensD), "\(number)")
    }
  }

  @Test("Hodges and Lehmann's estimate with its interval")
  func locations() throws {
    for (number, l) in fixture.locations.enumerated() {
      let estimate = LocationEstimate(l.differences, level: l.level)
      let interval = try #require(estimate.interval)
      #expect(agrees(estimate.value, l.value), "\(number)")
      #expect(agrees(interval.low, l.low) && agrees(interval.high, l.high), "\(number)")
      #expect(agrees(interval.level, l.achieved), "\(number)")
    }
  }

  @Test("the rank-sum test, and how often one list is above the other")
  func rankSums() {
    for (number, r) in fixture.rankSums.enumerated() {
      #expect(RankSumTest(r.first, r.second).statistic == r.statistic, "\(number)")
      if let exact = r.exact {
        check("\(number)", exact) { RankSumTest(r.first, r.second, $0).probability }
      }
      check("\(number)", r.approximate) {
        RankSumTest(r.first, r.second, $0, isExact: false).probability
      }
      #expect(agrees(EffectSize.cliffsDelta(r.first, r.second), r.cliffsDelta), "\(number)")
      #expect(agrees(EffectSize.superiority(r.first, r.second), r.superiority), "\(number)")
    }
  }

  @Test("Spearman's correlation")
  func correlations() {
    for (number, c) in fixture.correlations.enumerated() {
      let correlation = RankCorrelation(c.first, c.second)
      #expect(agrees(correlation.coefficient, c.coefficient), "\(number)")
      #expect(agrees(correlation.probability, c.probability), "\(number)")
    }
  }

  @Test("the adjustments for several tests")
  func several() {
    for (number, s) in fixture.several.enumerated() {
      #expect(agrees(SeveralTests.holm(s.probabilities), s.holm), "\(number)")
      #expect(
        agrees(SeveralTests.benjaminiHochberg(s.probabilities), s.benjaminiHochberg), "\(number)")
    }
  }

  @Test("BCa intervals of resamples that are given")
  func givenResamples() throws {
    for (number, g) in fixture.givenResamples.enumerated() {
      let interval = try #require(
        Bootstrap().bca(g.drawn, observed: g.observed, jackknife: g.jackknife))
      #expect(agrees(interval.low, g.low) && agrees(interval.high, g.high), "\(number)")
    }
  }

  /// SciPy drew 200,000 times; the error is four standard deviations of 20 intervals of 9,999.
  @Test("bootstrap intervals, within four standard deviations of their ends")
  func bootstraps() throws {
    for (number, b) in fixture.bootstraps.enumerated() {
      func statistic(_ x: [Double]) -> Double {
        if b.statistic == "mean" { return Statistics.mean(x) }
        // NumPy's deviation has n as divisor.
        return (Statistics.variance(x) * Double(x.count - 1) / Double(x.count)).squareRoot()
      }
      for (method, ends, errors) in [
        (Bootstrap.Method.percentile, b.percentile, b.percentileError),
        (.bca, b.bca, b.bcaError),
      ] {
        let interval = try #require(Bootstrap(method).interval(of: b.values, statistic))
        #expect(abs(interval.low - ends[0]) < errors[0], "\(number) \(method)")
        #expect(abs(interval.high - ends[1]) < errors[1], "\(number) \(method)")
      }
    }
  }

  @Test("Kaplan and Meier's estimate")
  func survivals() {
    for (number, s) in fixture.survivals.enumerated() {
      let estimate = ProductLimit(happened: s.happened, notUntil: s.notUntil)
      #expect(agrees(estimate.steps.map(\.time), s.times), "\(number)")
      #expect(agrees(estimate.steps.map(\.share), s.shares), "\(number)")
    }
  }

  private func check(
    _ place: String, _ expected: Fixture.Tails, _ probability: (Alternative) -> Double
  ) {
    for (alternative, value) in [
      (Alternative.twoSided, expected.twoSided), (.less, expected.less),
      (.greater, expected.greater),
    ] {
      let found = probability(alternative)
      #expect(agrees(found, value), "\(place) \(alternative): \(found), expected \(value)")
    }
  }
}
