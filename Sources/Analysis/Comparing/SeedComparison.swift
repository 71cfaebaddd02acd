/// Two policies compared by runs of the same seeds, in pairs.
///
/// A run that did not reach the target counts as worse than all that did, and as equal to another
/// that did not. Every measure is one test, and Holm's adjustment is over all of them.
public struct SeedComparison: Codable, Equatable, Sendable {
  /// What is said about a measure.
  public enum Claim: String, Codable, CaseIterable, Sendable {
    /// The first policy is better.
    case a
    /// The second policy is better.
    case b
    /// The differences are not clear enough.
    case none
    /// Nor could be any differences of so few pairs, or of so few that differ, by themselves.
    case tooFewSeeds
    /// There are no differences.
    case equal
  }

  /// One measure.
  public struct Line: Codable, Equatable, Sendable {
    /// What is compared.
    public var measure: Measure
    /// Pairs of which both runs have it.
    public var pairs: Int
    /// Those of them that differ.
    public var differing: Int
    /// The first policy's median; nil: fewer than half of its runs reached the target.
    public var medianA: Double?
    /// The second policy's median.
    public var medianB: Double?
    /// Of a cost to the target, which is known as an interval, the first policy's median of the
    /// lower ends; `medianA` is that of the upper ones.
    public var medianAfterA: Double?
    /// The same of the second policy.
    public var medianAfterB: Double?
    /// How many of the first policy's runs reached the target; nil: it is not asked for.
    public var reachedA: Int?
    /// How many of the second policy's runs did.
    public var reachedB: Int?
    /// The mean of second less first over the pairs; nil: a run did not reach the target.
    public var difference: Double?
    /// A bootstrap interval of that mean.
    public var interval: Interval?
    /// The paired differences' location by Hodges and Lehmann, of those that are finite.
    public var location: Double?
    /// The two-sided signed-rank probability.
    public var probability: Double
    /// The same, adjusted by Holm for all measures.
    public var adjusted: Double
    /// The matched-pairs rank-biserial correlation: 1 if the second is above in all pairs.
    public var rankBiserial: Double
    /// The chance that a run of the second policy is above one of the first, pairs apart.
    public var superiority: Double
    /// What is said.
    public var claim: Claim
    /// How many seeds a claim needs.
    public var needed: SeedsNeeded
  }

  /// The seeds that both policies were run with.
  public var seeds: [UInt64]
  /// The accuracy that costs are counted to; nil: nothing was learned.
  public var target: Double?
  /// Below this an adjusted probability makes a claim.
  public var alpha: Double
  /// How the intervals were made: resamples of the pairs.
  public var resamples: Int
  /// The measures that both sides have.
  public var lines: [Line]

  /// Compares runs in pairs: the n-th of each side have the same seed.
  ///
  /// Without a target it is the highest accuracy that all runs reached, rounded down to three
  /// digits. `measures` are the tests that are made.
  public init(
    _ a: [MeasuredRun], _ b: [MeasuredRun], target: Double? = nil,
    measures: [Measure] = Measure.allCases, alpha: Double = 0.05, bootstrap: Bootstrap = Bootstrap()
  ) {
    precondition(
      a.map(\.seed) == b.map(\.seed) && !a.isEmpty, "runs are compared in pairs of one seed")
    let known = (a + b).compactMap { $0.curve?.bestAccuracy }
    let common = known.count == a.count + b.count ? known.min() : nil
    let target = target ?? common.map { ($0 * 1000).rounded(.down) / 1000 }
    let tests = measures.compactMap { PairedTest($0, a, b, target) }
    let adjusted = SeveralTests.holm(tests.map(\.signedRank.probability))
    seeds = a.map(\.seed)
    self.target = target
    self.alpha = alpha
    resamples = bootstrap.resamples
    lines = zip(tests, adjusted).map { test, adjusted in
      test.line(adjusted, alpha: alpha, tests: tests.count, bootstrap)
    }
  }
}

/// One measure of paired runs.
private struct PairedTest {
  let measure: Measure
  let a: [Double]
  let b: [Double]
  /// The medians of the lower ends of costs.
  let after: (a: Double?, b: Double?)
  let differences: [Double]
  let signedRank: SignedRankTest

  /// nil: no pair has it.
  init?(_ measure: Measure, _ a: [MeasuredRun], _ b: [MeasuredRun], _ target: Double?) {
    // Only pairs of which both runs have it count, for the lower ends as well.
    let known = zip(a, b).filter {
      $0.value(measure, target: target) != nil && $1.value(measure, target: target) != nil
    }
    let pairs = known.compactMap { a, b -> (Double, Double)? in
      guard let a = a.value(measure, target: target), let b = b.value(measure, target: target)
      else { return nil }
      return (a, b)
    }
    guard !pairs.isEmpty else { return nil }
    self.measure = measure
    (self.a, self.b) = (pairs.map(\.0), pairs.map(\.1))
    func medianAfter(_ runs: [MeasuredRun]) -> Double? {
      let ends = runs.compactMap { $0.lowerEnd(measure, target: target) }
      let median = Statistics.median(ends)
      return median.isFinite ? median : nil
    }
    after = (medianAfter(known.map(\.0)), medianAfter(known.map(\.1)))
    differences = PairDifferences.between(self.a, self.b)
    signedRank = SignedRankTest(differences)
  }

  func line(
    _ adjusted: Double, alpha: Double, tests: Int, _ bootstrap: Bootstrap
  ) -> SeedComparison.Line {
    let needed = SeedsNeeded(differences, alpha: alpha, tests: tests)
    let isFinite = differences.allSatisfy(\.isFinite) && (a + b).allSatisfy(\.isFinite)
    let asksForTarget = measure.cost != nil
    return SeedComparison.Line(
      measure: measure, pairs: a.count, differing: signedRank.count,
      medianA: finite(Statistics.median(a)), medianB: finite(Statistics.median(b)),
      medianAfterA: after.a, medianAfterB: after.b,
      reachedA: asksForTarget ? a.count { $0.isFinite } : nil,
      reachedB: asksForTarget ? b.count { $0.isFinite } : nil,
      difference: isFinite ? Statistics.mean(differences) : nil,
      interval: isFinite ? bootstrap.interval(of: differences) : nil,
      location: finite(LocationEstimate(differences).value),
      probability: signedRank.probability, adjusted: adjusted,
      rankBiserial: signedRank.rankBiserial, superiority: EffectSize.superiority(a, b),
      claim: claim(adjusted, alpha, needed), needed: needed)
  }

  private func claim(
    _ adjusted: Double, _ alpha: Double, _ needed: SeedsNeeded
  ) -> SeedComparison.Claim {
    if signedRank.count == 0 { return .equal }
    guard adjusted < alpha else {
      return signedRank.count < needed.least ? .tooFewSeeds : .none
    }
    let isHigher = signedRank.rankBiserial > 0
    return isHigher == (measure.better == .higher) ? .b : .a
  }

  private func finite(_ value: Double) -> Double? { value.isFinite ? value : nil }
}
