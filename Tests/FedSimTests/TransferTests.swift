import FedSim
import Learning
import Schema
import Testing

private let window: [[Int64]] = [[0, 100_000, 105_000]]

private func scene(_ change: (inout FleetGroupSettings) -> Void = { _ in }) -> Scene {
  Scene(
    fleet: [
      .group(windows: window) {
        $0.participation.retrain = .newVersions
        change(&$0)
      }
    ])
}

/// A link that is as said in these intervals, and Wi-Fi otherwise.
private func link(_ state: String, _ intervals: ClosedRange<Int64>...) -> Choice<
  any TimelineSource
> {
  .states(state, in: intervals, otherwise: "wifi")
}

@Suite("Transfers")
struct TransferTests {
  @Test("An upload that survives a handover continues over a cellular network")
  func wifiToCellular() {
    // From 8.340 to 8.840 500 bytes are sent; 800 more take 1.6 s at 500 bytes a second: 10.440.
    // 20 ms to the server, 20 back, and 1,000 bytes in 2 s.
    let played = scene {
      $0.link = link("cellular", 8_840...500_000)
      $0.network.handover = .survives
    }.play()
    #expect(
      played.story(of: 0, only: "uploads", "arrives", "receipt")
        == ["8340 uploads 0", "10460 arrives 0", "12480 receipt 0 pending v0 n1"])
    #expect(played.simulation.books.ledgers.bytesUp == 3300)
    #expect(played.simulation.books.ledgers.bytesDown == 3300)
  }

  @Test("A byte under way begins again on another link")
  func halfByte() {
    // From 8.340 to 8.8405 half a byte more than 500 is sent; 800 whole ones take 1.6 s: 10.4405.
    // With the half byte kept it would be 799.5, and a millisecond less.
    var stretch = FixedSource.Stretch()
    (stretch.from, stretch.to) = (SimTime(microseconds: 8_840_500), ms(500_000))
    stretch.state = StateName("cellular")
    var settings = FixedSource.Settings()
    (settings.intervals, settings.otherwise) = ([stretch], StateName("wifi"))
    let played = scene {
      $0.link = Choice(FixedSource.self, settings) { $0 }
      $0.network.handover = .survives
    }.play()
    #expect(played.story(of: 0, only: "arrives") == ["10460.500 arrives 0"])
  }

  @Test("A download that survives a handover continues over Wi-Fi")
  func cellularToWifi() {
    // Over cellular: check sent 2.000, at the server 2.020, answered 2.040, read 4.040. Download
    // asked for 6.040, answer begins 6.080. Until 7.080 500 bytes of 1,300 come; Wi-Fi: 0.8 s.
    let played = scene {
      $0.link = link("cellular", 0...7_080)
      $0.network.handover = .survives
    }.play()
    #expect(
      played.story(of: 0, only: "accepted", "downloaded")
        == ["4040 accepted r1", "7880 downloaded v0"])
  }

  @Test("A link that changes in the microsecond of the last byte re-plans nothing")
  func changeAtTheEnd() {
    // The check is sent at 1.000, just as the network changes: it travels 20 ms.
    let played = scene {
      $0.link = link("cellular", 1_000...1_010)
      $0.network.handover = .survives
    }.play()
    #expect(played.story(of: 0, only: "accepted") == ["2030 accepted r1"])
  }

  @Test("A link lost in the microsecond of the last byte loses the request")
  func lossAtTheEnd() {
    let played = scene { $0.link = link("offline", 1_000...2_000) }.play()
    #expect(played.story(of: 0, only: "accepted") == ["4020 accepted r1"])
    #expect(played.simulation.books.ledgers.transmissions[.linkLost] == 1)
    // The request's 1,000 bytes all left the device: the check was sent twice in full.
    #expect(played.simulation.books.ledgers.bytesUp == 1000 + 1000 + 1000 + 1300)
  }

  @Test(
    "E10: A link lost before all bytes are sent: the server sees nothing, the update is sent again")
  func lostWhileSending() {
    // 660 bytes were sent at 9.000. From 20 s: sent 21.300, at the server 21.310, read 22.320.
    let played = scene { $0.link = link("offline", 9_000...20_000) }.play()
    #expect(
      played.story(of: 0, only: "uploads", "fails", "arrives", "receipt", "ends") == [
        "8340 uploads 0", "9000 fails 0 linkLost", "20000 uploads 0", "21310 arrives 0",
        "22320 receipt 0 pending v0 n1", "22320 ends completed",
      ])
    #expect(played.simulation.books.ledgers.bytesUp == 2000 + 660 + 1300)
    #expect(played.simulation.books.tallies.repeatedDeliveries == 0)
    #expect(played.simulation.books.tallies.waitedOffline == 1)
  }

  @Test(
    "A link lost between arrival and answer: the server keeps the update; a retry counts once",
    arguments: [(Duplicates.replace, 1), (.ignore, 1), (.append, 2)])
  func unacknowledged(duplicates: Duplicates, copies: Int) {
    // At the server at 9.650; the link is gone at 9.655, before the answer comes at 9.660.
    // Again from 20 s: at the server at 21.310.
    var scene = scene { $0.link = link("offline", 9_655...20_000) }
    scene.inputs.fleet.append(.group("other", windows: [[50_000, 100_000, 105_000]]))
    scene.inputs.server.duplicates = duplicates
    scene.threshold(copies + 1)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "uploads", "fails", "arrives", "receipt") == [
        "8340 uploads 0", "9650 arrives 0", "9655 fails 0 unacknowledged", "20000 uploads 0",
        "21310 arrives 0", "22320 receipt 0 pending v0 n\(copies)",
      ])
    #expect(played.simulation.books.tallies.repeatedDeliveries == 1)
    #expect(played.story(of: -1) == ["0 published v0 0", "59650 published v1 \(copies + 1)"])
    #expect(played.version(1).devices == 2)
    // An update is one entry of its ledger, however often it counts.
    #expect(played.simulation.books.ledgers.updates.opened == 2)
    #expect(played.simulation.books.ledgers.updates[.aggregated] == 2)
    #expect(played.simulation.books.ledgers.transmissions[.unacknowledged] == 1)
  }

  @Test("An update aggregated before its receipt was lost hears so when it comes again")
  func aggregatedMeanwhile() {
    var scene = scene { $0.link = link("offline", 9_655...20_000) }
    scene.threshold(1)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "receipt") == ["22320 receipt 0 aggregated v1 n0"])
    #expect(played.simulation.books.tallies.aggregatedTwice == 0)
  }

  @Test("Under append an update that comes again after its aggregation is aggregated twice")
  func aggregatedTwice() {
    var scene = scene { $0.link = link("offline", 9_655...20_000) }
    scene.inputs.server.duplicates = .append
    scene.threshold(1)
    let played = scene.play()
    #expect(
      played.story(of: -1)
        == ["0 published v0 0", "9650 published v1 1", "21310 published v2 1"])
    #expect(played.simulation.books.tallies.aggregatedTwice == 1)
    #expect(played.simulation.books.ledgers.updates[.aggregated] == 1)
  }

  @Test("An update dropped while it is on its way is taken in by the server that it reaches")
  func droppedOnItsWay() {
    // The app keeps nothing. The link is lost at 9.645, after all was sent and before it arrives.
    var scene = scene {
      $0.link = link("offline", 9_645...200_000)
      $0.outbox.capacity = 0
    }
    scene.threshold(1)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "fails", "arrives")
        == ["9645 fails 0 unacknowledged", "9650 arrives 0"])
    #expect(played.simulation.books.ledgers.updates[.aggregated] == 1)
    #expect(played.simulation.books.ledgers.updates[.dropped] == 0)
  }

  @Test("… and ends as dropped where the server is down")
  func droppedBeforeAClosedDoor() {
    var scene = scene {
      $0.link = link("offline", 9_645...200_000)
      $0.outbox.capacity = 0
    }
    scene.inputs.server.reachable = .states("down", in: [9_000...300_000], otherwise: "up")
    let played = scene.play()
    #expect(played.story(of: 0, only: "arrives") == [])
    #expect(played.simulation.books.ledgers.updates[.dropped] == 1)
  }

  @Test("An answer on its way stops when the server goes down")
  func serverGoneWhileReceiving() {
    // The receipt is read from 9.660 to 10.660; the server is gone at 10 s.
    var scene = scene()
    scene.inputs.server.reachable = .states("down", in: [10_000...20_000], otherwise: "up")
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "fails", "ends")
        == ["10000 fails 0 linkLost", "10000 ends unreachable"])
  }

  @Test("Tries within a session wait longer each time")
  func retries() {
    // Down from 9 s on. Sent 9.640, timed out 69.640 with a timeout of 60 s; here 2 s: 11.640.
    // Then 5 s: 16.640, sent 17.940, timed out 19.940. Then 10 s: 29.940, 31.240, 33.240: the end.
    var scene = scene {
      $0.network.requestTimeout = .seconds(2)
      $0.outbox.attempts = 3
    }
    scene.inputs.server.reachable = .states("down", in: [9_000...900_000], otherwise: "up")
    #expect(
      scene.play().story(of: 0, only: "uploads", "fails", "ends") == [
        "8340 uploads 0", "11640 fails 0 timedOut", "16640 uploads 0", "19940 fails 0 timedOut",
        "29940 uploads 0", "33240 fails 0 timedOut", "33240 ends unreachable",
      ])
  }

  @Test("Each wait between tries is off by up to the jitter, by a draw of the device's own")
  func jitter() {
    // As above, but the waits of 5 and 10 s are 4 to 6 s and 8 to 12 s; a failed try takes 3.3 s.
    func uploads(_ count: Int) -> [Double] {
      var scene = Scene(
        fleet: [
          .group(count: count, windows: [[0, 90_000, 95_000]]) {
            $0.network.requestTimeout = .seconds(2)
            $0.outbox.attempts = 3
            $0.outbox.jitter = 0.2
          }
        ])
      scene.inputs.server.reachable = .states("down", in: [9_000...900_000], otherwise: "up")
      return scene.play().story(of: 0, only: "uploads").map { Double($0.split(separator: " ")[0])! }
    }
    let times = uploads(1)
    #expect(times.count == 3)
    guard times.count == 3 else { return }
    let waits = [times[1] - 11_640, times[2] - times[1] - 3_300]
    #expect((4_000...6_000).contains(waits[0]) && waits[0] != 5_000)
    #expect((8_000...12_000).contains(waits[1]) && waits[1] != 2 * waits[0])
    #expect(uploads(2) == times)
  }

  @Test("A message that would take longer than any run is never through")
  func endless() {
    // 10^18 bytes at 1,000 bytes a second: 10^21 us, which is no time any more.
    var scene = scene { _ in }
    scene.inputs.server.messageBytes = 1_000_000_000_000_000_000
    let played = scene.play()
    #expect(played.story(of: 0, only: "trains") == [])
    #expect(played.simulation.books.ledgers.attempts.opened == 0)
    #expect(played.simulation.books.ledgers.transmissions.opened > 0)
  }

  @Test("A request is due by its own time, though the timer was set for an earlier one")
  func watchedOn() {
    // Down from 9 s on. The check and the download were answered; the timer set for the check
    // rings about a minute after it, finds the upload, sent 9.640, and is set for 69.640.
    var scene = scene { $0.outbox.attempts = 1 }
    scene.inputs.server.reachable = .states("down", in: [9_000...900_000], otherwise: "up")
    #expect(
      scene.play().story(of: 0, only: "uploads", "fails")
        == ["8340 uploads 0", "69640 fails 0 timedOut"])
  }

  @Test("An outbox of one place gives it to the newer update; an old one is dropped in time")
  func outbox() {
    // Offline from 8 s: the update of the first window waits. In the second window, begun offline,
    // nothing happens until the link returns.
    func played(_ change: (inout OutboxSettings) -> Void) -> Played {
      let group = FleetGroupSettings.group(
        windows: [[0, 30_000, 35_000], [100_000, 150_000, 155_000]]
      ) {
        $0.link = link("offline", 8_000...50_000)
        change(&$0.outbox)
      }
      return Scene(fleet: [group]).play()
    }
    // Made at 8.340 and wanted at 100 s, it is 91.660 s old: a limit of so much keeps it.
    let age = SimDuration.milliseconds(91_660)
    #expect(played { $0.timeToLive = age }.simulation.books.ledgers.updates[.outdated] == 0)
    let shorter = age - SimDuration(microseconds: 1)
    #expect(played { $0.timeToLive = shorter }.simulation.books.ledgers.updates[.outdated] == 1)
    #expect(played { $0.capacity = 0 }.simulation.books.ledgers.updates[.dropped] == 1)
  }

  @Test("Of several updates in a full outbox the oldest gives way")
  func oldestOfTwo() {
    // The server takes none from the probe of 60 s on. Each window makes one; two are kept.
    let starts: [Int64] = [0, 100_000, 200_000, 300_000, 400_000]
    var scene = Scene(fleet: [
      .group(windows: starts.map { [$0, $0 + 60_000, $0 + 65_000] }) {
        ($0.outbox.attempts, $0.outbox.capacity) = (1, 2)
      }
    ])
    scene.inputs.server.internet = .states("down", in: [20_000...900_000], otherwise: "up")
    scene.inputs.server.whileOffline = .refuse
    scene.threshold(10)
    let ended = scene.play().story(of: 0, only: "ended").filter { $0.hasSuffix("evicted") }
    #expect(ended.map { $0.drop { $0 != " " } } == [" ended 1 evicted", " ended 2 evicted"])
  }

  @Test("E40: A full outbox evicts its oldest update")
  func evicted() {
    // Always online, but the server takes nothing in: it is down from 9 s to 150 s, except that a
    // second training needs a check, answered between 60 s and 66 s.
    var scene = Scene(
      fleet: [
        .group(windows: [[0, 40_000, 45_000], [60_000, 90_000, 95_000]]) {
          $0.network.requestTimeout = .seconds(2)
          $0.outbox.capacity = 1
        }
      ])
    scene.inputs.server.reachable = .states(
      "down", in: [9_000...62_000, 67_000...400_000], otherwise: "up")
    let played = scene.play()
    // 60 s: update 0 is sent 61.300, times out 63.300; check sent 64.300, read 65.320; trains.
    #expect(
      played.story(of: 0, only: "makes", "trains")
        == [
          "4340 trains v0 0/4", "8340 makes 0 of v0 4b 4s", "65320 trains v0 0/4",
          "69320 makes 1 of v0 4b 4s",
        ])
    #expect(played.simulation.books.ledgers.updates[.evicted] == 1)
  }

  @Test("A kill takes the outbox with it where it does not persist", arguments: [true, false])
  func killed(persists: Bool) {
    var scene = scene {
      $0.link = link("offline", 8_000...50_000)
      $0.outbox.persists = persists
    }
    scene.inject(.kill, "phones/0", at: 20_000)
    let played = scene.play()
    #expect(played.simulation.books.ledgers.updates[.lostAtKill] == (persists ? 0 : 1))
    #expect(played.simulation.books.ledgers.updates[.unfinishedAtEnd] == (persists ? 1 : 0))
  }
}
