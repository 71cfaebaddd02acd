import Testing

import Analysis
import Results

@Suite("Tests over seeds, and what they can claim")
struct SeedTests {
  @Test("a run's staleness is the mean over its updates, and not over its versions")
  func staleness() {
    // 1 update 4 versions old, 3 fresh ones: 4 / 4 = 1.
    var document = ReportFixture.document(accuracy: [0, 0.5, 0.5])
    let place = document.root.groups.firstIndex { $0.name == "versions" }!
    document.root.groups[place].variables += [
      ReportFixture.numbers("updates", ["version"], [0, 1, 3]),
      ReportFixture.numbers("meanStaleness", ["version"], [0, 4, 0]),
    ]
    #expect(MeasuredRun(document, seed: 1).value(.staleness, target: nil) == 1)
  }

  /// All n differences to one side: 2 of 2^n signs are as far out, so p = 2^(1-n).
  @Test("the least probability of n pairs is 2^(1-n), and six are the fewest below 0.05")
  func least() {
    for n in 1...12 {
      let test = SignedRankTest((1...n).map(Double.init))
      #expect(test.probability == 2 / Double(1 << n), "\(n)")
      // The binomial distribution is GSL's, by way of the beta function.
      #expect(
        agrees(SignTest((1...n).map(Double.init)).probability, 2 / Double(1 << n)), "\(n)")
    }
    #expect(SeedsNeeded.least(alpha: 0.05) == 6)
    #expect(SeedsNeeded.least(alpha: 0.01) == 8)
    // 11 tests: 0.05 / 11 = 0.0045; 2^-7 = 0.0078, 2^-8 = 0.0039.
    #expect(SeedsNeeded([1, 2, 3], tests: 11).least == 9)
  }

  /// Ranks of |1|, |-1|, |2|: 1.5, 1.5, 3; W+ = 4.5. Of the 8 sums 0, 1.5, 1.5, 3, 3, 4.5, 4.5, 6
  /// three are at least 4.5: p = 2 · 3/8. Zero says nothing.
  @Test("ties share ranks and zeros are left out, by hand")
  func ties() {
    let test = SignedRankTest([1, -1, 2, 0])
    #expect(test.count == 3 && test.zeros == 1 && test.isExact)
    #expect(test.positiveSum == 4.5 && test.negativeSum == 1.5)
    #expect(test.probability == 0.75)
    #expect(test.rankBiserial == 0.5)
    #expect(SignedRankTest([0, 0]).probability == 1)
  }

  @Test("exactly and approximately, fifty differences say nearly the same")
  func exactAtFifty() {
    let differences = (1...50).map { n -> Double in Double(n % 3 == 0 ? -n : n) }
    let exact = SignedRankTest(differences)
    let near = SignedRankTest(differences, isExact: false, continuity: true)
    // By SciPy.
    #expect(exact.isExact && agrees(exact.probability, 0.02616696817119646))
    #expect(agrees(near.probability, 0.027063492176047897))
    #expect(!SignedRankTest((1...51).map(Double.init)).isExact)
  }

  /// Of 15 pairs the ten without the -6 have a sum above 0: p = 2/3, so
  /// n = (1.9600 + 0.8416)² / (3 / 36) = 94.19.
  @Test("Noether's number of seeds, by hand")
  func noether() {
    let needed = SeedsNeeded([1, 2, 3, 4, 5, -6])
    #expect(needed.least == 6 && needed.forPower == 95 && needed.power == 0.8)
    #expect(needed.estimate == .made)
    // Each with its opposite; besides, of 12 pairs six are above 0.
    let none = SeedsNeeded([1, -1, 2, -2, 3, -3])
    #expect(none.forPower == nil && none.estimate == .noEffect)
  }

  @Test("fewer than six differences, and such as all agree, give no number from their effect")
  func noEstimate() {
    let cases: [([Double], SeedsNeeded.Estimate)] = [
      ([], .tooFewPairs), ([0], .tooFewPairs), ([1], .allAgree),
      ([1, 2, 3], .allAgree), ([1, 2, 3, -4], .tooFewPairs),
      ([-1, -2, -3, -4, -5, -6, 0], .allAgree),
      ([1, 2, 3, 4, -5, 0, 0], .tooFewPairs),
    ]
    for (differences, estimate) in cases {
      let needed = SeedsNeeded(differences, tests: 11)
      #expect(needed.estimate == estimate && needed.forPower == nil, "\(differences)")
      #expect(needed.least == 9, "\(differences)")
    }
  }

  private func document(
    _ seconds: [Double], _ aggregated: [Int64], hasEffort: Bool = true
  ) -> ResultDocument {
    let words = [
      "aggregated", "updateRejectedLate", "updateUnfinishedAtEnd", "trainingUnfinishedAtEnd",
    ]
    let effort = ResultDocument.Group(
      "effort", axes: [.init("outcome", length: 4)],
      variables: [
        .init(
          "outcome", ["outcome"], codes: [0, 1, 2, 3], meanings: words, longName: "what became"),
        .init("deviceSeconds", ["outcome"], .double(seconds), units: "s", longName: "time"),
      ])
    let batches = [("batchesUsed", Int64(9)), ("batchesWasted", 1)].map { name, count in
      ResultDocument.Variable(name, [], .int64([count]), units: "1", longName: name)
    }
    return ResultDocument(
      groups: (hasEffort ? [effort] : []) + [
        .init("ledger", variables: batches),
        .init(
          "devices", axes: [.init("device", length: aggregated.count)],
          variables: [
            .init("aggregated", ["device"], .int64(aggregated), units: "1", longName: "updates")
          ]),
      ])
  }

  /// Of 60 s and 20 s that ended a quarter is wasted; 120 s had not.
  @Test("wasted work is a share of training time that had ended, and of nothing else")
  func wastedWork() {
    func wasted(_ document: ResultDocument) -> Double? {
      MeasuredRun(document, seed: 1).value(.wastedWork, target: nil)
    }
    #expect(wasted(document([60, 20, 100, 20], [1])) == 0.25)
    #expect(wasted(document([0, 0, 100, 20], [1])) == nil)
    // Batches of results without such sums count something else.
    #expect(wasted(document([60, 20, 0, 0], [1], hasEffort: false)) == nil)
  }

  @Test("where nobody contributed, contributions are neither even nor uneven")
  func noContributions() {
    func gini(_ counts: [Int64]) -> Double? {
      MeasuredRun(document([1, 1, 0, 0], counts), seed: 1).value(.gini, target: nil)
    }
    #expect(gini([0, 0, 0, 0]) == nil)
    #expect(gini([2, 2, 2]) == 0)
    // One of four has all: (n - 1) / n.
    #expect(gini([0, 0, 5, 0]) == 0.75)
  }

  /// Half a step up each time; costs at versions 0 to 4.
  private func curve(_ accuracy: [Double]) -> VersionCurve {
    VersionCurve(
      accuracy: accuracy,
      costs: [(.time, [0, 10, 20, 30, 40]), (.bytes, [0, 5, 7, 9, 11])],
      ends: [(.time, 50)])
  }

  @Test("a target is reached after one evaluation and by the next, and otherwise not by the end")
  func target() throws {
    let run = curve([0.1, .nan, 0.4, .nan, 0.7])
    let reached = TargetTime(0.5, of: run)
    #expect(reached.version == 4 && reached.isReached)
    #expect(reached[.time] == TargetTime.Reach(cost: .time, after: 20, by: 40))
    #expect(reached[.bytes] == TargetTime.Reach(cost: .bytes, after: 7, by: 11))
    #expect(reached[.joules] == nil)
    let never = TargetTime(0.8, of: run)
    #expect(!never.isReached)
    #expect(never[.time] == TargetTime.Reach(cost: .time, after: 50, by: nil))
    // Bytes at the end are not known: those of the last version.
    #expect(never[.bytes] == TargetTime.Reach(cost: .bytes, after: 11, by: nil))
    #expect(TargetTime(0.1, of: run)[.time] == TargetTime.Reach(cost: .time, after: 0, by: 0))
    #expect(TargetTime(0.4, of: run).version == 2)
  }

  /// Reached at 20, 40 and 40, and not until 50: after 20 three quarters are left, after 40 one.
  @Test("over seeds, who did not reach the target counts as watched until its end")
  func censored() {
    let runs = [
      curve([0.1, 0.2, 0.6, 0.6, 0.6]), curve([0.1, 0.2, 0.3, 0.4, 0.6]),
      curve([0.1, 0.2, 0.3, 0.4, 0.6]), curve([0.1, 0.2, 0.3, 0.4, 0.4]),
    ]
    let times = TargetTimes(runs.map { TargetTime(0.5, of: $0) })
    #expect(times.reached == 3)
    #expect(times.estimate(.time).steps.map(\.time) == [20, 40])
    #expect(times.estimate(.time).steps.map(\.share) == [0.75, 0.25])
    #expect(times.median(.time) == 40)
    #expect(TargetTimes([TargetTime(0.5, of: runs[3])]).median(.time) == nil)
  }

  /// Eight seeds; the second policy is better by 0.01 to 0.08.
  private func runs(_ count: Int, _ better: (Int) -> Double) -> ([MeasuredRun], [MeasuredRun]) {
    func run(_ seed: Int, _ last: Double) -> MeasuredRun {
      MeasuredRun(
        seed: UInt64(seed),
        curve: VersionCurve(
          accuracy: [0.1, last], costs: [(.time, [0, Double(100 - seed)])], ends: [(.time, 200)]),
        values: [(.gini, 0.3)])
    }
    return (
      (1...count).map { run($0, 0.5) }, (1...count).map { run($0, 0.5 + better($0)) }
    )
  }

  @Test("a clear difference is claimed, with its interval and effect")
  func claim() throws {
    let (a, b) = runs(8) { Double($0) / 100 }
    let comparison = SeedComparison(a, b, measures: [.finalAccuracy])
    let line = try #require(comparison.lines.first)
    #expect(comparison.lines.count == 1 && comparison.target == 0.5)
    #expect(line.claim == .b && line.rankBiserial == 1 && line.superiority == 1)
    // Two of 2^8 signs are so far out.
    #expect(line.probability == 2 / 256 && line.adjusted == 2 / 256)
    #expect(abs((line.difference ?? 0) - 0.045) < 1e-12)
    let interval = try #require(line.interval)
    #expect(interval.low > 0.025 && interval.high < 0.065)
    let swapped = SeedComparison(b, a, measures: [.finalAccuracy])
    #expect(swapped.lines[0].claim == .a)
  }

  @Test("differences of as many samples tie, whatever the rounding of shares makes of them")
  func tiesOfShares() throws {
    // Correct samples of 300, and how many more b has. The five differences of 2 share rank 3, that
    // of 4 has rank 6: 15 above 0, 6 below. Of the 64 choices of signs 1 + 5 + 10 have at most two
    // of the threes below 0, and one has the six alone: p = 2 · 17/64.
    let correct = [270, 268, 255, 201, 150, 100]
    let more = [2, -2, 2, 2, -2, 4]
    let raw = zip(correct, more).map { Double($0 + $1) / 300 - Double($0) / 300 }
    #expect(Set(raw.map { abs($0) }).count > 2)
    func runs(_ counts: [Int]) -> [MeasuredRun] {
      counts.enumerated().map { place, count in
        MeasuredRun(
          seed: UInt64(place + 1), curve: nil, values: [(.finalAccuracy, Double(count) / 300)])
      }
    }
    let b = zip(correct, more).map { $0 + $1 }
    let comparison = SeedComparison(runs(correct), runs(b), measures: [.finalAccuracy])
    let line = try #require(comparison.lines.first)
    #expect(line.probability == 34.0 / 64)
    #expect(line.rankBiserial == 9.0 / 21)
    let differences = PairDifferences.between(
      [0.1, 0.7, .infinity, 1], [0.3, 0.9, .infinity, .infinity])
    #expect(differences[0] == differences[1] && differences[2] == 0 && differences[3] == .infinity)
  }

  @Test("five seeds support no claim, however clear it looks, and the number needed is reported")
  func tooFew() throws {
    let (a, b) = runs(5) { _ in 0.2 }
    let line = try #require(SeedComparison(a, b, measures: [.finalAccuracy]).lines.first)
    #expect(line.probability == 2 / 32 && line.claim == .tooFewSeeds)
    #expect(line.needed.least == 6 && line.needed.estimate == .allAgree)
    // With more tests side by side six are not enough either: 4 · 2^-5 = 0.125.
    let (c, d) = runs(6) { _ in 0.2 }
    let several = SeedComparison(c, d)
    #expect(several.lines.map(\.measure) == [.finalAccuracy, .bestAccuracy, .timeToTarget, .gini])
    #expect(several.lines[0].claim == .tooFewSeeds && several.lines[0].needed.least == 8)
    #expect(several.lines[3].claim == .equal)
  }

  /// Ten of ten pairs to one side: p = 2^-9, twice that after Holm. Six of ten: p = 2^-5 = 0.03125,
  /// and as the larger of two it is not multiplied. Alone against 0.05 / 2 it takes seven.
  @Test("what Holm supports is claimed, though the first of the tests would need more pairs")
  func holm() throws {
    func sixLower(_ n: Int, _ run: MeasuredRun) -> MeasuredRun {
      MeasuredRun(seed: run.seed, curve: run.curve, values: [(.gini, n < 6 ? 0.2 : 0.3)])
    }
    var (a, b) = runs(10) { Double($0) / 100 }
    b = b.enumerated().map(sixLower)
    let lines = SeedComparison(a, b, measures: [.finalAccuracy, .gini]).lines
    let (plain, adjusted): ([Double], [Double]) = ([2 / 1024, 2 / 64], [4 / 1024, 2 / 64])
    #expect(lines.map(\.probability) == plain)
    #expect(lines.map(\.adjusted) == adjusted)
    #expect(lines[1].differing == 6 && lines[1].needed.least == 7)
    // A lower one is better.
    #expect(lines.map(\.claim) == [.b, .b])
    // Where the other measure is not clear, six do not support it: 2 · 2^-5 = 0.0625.
    (a, b) = runs(10) { $0 <= 5 ? 0.1 : -0.1 }
    b = b.enumerated().map(sixLower)
    let unclear = SeedComparison(a, b, measures: [.finalAccuracy, .gini]).lines
    #expect(unclear[1].adjusted == 4 / 64 && unclear[1].claim == .tooFewSeeds)
  }

  @Test("who does not reach the target is worse than all who do, and equal to who does not either")
  func notReached() throws {
    var (a, b) = runs(8) { _ in 0.2 }
    a[0].curve = VersionCurve(
      accuracy: [0.1, 0.2], costs: [(.time, [0, 10])], ends: [(.time, 200)])
    b[1].curve = a[0].curve
    (a[2].curve, b[2].curve) = (a[0].curve, a[0].curve)
    let line = try #require(
      SeedComparison(a, b, target: 0.45, measures: [.timeToTarget]).lines.first)
    #expect(line.reachedA == 6 && line.reachedB == 6 && line.pairs == 8)
    #expect(line.difference == nil && line.interval == nil)
    // One pair for each side, and all others equal: ranks 1.5 and 1.5.
    #expect(line.rankBiserial == 0 && line.probability == 1)
    // Without a target it is what all reached: the worst best accuracy, 0.2.
    #expect(SeedComparison(a, b).target == 0.2)
  }
}
