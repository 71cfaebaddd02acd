import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("How long an app's process lives")
struct ProcessTests {
  private func time(_ median: SimDuration, spread: Double = 0) -> DrawnTimeSettings {
    var time = DrawnTimeSettings()
    (time.median, time.spread) = (median, spread)
    return time
  }

  /// One phone whose app runs in three windows; the training of the first is over at 10.660 s, and
  /// the others find nothing new after 2.020 s.
  private func scene(_ change: (inout FleetGroupSettings) -> Void) -> Scene {
    var scene = Scene(
      fleet: [
        .group(windows: [
          [0, 20_000, 25_000], [40_000, 50_000, 55_000], [60_000, 70_000, 75_000],
        ]) {
          $0.participation.retrain = .newVersions
          $0.app = AppSettings()
          change(&$0)
        }
      ])
    scene.inputs.stop.after = .seconds(400)
    return scene
  }

  // MARK: Eviction

  @Test("A suspended app leaves memory after its time, unless it runs again before")
  func evicted() {
    // Suspended at 10.660, 42.020 and 62.020. After 40 s each: 50.660 and 82.020 would come, but it
    // runs at 40 and 60 s.
    let played = scene { $0.app!.evictedAfter = time(.seconds(40)) }.play()
    #expect(
      played.story(of: 0, only: "begins", "ends", "is") == [
        "0 begins window", "10660 ends completed", "40000 begins window",
        "42020 ends nothingNew", "60000 begins window", "62020 ends nothingNew",
        "102020 is unloaded",
      ])
    #expect(played.simulation.books.tallies.bySystem.evictions == 1)
    // After 10 s each, at every time.
    let soon = scene { $0.app!.evictedAfter = time(.seconds(10)) }.play()
    #expect(
      soon.story(of: 0, only: "is") == [
        "20660 is unloaded", "52020 is unloaded", "72020 is unloaded",
      ])
    #expect(scene { _ in }.play().story(of: 0, only: "is") == [])
  }

  @Test("Each suspension draws its own time")
  func drawn() {
    let scene = scene { $0.app!.evictedAfter = time(.seconds(5), spread: 0.5) }
    let seed = scene.inputs.seeds.world
    let key = StreamKey(seed: seed, purpose: "eviction", group: "phones", ordinal: 0)
    // One normal number for the microsecond of the suspension; at most 10 s at three sigma.
    let expected = [10_660_000, 42_020_000, 62_020_000].map { suspended -> SimTime in
      var stream = key.stream(slot: UInt64(suspended))
      let seconds = 5 * Portable.exp(0.5 * stream.normal())
      return SimTime(microseconds: Int64(suspended)) + SimDuration(roundingUp: seconds)
    }
    let played = scene.play()
    let found = played.tape.observed.filter { $0.kind == .condition(.unloaded) }.map(\.time)
    #expect(found == expected)
    #expect(Set(zip(found, expected).map { $0.0.microseconds % 1_000_000 }).count == 3)
  }

  @Test("E36 without a kill: the registration goes with the process that is suspended for too long")
  func coldLaunch() throws {
    // As E36: opened at 1 s it registers and polls until 7.860. At 100 s it is gone.
    // Its refresh tasks of 900 and 1800 s are cold launches, and each process is gone 92.140 s on.
    var phone = Phone()
    phone.refresh = Phone.refreshing { $0.earliestBegin = .seconds(900) }
    phone.group.registration = RegistrationSettings()
    phone.group.registration!.persists = false
    phone.group.registration!.inBackground = false
    phone.group.heartbeats = HeartbeatSettings()
    phone.app = AppSettings()
    phone.app!.evictedAfter = time(.milliseconds(92_140))
    phone.stop = .seconds(2050)
    var scene = phone.scene(hasProcessing: false)
    scene.inject(.open, "phones/0", at: 1_000)
    scene.inject(.open, "phones/0", at: 2_000_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "begins", "identity", "ends", "is") == [
        "1000 begins activation", "3520 identity registered 1", "7860 ends completed",
        "100000 is unloaded",
        "900000 begins refresh", "900000 identity withheld unregistered", "900000 ends completed",
        "992140 is unloaded",
        "1800000 begins refresh", "1800000 identity withheld unregistered",
        "1800000 ends completed", "1892140 is unloaded",
        "2000000 begins activation", "2002520 identity registered 1", "2004540 ends completed",
      ])
    let counts = try #require(played.simulation.deviceRecords.identityCounts)
    #expect(counts.heartbeats.due == 2 && counts.heartbeats.withheld == 2)
    #expect(counts.registrations == 2 && counts.registered == 1)
    #expect(played.simulation.books.tallies.kills == 0)
  }

  @Test("E5 ends by itself: the flag that nobody clears goes with the process")
  func flag() {
    // As E5: the task of 100 s expires, and its process ends 300 s after 106.340. The task of 900 s
    // trains from 902.020 on; soft at 906 s in batch 4, which ends in time.
    let played = Phone.scene {
      $0.budget(8, grace: 2)
      $0.app = AppSettings()
      $0.app!.resetsFlag = false
      $0.app!.evictedAfter = time(.seconds(300))
      $0.stop = .seconds(1000)
    }.play()
    #expect(
      played.story(of: 0, only: "attempt", "is") == [
        "106340 attempt discardedAtExpiry 2", "406340 is unloaded", "906020 attempt finished 4",
      ])
  }

  @Test("Updates that are in memory only are lost with the process, however it ends")
  func outbox() {
    // Made at 8.340 without a link; the window ends at 25 s, softly at 20 s.
    func lost(
      _ persists: Bool, evictedAfter: SimDuration? = nil, _ verb: InjectionSettings.Verb? = nil
    ) -> Int {
      var scene = scene {
        $0.link = .states("offline", in: [8_000...300_000], otherwise: "wifi")
        $0.outbox.persists = persists
        $0.app!.evictedAfter = evictedAfter.map { time($0) }
      }
      scene.inputs.stop.after = .seconds(39)
      if let verb { scene.inject(verb, "phones/0", at: 35_000) }
      let played = scene.play()
      #expect(played.story(of: 0, only: "makes").count == 1)
      return played.simulation.books.ledgers.updates[.lostAtKill]
    }
    #expect(lost(false) == 0)
    #expect(lost(false, evictedAfter: .seconds(10)) == 1)
    #expect(lost(true, evictedAfter: .seconds(10)) == 0)
    for verb in [InjectionSettings.Verb.kill, .forceQuit, .reboot] {
      #expect(lost(false, verb) == 1, "\(verb)")
      #expect(lost(true, verb) == 0, "\(verb)")
    }
  }

  // MARK: In a person's hand

  /// In use from 1 s to 700 s, the app opened at once: check and model until 5.340, then a look
  /// every 300 s, and a heartbeat likewise.
  private func opened(_ change: (inout FleetGroupSettings) -> Void) -> Played {
    var scene = Scene(
      fleet: [
        .group {
          $0.usage = .states("active", in: [1_000...700_000], otherwise: "locked")
          $0.participation.pollOnActivation = 1
          $0.participation.pollEvery = .seconds(300)
          $0.heartbeats = HeartbeatSettings()
          $0.app = AppSettings()
          change(&$0)
        }
      ])
    scene.inputs.stop.after = .seconds(1000)
    return scene.play()
  }

  @Test("An app stays open for its time, or until the phone is locked, whichever is first")
  func openFor() throws {
    func story(_ played: Played) -> [String] { played.story(of: 0, only: "rests", "ends", "is") }
    func beats(_ played: Played) throws -> Int {
      try #require(played.simulation.deviceRecords.identityCounts).heartbeats.due
    }
    let until = opened { _ in }
    #expect(
      story(until) == [
        "5340 rests completed", "307360 rests completed", "609380 rests completed",
        "700000 ends locked",
      ])
    // Heartbeats at 301 and 601 s.
    #expect(try beats(until) == 2)
    let short = opened { $0.app!.openFor = time(.seconds(400)) }
    #expect(
      story(short) == ["5340 rests completed", "307360 rests completed", "401000 ends locked"])
    #expect(try beats(short) == 1)
    let long = opened { $0.app!.openFor = time(.seconds(2000)) }
    #expect(story(long) == story(until))
    // Left at 401 s, out of memory 50 s later; locked at 700 s, out of memory 50 s later.
    let gone = opened {
      $0.app!.openFor = time(.seconds(400))
      $0.app!.evictedAfter = time(.seconds(50))
    }
    #expect(story(gone).suffix(2) == ["401000 ends locked", "451000 is unloaded"])
    let locked = opened { $0.app!.evictedAfter = time(.seconds(50)) }
    #expect(story(locked).suffix(2) == ["700000 ends locked", "750000 is unloaded"])
  }

  @Test("An app that looks once stays in memory while it is open")
  func openWithoutSession() {
    // The look is over at 5.340, the app is left at 401 s.
    let played = opened {
      $0.participation.pollEvery = nil
      $0.app!.openFor = time(.seconds(400))
      $0.app!.evictedAfter = time(.seconds(50))
    }
    #expect(
      played.story(of: 0, only: "ends", "is") == ["5340 ends completed", "451000 is unloaded"])
  }

  @Test("Timers of openings and suspensions are archived")
  func archived() throws {
    var phone = Phone()
    phone.refresh = Phone.refreshing()
    phone.app = AppSettings()
    phone.app!.openFor = time(.seconds(100), spread: 1)
    phone.app!.evictedAfter = time(.seconds(200), spread: 1)
    phone.group.usage = .states(
      "active", in: [1_000_000...1_400_000, 2_000_000...2_600_000], otherwise: "locked")
    phone.group.participation.pollOnActivation = 1
    phone.group.participation.pollEvery = .seconds(60)
    phone.group.registration = RegistrationSettings()
    phone.group.registration!.persists = false
    let inputs = phone.scene().inputs
    let whole = try Stretches(inputs, stops: [])
    let parts = try Stretches(inputs, stops: Array(stride(from: 2, to: whole.turns, by: 3)))
    #expect(parts.archives.count > 20)
    #expect(parts.simulation.books.tallies.bySystem.evictions > 2)
    Stretches.expectSame(whole.found, parts.found)
  }

  @Test("A timer of before a device left does not ring after it has joined again")
  func joined() {
    // Suspended at 10.660, gone from 20 to 30 s; in its window of 40 s it downloads and trains
    // again, for 10.660 s; the one of 60 s is over at 62.020.
    let played = scene {
      $0.app!.evictedAfter = time(.seconds(25))
      $0.presence = .states("away", in: [20_000...30_000], otherwise: "here")
    }.play()
    // Not at 35.660.
    #expect(played.story(of: 0, only: "is unloaded") == ["87020 is unloaded"])
  }
}
