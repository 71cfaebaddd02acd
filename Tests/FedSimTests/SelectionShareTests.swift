import FedSim
import Learning
import Numerics
import Schema
import Testing

/// The devices chosen in round 7 out of all that are known, in the order of the fleet.
private func chosen(
  by selector: some CohortSelector, of known: [DeviceFacts], seed: UInt64 = 1
) -> [Int]? {
  let view = ServerView(
    now: .start, version: 0, round: 7, pending: 0, cohortGoal: nil, cohortSize: 0,
    roundOpenedAt: .start, known: known)
  var stream = StreamKey(seed: seed, purpose: "selection").stream(slot: 7)
  let waiting = known.indices.map { CheckIn(device: $0, heldVersion: -1) }
  return selector.chooseCohort(from: waiting, view, &stream)?.members.sorted()
}

private func facts(_ change: (inout DeviceFacts) -> Void) -> DeviceFacts {
  var facts = DeviceFacts()
  facts.checkIns = 1
  change(&facts)
  return facts
}

@Suite("Shares in selection")
struct SelectionShareTests {
  @Test("by samples: a device that has nine of ten samples is chosen nine times of ten")
  func weighted() {
    var settings = WeightedSelector.Settings()
    settings.cohort = 1
    let selector = WeightedSelector(settings)
    let known = [1, 9].map { samples in facts { $0.samples = samples } }
    var hits = 0
    for seed in 1...2_000 where chosen(by: selector, of: known, seed: UInt64(seed)) == [1] {
      hits += 1
    }
    // Five errors: 5·√(0.9·0.1/2,000) = 0.0335.
    #expect(abs(Double(hits) / 2_000 - 0.9) < 0.0336, "\(hits)")
  }

  @Test("Oort leaves out a share of those it knows, and no more")
  func excluded() {
    var settings = OortSelector.Settings()
    (settings.cohort, settings.overSelection) = (9, 1)
    (settings.mostUpdates, settings.mostExcluded) = (2, 0.3)
    // Devices 2, 5, 8 and 11 were in three versions. ⌊0.3·12⌋ = 3 of them are left out; 11 stays,
    // so exactly the nine that are needed are there.
    let known = (0..<12).map { place in
      facts {
        ($0.samples, $0.loss, $0.lossRound) = (5, 1, 1)
        $0.timesAggregated = 1 + place % 3
      }
    }
    #expect(
      chosen(by: OortSelector(settings), of: known) == [0, 1, 3, 4, 6, 7, 9, 10, 11])
    settings.mostExcluded = 0.34
    // ⌊0.34·12⌋ = 4: eight are too few.
    #expect(chosen(by: OortSelector(settings), of: known) == nil)
  }

  @Test("a share of a whole number is that, however it is written in binary")
  func binary() {
    // In binary 50 · 1.1 is a little over 55, and so is 100 · 1.1 over 110.
    let uniform = make(UniformSelector.self) { ($0.cohort, $0.overSelection) = (50, 1.1) }
    let weighted = make(WeightedSelector.self) { ($0.cohort, $0.overSelection) = (100, 1.1) }
    #expect(uniform.rules.neededWaiting == 55 && weighted.rules.neededWaiting == 110)
    // 0.29 · 100 is a little under 29: of the values 1 to 100 with the square of each rank the
    // middle 42 are left, 30² to 71².
    var settings = CoordinateTrimmedMean.Settings()
    settings.share = 0.29
    let updates = (1...100).map { rank in
      AggregatedUpdate(
        device: rank - 1, samples: 1, staleness: 0,
        parameters: ParameterBuffer([Float(rank * rank)]), base: ParameterBuffer([0]))
    }
    let batch = AggregationBatch(
      updates: updates, payload: .weights, current: ParameterBuffer([0]),
      pool: WorkerPool(threads: 1))
    let middle = (30...71).reduce(0) { $0 + $1 * $1 }
    #expect(CoordinateTrimmedMean(settings).combine(batch)[0] == Float(Double(middle) / 42))
  }

  @Test("q-FFL has a step for losses whose powers are no numbers")
  func extreme() {
    // One device: Δ·F^q / (q·F^(q-1)·L·Δ² + F^q) = Δ / (q·L·Δ²/F + 1), with Δ = 2, q = 100,
    // L = 0.01 and F = 0.001: 2 / 4001; with F = 4e6: 2 / (1 + 1e-6).
    var settings = FairAggregator.Settings()
    (settings.q, settings.lipschitz) = (100, 0.01)
    for (loss, expected) in [(0.001, 2.0 / 4001), (4e6, 2 / (1 + 1e-6))] {
      let update = AggregatedUpdate(
        device: 0, samples: 1, staleness: 0, parameters: ParameterBuffer([2]),
        base: ParameterBuffer([0]), baseLoss: loss)
      let batch = AggregationBatch(
        updates: [update], payload: .delta, current: ParameterBuffer([0]),
        pool: WorkerPool(threads: 1))
      let step = Double(FairAggregator(settings).combine(batch)[0])
      #expect((step / expected - 1).magnitude < 1e-5)
    }
  }
}
