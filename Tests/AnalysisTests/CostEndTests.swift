import Analysis
import Results
import Testing

/// What runs had cost that did not reach a target, and medians over pairs that lack a cost.
struct CostEndTests {
  @Test func energyAtTheEndIsAllThatWasDrawn() {
    var document = ReportFixture.document(accuracy: [0.1, 0.4])
    document.root.groups[0].variables.append(
      ReportFixture.numbers("joules", ["version"], [0, 5]))
    #expect(VersionCurve(document)?.end(.joules) == 5)
    var effort = ReportFixture.counts(
      "effort", "outcome", "energyTraining",
      [("aggregated", 4e9), ("trainingUnfinishedAtEnd", 3e9)])
    effort.variables += [
      ReportFixture.numbers("energyRadio", ["outcome"], [1e9, 0]),
      ReportFixture.numbers("energyRadioOther", [], [0.5e9]),
    ]
    document.root.groups.append(effort)
    // 4 + 3 + 1 + 0.5 J in all, of which 5 J by the last version; 0.5 was not reached.
    #expect(VersionCurve(document)?.end(.joules) == 8.5)
    let curve = VersionCurve(document)
    let reach = curve.flatMap { TargetTime(0.5, of: $0)[.joules] }
    #expect(reach == TargetTime.Reach(cost: .joules, after: 8.5, by: nil))
  }

  @Test func mediansOfLowerEndsAreOfThePairsThatCount() throws {
    func run(_ seed: UInt64, _ before: Double, hasBytes: Bool = true) -> MeasuredRun {
      let times = [0, before, before + 1]
      return MeasuredRun(
        seed: seed,
        curve: VersionCurve(
          accuracy: [0.1, 0.2, 0.6],
          costs: hasBytes ? [(.time, times), (.bytes, times)] : [(.time, times)]))
    }
    // The first pair has no bytes on one side; 20 and 40 are left, and not 90.
    let comparison = SeedComparison(
      [run(1, 90), run(2, 20), run(3, 40)],
      [run(1, 5, hasBytes: false), run(2, 6), run(3, 8)], target: 0.5,
      measures: [.bytesToTarget])
    let line = try #require(comparison.lines.first)
    #expect(line.pairs == 2)
    #expect(line.medianAfterA == 30 && line.medianA == 31)
    #expect(line.medianAfterB == 7 && line.medianB == 8)
  }
}
