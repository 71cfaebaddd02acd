import FedSim
import Learning
import Schema
import Testing

/// Devices of one group each, every one with a long window that begins at its own time.
private func phones(startingAt starts: [Int64], lasting: Int64 = 1_000_000) -> [FleetGroupSettings]
{
  starts.enumerated().map { place, start in
    .group("p\(place)", windows: [[start, start + lasting, start + lasting + 5000]])
  }
}

@Suite("The automatic backend, by hand-written times")
struct AutomaticBackendTests {
  @Test("Three submissions: two are pending, the third is aggregated as it arrives")
  func thresholdOfThree() {
    // Sessions at 0, 20 and 40 s; see the table of `Scene`.
    let played = Scene(fleet: phones(startingAt: [0, 20_000, 40_000])).play()
    #expect(
      played.story(of: 0) == [
        "0 begins window", "2020 accepted r1", "4340 downloaded v0", "4340 trains v0 0/4",
        "8340 attempt finished 4", "8340 makes 0 of v0 4b 4s", "8340 uploads 0", "9650 arrives 0",
        "10660 receipt 0 pending v0 n1", "10660 ends completed",
      ])
    #expect(
      played.story(of: 1, only: "arrives", "receipt")
        == ["29650 arrives 1", "30660 receipt 1 pending v0 n2"])
    #expect(
      played.story(of: 2, only: "arrives", "receipt")
        == ["49650 arrives 2", "50660 receipt 2 aggregated v1 n0"])
    #expect(played.story(of: -1) == ["0 published v0 0", "49650 published v1 3"])
    #expect(played.simulation.books.ledgers.updates[.aggregated] == 3)
    #expect(played.simulation.books.ledgers.transmissions[.delivered] == 9)
    // Up: 2 messages and an update of 1,300 bytes each. Down: 2 messages and a model.
    #expect(played.simulation.books.ledgers.bytesUp == 3 * 3300)
    #expect(played.simulation.books.ledgers.bytesDown == 3 * 3300)
    let record = played.version(1)
    #expect(record.publishedAt == ms(49650))
    #expect((record.updates, record.devices, record.samples) == (3, 3, 12))
    #expect(record.meanStaleness == 0)
    // All bases are version 0, published at 0.
    #expect(record.meanStalenessSeconds == 49.65)
  }

  @Test("The look every 30 minutes aggregates when it finds three, and only then")
  func everyHalfHour() {
    // Only the timer aggregates. Two wait at 1800 s; the third arrives at 1809.650 s.
    var scene = Scene(fleet: phones(startingAt: [0, 20_000, 1_800_000]))
    scene.inputs.server.trigger = [Choice(EveryTrigger.self) { $0 }]
    let played = scene.play()
    #expect(played.story(of: -1) == ["0 published v0 0", "3600000 published v1 3"])
    #expect(played.story(of: 2, only: "receipt") == ["1810660 receipt 2 pending v0 n3"])
  }

  @Test("An update to an unreachable server times out and is sent in the next window")
  func unreachable() {
    // The server is down from 9 s to 100 s: the update, sent whole at 9.640, finds nobody.
    // The request times out at 9.640 + 60. The next window, at 200 s, first sends it.
    var fleet = phones(startingAt: [0], lasting: 150_000)
    fleet[0] = .group(
      "p0", windows: [[0, 150_000, 155_000], [200_000, 350_000, 355_000]]
    ) { $0.participation.retrain = .newVersions }
    var scene = Scene(fleet: fleet)
    scene.inputs.server.reachable = .states("down", in: [9_000...100_000], otherwise: "up")
    let played = scene.play()
    #expect(
      Array(played.story(of: 0).dropFirst(6)) == [
        "8340 uploads 0", "69640 fails 0 timedOut", "69640 ends unreachable",
        "200000 begins window", "200000 uploads 0", "201310 arrives 0",
        // Sent 201.300, answer begins 201.320.
        "202320 receipt 0 pending v0 n1",
        // A check: sent 203.320, answered 203.340, read 204.340. Nothing new to train on.
        "204340 accepted r1", "204340 ends nothingNew",
      ])
    #expect(played.simulation.books.tallies.waitedOffline == 1)
    #expect(played.simulation.books.ledgers.transmissions[.timedOut] == 1)
    #expect(played.simulation.books.tallies.repeatedDeliveries == 0)
  }

  @Test("A check at an unreachable server times out after a minute")
  func unreachableCheck() {
    var scene = Scene(fleet: phones(startingAt: [0]))
    scene.inputs.server.reachable = .always("down")
    #expect(
      scene.play().story(of: 0) == ["0 begins window", "61000 ends unreachable"])
  }

  @Test(
    "E17: An offline server: its flag is up to 60 s old, updates queue, the probe catches up once")
  func offline() {
    // The internet is gone from 100 s to 400 s. Probes at 120 s and 420 s find it out.
    // Models are asked for at s + 3.030, before 120 s; updates arrive at s + 9.650.
    var scene = Scene(fleet: phones(startingAt: [108_000, 112_000, 114_000, 116_000]))
    scene.inputs.server.internet = .states("down", in: [100_000...400_000], otherwise: "up")
    let played = scene.play()
    #expect(
      played.story(of: -1) == [
        "0 published v0 0", "120000 offline", "420000 online", "420000 published v1 4",
      ])
    #expect(played.story(of: 0, only: "arrives") == ["117650 arrives 0"])
    #expect(
      (0..<4).map { played.story(of: $0, only: "receipt") } == [
        ["118660 receipt 0 pending v0 n1"], ["122660 receipt 1 offline v0 n2"],
        ["124660 receipt 2 offline v0 n3"], ["126660 receipt 3 offline v0 n4"],
      ])
  }

  @Test("What was owed is asked for again: an erasure in between leaves too few, and no version")
  func owedAndErased() {
    // Three updates arrive at 121.650, 123.650 and 125.650, after the probe of 120 s; p0 erases its
    // own at 200 s. Two wait when the probe of 420 s finds the connection.
    func published(
      _ trigger: Choice<any AggregationTrigger>, until back: Int64, erasing: Int64?
    ) -> [String] {
      var scene = Scene(fleet: phones(startingAt: [112_000, 114_000, 116_000], lasting: 50_000))
      scene.inputs.server.internet = .states("down", in: [100_000...back], otherwise: "up")
      scene.inputs.server.trigger = [trigger]
      if let erasing { scene.inject(.erase, "p0/0", at: erasing) }
      return scene.play().story(of: -1, only: "published").dropFirst().map { $0 }
    }
    let threshold = Choice<any AggregationTrigger>(ThresholdTrigger.self) { $0 }
    #expect(published(threshold, until: 400_000, erasing: nil) == ["420000 published v1 3"])
    #expect(published(threshold, until: 400_000, erasing: 200_000) == [])
    // The timer rings at 1800 s and finds three; the probe of 2040 s finds the connection.
    let every = Choice<any AggregationTrigger>(EveryTrigger.self) { $0 }
    #expect(published(every, until: 2_000_000, erasing: nil) == ["2040000 published v1 3"])
    #expect(published(every, until: 2_000_000, erasing: 1_900_000) == [])
  }

  @Test("What was asked for again is owed no more: a second outage does not ask for it")
  func secondOutage() {
    // Three arrive before 126 s; the timer of 1800 s finds them and no connection. p0 erases its
    // own at 1900 s: at 2040 s, online, two are too few. The fourth arrives at 2059.650. The probes
    // of 2220 s and 2340 s see the second outage; only the timer of 3600 s aggregates.
    var scene = Scene(
      fleet: phones(startingAt: [112_000, 114_000, 116_000, 2_050_000], lasting: 50_000))
    scene.inputs.server.internet = .states(
      "down", in: [100_000...2_000_000, 2_200_000...2_300_000], otherwise: "up")
    scene.inputs.server.trigger = [Choice(EveryTrigger.self) { $0 }]
    scene.inject(.erase, "p0/0", at: 1_900_000)
    #expect(
      scene.play().story(of: -1) == [
        "0 published v0 0", "120000 offline", "2040000 online", "2220000 offline",
        "2340000 online", "3600000 published v1 3",
      ])
  }

  @Test("Updates that are made while the server takes none have all waited, tried or not")
  func waitedBehindAnother() {
    // It holds version 0 from 4.340 on. The server has no connection from 20 s to 500 s, which the
    // probes of 60 and 540 s find. Each window makes an update; the oldest alone is tried.
    let starts: [Int64] = [0, 100_000, 200_000, 300_000, 400_000, 600_000]
    var scene = Scene(fleet: [
      .group("p", windows: starts.map { [$0, $0 + 60_000, $0 + 65_000] }) {
        $0.participation.retrain = .always
        $0.outbox.attempts = 1
      }
    ])
    scene.inputs.server.internet = .states("down", in: [20_000...500_000], otherwise: "up")
    scene.inputs.server.whileOffline = .refuse
    scene.inputs.server.duplicates = .append
    scene.threshold(10)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "makes").map { $0.prefix(while: { $0 != "v" }) } == [
        "8340 makes 0 of ", "106020 makes 1 of ", "208340 makes 2 of ", "308340 makes 3 of ",
        "408340 makes 4 of ", "615300 makes 5 of ",
      ])
    #expect(played.simulation.books.tallies.waitedOffline == 4)
    #expect(played.simulation.serverRecord.pendingCount == 6)
  }

  @Test("An outage between two probes goes unnoticed")
  func shortOutage() {
    var scene = Scene(fleet: phones(startingAt: [0]))
    scene.inputs.server.internet = .states("down", in: [61_000...119_000], otherwise: "up")
    #expect(scene.play().story(of: -1) == ["0 published v0 0"])
  }

  @Test("A change in the very moment of a probe is found by that probe")
  func changeAtTheProbe() {
    var scene = Scene(fleet: phones(startingAt: [0]))
    scene.inputs.server.internet = .states("down", in: [120_000...180_000], otherwise: "up")
    #expect(
      scene.play().story(of: -1) == ["0 published v0 0", "120000 offline", "180000 online"])
  }

  @Test("A server that believes itself offline has no model for a new device")
  func noModelWhileOffline() {
    var scene = Scene(fleet: phones(startingAt: [118_000, 130_000]))
    scene.inputs.server.internet = .states("down", in: [100_000...9_000_000], otherwise: "up")
    let played = scene.play()
    // Asks at 121.030, after the probe at 120: a message of 1,000 bytes, read at 122.040.
    #expect(
      played.story(of: 0)
        == ["118000 begins window", "120020 accepted r1", "122040 ends nothingNew"])
    // Its check itself, answered at 131.010, says offline.
    #expect(
      played.story(of: 1)
        == ["130000 begins window", "132020 accepted r1", "132020 ends nothingNew"])
  }

  @Test("E18: The third update and the timer in the same microsecond make one aggregation")
  func thirdUpdateAndTimer() {
    // 1790.350 + 9.650 = 1800.
    var scene = Scene(fleet: phones(startingAt: [0, 20_000, 1_790_350]))
    scene.inputs.stop.after = .seconds(3000)
    let played = scene.play()
    #expect(played.story(of: -1) == ["0 published v0 0", "1800000 published v1 3"])
    #expect(
      played.story(of: 2, only: "receipt") == ["1801010 receipt 2 aggregated v1 n0"])
    let here = played.tape.events.filter { $0.time == ms(1_800_000) }.map(\.event)
    // The timer first, the arrival after it.
    #expect(here.first == .serverTimer(.trigger(1, round: 0)))
    #expect(here.contains { if case .arrival(2, _, .submit) = $0 { true } else { false } })
  }

  @Test("The timer finds three while the flag is down and leaves them to the probe of that moment")
  func timerAndProbe() {
    // The internet returns at 1795 s; the probe at 1800 s finds it, as does the half-hour timer.
    var scene = Scene(fleet: phones(startingAt: [108_000, 112_000, 114_000]))
    scene.inputs.server.internet = .states("down", in: [100_000...1_795_000], otherwise: "up")
    let played = scene.play()
    #expect(
      played.story(of: -1, only: "published") == ["0 published v0 0", "1800000 published v1 3"])
  }

  @Test(
    "E19: A second update of one device on one version replaces, is appended, or is ignored",
    arguments: [
      (Duplicates.replace, "pending v0 n1", "v1 2"), (.append, "pending v0 n2", "v1 3"),
      (.ignore, "rejected v0 n1", "v1 2"),
    ])
  func sameDeviceTwice(duplicates: Duplicates, receipt: String, version: String) {
    // Device 0 trains on v0 in two windows: the second time without a download, from 102.020.
    // Its second update arrives at 102.020 + 4 + 1.310 = 107.330. Device 1 brings one more.
    let second: [[Int64]] = [[0, 50_000, 55_000], [100_000, 150_000, 155_000]]
    var scene = Scene(
      fleet: [
        .group("p0", windows: second), .group("p1", windows: [[200_000, 250_000, 255_000]]),
      ])
    scene.inputs.server.duplicates = duplicates
    scene.threshold(duplicates == .append ? 3 : 2)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "receipt") == [
        "10660 receipt 0 pending v0 n1", "108340 receipt 1 \(receipt)",
      ])
    #expect(played.story(of: -1) == ["0 published v0 0", "209650 published \(version)"])
    #expect(played.version(1).devices == 2)
    let updates = played.simulation.books.ledgers.updates
    #expect(updates[.replaced] == (duplicates == .replace ? 1 : 0))
    #expect(updates[.rejectedDuplicate] == (duplicates == .ignore ? 1 : 0))
    #expect(updates[.aggregated] == (duplicates == .append ? 3 : 2))
  }

  @Test("Updates of one device on two versions are no duplicates", arguments: Duplicates.allCases)
  func twoVersions(duplicates: Duplicates) {
    // Device 0 makes its first update offline, at 8.340; three others make version 1. At 100 s it
    // sends the old one (at the server 101.310, read 102.320), checks (104.340), loads version 1
    // (106.660), trains (110.660) and sends the new one (111.970, 112.980).
    let waits = FleetGroupSettings.group(
      "a", windows: [[0, 30_000, 35_000], [100_000, 150_000, 155_000]]
    ) { $0.link = .states("offline", in: [8_000...50_000], otherwise: "wifi") }
    var scene = Scene(fleet: [waits, .group("b", count: 3, windows: [[0, 50_000, 55_000]])])
    scene.inputs.server.duplicates = duplicates
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "receipt") == [
        "102320 receipt 0 pending v1 n1", "112980 receipt 4 pending v1 n2",
      ])
  }
}
