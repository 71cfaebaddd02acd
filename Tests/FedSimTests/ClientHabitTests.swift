import FedSim
import Learning
import Schema
import Testing

@Suite("Habits of clients: polls, tokens that nobody refreshes, caches that nobody empties")
struct ClientHabitTests {
  // MARK: Polls

  private func polling(_ change: (inout Scene) -> Void = { _ in }) -> Played {
    var scene = Scene(
      fleet: [
        .group {
          $0.usage = .states("active", in: [1_000...700_000], otherwise: "locked")
          $0.participation.pollOnActivation = 1
          $0.participation.pollEvery = .seconds(300)
        }
      ])
    scene.inputs.stop.after = .seconds(1000)
    change(&scene)
    return scene.play()
  }

  @Test("An app that stays open looks for news every five minutes until the phone is locked")
  func polls() {
    // Check and model: 5.340. Again at 305.340 (2.020 a check) and 607.360.
    let played = polling()
    #expect(
      played.story(of: 0, only: "begins", "downloaded", "rests", "ends") == [
        "1000 begins activation", "5340 downloaded v0", "5340 rests completed",
        "307360 rests completed", "609380 rests completed", "700000 ends locked",
      ])
    #expect(played.simulation.books.ledgers.transmissions[.delivered] == 4)
  }

  @Test("A look that fails is forgotten: the next one comes five minutes later as well")
  func silent() {
    // The first check is sent at 2.000 and waits 60 s for an answer; the next begins at 362 s.
    let played = polling {
      $0.inputs.server.reachable = .states("down", in: [0...100_000], otherwise: "up")
    }
    #expect(
      played.story(of: 0, only: "check", "rests", "downloaded") == [
        "62000 check fails timedOut", "62000 rests unreachable", "366340 downloaded v0",
        "366340 rests completed", "668360 rests completed",
      ])
  }

  @Test("Without the setting an open app looks once")
  func once() {
    let played = polling { $0.inputs.fleet[0].participation.pollEvery = nil }
    #expect(
      played.story(of: 0, only: "ends") == ["5340 ends completed"])
  }

  // MARK: Tokens

  @Test("A token that nobody refreshes is refused from its expiry until the app is opened")
  func withoutRefresh() {
    // Issued at 1.010 for 100 s. The window at 200 s sends it nevertheless: 401. A person opens the
    // app at 300 s: another one, issued 301.010. The window at 360 s is good.
    let played = tokenScene([[0, 45_000, 50_000], window(200_000), window(360_000)]) {
      $0.participation.retrain = .newVersions
      $0.participation.pollOnActivation = 1
      $0.usage = .states("active", in: [300_000...310_000], otherwise: "locked")
      $0.authentication!.refreshes = false
      $0.authentication!.onUnauthorised = .fail
    }.play()
    #expect(
      played.story(of: 0, only: "begins", "identity", "accepted", "ends") == [
        "0 begins window", "2020 identity bootstrapped", "4040 accepted r1",
        "12680 ends completed", "200000 begins window", "202020 identity refused 401",
        "202020 identity withheld unauthorised", "202020 ends unauthorised",
        "300000 begins activation", "302020 identity bootstrapped", "304040 ends completed",
        "360000 begins window", "362020 accepted r1", "362020 ends nothingNew",
      ])
    #expect(played.simulation.deviceRecords.identityCounts?.refreshes == 0)
  }

  @Test("A heartbeat with such a token is refused for good, and costs no more events")
  func heartbeatsWithoutRefresh() throws {
    // In hand from 100 s on, the clock two hours behind: it never sees the expiry. Token issued at
    // 101.010 for 3600 s: good are those of 400 … 3400 s, refused those of 3700 … 9700 s.
    var scene = openScene()
    scene.inputs.fleet[0].authentication!.refreshes = false
    let beats = try #require(scene.play().simulation.deviceRecords.identityCounts).heartbeats
    #expect((beats.due, beats.accepted, beats.unauthorised) == (32, 11, 21))
  }

  @Test("A device that gets tokens only in use stays without them until its app is opened")
  func bootstrapsInUse() {
    let played = tokenScene([[0, 45_000, 50_000], window(140_000)]) {
      $0.participation.retrain = .newVersions
      $0.participation.pollOnActivation = 1
      $0.usage = .states("active", in: [100_000...110_000], otherwise: "locked")
      $0.authentication!.bootstrapsInUse = true
    }.play()
    #expect(
      played.story(of: 0, only: "begins", "identity", "ends").prefix(6) == [
        "0 begins window", "0 identity withheld unauthorised", "0 ends unauthorised",
        "100000 begins activation", "102020 identity bootstrapped", "106360 ends completed",
      ])
    #expect(played.story(of: 0, only: "accepted") == ["142020 accepted r1"])
  }

  @Test("A stranded device, whose refresh token is not the latest, waits for its user")
  func stranded() {
    // Opened at 1 s: tokens until 102.010. As in E14 the answer to the refresh of 91.010 is lost,
    // the next one, at 201.010, is refused: nothing until the app is opened again at 300 s.
    var scene = tokenScene([[20_000, 45_000, 50_000], window(90_000), window(200_000)]) {
      $0.participation.retrain = .newVersions
      $0.participation.pollOnActivation = 1
      $0.usage = .states(
        "active", in: [1_000...10_000, 300_000...310_000], otherwise: "locked")
      $0.authentication!.bootstrapsInUse = true
    }
    scene.inject(.dropLink, "phones/0", at: 91_015, lasting: .seconds(60))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "identity") == [
        "3020 identity bootstrapped", "91015 identity failed refresh unacknowledged",
        "202020 identity revoked", "202020 identity withheld unauthorised",
        "302020 identity bootstrapped",
      ])
  }

  // MARK: Outbox

  /// An upload that the link cuts off at 9.000, with the link back at 20 s and a second window at
  /// 200 s.
  private func lost(_ change: (inout FleetGroupSettings) -> Void) -> Played {
    Scene(
      fleet: [
        .group(windows: [[0, 100_000, 105_000], [200_000, 300_000, 305_000]]) {
          $0.participation.retrain = .newVersions
          $0.link = .states("offline", in: [9_000...20_000], otherwise: "wifi")
          change(&$0)
        }
      ]
    ).play()
  }

  @Test("A session that has lost an upload sends no more; the next one does")
  func retriesLost() {
    let played = lost { $0.outbox.retriesLost = false }
    #expect(
      played.story(of: 0, only: "uploads", "fails", "ends") == [
        "8340 uploads 0", "9000 fails 0 linkLost", "9000 ends unreachable", "200000 uploads 0",
        "204340 ends nothingNew",
      ])
  }

  @Test("An update that is made without a link is not sent in that session either")
  func madeOffline() {
    let played = lost {
      $0.outbox.retriesLost = false
      $0.link = .states("offline", in: [8_000...20_000], otherwise: "wifi")
    }
    #expect(
      played.story(of: 0, only: "makes", "uploads", "ends") == [
        "8340 makes 0 of v0 4b 4s", "8340 ends unreachable", "200000 uploads 0",
        "204340 ends nothingNew",
      ])
  }

  @Test("A cache that nobody empties keeps what one session could not send for good")
  func flushes() {
    let played = lost { $0.outbox.flushes = false }
    // The link is back within the session: it is sent then.
    #expect(played.story(of: 0, only: "uploads") == ["8340 uploads 0", "20000 uploads 0"])
    let kept = lost {
      $0.outbox.flushes = false
      $0.outbox.retriesLost = false
    }
    #expect(kept.story(of: 0, only: "uploads") == ["8340 uploads 0"])
    #expect(
      kept.story(of: 0, only: "ends") == ["9000 ends unreachable", "202020 ends nothingNew"])
    #expect(kept.simulation.books.ledgers.updates[.unfinishedAtEnd] == 1)
  }

  @Test("There is one entry a version: the next update of it takes the place of the one kept")
  func oneEntry() {
    // Trained again in the second window (202.020 to 206.020) and sent; the first is replaced.
    let played = lost {
      $0.outbox.flushes = false
      $0.outbox.retriesLost = false
      $0.outbox.supersedes = true
      $0.participation.retrain = .always
    }
    #expect(
      played.story(of: 0, only: "uploads", "arrives") == [
        "8340 uploads 0", "206020 uploads 1", "207330 arrives 1",
      ])
    #expect(played.simulation.books.ledgers.updates[.replaced] == 1)
  }

  // MARK: Downloads

  @Test("A download that takes too long fails", arguments: [(2_000, false), (3_000, true)])
  func downloadTimeout(limit: Int64, isThere: Bool) {
    // Asked for at 2.020, there at 4.340.
    let played = Scene(
      fleet: [
        .group(windows: [[0, 100_000, 105_000]]) {
          $0.participation.retrain = .newVersions
          $0.network.downloadTimeout = .milliseconds(limit)
        }
      ]
    ).play()
    #expect(
      played.story(of: 0, only: "download", "ends").first
        == (isThere ? "4340 downloaded v0" : "4020 download fails timedOut"))
    #expect(played.simulation.books.ledgers.transmissions[.timedOut] == (isThere ? 0 : 1))
  }

  // MARK: What devices say of themselves

  @Test("A registration is as long as what it says")
  func registration() throws {
    // The JSON of `DeviceInfo.toRegistrationDict` with `org_id` and `sdk_version`, for a phone of
    // 3814 and 9536 MiB with iOS 26.0 and a full battery, has 510 characters by Python's `json`
    // (separators `,` and `:`); over a cellular network 4 more. A message is 1,000 bytes.
    func bytes(_ state: String, _ change: (inout FleetGroupSettings) -> Void = { _ in }) -> Int64 {
      let played = Scene(
        fleet: [
          .group(windows: [[0, 20_000, 25_000]]) {
            $0.registration = RegistrationSettings()
            $0.registration!.content = .edgeml
            $0.participation.retrain = .newVersions
            $0.link = .always(state)
            change(&$0)
          }
        ]
      ).play()
      // Without the check, the fetch and the update.
      return played.simulation.books.ledgers.bytesUp - 3300
    }
    #expect(bytes("wifi") == 1510)
    #expect(bytes("cellular") == 1514)
    // Who always says Wi-Fi says so here too. (Its heartbeat, at once, is one message more.)
    let constant = bytes("cellular") {
      $0.heartbeats = HeartbeatSettings()
      $0.heartbeats!.reportedLink = .wifi
    }
    #expect(constant == 2510)
  }

  @Test(
    "The server believes in the link that heartbeats tell of: the true one, or Wi-Fi always",
    arguments: HeartbeatSettings.ReportedLink.allCases)
  func linkBelief(reported: HeartbeatSettings.ReportedLink) throws {
    // In hand from 100 s on; Wi-Fi until 1050 s, cellular from then on. Heartbeats at 400, 700 and
    // 1000 s (at the server 1.010 later) and at 1300 s (2.000 to send, 0.020 on its way) and on.
    var scene = Scene(
      fleet: [
        .group {
          $0.usage = .states("active", in: [100_000...20_000_000], otherwise: "locked")
          $0.participation.pollOnActivation = 1
          $0.link = .states("cellular", in: [1_050_000...20_000_000], otherwise: "wifi")
          $0.heartbeats = HeartbeatSettings()
          $0.heartbeats!.reportedLink = reported
        }
      ])
    scene.inputs.stop.after = .seconds(2000)
    let belief = try #require(scene.play().simulation.deviceRecords.linkBelief)
    let cellular: [Int64] = [252_020_000, 697_980_000]
    #expect(
      belief == [
        [0, 0, 401_010_000],
        [0, reported == .actual ? cellular[1] : 0, 0],
        [0, reported == .actual ? cellular[0] : 950_000_000, 648_990_000],
      ])
  }

  @Test("Without a word about the link nobody looks at what the server believes of it")
  func noBelief() {
    #expect(openScene().play().simulation.deviceRecords.linkBelief == nil)
  }

  // MARK: All of it at once

  @Test("In forty mixed worlds with such habits every audit finds nothing")
  func audits() {
    var held = 0
    for seed in UInt64(500)..<540 {
      var world = RandomWorld(seed: seed)
      var scene = world.scene()
      var time = AggregationTimeSettings()
      (time.base, time.blocks) = (.seconds(Int64(seed % 7) * 20), seed % 2 == 0)
      scene.inputs.server.aggregationTime = time
      scene.inputs.server.whileOffline = WhileOffline.allCases[Int(seed % 3)]
      if seed % 5 == 0 {
        scene.inputs.server.service = ServiceSettings()
        scene.inputs.server.service!.time = .seconds(5)
      }
      for place in scene.inputs.fleet.indices {
        let number = Int(seed) + place
        scene.inputs.fleet[place].participation.pollEvery = number % 2 == 0 ? .seconds(60) : nil
        scene.inputs.fleet[place].participation.pollOnActivation = 0.7
        scene.inputs.fleet[place].outbox.flushes = number % 3 == 0 ? false : nil
        scene.inputs.fleet[place].outbox.retriesLost = number % 4 < 2 ? false : nil
        scene.inputs.fleet[place].network.downloadTimeout = number % 2 == 0 ? .seconds(3) : nil
        if scene.inputs.fleet[place].heartbeats != nil {
          scene.inputs.fleet[place].heartbeats!.reportedLink = number % 2 == 0 ? .wifi : .actual
        }
        if scene.inputs.fleet[place].authentication != nil {
          scene.inputs.fleet[place].authentication!.refreshes = number % 2 == 0 ? false : nil
          scene.inputs.fleet[place].authentication!.bootstrapsInUse = number % 3 == 0 ? true : nil
        }
        if scene.inputs.fleet[place].registration != nil {
          scene.inputs.fleet[place].registration!.content = .edgeml
        }
      }
      let tape = Tape()
      var simulation = Simulation(scene.inputs)
      simulation.run(observers: [tape])
      #expect(tape.faults == [], "seed \(seed)")
      held += simulation.serverRecord.aggregationTallies!.held
    }
    // The worlds are not dull.
    #expect(held > 100, "\(held)")
  }
}
