import Testing

import Scenarios
import Sweeps

/// Which variants continue after a rung.
@Suite struct HalvingTests {
  private func survivors(_ scores: [Double?], _ keep: KeptShare, lower: Bool = false) -> [Int] {
    Halving.survivors(
      of: Array(scores.indices), keep: keep, prefersLower: lower, score: { scores[$0] })
  }

  @Test("the best continue, as many as the share rounded up")
  func best() {
    let scores: [Double?] = [0.3, 0.9, 0.5, 0.7, 0.1, 0.6, 0.2]
    // A third of 7 is 2.33: three.
    #expect(survivors(scores, KeptShare(1, 3)) == [1, 3, 5])
    #expect(survivors(scores, KeptShare(1, 2)) == [1, 2, 3, 5])
    #expect(survivors(scores, KeptShare(1, 3), lower: true) == [0, 4, 6])
    #expect(survivors(scores, KeptShare(1, 100)) == [1])
  }

  @Test("of equal variants the lower number continues")
  func ties() {
    #expect(survivors([0.5, 0.5, 0.5, 0.5], KeptShare(1, 2)) == [0, 1])
    #expect(survivors([0.4, 0.5, 0.5, 0.5], KeptShare(1, 2)) == [1, 2])
  }

  @Test("a variant without a number never continues, even where there is room")
  func missing() {
    #expect(survivors([nil, 0.1, .nan, nil], KeptShare(3, 4)) == [1])
    #expect(survivors([nil, nil], KeptShare(1, 2)) == [])
    // A quarter of 8, and not of the 4 with a number.
    let scores: [Double?] = [nil, 0.4, nil, 0.3, nil, 0.9, nil, 0.1]
    #expect(survivors(scores, KeptShare(1, 4)) == [1, 5])
  }

  @Test("a variant's score is the mean of its replicas, and none where one is missing")
  func mean() {
    #expect(Halving.mean([0.25, 0.75]) == 0.5)
    #expect(Halving.mean([0.25, nil]) == nil)
    #expect(Halving.mean([]) == nil)
  }
}
