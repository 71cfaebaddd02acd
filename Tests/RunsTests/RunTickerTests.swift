import FedSim
import Runs
import Testing

@Suite("Who follows a run")
struct RunTickerTests {
  @Test("hears of the time that all have reached, and leaves devices to be played on ahead")
  func status() throws {
    var plain = try Night.scenario("stop.after=20 d").makeSimulation()
    plain.run()
    var told: [RunStatus] = []
    var versions = 0
    let ticker = RunTicker {
      told.append($0)
    } news: { _ in
      versions += 1
    }
    var followed = try Night.scenario("stop.after=20 d").makeSimulation()
    followed.run(observers: [ticker])
    #expect(followed.eventsPlayedAhead > 0)
    #expect(followed.eventsPlayedAhead == plain.eventsPlayedAhead)
    #expect(followed.eventDigest == plain.eventDigest)
    #expect(versions == followed.version + 1)
    #expect(!told.isEmpty)
    #expect(told.map(\.time) == told.map(\.time).sorted())
    #expect(told.allSatisfy { $0.online == nil && $0.training == nil && $0.share <= 1 })
  }

  @Test("hears how many are connected where all devices are at the same time")
  func counts() throws {
    var told: [RunStatus] = []
    let ticker = RunTicker {
      told.append($0)
    } news: { _ in
    }
    var run = try Night.scenario("stop.versions=5").makeSimulation()
    run.run(observers: [ticker])
    #expect(run.eventsPlayedAhead == 0)
    #expect(!told.isEmpty && told.allSatisfy { (0...12).contains($0.online ?? -1) })
  }
}
