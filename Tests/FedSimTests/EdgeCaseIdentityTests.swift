import FedSim
import Learning
import Schema
import Testing

/// One phone that needs tokens which live for 100 s, and trains again on what it has.
///
/// A request for tokens takes 2.020 s, as a check does (see `Scene`): 1.000 to send, 0.010 to the
/// server, 0.010 back, 1.000 to receive. So a session that begins at s without tokens and model:
///
///     s + 1.010  the tokens are issued: they expire at s + 101.010
///     s + 2.020  they are there          s + 10.360  batch 4 ends, the upload begins
///     s + 4.040  accepted                s + 11.670  the update is at the server
///     s + 6.360  the model is there      s + 12.680  the receipt is there
func tokenScene(
  _ windows: [[Int64]], _ change: (inout FleetGroupSettings) -> Void = { _ in },
  server: (inout TokenSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    fleet: [
      .group(windows: windows) {
        $0.authentication = AuthenticationSettings()
        change(&$0)
      }
    ])
  var tokens = TokenSettings()
  tokens.tokenLife = .seconds(100)
  server(&tokens)
  scene.inputs.server.authentication = tokens
  return scene
}

/// A window of 50 s, the last 5 s of them grace.
func window(_ start: Int64) -> [Int64] { [start, start + 45_000, start + 50_000] }

@Suite("Edge cases of identity")
struct EdgeCaseIdentityTests {
  @Test("A token is not good at the very moment at which it expires, and is just before it")
  func lastMoment() {
    // Issued at 1.010 for 100 s. A check takes 1.010 s to the server, and 1.010 back.
    func story(_ start: Int64) -> [String] {
      tokenScene([[0, 45_000, 50_000], window(start)]) {
        $0.participation.retrain = .newVersions
        $0.authentication!.leeway = .zero
        $0.authentication!.onUnauthorised = .fail
      }.play().story(of: 0, only: "identity", "accepted").filter { !$0.hasPrefix("4040 ") }
    }
    #expect(
      story(100_000) == [
        "2020 identity bootstrapped", "102020 identity refused 401",
        "102020 identity withheld unauthorised",
      ])
    #expect(story(99_999) == ["2020 identity bootstrapped", "102019 accepted r1"])
  }

  @Test("E12: A token that expires in 20 s is refreshed before it is used, one in 40 s is not")
  func e12() {
    // Expiry at 101.010. The window at 61.010 has 40 s left, that at 81.010 has 20.
    let played = tokenScene([[0, 45_000, 50_000], [61_010, 65_000, 70_000], window(81_010)]) {
      $0.participation.retrain = .newVersions
    }.play()
    #expect(
      played.story(of: 0, only: "begins", "identity", "accepted", "ends") == [
        "0 begins window", "2020 identity bootstrapped", "4040 accepted r1",
        "12680 ends completed", "61010 begins window", "63030 accepted r1",
        "63030 ends nothingNew", "81010 begins window", "83030 identity refreshed",
        "85050 accepted r1", "85050 ends nothingNew",
      ])
    // Bootstrap, check, download, upload; check; refresh, check: all of them on the link.
    let ledgers = played.simulation.books.ledgers
    #expect(ledgers.transmissions[.delivered] == 7)
    #expect(ledgers.bytesUp == 7 * 1000 + 300)
    #expect(ledgers.bytesDown == 7 * 1000 + 300)
  }

  @Test("E13: A refresh fails: the old token serves until it expires, then the update waits")
  func e13() {
    // No tokens are issued from 50 to 400 s. At 91.010 there are 10 s left: 503 at 93.030, the
    // check goes with the old token. Batch 4 ends at 99.050; the refresh before the upload fails
    // at 101.070, and the token has expired at 101.010.
    let played = tokenScene(
      [window(0), window(91_010), window(500_000)],
      server: {
        $0.service = .states("down", in: [50_000...400_000], otherwise: "up")
      }
    ).play()
    #expect(
      played.story(of: 0, only: "identity", "accepted", "uploads", "arrives", "ends") == [
        "2020 identity bootstrapped", "4040 accepted r1", "10360 uploads 0", "11670 arrives 0",
        "12680 ends completed",
        "93030 identity failed refresh unavailable", "95050 accepted r1",
        "101070 identity failed refresh unavailable", "101070 identity withheld unauthorised",
        "101070 ends unauthorised",
        // The update that waited goes first, then the check, training and the next one: the token
        // of 501.010 has more than 30 s left.
        "502020 identity refreshed", "502020 uploads 1", "503330 arrives 1", "506360 accepted r1",
        "510360 uploads 2", "511670 arrives 2", "512680 ends completed",
      ])
    #expect(played.simulation.books.ledgers.transmissions[.unavailable] == 2)
    #expect(played.simulation.deviceRecords.identityCounts?.failedRefreshes == 2)
  }

  /// Update 0 waits since the link was lost at 10.3 s. The refresh of 91.010 is at the server at
  /// 92.020, where it rotates the refresh token; the link drops at 92.025, before the answer.
  private func lostRefresh(_ server: (inout TokenSettings) -> Void = { _ in }) -> [String] {
    var scene = tokenScene(
      [[0, 20_000, 25_000], window(91_010), window(150_000), window(200_000)], server: server)
    scene.inject(.dropLink, "phones/0", at: 10_300, lasting: .seconds(40))
    scene.inject(.dropLink, "phones/0", at: 92_025, lasting: .seconds(10))
    return scene.play().story(of: 0, only: "identity", "arrives", "begins", "ends")
  }

  @Test("E14: A refresh's answer is lost after the server rotated: revoked, bootstrap, update kept")
  func e14() {
    // Back at 102.025, the old refresh token is refused: known at 104.045. No bootstrap for 60 s.
    let story = lostRefresh()
    #expect(
      story.prefix(13) == [
        "0 begins window", "2020 identity bootstrapped", "20000 ends expired",
        "91010 begins window", "92025 identity failed refresh unacknowledged",
        "104045 identity revoked", "104045 identity withheld unauthorised",
        "104045 ends unauthorised",
        "150000 begins window", "150000 identity withheld unauthorised",
        "150000 ends unauthorised", "200000 begins window", "202020 identity bootstrapped",
      ])
    #expect(story.dropFirst(13).first == "203330 arrives 0")
    // Without rotation, or with a grace, the second refresh is as good as the first.
    for change in [{ $0.rotates = false }, { $0.rotationGrace = .seconds(60) }]
      as [(inout TokenSettings) -> Void]
    {
      #expect(
        lostRefresh(change)[4...6] == [
          "92025 identity failed refresh unacknowledged", "104045 identity refreshed",
          "105355 arrives 0",
        ])
    }
  }

  @Test("E15: A clock two hours ahead: one refresh before each request, and tasks begin in time")
  func e15() {
    let played = tokenScene([window(0)]) {
      $0.clock = ClockSettings()
      $0.clock!.skew = .hours(2)
    }.play()
    // The bootstrap serves for the check; download and upload are refreshed for, 2.020 s each.
    #expect(
      played.story(of: 0, only: "identity", "accepted", "downloaded", "uploads", "receipt") == [
        "2020 identity bootstrapped", "4040 accepted r1", "6060 identity refreshed",
        "8380 downloaded v0", "14400 identity refreshed", "14400 uploads 0",
        "16720 receipt 0 pending v0 n1",
      ])
    let begins = [SimDuration.zero, .hours(2)].map { skew in
      Phone.scene {
        $0.processing.earliestBegin = .seconds(1000)
        $0.processing.resubmit = .never
        $0.group.clock = ClockSettings()
        $0.group.clock!.skew = skew
      }.play().story(of: 0, only: "begins")
    }
    #expect(begins == [["1000000 begins task"], ["1000000 begins task"]])
  }

  @Test("E16: Summer time ends: the hour of use comes again, names repeat, events keep their order")
  func e16() throws {
    // From Sunday, 26 October 2025, 00:00 UTC; Berlin is two hours ahead until 01:00 UTC, then one.
    // Opened at 00:30 UTC, in the local hour 2, the app has its refresh tasks in that hour only;
    // the first may come from 01:00 UTC on: 2 o'clock again, or 3 o'clock without the change.
    func played(_ changes: Bool, limit: SimDuration = .hours(30)) throws -> Played {
      var phone = Phone()
      phone.refresh = Phone.refreshing {
        $0.earliestBegin = .hours(1)
        $0.likelihood = 0
        $0.resubmit = .never
      }
      phone.group.utcOffset = .hours(2)
      phone.group.clock = ClockSettings()
      if changes {
        var zone = ClockSettings.Zone()
        zone.from = try #require(CivilTime("2025-10-26T01:00:00Z"))
        zone.utcOffset = .hours(1)
        phone.group.clock!.zones = [zone]
      }
      phone.stop = limit
      var scene = phone.scene(hasProcessing: false)
      scene.inputs.civilStart = 1_761_436_800
      scene.inject(.open, "phones/0", at: 1_800_000)
      return scene.play()
    }
    let shifted = try played(true)
    #expect(
      shifted.story(of: 0, only: "begins") == [
        "1800000 begins activation", "3600000 begins refresh",
      ])
    #expect(
      try played(false).story(of: 0, only: "begins")
        == ["1800000 begins activation", "86400000 begins refresh"])
    // 02:30 twice; then 03:30.
    let names = [1_800_000, 5_400_000, 9_000_000].map {
      shifted.simulation.deviceRecords.fileName(of: 0, at: ms($0))
    }
    #expect(
      names == [
        "phones-0_20251026023000_data.csv", "phones-0_20251026023000_data.csv",
        "phones-0_20251026033000_data.csv",
      ])
    // Where nothing asks for the hour, the change moves no event.
    let digests = [true, false].map { try? played($0, limit: .seconds(3500)) }
      .map { $0?.simulation.eventDigest.value }
    #expect(digests[0] != nil && digests[0] == digests[1])
  }

  @Test("E35: After a reboot nothing is sent until a person first unlocks the phone")
  func e35() {
    // Update 0 waits since 10.3 s. Tokens live for an hour; rebooted at 60 s, in hand from 300 s.
    var scene = tokenScene([[0, 20_000, 25_000], window(200_000), window(500_000)]) {
      $0.usage = .states("active", in: [300_000...400_000], otherwise: "locked")
    } server: {
      $0.tokenLife = .hours(1)
    }
    scene.inject(.dropLink, "phones/0", at: 10_300, lasting: .seconds(40))
    scene.inject(.reboot, "phones/0", at: 60_000, lasting: .seconds(60))
    #expect(
      scene.play().story(of: 0, only: "begins", "identity", "arrives 0", "ends") == [
        "0 begins window", "2020 identity bootstrapped", "20000 ends expired",
        "60000 identity locked", "200000 begins window",
        "200000 identity withheld keychainLocked", "200000 ends keychainLocked",
        "300000 identity unlocked", "500000 begins window", "501310 arrives 0",
        "510660 ends completed",
      ])
  }

  @Test("E36: A registration kept in memory: after a cold launch heartbeats go nowhere, unnoticed")
  func e36() throws {
    // Opened at 1 s the app registers (1500 bytes: at the server at 2.510, known at 3.520), polls.
    // Killed at 100 s. Its refresh tasks of 900 and 1800 s do nothing and are complete. Opened at
    // 2000 s it registers again, and has the same number.
    var phone = Phone()
    phone.refresh = Phone.refreshing { $0.earliestBegin = .seconds(900) }
    phone.group.registration = RegistrationSettings()
    phone.group.registration!.persists = false
    phone.group.registration!.inBackground = false
    phone.group.heartbeats = HeartbeatSettings()
    phone.stop = .seconds(2100)
    var scene = phone.scene(hasProcessing: false)
    scene.inject(.open, "phones/0", at: 1_000)
    scene.inject(.kill, "phones/0", at: 100_000)
    scene.inject(.open, "phones/0", at: 2_000_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "begins", "identity", "downloaded", "ends") == [
        "1000 begins activation", "3520 identity registered 1", "7860 downloaded v0",
        "7860 ends completed",
        "900000 begins refresh", "900000 identity withheld unregistered", "900000 ends completed",
        "1800000 begins refresh", "1800000 identity withheld unregistered",
        "1800000 ends completed",
        "2000000 begins activation", "2002520 identity registered 1", "2004540 ends completed",
      ])
    let counts = try #require(played.simulation.deviceRecords.identityCounts)
    #expect(counts.heartbeats.due == 2 && counts.heartbeats.withheld == 2)
    #expect(counts.registrations == 2 && counts.registered == 1)
    // Register, check, download; register, check: nothing from the tasks, and nobody is punished.
    #expect(played.simulation.books.ledgers.transmissions.opened == 5)
    #expect(played.simulation.books.tallies.penalties == 0)
  }

  @Test("E37: A 401 that nobody reads: the counts of device and server part by the number of 401s")
  func e37() throws {
    // In hand from 100 s on. Tokens issued at 101.010 expire at 3701.010; the phone's clock is two
    // hours behind. Heartbeats from 400 s on every 300 s, at the server 1.010 later: those of 400 …
    // 3400 s are good (11), those of 3700 … 9700 s are not (21).
    var scene = openScene { $0.ignoresStatus = true }
    scene.inputs.server.presence = PresenceSettings()
    let played = scene.play()
    let beats = try #require(played.simulation.deviceRecords.identityCounts).heartbeats
    #expect(beats.due == 32)
    #expect(beats.succeeded == 32 && beats.failed == 0)
    #expect(beats.accepted == 11 && beats.unauthorised == 21)
    #expect(beats.succeeded - beats.accepted == beats.unauthorised)
    // With bootstrap, check and download.
    let ledgers = played.simulation.books.ledgers
    #expect(ledgers.transmissions[.delivered] == 35)
    #expect(ledgers.bytesUp == 35_000 && ledgers.bytesDown == 35_300)
    // The server hears of the phone from 401.010 to 3401.010: online until 4001.010, idle until
    // 5201.010, offline before and after. True: idle until 100 s, online from then on.
    #expect(
      played.simulation.deviceRecords.presence == [
        [3_600_000_000, 0, 0], [1_200_000_000, 0, 0],
        [301_010_000 + 4_798_990_000, 100_000_000, 0],
      ])
  }

  @Test("A refused heartbeat that is noticed is sent again with a fresh token")
  func noticed() throws {
    // The 401 of 3700 s is there at 3702.020, the token at 3704.040: good until 7303.030. Then 12
    // heartbeats from 3704.040 to 7004.040; that of 7304.040 is refused: token at 7308.080, and 9
    // more until 9708.080.
    let played = openScene().play()
    let counts = try #require(played.simulation.deviceRecords.identityCounts)
    #expect(counts.refreshes == 2)
    #expect(counts.heartbeats.accepted == 11 + 12 + 9)
    #expect(counts.heartbeats.unauthorised == 2 && counts.heartbeats.failed == 2)
    #expect(counts.heartbeats.due == 34 && counts.heartbeats.withheld == 0)
    #expect(
      played.story(of: 0, only: "identity") == [
        "102020 identity bootstrapped", "3704040 identity refreshed", "7308080 identity refreshed",
      ])
  }
}

/// A phone whose clock is two hours behind and whose app is open from 100 s on, until 10,000 s.
func openScene(_ change: (inout HeartbeatSettings) -> Void = { _ in }) -> Scene {
  var scene = tokenScene([]) {
    $0.usage = .states("active", in: [100_000...20_000_000], otherwise: "locked")
    $0.participation.pollOnActivation = 1
    $0.clock = ClockSettings()
    $0.clock!.skew = .zero - .hours(2)
    $0.heartbeats = HeartbeatSettings()
    change(&$0.heartbeats!)
  } server: {
    $0.tokenLife = .hours(1)
  }
  scene.inputs.stop.after = .seconds(10_000)
  return scene
}
