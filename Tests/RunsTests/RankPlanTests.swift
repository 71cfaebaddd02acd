import Runs
import Testing

@Suite("The time of a version on several ranks")
struct RankPlanTests {
  private func plan(_ change: (inout RankPlan.Figures) -> Void = { _ in }) -> RankPlan {
    var figures = RankPlan.Figures()
    figures.parameters = 1_000_000
    figures.updates = 10
    figures.training = 0.1
    figures.adding = 0.001
    (figures.evaluation, figures.pieces) = (0.4, 10)
    figures.events = 0.05
    change(&figures)
    return RankPlan(figures: figures, threads: 2, latency: 0.001, bandwidth: 1e8)
  }

  private func isNear(_ value: Double, _ expected: Double) -> Bool {
    abs(value - expected) < 1e-12
  }

  // Worked out by hand from the formula in docs/scale-out.md.
  @Test("one rank sends nothing")
  func one() {
    let row = plan().row(ranks: 1)
    #expect(isNear(row.training, 0.5) && isNear(row.adding, 0.005))
    #expect(isNear(row.evaluation, 0.2) && row.events == 0.05)
    #expect(row.network == 0 && row.bytes == 0)
    #expect(isNear(row.seconds, 0.755))
  }

  @Test("four ranks of two threads train three updates in two turns and exchange slices")
  func four() {
    let row = plan().row(ranks: 4)
    #expect(isNear(row.training, 0.2) && isNear(row.adding, 0.00125))
    #expect(isNear(row.evaluation, 0.08))
    // Of ten updates three quarters go out, a quarter of them from here; then three quarters of a
    // sum.
    #expect(row.bytes == 10_500_000)
    // Two groups of two, the sum, the losses, and an evaluation: five latencies.
    #expect(isNear(row.network, 0.11))
    #expect(isNear(row.seconds, 0.44125))
  }

  @Test("a policy that gathers receives all other updates, and adds them all")
  func gathers() {
    let row = plan { $0.sumsInSlices = false }.row(ranks: 4)
    #expect(row.bytes == 30_000_000 && isNear(row.network, 0.303))
    #expect(isNear(row.adding, 0.005))
  }

  @Test("latencies and bandwidths are read with their units")
  func quantities() {
    #expect(isNear(RankPlan.latency("50 us") ?? 0, 5e-5))
    #expect(RankPlan.latency("1.5 ms").map { isNear($0, 0.0015) } == true)
    #expect(RankPlan.bandwidth("10 Gbit/s") == 1.25e9)
    #expect(RankPlan.bandwidth("100 Mbit/s") == 1.25e7)
    for wrong in ["", "50", "-1 us", "0 Mbit/s", "1 GB"] {
      #expect(RankPlan.bandwidth(wrong) == nil)
    }
    #expect(RankPlan.latency("-1 us") == nil && RankPlan.latency("5") == nil)
  }
}
