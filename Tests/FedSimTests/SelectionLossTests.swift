import FedSim
import Numerics
import Schema
import Testing

private func view(round: Int = 1, known: [DeviceFacts] = []) -> ServerView {
  ServerView(
    now: .start, version: 0, round: round, pending: 0, cohortGoal: nil, cohortSize: 0,
    known: known)
}

private func facts(_ change: (inout DeviceFacts) -> Void) -> DeviceFacts {
  var facts = DeviceFacts()
  change(&facts)
  return facts
}

/// Which losses selectors look at.
@Suite("Losses for selection")
struct SelectionLossTests {
  @Test("where nobody keeps squares the mean replaces their root")
  func withoutSquares() {
    let known = facts {
      ($0.samples, $0.loss) = (10, 0.5)
    }
    #expect(known.statisticalUtility == 5 && DeviceFacts().statisticalUtility == nil)
    var squared = known
    squared.rootMeanSquareLoss = 0.75
    #expect(squared.statisticalUtility == 7.5)
    #expect(make(OortSelector.self).needs == [.facts, .lossSquares])
    #expect(!make(PowerOfChoiceSelector.self).needs.contains(.lossSquares))
  }

  @Test("the model's losses of now decide where they are asked for, and not what was reported")
  func currentLosses() {
    let selector = make(PowerOfChoiceSelector.self) {
      ($0.cohort, $0.candidates, $0.losses) = (2, 4, .current)
    }
    #expect(selector.needs.contains(.currentLosses) && selector.needs.contains(.losses))
    #expect(make(PowerOfChoiceSelector.self).needs == [.facts, .losses])
    let known = (0..<4).map { device in
      facts { ($0.samples, $0.loss) = (4, Double(device)) }
    }
    var stream = StreamKey(seed: 1, purpose: "selection").stream(slot: 1)
    var none = NoMemory()
    let waiting = (0..<4).map { CheckIn(device: $0, heldVersion: -1) }
    let (now, places) = (view(known: known), [2, 0, 3, 1])
    #expect(
      selector.chooseCandidates(from: waiting, now, &stream, &none)?.sorted() == [0, 1, 2, 3])
    #expect(selector.chooseCandidates(from: [waiting[0]], now, &stream, &none) == nil)
    func members(_ losses: [Double]) -> [Int]? {
      selector.chooseCohort(of: places, losses: losses, now, &none)?.members
    }
    #expect(members([0.25, 3, 0.5, 1]) == [0, 1])
    // Of equals the one that was drawn first; no number is without bound, no samples are the least.
    #expect(members([1, 1, 1, 1]) == [2, 0])
    #expect(members([-.infinity, 3, .nan, 1]) == [3, 0])
    // Behind an interval: device 1 was chosen in the round before, and is no candidate.
    var interval = MinimumIntervalSelector.Settings()
    var inner = PowerOfChoiceSelector.Settings()
    (inner.cohort, inner.candidates, inner.losses) = (2, 3, .current)
    interval.of = Choice(PowerOfChoiceSelector.self, inner) { $0 }
    let outer = MinimumIntervalSelector(interval)
    #expect(outer.needs == [.facts, .currentLosses])
    var memory = outer.makeMemory()
    var rested = known
    (rested[1].lastRound, rested[1].chosenAt) = (1, .start)
    let second = view(round: 2, known: rested)
    let drawn = outer.chooseCandidates(from: waiting, second, &stream, &memory)
    #expect(drawn?.sorted() == [0, 2, 3])
    #expect(
      outer.chooseCohort(of: [0, 2, 3], losses: [1, 2, 3], second, &memory)?.members.sorted()
        == [2, 3])
  }
}
