import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("The system's rules")
struct SystemTests {
  @Test("A processing request that has waited for two days starts at the next chance")
  func twoDays() {
    // On battery, and never by chance.
    let played = Phone.scene {
      $0.group.power = .always("unplugged")
      $0.system.onBattery = 0
      $0.processing.resubmit = .never
      $0.stop = .days(3)
    }.play()
    #expect(played.story(of: 0, only: "begins") == ["172800000 begins task"])
  }

  @Test("On battery a task starts in the first quarter of an hour whose draw allows it")
  func chance() {
    // Whatever else happens on the phone: each quarter has one draw to itself.
    func first(_ share: Double, opened: Bool = false) -> SimTime {
      var scene = Phone.scene {
        $0.group.power = .always("unplugged")
        $0.system.onBattery = share
        $0.processing.resubmit = .never
        $0.stop = .days(2)
      }
      if opened { for hour in Int64(0)..<10 { scene.inject(.open, "phones/0", at: 7_000 * hour) } }
      return scene.play().tape.observed.first { $0.kind == .sessionBegan(.task) }!.time
    }
    #expect(first(1) == ms(100_000))
    let time = first(0.05)
    #expect(time.microseconds % 900_000_000 == 0 || time == ms(100_000))
    #expect(first(0.05, opened: true) == time)
    // A larger share can only be earlier.
    #expect(first(0.5) <= time)
  }

  @Test("Run time is used up by tasks and refilled by the hour")
  func runTime() {
    // 12 s a day: half a second an hour. The first task takes 10.660 s and leaves 1.340; the one at
    // 900 s takes 2.020 and leaves −0.680, which two hours make good: 0.320. The one at 7200 s
    // leaves −1.700: four hours more.
    let played = Phone.scene {
      $0.system.dailyRunTime = .seconds(12)
      $0.stop = .seconds(22_000)
    }.play()
    #expect(
      played.story(of: 0, only: "begins") == [
        "100000 begins task", "900000 begins task", "7200000 begins task", "21600000 begins task",
      ])
  }

  /// The starts of tasks of a phone that is ready from 100 s on, one in each quarter of an hour.
  private func starts(
    _ atMost: Int, within rows: [QuantilePoint<SimDuration>], until stop: SimDuration
  ) -> [SimTime] {
    let played = Phone.scene {
      $0.system.processingStarts = TaskStartSettings()
      $0.system.processingStarts!.atMost = atMost
      $0.system.processingStarts!.within = rows
      $0.stop = stop
    }.play()
    return played.tape.observed.filter { $0.kind == .sessionBegan(.task) }.map(\.time)
  }

  @Test("The system starts a number of processing tasks in a stretch, which begins with the first")
  func startsLeft() {
    let fixed = [QuantilePoint<SimDuration>(at: 0, .seconds(2000))]
    // From 100 s to 2100 s, then to 4100 s, then to 6100 s; one task each, at its first moment.
    #expect(
      starts(1, within: fixed, until: .seconds(6000)) == [
        ms(100_000), ms(2_100_000), ms(4_100_000),
      ])
    // Two each: the second with the next quarter of an hour. That of 4100 s ends at 4500 s.
    #expect(
      starts(2, within: fixed, until: .seconds(6000)) == [
        ms(100_000), ms(900_000), ms(2_100_000), ms(2_700_000), ms(4_100_000), ms(4_500_000),
      ])
    // A stretch is over before its tasks are used up: the next one begins at 1800 s.
    let short = [QuantilePoint<SimDuration>(at: 0, .seconds(1000))]
    #expect(
      starts(3, within: short, until: .seconds(2000)) == [ms(100_000), ms(900_000), ms(1_800_000)])
  }

  @Test("As long as developers say it takes: the next task comes 10 to 20 h later")
  func usualStarts() {
    let first = starts(1, within: TaskStartSettings().within, until: .days(2))
    // One uniform number for the quarter of an hour in which the stretch begins, the first one.
    var stream = StreamKey(
      seed: Scene().inputs.seeds.world, purpose: "start-stretch", group: "phones", ordinal: 0
    ).stream(slot: 0)
    let hours = 10 + 10 * stream.uniform()
    #expect(first[0] == ms(100_000))
    #expect(first[1] == ms(100_000) + SimDuration(roundingUp: 3600 * hours))
    // 40 h and more hold at most four, and at least two, such stretches.
    #expect((3...5).contains(first.count))
    for (a, b) in zip(first, first.dropFirst()) {
      #expect(b - a >= .hours(10) && b - a <= .hours(20))
    }
  }

  @Test("Refresh tasks do not count, nor do those that a script starts")
  func otherStarts() {
    var phone = Phone()
    phone.refresh = Phone.refreshing()
    phone.system.processingStarts = TaskStartSettings()
    phone.stop = .hours(2)
    let played = phone.scene().play()
    #expect(played.story(of: 0, only: "begins task") == ["100000 begins task"])
    // One in each quarter of an hour from 0 to 7200 s.
    #expect(played.story(of: 0, only: "begins refresh").count == 9)
  }

  @Test("The system finds a device idle a drawn time later, another for each locking")
  func idleSlop() {
    // Locked at 0, and at 1200 s; idle 100 s later, and up to 60 s more: one uniform number for the
    // microsecond of the locking. The phone that is locked at 0 has its next task at 900 s.
    let played = Phone.scene {
      $0.system.idleSlop = .seconds(60)
      $0.stop = .seconds(1700)
    }.play()
    let key = StreamKey(
      seed: Scene().inputs.seeds.world, purpose: "idle-slop", group: "phones", ordinal: 0)
    let starts = [0, 1_200_000_000].map { locked -> SimTime in
      var stream = key.stream(slot: UInt64(locked))
      return SimTime(microseconds: Int64(locked)) + .seconds(100)
        + SimDuration(microseconds: Int64(60_000_000 * stream.uniform()))
    }
    let found = played.tape.observed.filter { $0.kind == .sessionBegan(.task) }.map(\.time)
    #expect(found == [starts[0], ms(900_000)])
    let later = Phone.scene {
      $0.system.idleSlop = .seconds(60)
      $0.group.usage = .states("active", in: [0...1_200_000], otherwise: "locked")
      $0.stop = .seconds(1700)
    }.play()
    let first = later.tape.observed.first { $0.kind == .sessionBegan(.task) }
    #expect(first?.time == starts[1])
  }

  @Test("What is left of a stretch is archived, and the table of its length is checked")
  func archivedStarts() throws {
    let scene = Phone.scene {
      $0.system.processingStarts = TaskStartSettings()
      $0.system.processingStarts!.atMost = 2
      $0.stop = .days(2)
    }
    let whole = try Stretches(scene.inputs, stops: [])
    let parts = try Stretches(scene.inputs, stops: Array(stride(from: 3, to: whole.turns, by: 5)))
    #expect(parts.archives.count > 5)
    Stretches.expectSame(whole.found, parts.found)
    var settings = TaskStartSettings()
    #expect(settings.contradictions().isEmpty)
    settings.within = [QuantilePoint(at: 0, .hours(2)), QuantilePoint(at: 1, .hours(1))]
    #expect(settings.contradictions().map(\.key) == ["within"])
    settings.within = []
    #expect(settings.contradictions().map(\.key) == ["within"])
  }

  @Test("A task that is called complete as its upload begins loses the upload")
  func earlyCompletion() {
    // The upload from 108.340 on needs 1.3 s; the app is suspended after half a second.
    let played = Phone.scene {
      $0.app = AppSettings()
      $0.app!.completesEarly = .milliseconds(500)
      $0.group.outbox.capacity = 0
      $0.stop = .seconds(800)
    }.play()
    #expect(
      played.story(of: 0, only: "uploads", "fails", "ends", "killed") == [
        "108340 uploads 0", "108840 fails 0 cancelled", "108840 ends completed",
      ])
    #expect(played.simulation.books.ledgers.updates[.dropped] == 1)
  }

  @Test("Pauses count in the processor's window: a second burst is cut shorter")
  func bursts() {
    // 48 s in 60. The first training takes 40 s, from 104.340 to 144.340, uploads and ends at
    // 146.660. The next task, at 900 s, is far away: 4 batches of 10 s again, nobody is killed.
    let played = Phone.scene {
      $0.budget(200, grace: 5)
      $0.group.compute.perBatch = .seconds(10)
      $0.group.participation.repeats = true
      $0.group.participation.retrain = .always
      $0.group.participation.pause = .seconds(1)
      $0.stop = .seconds(300)
    }.play()
    // Repeating: 147.660 asked again, accepted at 149.680; in any 60 s until then 40 s. At t the
    // first burst is in the window with 144.340 − (t − 60), the second with t − 149.680; together
    // 54.660 as soon as both are cut by nothing, more than 48 when t − 149.680 > 8 while the first
    // still counts in full, until t = 164.340: at 157.680 and a microsecond.
    #expect(
      played.story(of: 0, only: "trains", "killed") == [
        "104340 trains v0 0/4", "149680 trains v0 0/4", "157680.001 killed",
      ])
    #expect(played.simulation.books.tallies.bySystem.processorKills == 1)
  }

  @Test("A refresh task gets little time on a share of its starts")
  func shortRefresh() {
    // Always 2 s exactly, half a second of them grace: the check is answered after 2.020 s.
    var phone = Phone()
    phone.refresh = Phone.refreshing {
      $0.shortShare = 1
      $0.shortMinimum = .seconds(2)
      $0.shortMaximum = .seconds(2)
      $0.grace = .milliseconds(500)
    }
    phone.stop = .seconds(800)
    #expect(
      phone.scene(hasProcessing: false).play().story(of: 0, only: "begins", "ends")
        == ["0 begins refresh", "1500 ends expired"])
  }
}

@Suite("Continued processing")
struct ContinuedTests {
  /// Opened at 10 s: the first batch begins at 14.340, the receipt is there at 20.660.
  private func story(
    perBatch: Int64 = 1, dropped: SimDuration? = nil
  ) -> [String] {
    var phone = Phone()
    phone.group.background.continued = ContinuedSettings()
    phone.group.compute.perBatch = .seconds(perBatch)
    phone.stop = .seconds(800)
    var scene = phone.scene(hasProcessing: false)
    scene.inject(.open, "phones/0", at: 10_000)
    if let dropped { scene.inject(.dropLink, "phones/0", at: 15_000, lasting: dropped) }
    return scene.play().story(of: 0, only: "begins", "attempt", "ends", "killed")
  }

  @Test("A training started in the app runs without a separate limit")
  func runs() {
    #expect(
      story() == ["10000 begins continued", "18340 attempt finished 4", "20660 ends completed"])
    #expect(story(perBatch: 60).last == "256660 ends completed")
  }

  @Test("Without a link for 30 s it expires; a shorter loss does nothing")
  func network() {
    // The update is ready at 18.340 and waits for the link, from 15 s on.
    #expect(
      story(dropped: .seconds(60)) == [
        "10000 begins continued", "18340 attempt finished 4", "45000 ends expired",
      ])
    #expect(
      story(dropped: .seconds(20)) == [
        "10000 begins continued", "18340 attempt finished 4", "37320 ends completed",
      ])
  }

  @Test("A batch of more than a minute shows no progress: the task expires, and is killed")
  func stall() {
    // 60 s after 14.340; the batch would end at 84.340, the grace at 79.340.
    #expect(
      story(perBatch: 70) == [
        "10000 begins continued", "79340 killed", "79340 attempt killed 0", "79340 ends killed",
      ])
  }
}

@Suite("The share of a link")
struct ShareTests {
  private func scene(_ share: Choice<any TimelineSource>) -> Scene {
    Scene(
      fleet: [
        .group(windows: [[0, 100_000, 105_000]]) {
          $0.participation.retrain = .newVersions
          $0.network.share = share
        }
      ])
  }

  @Test("Half the rate from the middle of an upload on")
  func half() {
    // 500 bytes by 8.840; 800 at 500 bytes a second: 10.440. The receipt: 2 s from 10.460 on.
    let played = scene(.states("50", in: [8_840...99_000], otherwise: "100")).play()
    #expect(
      played.story(of: 0, only: "arrives", "receipt")
        == ["10450 arrives 0", "12460 receipt 0 pending v0 n1"])
  }

  @Test("A share of 0 stalls; nothing is lost")
  func stalled() {
    let played = scene(.states("0", in: [8_840...18_840], otherwise: "100")).play()
    #expect(played.story(of: 0, only: "arrives") == ["19650 arrives 0"])
    #expect(played.simulation.books.ledgers.bytesUp == 3300)
  }

  @Test("A rate that changes twenty times a second: the time is that of the integral")
  func integral() {
    // 33 % and 77 % of 8,000 bit/s in turn, 50 ms each: 132 and 308 bits, 16.5 and 38.5 bytes. Of
    // 10,400 bits 23 pairs bring 10,120 in 2.3 s; then 132 in 50 ms; the last 148 at 6,160 bit/s
    // take 24.025974 ms, rounded up to 24,026 µs: 10.714026, and 10 ms on the way.
    let stretches = (0..<200).map {
      turn -> (from: Int64, soft: Int64?, to: Int64, state: String?) in
      let from = 8_340 + 50 * Int64(turn)
      return (from: from, soft: nil, to: from + 50, state: turn % 2 == 0 ? "33" : "77")
    }
    let played = scene(.fixed(stretches, otherwise: "100")).play()
    #expect(played.story(of: 0, only: "arrives") == ["10724.026 arrives 0"])
  }
}
