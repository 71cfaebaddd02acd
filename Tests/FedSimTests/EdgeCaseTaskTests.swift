import FedSim
import Learning
import Schema
import Testing

@Suite("Edge cases of tasks")
struct EdgeCaseTaskTests {
  @Test("E1: A soft expiry in a batch: the batch ends, no other begins, the server never knows")
  func e1() {
    // 8 s, 2 of them grace: soft at 106 s in batch 2, which ends at 106.340, before 108.
    var scene = Phone.scene {
      $0.budget(8, grace: 2)
      $0.stop = .seconds(800)
    }
    scene.threshold(1)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "cut", "attempt", "ends", "makes") == [
        "106340 cut 2/4", "106340 attempt discardedAtExpiry 2", "106340 ends expired",
      ])
    #expect(played.simulation.version == 0)
    #expect(played.simulation.books.ledgers.batchesWasted == 2)
  }

  @Test("E2: A batch longer than the grace: killed at the hard expiry, and half the time next")
  func e2() {
    // Batches of 10 s from 104.340 on; soft at 115 s in batch 2, hard at 120 s before its end. The
    // next task, at 900 s, has 10 s: its first batch would end at 914.340, beyond 910 s.
    let played = Phone.scene {
      $0.budget(20, grace: 5)
      $0.group.compute.perBatch = .seconds(10)
      $0.stop = .seconds(1000)
    }.play()
    #expect(
      played.story(of: 0, only: "killed", "attempt", "begins", "ends") == [
        "100000 begins task", "120000 killed", "120000 attempt killed 1", "120000 ends killed",
        // The model is there: 2.020 s to the first batch.
        "900000 begins task", "910000 killed", "910000 attempt killed 0", "910000 ends killed",
      ])
    #expect(played.simulation.books.tallies.penalties == 2)
  }

  @Test("E3: No expiration handler and a server that hangs: killed, and nothing until a launch")
  func e3() {
    // The answer would take 200 s. The refresh task from 0 on learns of its expiry at 28 s, killed
    // at 30 s, and never asks again. Opened at 2000 s, the app polls: sent 2001, given up 60 s
    // later; then its new task has half the time.
    var phone = Phone()
    phone.refresh = Phone.refreshing { $0.resubmit = .atCompletion }
    phone.app = AppSettings()
    phone.app!.onExpiration = .ignore
    phone.group.network.wifi.roundTrip = .seconds(200)
    phone.stop = .seconds(2080)
    var scene = phone.scene(hasProcessing: false)
    scene.inject(.open, "phones/0", at: 2_000_000)
    #expect(
      scene.play().story(of: 0, only: "begins", "ends", "killed") == [
        "0 begins refresh", "30000 killed", "30000 ends killed", "2000000 begins activation",
        "2061000 ends unreachable", "2061000 begins refresh", "2076000 killed",
        "2076000 ends killed",
      ])
  }

  @Test("E4: A handler that stops and does not complete: killed although the work ended early")
  func e4() {
    // As E1: batch 2 is the last and ends at 106.340; the task is killed at 108 s.
    let played = Phone.scene {
      $0.budget(8, grace: 2)
      $0.app = AppSettings()
      $0.app!.onExpiration = .forget
      $0.stop = .seconds(800)
    }.play()
    #expect(
      played.story(of: 0, only: "attempt", "killed", "ends") == [
        "106340 attempt discardedAtExpiry 2", "108000 killed", "108000 ends killed",
      ])
    #expect(played.simulation.books.tallies.penalties == 1)
  }

  @Test("E5: A flag never cleared ends every training at batch 0, until the process is a new one")
  func e5() {
    // Accepted 2.020 s after the start, with the model held. After the kill at 2000 s the task of
    // 2700 s trains from 2702.020 on; soft at 2706 s in batch 4, which ends in time.
    var scene = Phone.scene {
      $0.budget(8, grace: 2)
      $0.app = AppSettings()
      $0.app!.resetsFlag = false
      $0.stop = .seconds(3000)
    }
    scene.inject(.kill, "phones/0", at: 2_000_000)
    #expect(
      scene.play().story(of: 0, only: "attempt") == [
        "106340 attempt discardedAtExpiry 2", "902020 attempt discardedAtExpiry 0",
        "1802020 attempt discardedAtExpiry 0", "2706020 attempt finished 4",
      ])
  }

  @Test("E6: A person takes up the phone: a processing task expires now, a refresh task continues")
  func e6() {
    let processing = Phone.scene {
      $0.group.usage = .states("active", in: [105_840...200_000], otherwise: "locked")
      $0.stop = .seconds(800)
    }.play()
    #expect(
      processing.story(of: 0, only: "begins", "attempt", "ends") == [
        "100000 begins task", "106340 attempt discardedAtExpiry 2", "106340 ends expired",
      ])
    // Check and download: 4.340 s.
    var phone = Phone()
    phone.refresh = Phone.refreshing()
    phone.group.usage = .states("active", in: [1_500...50_000], otherwise: "locked")
    phone.stop = .seconds(800)
    #expect(
      phone.scene(hasProcessing: false).play().story(of: 0, only: "begins", "down", "ends")
        == ["0 begins refresh", "4340 downloaded v0", "4340 ends completed"])
  }

  @Test("E7: The charger is removed: the task expires, or is killed; without the need for power…")
  func e7() {
    func story(_ perBatch: Int64, _ change: (inout Phone) -> Void) -> [String] {
      Phone.scene {
        $0.budget(200, grace: 5)
        $0.group.compute.perBatch = .seconds(perBatch)
        $0.group.power = .states("plugged", in: [0...105_840], otherwise: "unplugged")
        $0.stop = .seconds(800)
        change(&$0)
      }.play().story(of: 0, only: "attempt", "ends")
    }
    #expect(
      story(1) { $0.processing.requiresExternalPower = true } == [
        "106340 attempt discardedAtExpiry 2", "106340 ends expired",
      ])
    // An app that takes no notice: batches end at 107.340 and 110.340; killed at 110.840.
    #expect(
      story(3) {
        $0.processing.requiresExternalPower = true
        $0.app = AppSettings()
        $0.app!.onExpiration = .ignore
      } == ["110840 attempt killed 2", "110840 ends killed"])
    // … its processor time is watched: 48 s are over at 152.340, too much a microsecond later.
    #expect(
      story(20) { _ in } == ["152340.001 attempt killed 2", "152340.001 ends killed"])
    // Three quarters of the time: never more than 45 s in 60. 4 batches of 26.666667 s.
    #expect(
      story(20) { $0.group.compute.dutyCycle = 0.75 }.first == "211006.668 attempt finished 4")
    // On the charger that it requires, nobody watches.
    #expect(
      story(20) {
        $0.processing.requiresExternalPower = true
        $0.group.power = .always("plugged")
      }.first == "184340 attempt finished 4")
  }

  @Test("E7: What ran on the charger does not count: the watch begins when the charger is removed")
  func watchBeginsAtUnplugging() {
    // Batches of 1 s from 104.340 on; unplugged at 160 s, after 55.660 s on the charger.
    func story(_ intervals: [ClosedRange<Int64>], _ change: (inout Phone) -> Void) -> [String] {
      Phone.scene {
        $0.task = .tiny(samples: [200])
        $0.budget(400, grace: 60)
        $0.processing.requiresExternalPower = true
        $0.group.power = .states("plugged", in: intervals, otherwise: "unplugged")
        $0.stop = .seconds(800)
        change(&$0)
      }.play().story(of: 0, only: "attempt", "ends")
    }
    #expect(
      story([0...160_000]) { _ in } == [
        "160340 attempt discardedAtExpiry 56", "160340 ends expired",
      ])
    // An app that takes no notice: 48 s later it has been too busy.
    let ignores: (inout Phone) -> Void = {
      $0.app = AppSettings()
      $0.app!.onExpiration = .ignore
    }
    #expect(
      story([0...160_000], ignores) == [
        "208000.001 attempt killed 103", "208000.001 ends killed",
      ])
    // Back on the charger from 170 s to 190 s: watched again from then on, to the hard expiry.
    #expect(
      story([0...160_000, 170_000...190_000], ignores) == [
        "220000 attempt killed 115", "220000 ends killed",
      ])
  }

  @Test("E30: Requests that the system does not take, and their error codes")
  func e30() {
    // Always in use: nothing starts. Pending: the app's own and p1 to p9, ten in all.
    var phone = Phone()
    phone.refresh = Phone.refreshing { $0.earliestBegin = .hours(10) }
    phone.group.usage = .always("active")
    phone.system.permitted = ["processing", "refresh", "r2"] + (1...10).map { "p\($0)" }
    phone.system.backgroundRefresh = .states("off", in: [60_000...70_000], otherwise: "on")
    var scene = phone.scene()
    for number in 1...10 { scene.submit("p\(number)", at: 1000 * Int64(number)) }
    scene.submit("r2", .refresh, at: 20_000)
    scene.submit("p3", at: 30_000)
    scene.submit("other", at: 40_000)
    scene.submit("p3", at: 65_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "submits") == (1...9).map { "\($0)000 submits p\($0)" } + [
        "10000 submits p10: 2", "20000 submits r2: 2", "30000 submits p3",
        "40000 submits other: 3", "65000 submits p3: 1",
      ])
    #expect(played.simulation.books.tallies.refusedRequests == 4)
  }

  @Test("E31: Background refresh switched off: what is pending waits, what runs runs on")
  func e31() {
    func story(_ off: ClosedRange<Int64>) -> [String] {
      Phone.scene {
        $0.system.backgroundRefresh = .states("off", in: [off], otherwise: "on")
        $0.stop = .seconds(800)
      }.play().story(of: 0, only: "begins", "ends")
    }
    #expect(story(50_000...300_000) == ["300000 begins task", "310660 ends completed"])
    #expect(story(105_000...300_000) == ["100000 begins task", "110660 ends completed"])
  }

  @Test("E34: Swiped away: no task until the app is opened, or at night only")
  func e34() {
    var never = Phone.scene { $0.stop = .seconds(2020) }
    never.inject(.forceQuit, "phones/0", at: 50_000)
    never.inject(.open, "phones/0", at: 2_000_000)
    // The poll checks and downloads in 4.340 s.
    #expect(
      never.play().story(of: 0, only: "begins")
        == ["2000000 begins activation", "2004340 begins task"])
    // From 20:00 on; midnight is 4 h later.
    var night = Phone.scene {
      $0.system.forceQuitPolicy = .nightOnly
      $0.processing.resubmit = .never
      $0.stop = .hours(6)
    }
    night.inputs.civilStart = 20 * 3600
    night.inject(.forceQuit, "phones/0", at: 50_000)
    #expect(night.play().story(of: 0, only: "begins") == ["14400000 begins task"])
  }

  @Test("E38: An app unused for eight days gets no task")
  func e38() {
    // In use, but not this app, for 8 days; then left alone.
    func begins(opened: Bool) -> [String] {
      var phone = Phone()
      phone.refresh = Phone.refreshing { $0.earliestBegin = .days(8) }
      phone.processing.resubmit = .never
      phone.group.usage = .states("active", in: [0...691_200_000], otherwise: "locked")
      phone.stop = .days(9)
      var scene = phone.scene()
      if opened { scene.inject(.open, "phones/0", at: 172_800_000) }
      return scene.play().story(of: 0, only: "begins")
    }
    #expect(begins(opened: false) == [])
    // Opened on day 2: both may start on day 8, the refresh task at once, its request renewed.
    #expect(
      begins(opened: true) == [
        "172800000 begins activation", "691200000 begins refresh", "691300000 begins task",
      ])
  }

  @Test("E46: Two tasks eligible at once: refresh first, processing when it has ended")
  func e46() {
    // Offline until 200 s; the refresh task checks and downloads in 4.340 s.
    var phone = Phone()
    phone.refresh = Phone.refreshing { $0.resubmit = .never }
    phone.group.link = .states("offline", in: [0...200_000], otherwise: "wifi")
    phone.stop = .seconds(800)
    #expect(
      phone.scene().play().story(of: 0, only: "begins")
        == ["200000 begins refresh", "204340 begins task"])
  }

  @Test("E47: Ten thousand devices plugged in at one moment start in their order, on any threads")
  func e47() {
    var phone = Phone()
    phone.processing.requiresExternalPower = true
    phone.processing.resubmit = .never
    phone.group.count = 10_000
    phone.group.power = .states("plugged", in: [150_000...900_000], otherwise: "unplugged")
    phone.stop = .seconds(200)
    var digests: [UInt64] = []
    for threads in [1, 3] {
      var inputs = phone.scene().inputs
      inputs.pool = WorkerPool(threads: threads)
      let tape = Tape(audits: false)
      var simulation = Simulation(inputs)
      simulation.run(observers: [tape])
      let started = tape.events.compactMap { entry -> Int32? in
        guard case .taskStart(let device, _) = entry.event else { return nil }
        return device
      }
      #expect(started == Array(0..<10_000))
      #expect(simulation.books.ledgers.attempts[.finished] == 10_000)
      digests.append(simulation.eventDigest.value)
    }
    #expect(digests[0] == digests[1])
  }
}
