import Runs
import Testing

/// When checkpoints are due, by a clock that the test turns.
@Suite("The pace of checkpoints")
struct CheckpointPaceTests {
  private let start = ContinuousClock.now

  /// When the first of some checkpoints after every round are written, in seconds.
  private func written(
    _ pace: CheckpointPace, rounds: Int, every round: Int, cost: Int, devices: Int = 100
  ) -> [Int] {
    var clock = CheckpointClock(pace, journal: 0, devices: devices, at: start)
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

  @Test("unasked, they take a hundredth of the time, the first by the number of devices")
  func unasked() {
    // 100 devices take 2 ms, so the first comes after 10 s. It takes 2 s, so the next comes 200 s
    // later. None at all take nothing.
    #expect(written(.itself, rounds: 25, every: 10, cost: 2) == [10, 212])
    #expect(written(.itself, rounds: 25, every: 10, cost: 2, devices: 0) == [10, 212])
    // Half a million devices take 10 s, a hundredth of 1,000 s.
    #expect(
      written(.itself, rounds: 30, every: 50, cost: 2, devices: 500_000) == [1000, 1202, 1404])
    // A fleet of any size is saved after half an hour.
    #expect(written(.itself, rounds: 39, every: 50, cost: 2, devices: 10_000_000) == [1800])
  }

  @Test("a pace that is asked for does not depend on the number of devices")
  func asked() throws {
    let second = CheckpointPace.time(try #require(WallTime("1 s")))
    for pace in [CheckpointPace.rounds(1), second] {
      let found = written(pace, rounds: 4, every: 5, cost: 1, devices: 10_000_000)
      #expect(found == [5, 11, 17, 23])
    }
  }

  @Test("a journal that grew by 8 MiB is saved earlier, where that is affordable")
  func growth() {
    func isDue(_ seconds: Double, journal: Int, devices: Int) -> Bool {
      CheckpointClock(.itself, journal: 100, devices: devices, at: start)
        .isDue(rounds: 0, journal: journal, at: start + .seconds(seconds))
    }
    #expect(isDue(1, journal: 100 + (8 << 20), devices: 100))
    #expect(!isDue(1, journal: 99 + (8 << 20), devices: 100))
    #expect(!isDue(0.9, journal: 100 + (8 << 20), devices: 100))
    // 1,000 devices take 20 ms, so 2 s are waited for.
    #expect(!isDue(1.9, journal: 100 + (8 << 20), devices: 1_000))
    #expect(isDue(2, journal: 100 + (8 << 20), devices: 1_000))
  }
}
