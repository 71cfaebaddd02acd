import FedSim
import Numerics
import Testing

/// The devices chosen in round 7 out of all that are known, in the order of the fleet.
private func chosen(
  by selector: any ClientSelector, of known: [DeviceFacts], seed: UInt64 = 1
) -> [Int]? {
  let view = ServerView(
    now: .start, version: 0, round: 7, pending: 0, cohortGoal: nil, cohortSize: 0,
    roundOpenedAt: .start, known: known)
  var stream = StreamKey(seed: seed, purpose: "selection").stream(slot: 7)
  var memory = PartMemory()
  let waiting = known.indices.map { CheckIn(device: $0, heldVersion: -1) }
  return selector.cohort(from: waiting, view, &stream, &memory)?.members.sorted()
}

private func facts(_ change: (inout DeviceFacts) -> Void) -> DeviceFacts {
  var facts = DeviceFacts()
  facts.checkIns = 1
  change(&facts)
  return facts
}

@Suite("Shares in selection")
struct SelectionShareTests {
  @Test("by samples: whoever has nine of ten samples is chosen nine times of ten")
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
}
