import FedSim
import Learning
import Schema
import Testing

@Suite("Identity: tokens, registrations, heartbeats, clocks")
struct IdentityTests {
  @Test("a token of another organisation is refused with 403, and so is a purpose out of scope")
  func forbidden() throws {
    var foreign = tokenScene([window(0)]) { $0.authentication!.organisation = "acme" }
    foreign.inputs.server.authentication!.organisations = ["globex"]
    let refused = foreign.play()
    #expect(
      refused.story(of: 0, only: "identity", "ends") == [
        "2020 identity bootstrapped", "4040 identity refused 403",
        "4040 identity withheld unauthorised", "4040 ends unauthorised",
      ])
    #expect(refused.simulation.books.ledgers.transmissions[.forbidden] == 1)
    #expect(refused.simulation.participations.hours[0][.checkedIn] == 0)

    let narrow = tokenScene([window(0)]) { $0.authentication!.scopes = [.check, .download] }
      .play()
    #expect(
      narrow.story(of: 0, only: "identity", "fails", "arrives", "ends") == [
        "2020 identity bootstrapped", "12680 identity refused 403", "12680 fails 0 forbidden",
        "12680 ends completed",
      ])
    #expect(narrow.simulation.books.ledgers.updates[.forbidden] == 1)
    #expect(narrow.simulation.deviceRecords.identityCounts?.forbidden == 1)
  }

  @Test("after a 401 the app gets a fresh token and asks once more, or gives up")
  func unauthorised() {
    // The clock is two hours behind: at 200 s the phone still trusts the token that expired at
    // 101.010. Refused at 202.020, refreshed at 204.040, accepted at 206.060.
    func story(_ policy: AuthenticationSettings.OnUnauthorised) -> [String] {
      tokenScene([[0, 20_000, 25_000], window(200_000)]) {
        $0.participation.retrain = .newVersions
        $0.authentication!.onUnauthorised = policy
        $0.clock = ClockSettings()
        $0.clock!.skew = .zero - .hours(2)
      }.play().story(of: 0, only: "identity", "accepted", "ends").suffix(4)
    }
    #expect(
      story(.refresh) == [
        "202020 identity refused 401", "204040 identity refreshed", "206060 accepted r1",
        "206060 ends nothingNew",
      ])
    #expect(
      story(.fail) == [
        "12680 ends completed", "202020 identity refused 401",
        "202020 identity withheld unauthorised", "202020 ends unauthorised",
      ])
  }

  @Test("a bootstrap that fails is tried again after a delay that doubles up to a limit")
  func backoff() {
    // 503 at 2.020 s: not before 62.020; 503 at 102.020: 120 s, not before 222.020.
    let starts: [Int64] = [0, 50_000, 100_000, 200_000, 250_000]
    let windows = starts.map { [$0, $0 + 20_000, $0 + 25_000] }
    let story = tokenScene(
      windows,
      server: {
        $0.service = .states("down", in: [0...240_000], otherwise: "up")
      }
    ).play().story(of: 0, only: "identity")
    #expect(
      story == [
        "2020 identity failed bootstrap unavailable", "2020 identity withheld unauthorised",
        "50000 identity withheld unauthorised",
        "102020 identity failed bootstrap unavailable", "102020 identity withheld unauthorised",
        "200000 identity withheld unauthorised", "252020 identity bootstrapped",
      ])
  }

  @Test("an app that is reinstalled has lost all it had, and gets another number")
  func reinstall() throws {
    func played(keepsData: Bool) -> Played {
      var scene = tokenScene([[0, 20_000, 25_000], window(200_000)]) {
        $0.registration = RegistrationSettings()
        $0.registration!.bytes = 1000
        $0.registration!.keepsData = keepsData
      } server: {
        $0.tokenLife = .hours(1)
      }
      // Token, number, check, download: batch 4 ends at 12.380, without a link.
      scene.inject(.dropLink, "phones/0", at: 12_000, lasting: .seconds(40))
      scene.inject(.reinstall, "phones/0", at: 100_000)
      return scene.play()
    }
    let lost = played(keepsData: false)
    #expect(
      lost.story(of: 0, only: "identity", "makes", "downloaded", "begins", "ends") == [
        "0 begins window", "2020 identity bootstrapped", "4040 identity registered 1",
        "8380 downloaded v0", "12380 makes 0 of v0 4b 4s", "20000 ends expired",
        "100000 identity reinstalled", "100000 begins activation",
        "102020 identity bootstrapped", "104040 identity registered 2", "108380 downloaded v0",
        "108380 ends completed", "200000 begins window", "200000 ends withoutData",
      ])
    #expect(lost.simulation.books.ledgers.updates[.uninstalled] == 1)
    #expect(lost.simulation.books.tallies.sessionsWithoutData == 1)
    let kept = played(keepsData: true)
    #expect(kept.story(of: 0, only: "makes").last == "206020 makes 1 of v0 4b 4s")
    #expect(kept.simulation.deviceRecords.identityCounts?.registered == 2)
  }

  @Test("re-installations come at random, the same whatever the policy")
  func reinstallations() throws {
    func digest(_ retrain: ParticipationSettings.Retrain) throws -> (UInt64, Int) {
      var scene = tokenScene([window(0), window(300_000)]) {
        $0.participation.retrain = retrain
        $0.registration = RegistrationSettings()
        $0.registration!.reinstallEvery = .seconds(500)
      }
      scene.inputs.stop.after = .seconds(50_000)
      let played = scene.play()
      let counts = try #require(played.simulation.deviceRecords.identityCounts)
      return (played.simulation.deviceRecords[0].exogenousDigest, counts.reinstallations)
    }
    let (first, count) = try digest(.always)
    #expect(try digest(.newVersions) == (first, count))
    // 100 are expected, with a standard deviation of 10.
    #expect((60...140).contains(count))
  }

  @Test("a heartbeat that the link cuts off: in sending, before and in its answer")
  func cutHeartbeats() throws {
    // The first heartbeat is due at 400 s: sent 401.000, at the server 401.010, answered from
    // 401.020 to 402.020.
    func counts(dropAt: Int64) throws -> (HeartbeatCounts, Ledgers) {
      var scene = openScene()
      scene.inputs.stop.after = .seconds(500)
      scene.inject(.dropLink, "phones/0", at: dropAt, lasting: .seconds(20))
      let played = scene.play()
      return (
        try #require(played.simulation.deviceRecords.identityCounts).heartbeats,
        played.simulation.books.ledgers
      )
    }
    let (sending, sent) = try counts(dropAt: 400_500)
    #expect(sending.due == 1 && sending.failed == 1 && sending.accepted == 0)
    #expect(sent.transmissions[.linkLost] == 1)
    #expect(sent.bytesUp == 3_500 && sent.bytesDown == 3_300)
    let (awaiting, awaited) = try counts(dropAt: 401_005)
    #expect(awaiting.failed == 1 && awaiting.accepted == 1)
    #expect(awaited.transmissions[.unacknowledged] == 1)
    #expect(awaited.bytesUp == 4_000 && awaited.bytesDown == 3_300)
    let (receiving, received) = try counts(dropAt: 401_500)
    #expect(receiving.failed == 1 && receiving.accepted == 1)
    #expect(received.transmissions[.linkLost] == 1)
    #expect(received.bytesUp == 4_000 && received.bytesDown == 3_780)
    let (whole, _) = try counts(dropAt: 402_021)
    #expect(whole.succeeded == 1 && whole.accepted == 1)
    let (none, _) = try counts(dropAt: 399_000)
    #expect(none.due == 1 && none.unsent == 1)
  }

  @Test("heartbeats cost no events, however many there are")
  func noEvents() {
    let often = openScene {
      $0.ignoresStatus = true
      $0.foreground = .seconds(1)
    }.play().simulation
    let never = openScene {
      $0.ignoresStatus = true
      $0.foreground = .days(1)
    }.play().simulation
    // From 101 s on, one each second before 10,000 s, but for 2 s in which tokens are fetched and
    // one that waits for them.
    #expect(often.deviceRecords.identityCounts!.heartbeats.due > 9_890)
    #expect(often.books.tallies.events - never.books.tallies.events <= 1)
  }

  @Test("what the server believes where heartbeats are rarer than it takes for online")
  func belief() throws {
    // Background heartbeats every 1000 s in one long window from 0 on, no tokens: at 0, 1000, 2000,
    // at the server 1.010 later. Online for 600 s, idle until 900 s, then offline.
    var group = FleetGroupSettings.group(windows: [[0, 2_900_000, 3_000_000]]) {
      $0.heartbeats = HeartbeatSettings()
      $0.heartbeats!.background = .seconds(1000)
      $0.participation.repeats = true
    }
    group.link = .states("offline", in: [2_500_000...4_000_000], otherwise: "wifi")
    var scene = Scene(fleet: [group])
    scene.inputs.stop.after = .seconds(4000)
    var presence = PresenceSettings()
    (presence.onlineFor, presence.offlineAfter) = (.seconds(600), .seconds(900))
    scene.inputs.server.presence = presence
    let simulation = scene.play().simulation
    let beats = try #require(simulation.deviceRecords.identityCounts).heartbeats
    #expect(beats.due == 3 && beats.accepted == 3)
    // Online until 2500 s in truth: believed offline before 1.010 and for 100 s before each of the
    // next two; online for 600, 600 and 498.990 s; idle for 300 s twice. From 2500 s on offline:
    // believed online until 2601.010, idle until 2901.010.
    #expect(
      simulation.deviceRecords.presence == [
        [1_698_990_000, 0, 101_010_000], [600_000_000, 0, 300_000_000],
        [201_010_000, 0, 1_098_990_000],
      ])
  }

  @Test("a clock that drifts shows what it should, and its own times are found again")
  func drift() {
    // 100 ppm fast and 3 s ahead: after 10,000 s it is 4 s ahead. A token of 9,000 s of life,
    // issued at 1.010, is wanted again from own time 8,971.010 on: true time t with
    // t + 3 + t/10,000 = 8,971.010, so t = 8,967.1132886…
    var scene = tokenScene([window(0), [8_967_113, 8_990_000, 8_995_000]]) {
      $0.clock = ClockSettings()
      $0.clock!.skew = .seconds(3)
      $0.clock!.drift = 100
      $0.participation.retrain = .newVersions
    } server: {
      $0.tokenLife = .seconds(9_000)
    }
    #expect(scene.play().simulation.deviceRecords.identityCounts?.refreshes == 0)
    scene.inputs.fleet[0].background.windows = .fixed(
      [[0, 45_000, 50_000], [8_967_114, 8_990_000, 8_995_000]].map {
        (from: $0[0], soft: Optional($0[1]), to: $0[2], state: nil)
      })
    let later = scene.play().simulation
    #expect(later.deviceRecords.identityCounts?.refreshes == 1)
    #expect(later.deviceRecords.localTime(of: 0, at: ms(10_000_000)).secondsSince1970 == 10_004)
  }
}

@Suite("Heartbeats counted together against heartbeats counted one by one")
struct HeartbeatCountTests {
  /// What happens to a heartbeat that is due at a time: the link's changes are known.
  private func fate(
    _ due: SimTime, _ links: [(time: SimTime, state: UInt8)], end: SimTime
  ) -> (name: String, arrives: Bool, up: Int64, down: Int64) {
    let before = links.last { $0.time <= due }?.state ?? 0
    guard before > 0 else { return ("unsent", false, 0, 0) }
    // Wi-Fi carries a byte a millisecond, cellular half of one; 10 or 20 ms each way.
    let (message, way): (Int64, Int64) = before == 2 ? (1_000_000, 10_000) : (2_000_000, 20_000)
    let lost = links.first { $0.time > due && $0.time <= end }?.time
    let cut = min(lost ?? .never, end)
    let span = (cut - due).microseconds
    func bytes(_ time: Int64) -> Int64 { min(1000, time * 1000 / message) }
    // What ends as the link goes is lost; what ends as the run ends is done.
    let whole = 2 * message + 2 * way
    if lost == nil || lost! == .never ? span >= whole : span > whole {
      return ("succeeded", true, 1000, 1000)
    }
    let isOver = lost == nil
    let name = isOver ? "unfinished" : "failed"
    if span <= message { return (name, false, bytes(span), 0) }
    let arrives = !isOver || span >= message + way
    let answered = span - message - 2 * way
    return (name, arrives, 1000, answered > 0 ? bytes(answered) : 0)
  }

  @Test("the same counts and bytes over links that come and go", arguments: [3, 7])
  func links(period: Int64) throws {
    for seed in UInt64(1)...8 {
      var source = MarkovSource.Settings()
      let means: [(String, Int64)] = [("offline", 20), ("cellular", 15), ("wifi", 40)]
      source.states = means.map {
        var state = MarkovSource.State()
        (state.state, state.mean) = (StateName($0.0), .seconds($0.1))
        return state
      }
      let group = FleetGroupSettings.group(windows: [[0, 9_990_000, 9_999_000]]) {
        $0.link = Choice(MarkovSource.self, source) { $0 }
        $0.heartbeats = HeartbeatSettings()
        $0.heartbeats!.background = .seconds(period)
        $0.participation.repeats = true
        $0.participation.retrain = .newVersions
        $0.participation.pause = .seconds(100_000)
      }
      var scene = Scene(fleet: [group])
      scene.inputs.seeds = Seeds(seed)
      scene.inputs.stop.after = .seconds(5_000)
      let played = scene.play()
      var quiet = scene
      quiet.inputs.fleet[0].heartbeats = nil
      let silent = quiet.play().simulation
      let counts = try #require(played.simulation.deviceRecords.identityCounts).heartbeats
      var links = [(time: SimTime.start, state: UInt8(0))]
      links[0].state = try #require(firstLink(scene, played))
      for (time, event) in played.tape.events {
        if case .world(.link, _, let state) = event { links.append((time, state)) }
      }
      var expected = HeartbeatSums()
      for due in stride(from: Int64(0), to: 5_000, by: Int(period)) {
        expected.add(fate(ms(1000 * due), links, end: ms(5_000_000)))
      }
      #expect(counts.due == expected.due, "seed \(seed)")
      #expect(counts.unsent == expected.unsent, "seed \(seed)")
      #expect(counts.succeeded == expected.succeeded, "seed \(seed)")
      #expect(counts.failed == expected.failed, "seed \(seed)")
      #expect(counts.accepted == expected.accepted, "seed \(seed)")
      #expect(
        played.simulation.books.ledgers.bytesUp - silent.books.ledgers.bytesUp == expected.up,
        "seed \(seed)")
      #expect(
        played.simulation.books.ledgers.bytesDown - silent.books.ledgers.bytesDown == expected.down,
        "seed \(seed)")
      #expect(played.simulation.books.tallies.events == silent.books.tallies.events, "seed \(seed)")
      #expect(counts.failed > 0 && counts.unsent > 0)
    }
  }

  /// The link at the start: a change to it would be no change.
  private func firstLink(_ scene: Scene, _ played: Played) -> UInt8? {
    let context = context(.link, seed: scene.inputs.seeds.world)
    var timeline = scene.inputs.fleet[0].link.value.timeline(context)
    return timeline.state(at: .start)
  }

  private struct HeartbeatSums {
    var due = 0
    var unsent = 0
    var succeeded = 0
    var failed = 0
    var accepted = 0
    var up: Int64 = 0
    var down: Int64 = 0

    mutating func add(_ fate: (name: String, arrives: Bool, up: Int64, down: Int64)) {
      due += 1
      if fate.name == "unsent" { unsent += 1 }
      if fate.name == "succeeded" { succeeded += 1 }
      if fate.name == "failed" { failed += 1 }
      if fate.arrives { accepted += 1 }
      up += fate.up
      down += fate.down
    }
  }
}
