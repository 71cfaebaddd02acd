import Numerics
import Testing

import FedSim

@Suite("Scripted cohorts")
struct ScriptedSelectorTests {
  private func selector(_ cohorts: [[Int]]) -> ScriptedSelector {
    ScriptedSelector(ScriptedSelector.Settings(), cohorts: cohorts)
  }

  private func cohort(
    _ cohorts: [[Int]], round: Int, waiting: [Int]
  ) -> (devices: [Int], goal: Int)? {
    var stream = StreamKey(seed: 1, purpose: "selection").stream(slot: UInt64(round))
    let before = stream
    let cohort = selector(cohorts).chooseCohort(
      from: waiting.map { CheckIn(device: $0, heldVersion: -1) }, .open(round: round), &stream)
    var (a, b) = (before, stream)
    #expect(a.uniform() == b.uniform(), "nothing was drawn")
    return cohort.map { (devices: $0.members.map { waiting[$0] }.sorted(), goal: $0.goal) }
  }

  @Test("a round takes exactly its devices out of those that wait")
  func exactly() throws {
    let cohorts = [[7, 2, 5], [1, 7]]
    let first = try #require(cohort(cohorts, round: 1, waiting: [1, 2, 3, 5, 6, 7, 9]))
    #expect(first.devices == [2, 5, 7] && first.goal == 3)
    let second = try #require(cohort(cohorts, round: 2, waiting: [1, 2, 7]))
    #expect(second.devices == [1, 7] && second.goal == 2)
  }

  @Test("a round waits while any one of its devices is missing, however many others wait")
  func waits() {
    for missing in [2, 5, 7] {
      #expect(
        cohort([[7, 2, 5]], round: 1, waiting: (0..<10).filter { $0 != missing }) == nil)
    }
    #expect(cohort([[7, 2, 5]], round: 1, waiting: []) == nil)
    #expect(cohort([[0]], round: 1, waiting: [1, 2]) == nil)
    #expect(cohort([[9]], round: 1, waiting: [1, 2]) == nil)
  }

  @Test("who is in a round is known before anyone asks, in device order; behind the last nobody is")
  func known() {
    let selector = ScriptedSelector(.init(), cohorts: [[7, 2, 5], [1, 7]])
    #expect((0...3).map { selector.likelyMembers(ofRound: $0) } == [[], [2, 5, 7], [1, 7], []])
  }

  @Test("after the last round no cohort is formed")
  func over() {
    #expect(cohort([[1]], round: 2, waiting: [0, 1, 2]) == nil)
  }
}

extension ServerView {
  /// A server in an open round without a cohort.
  fileprivate static func open(round: Int) -> ServerView {
    ServerView(
      now: .start, version: 0, round: round, pending: 0, cohortGoal: nil, cohortSize: 0)
  }
}
