import Runs
import Testing

/// When checkpoints are due, by a clock that the test turns.
@Suite("The pace of checkpoints")
struct CheckpointPaceTests {
  private let start = ContinuousClock.now

  /// When the first of some checkpoints after every round are written, in seconds.
  private func written(
    _ pace: CheckpointPace, rounds: Int, every round: Int, cost: Int
  ) -> [Int] {
    var clock = CheckpointClock(pace, journal: 0, at: start)
    var (now, written) = (0, [Int]())
    for number in 1...rounds {
      now += round
      if clock.isDue(rounds: number, journal: 0, at: start + .seconds(now)) {
        written.append(now)
        now += cost
        clock.wrote(
          rounds: number, journal: 0, cost: .seconds(cost), at: start + .seconds(now))
      }
    }
    return written
  }

  @Test("checkpoints after every round take ten seconds, and then at most half of the time")
  func affordable() {
    // Rounds of 1 s, checkpoints of 4 s: at 1, 6 and 11 s they have taken 0, 4 and 8 s. At 16 s it
    // is 12 of 16, so the next waits for 24 s; then it is 16 of 28, which is paid for at 32 s, and
    // 20 of 36 at 40 s.
    #expect(written(.rounds(1), rounds: 20, every: 1, cost: 4) == [1, 6, 11, 24, 32, 40])
  }

  @Test("checkpoints that cost less than the rounds are written after each")
  func cheap() {
    #expect(written(.rounds(1), rounds: 6, every: 5, cost: 4) == [5, 14, 23, 32, 41, 50])
    #expect(written(.rounds(2), rounds: 6, every: 5, cost: 4) == [10, 24, 38])
  }

  @Test("so it is where a time was asked for")
  func times() throws {
    let second = CheckpointPace.time(try #require(WallTime("1 s")))
    #expect(written(second, rounds: 20, every: 1, cost: 4) == [1, 6, 11, 24, 32, 40])
  }
}
