import FedSim
import Learning
import Schema
import Testing

extension Scene {
  /// The server's process stops at these times in milliseconds, for `downFor` each time.
  mutating func restart(
    at times: Int64..., downFor: Int64 = 2_000, keepsPending: Bool = false
  ) {
    var settings = RestartSettings()
    settings.at = times.map { .milliseconds($0) }
    settings.downFor = .milliseconds(downFor)
    settings.keepsPending = keepsPending
    inputs.server.restarts = settings
  }
}

/// A phone that trains each version once.
private func phone(
  _ name: String, from start: Int64, lasting: Int64 = 1_000_000,
  _ change: (inout FleetGroupSettings) -> Void = { _ in }
) -> FleetGroupSettings {
  .group(name, windows: [[start, start + lasting, start + lasting + 5_000]]) {
    $0.participation.retrain = .newVersions
    change(&$0)
  }
}

/// Three phones whose updates arrive at 9.650, 29.650 and 49.650 s (see `Scene`).
private func three(keepsPending: Bool) -> Scene {
  var scene = Scene(fleet: [0, 20_000, 40_000].map { phone("p\($0)", from: $0) })
  scene.threshold(3)
  scene.restart(at: 35_000, keepsPending: keepsPending)
  return scene
}

@Suite("A server that restarts")
struct RestartTests {
  @Test("Two updates wait and are lost: the third makes no version of three")
  func lost() {
    // Both receipts are there, at 10.660 and 30.660, so nobody sends the two again. The third
    // arrives at 49.650, and 1 waits.
    let played = three(keepsPending: false).play()
    #expect(played.story(of: -1) == ["0 published v0 0", "35000 stops", "37000 starts"])
    #expect(
      played.story(of: 0, only: "receipt", "ended") == [
        "10660 receipt 0 pending v0 n1", "35000 ended 0 lostAtRestart",
      ])
    #expect(played.story(of: 1, only: "ended") == ["35000 ended 1 lostAtRestart"])
    #expect(played.story(of: 2, only: "receipt") == ["50660 receipt 2 pending v0 n1"])
    let updates = played.simulation.books.ledgers.updates
    #expect(updates[.lostAtRestart] == 2 && updates[.unfinishedAtEnd] == 1)
    #expect(updates.opened == 3 && updates.stillOpen == 0)
    // The open round is over at the stop, and the next one begins with the process.
    #expect(played.tape.rounds.map(\.outcome) == [.lostAtRestart, .unfinishedAtEnd])
    #expect(played.tape.rounds.map(\.closedAt) == [ms(35_000), ms(10_000_000)])
    #expect(played.tape.rounds.map(\.openedAt) == [ms(0), ms(37_000)])
    #expect(played.simulation.serverRecord.restartCount == 1)
  }

  @Test("Updates that are kept make a version with the third")
  func kept() {
    let played = three(keepsPending: true).play()
    #expect(
      played.story(of: -1) == [
        "0 published v0 0", "35000 stops", "37000 starts", "49650 published v1 3",
      ])
    #expect(played.story(of: 2, only: "receipt") == ["50660 receipt 2 aggregated v1 n0"])
    #expect(played.simulation.books.ledgers.updates[.lostAtRestart] == 0)
  }

  @Test("An upload under way fails, and is tried again as its outbox says")
  func upload() {
    // Sent from 8.340; 660 bytes are through at 9.000. Tried again after 5 s: 14.000 to 15.300,
    // there at 15.310; the receipt's head 15.320, read 16.320.
    var scene = Scene(fleet: [phone("p", from: 0) { $0.outbox.attempts = 3 }])
    scene.threshold(1)
    scene.restart(at: 9_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "uploads", "fails", "arrives", "receipt") == [
        "8340 uploads 0", "9000 fails 0 linkLost", "14000 uploads 0", "15310 arrives 0",
        "16320 receipt 0 aggregated v1 n0",
      ])
    // Two requests without parameters, the lost part, the whole.
    #expect(played.simulation.books.ledgers.updates[.aggregated] == 1)
  }

  @Test("An update whose receipt was cut off is sent again, and the server does not know it")
  func again() {
    // There at 9.650, its receipt would be read at 10.660; the process stops at 10.000. Tried again
    // at 15.000, there at 16.310: a new update for the server, and the first of two.
    var scene = Scene(
      fleet: [phone("p", from: 0) { $0.outbox.attempts = 3 }, phone("q", from: 40_000)])
    scene.threshold(2)
    scene.restart(at: 10_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "fails", "arrives", "receipt", "ended") == [
        "9650 arrives 0", "10000 fails 0 linkLost", "16310 arrives 0",
        "17320 receipt 0 pending v0 n1", "49650 ended 0 aggregated",
      ])
    #expect(played.simulation.books.ledgers.updates[.lostAtRestart] == 0)
    #expect(played.simulation.books.tallies.aggregatedTwice == 0)
  }

  @Test("The timer of `every` counts from the moment at which the process is back")
  func timer() {
    // Back at 1,010: it rings at 2,810 and 4,610, no longer at 1,800 and 3,600. Updates arrive at
    // 2,009.650 and 3,009.650.
    var scene = Scene(
      fleet: [2_000_000, 3_000_000].map { phone("p\($0)", from: $0, lasting: 100_000) })
    var every = EveryTrigger.Settings()
    (every.period, every.minimum) = (.minutes(30), 1)
    scene.inputs.server.trigger = [Choice(EveryTrigger.self, every) { $0 }]
    #expect(
      scene.play().story(of: -1, only: "published")
        == ["0 published v0 0", "3600000 published v1 2"])
    scene.restart(at: 1_000_000, downFor: 10_000)
    #expect(
      scene.play().story(of: -1, only: "published") == [
        "0 published v0 0", "2810000 published v1 1", "4610000 published v2 1",
      ])
    // A stop at the time of its ringing comes first.
    scene.restart(at: 1_800_000, downFor: 10_000)
    #expect(
      scene.play().story(of: -1, only: "published")
        == ["0 published v0 0", "3610000 published v1 2"])
  }

  @Test("A cohort that was formed is forgotten: its updates are lost, or late")
  func cohort() {
    // Both ask at 1.010 and are the cohort of round 1. The first one's update is there at 9.650 and
    // lost at 12; the slow one's, 12 s of batches, at 17.650, in round 2. Two others ask at 31.010,
    // and their updates arrive at 39.650.
    var scene = Scene(
      fleet: [
        phone("fast", from: 0, lasting: 25_000),
        phone("slow", from: 0, lasting: 25_000) { $0.compute.perBatch = .seconds(3) },
        .group("later", count: 2, windows: [[30_000, 900_000, 905_000]]) {
          $0.participation.retrain = .newVersions
        },
      ])
    var selector = UniformSelector.Settings()
    (selector.cohort, selector.overSelection) = (2, 1)
    scene.inputs.server.selector = Choice(UniformSelector.self, selector) { $0 }
    scene.inputs.server.trigger = [Choice(CohortCompleteTrigger.self) { $0 }]
    scene.restart(at: 12_000)
    scene.inputs.stop.rounds = 2
    let played = scene.play()
    #expect(
      played.story(of: -1) == [
        "0 published v0 0", "1010 cohort r1 2", "12000 stops", "14000 starts", "31010 cohort r2 2",
        "39650 published v1 2",
      ])
    #expect(played.story(of: 0, only: "ended") == ["12000 ended 0 lostAtRestart"])
    #expect(
      played.story(of: 1, only: "receipt", "ended") == [
        "17650 ended 1 rejectedLate", "18660 receipt 1 rejected v0 n0",
      ])
  }

  @Test("An aggregation under way is lost with its updates, or its updates wait again")
  func aggregation() {
    // It begins at 49.650 and would end at 62.650; the process stops at 55 and is back at 57. Kept,
    // the three suffice for another one at once: 57 to 70.
    var scene = three(keepsPending: false)
    var time = AggregationTimeSettings()
    (time.base, time.perUpdate) = (.seconds(10), .seconds(1))
    scene.inputs.server.aggregationTime = time
    scene.restart(at: 55_000)
    let lost = scene.play()
    #expect(lost.story(of: -1, only: "published") == ["0 published v0 0"])
    #expect(lost.simulation.books.ledgers.updates[.lostAtRestart] == 3)
    scene.restart(at: 55_000, keepsPending: true)
    #expect(
      scene.play().story(of: -1, only: "published") == ["0 published v0 0", "70000 published v1 3"])
  }

  @Test("Requests that a blocking aggregation holds are lost, and their devices see it")
  func held() {
    // The fourth asks at 51.010, in the aggregation until 62.650. Its request fails at 55; its
    // session asks again after 5 min: 355 + 1.010 there, the version of 70 s downloaded at 359.340.
    var scene = three(keepsPending: true)
    scene.inputs.fleet.append(phone("last", from: 50_000) { $0.participation.repeats = true })
    var time = AggregationTimeSettings()
    (time.base, time.perUpdate, time.blocks) = (.seconds(10), .seconds(1), true)
    scene.inputs.server.aggregationTime = time
    scene.restart(at: 55_000, keepsPending: true)
    let played = scene.play()
    #expect(
      played.story(of: 3, only: "check", "downloaded")
        == ["55000 check fails unacknowledged", "359340 downloaded v1"])
  }

  @Test("Requests in the server's queue are lost")
  func queue() throws {
    // A service takes 2 s: checks at 1.010 are served 3.010, 5.010, 7.010; the process stops at 4.
    var scene = Scene(fleet: [.group(count: 3, windows: [[0, 100_000, 105_000]])])
    scene.inputs.server.service = ServiceSettings()
    scene.inputs.server.service!.time = .seconds(2)
    scene.restart(at: 4_000)
    let played = scene.play()
    #expect(played.story(of: 0, only: "check", "accepted") == ["4000 check fails linkLost"])
    #expect(played.story(of: 1, only: "check") == ["4000 check fails unacknowledged"])
    #expect(played.story(of: 2, only: "check") == ["4000 check fails unacknowledged"])
    let tallies = try #require(played.simulation.serverRecord.serviceTallies)
    #expect((tallies.requests, tallies.served, tallies.lost) == (3, 1, 2))
  }

  @Test("The probe counts from the start of the process, which probes at once")
  func probe() {
    // Probes each 60 s. The internet is gone from 70 to 200: found out at 120 without a restart.
    // With one from 75 to 85 it is found out at 85, and its return at 85 + 2 · 60 = 205.
    var scene = Scene(fleet: [phone("p", from: 0)])
    scene.inputs.server.internet = .states("down", in: [70_000...200_000], otherwise: "up")
    #expect(
      scene.play().story(of: -1, only: "online", "offline") == ["120000 offline", "240000 online"])
    scene.restart(at: 75_000, downFor: 10_000)
    #expect(
      scene.play().story(of: -1, only: "online", "offline") == ["85000 offline", "205000 online"])
  }

  @Test("Stops at given times, at multiples of a period and at random ones; the world keys them")
  func times() {
    var settings = RestartSettings()
    (settings.at, settings.every) = ([.seconds(300), .seconds(25)], .seconds(100))
    settings.downFor = .seconds(10)
    func stops(_ settings: RestartSettings, seed: UInt64 = 1) -> [String] {
      var scene = Scene(fleet: [phone("p", from: 0)])
      scene.inputs.seeds = Seeds(seed)
      scene.inputs.stop.after = .seconds(350)
      scene.inputs.server.restarts = settings
      return scene.play().story(of: -1, only: "stops", "starts")
    }
    #expect(
      stops(settings) == [
        "25000 stops", "35000 starts", "100000 stops", "110000 starts", "200000 stops",
        "210000 starts", "300000 stops", "310000 starts",
      ])
    // A stop while it is down begins the 10 s again.
    (settings.at, settings.every) = ([.seconds(20), .seconds(28), .seconds(38)], nil)
    #expect(stops(settings) == ["20000 stops", "48000 starts"])
    settings.at = []
    settings.meanInterval = .seconds(50)
    #expect(stops(settings).count > 4)
    #expect(stops(settings) == stops(settings))
    #expect(stops(settings) != stops(settings, seed: 2))
  }
}

@Suite("Restarts in any world")
struct RestartWorldTests {
  private func inputs(_ seed: UInt64) -> SimulationInputs {
    var world = RandomWorld(seed: seed)
    var scene = world.scene()
    var settings = RestartSettings()
    settings.meanInterval = .minutes(20)
    settings.downFor = .seconds(seed % 2 == 0 ? 1 : 200)
    settings.keepsPending = seed % 3 == 0
    scene.inputs.server.restarts = settings
    if !scene.inputs.server.contradictions().isEmpty {
      scene.inputs.server.restarts!.keepsPending = false
    }
    return scene.inputs
  }

  @Test("Every entry of every ledger ends once, whatever the policy and the features")
  func sound() {
    var lost = 0
    for seed in UInt64(0)..<150 {
      let tape = Tape()
      var simulation = Simulation(inputs(seed))
      simulation.run(observers: [tape])
      #expect(tape.faults.isEmpty, "seed \(seed): \(tape.faults.prefix(3))")
      lost += simulation.books.ledgers.updates[.lostAtRestart]
    }
    #expect(lost > 20)
  }

  @Test("A run that is saved and resumed is the same run")
  func resumed() throws {
    for seed in UInt64(0)..<30 {
      let whole = try Stretches(inputs(seed), stops: [])
      let parts = try Stretches(inputs(seed), stops: [40, 90, 400])
      Stretches.expectSame(whole.found, parts.found, "seed \(seed)")
    }
  }

  @Test("No device is played ahead of its turn: what it begins could be broken too early")
  func ahead() {
    // In the world of 20 an app that is opened ahead has begun a request as the server stops.
    for seed in UInt64(18)..<24 {
      var inputs = RandomWorld.quietInputs(seed: seed)
      inputs.server.restarts = self.inputs(seed).server.restarts
      var simulation = Simulation(inputs)
      simulation.run()
      #expect(simulation.eventsPlayedAhead == 0)
    }
  }

  @Test("Words of stored events fit their codes")
  func words() {
    #expect(EventLog.kinds.count <= 128 && EventLog.details.count <= 128)
    #expect(EventLog.details.last == "lostAtRestart")
  }

  @Test("When a server restarts does not depend on its policy")
  func independent() {
    func stops(_ inputs: SimulationInputs) -> [SimTime] {
      let tape = Tape(audits: false)
      var simulation = Simulation(inputs)
      simulation.run(observers: [tape])
      return tape.observed.filter { $0.kind == .serverProcess(isRunning: false) }.map(\.time)
    }
    var scene = Scene(fleet: [phone("p", from: 0)])
    scene.inputs.server.restarts = RestartSettings()
    scene.inputs.server.restarts!.meanInterval = .minutes(10)
    let first = stops(scene.inputs)
    scene.inputs.seeds.policy = 99
    scene.threshold(1)
    #expect(stops(scene.inputs) == first && first.count > 5)
  }
}
