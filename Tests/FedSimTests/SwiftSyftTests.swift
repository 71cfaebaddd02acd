import FedSim
import Learning
import Schema
import Testing

/// One phone with a task of 60 s from 100 s on, under a PyGrid server; see `Phone`.
private func task(
  cycle: (inout CycleSettings) -> Void = { _ in },
  timeouts: ProtocolSettings.Timeouts = .honoured, phone change: (inout Phone) -> Void = { _ in }
) -> Scene {
  var phone = Phone()
  phone.app = AppSettings()
  phone.group.protocol = ProtocolSettings()
  phone.group.protocol!.timeouts = timeouts
  phone.group.outbox.capacity = 0
  phone.group.participation.retrain = .always
  phone.stop = .seconds(2_000)
  change(&phone)
  var scene = phone.scene()
  var settings = CycleSettings()
  settings.maximumDiffs = 1
  cycle(&settings)
  scene.inputs.server.payload = .delta
  scene.inputs.server.duplicates = .overwrite
  scene.inputs.server.selector = Choice(CycleSelector.self, settings) { $0 }
  scene.inputs.server.trigger = [Choice(CycleEndTrigger.self) { $0 }]
  scene.inputs.server.aggregator = Choice(UniformMean.self) { $0 }
  return scene
}

/// What SwiftSyft's code does where its tutorial says something else, or nothing. The battery that
/// is full is E8, the text of a timeout E24, the expiry that never completes E4, the flag E5.
@Suite("SwiftSyft as coded")
struct SwiftSyftTests {
  @Test("Rejected for good: as documented the task is completed; as coded it waits for its kill")
  func rejection() {
    // As coded the last of one cycle lets nobody in: it learns that at 102.020. The task's soft
    // expiry is at 155 s, its hard one at 160 s.
    func story(_ change: (inout AppSettings) -> Void) -> [String] {
      task(
        cycle: { $0.cycles = 1 },
        phone: {
          change(&$0.app!)
          $0.processing.resubmit = .never
        }
      ).play().story(of: 0, only: "rejected", "ends", "killed")
    }
    #expect(story { _ in } == ["102020 rejected for good", "102020 ends rejected"])
    #expect(
      story {
        $0.onRejection = .forget
        $0.onExpiration = .forget
      } == ["102020 rejected for good", "160000 killed", "160000 ends killed"])
    // An expiration handler that completes the task ends the wait without a kill.
    #expect(
      story { $0.onRejection = .forget } == ["102020 rejected for good", "155000 ends expired"])
  }

  @Test("Rejected with a time: the task is completed, and a task before that time asks nothing")
  func rejectionWithTime() {
    // Too slow for the cycle, which ends at 1000 s: asked at 101.010, 898.990 s are left; not
    // before 1001.010 again. Tasks begin at 100, 900 and 1800 s.
    func story(_ change: (inout AppSettings) -> Void) -> [String] {
      task(
        cycle: {
          $0.mode = .asDocumented
          $0.length = .seconds(1_000)
          $0.minimumUpload = BitRate(bitsPerSecond: 8_001)
        },
        phone: {
          change(&$0.app!)
          $0.processing.resubmit = .atStart
        }
      ).play().story(of: 0, only: "rejected", "ends", "killed")
    }
    #expect(
      story { _ in } == [
        "102020 rejected 898990", "102020 ends rejected", "900000 ends rejected",
        "1802020 rejected -801010", "1802020 ends rejected",
      ])
    // An app that forgets to complete it waits for its kill, which costs it half the next task, and
    // the new process knows of no time.
    #expect(
      story {
        $0.onRejection = .forget
        $0.onExpiration = .forget
      }.prefix(5) == [
        "102020 rejected 898990", "160000 killed", "160000 ends killed", "902020 rejected 98990",
        "930000 killed",
      ])
  }

  @Test("An opened app and a refresh task have no key and ask for no model")
  func opened() {
    var scene = task()
    scene.inject(.open, "phones/0", at: 10_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "begins", "downloaded", "ends").prefix(2) == [
        "10000 begins activation", "12020 ends completed",
      ])
    #expect(played.simulation.serverRecord.exchangeTallies?.invalidKeys == 0)
    let refreshed = task(phone: { $0.refresh = Phone.refreshing() }).play()
    #expect(
      refreshed.story(of: 0, only: "begins", "downloaded", "ends").prefix(2) == [
        "0 begins refresh", "2020 ends completed",
      ])
    #expect(refreshed.simulation.serverRecord.exchangeTallies?.invalidKeys == 0)
  }

  @Test("A rejection that it cannot read is an error, and errors complete the task")
  func unreadableRejection() {
    // Too slow for the cycle: rejected with 8 h less what has passed, in words.
    let played = task(
      cycle: { $0.minimumUpload = BitRate(bitsPerSecond: 8_001) }, timeouts: .strictInteger,
      phone: {
        $0.app!.onRejection = .forget
        $0.app!.onExpiration = .forget
        $0.processing.resubmit = .never
      }
    ).play()
    #expect(played.story(of: 0, only: "ends", "killed") == ["102020 ends unknownError"])
    #expect(played.simulation.serverRecord.exchangeTallies?.undecodedTimeouts == 1)
  }

  @Test(
    "A request submitted only at launch gives one task; a renewed one gives a task each time")
  func oneRequest() {
    // At most one task in a quarter of an hour.
    func begins(_ resubmit: ProcessingSettings.Resubmit) -> [String] {
      task(phone: { $0.processing.resubmit = resubmit }).play().story(of: 0, only: "begins")
    }
    #expect(begins(.never) == ["100000 begins task"])
    #expect(
      begins(.atStart) == ["100000 begins task", "900000 begins task", "1800000 begins task"])
  }

  @Test("The task is completed as the report begins: suspended before it is sent, it is lost")
  func completedEarly() {
    // The report begins at 108.340 and takes 1.3 s. Half a second later the app is suspended.
    func story(_ rest: SimDuration?) -> [String] {
      task(phone: { $0.app!.completesEarly = rest }).play()
        .story(of: 0, only: "arrives", "fails", "ends").prefix(2).map { $0 }
    }
    #expect(story(nil) == ["109650 arrives 0", "110660 ends completed"])
    #expect(story(.milliseconds(500)) == ["108840 fails 0 cancelled", "108840 ends completed"])
    #expect(story(.seconds(5)) == ["109650 arrives 0", "110660 ends completed"])
  }

  @Test("A task that is complete with the upload of an old report may be suspended in a training")
  func suspendedInTraining() {
    // The first task's report is lost with the link and kept; the app is suspended 8 s after it
    // began. The second task sends it from 900 s on: its receipt is there at 902.320, and the
    // training begins 4.340 s later. At 908 s the app is suspended, in the second batch.
    var scene = task(phone: {
      $0.app!.completesEarly = .seconds(8)
      $0.group.outbox.capacity = 1
      $0.group.outbox.flushes = true
    })
    scene.inject(.dropLink, "phones/0", at: 109_040, lasting: .seconds(100))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "uploads", "fails", "arrives", "receipt", "attempt", "ends")
        .prefix(7) == [
          "108340 attempt finished 4", "108340 uploads 0", "109040 fails 0 linkLost",
          "116340 ends completed", "900000 uploads 0", "901310 arrives 0",
          "902320 receipt 0 aggregated v1 n0",
        ])
    #expect(
      played.story(of: 0, only: "attempt", "ends").dropFirst(2).prefix(2) == [
        "908000 attempt discardedAtExpiry 1", "908000 ends completed",
      ])
  }

  @Test("A report is sent once: what is lost on its way is not sent again")
  func noRetry() {
    var scene = task()
    // Sent 700 of 1,300 bytes; the link is back a second later, the task runs on.
    scene.inject(.dropLink, "phones/0", at: 109_040, lasting: .seconds(1))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "uploads", "fails", "arrives", "ends").prefix(3) == [
        "108340 uploads 0", "109040 fails 0 linkLost", "109040 ends completed",
      ])
    #expect(played.simulation.books.ledgers.updates[.dropped] == 1)
  }

  @Test("A wrong address, an exception and an error each end the task, which is completed")
  func failures() {
    var scene = task()
    scene.inject(.wrongURL, "phones/0", at: 50_000, lasting: .seconds(100))
    // The second task trains from 904.340 on, the third finds no answer for 60 s.
    scene.inject(.throw, "phones/0", at: 905_000)
    scene.inputs.server.reachable = .states("down", in: [1_700_000...2_000_000], otherwise: "up")
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "ends", "killed") == [
        "100000 ends wrongURL", "905000 ends threw", "1855000 ends expired",
      ])
    #expect(played.simulation.books.tallies.kills == 0)
  }
}
