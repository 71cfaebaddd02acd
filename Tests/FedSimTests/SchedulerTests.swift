import FedSim
import Learning
import Numerics
import Schema
import Testing

/// One phone with the processing task `exact`.
private func phone(
  _ change: (inout ProcessingSettings) -> Void = { _ in },
  group: (inout FleetGroupSettings) -> Void = { _ in }
) -> Scene {
  var processing = ProcessingSettings.exact
  change(&processing)
  var scene = Scene(
    fleet: [
      .group {
        $0.background.processing = processing
        $0.participation.retrain = .newVersions
        group(&$0)
      }
    ])
  scene.inputs.stop.after = .seconds(4000)
  return scene
}

@Suite("The operating system's scheduler")
struct SchedulerTests {
  @Test("A task starts once the device has been idle for long enough, and again each quarter hour")
  func idle() {
    // The request is pending since 0. Locked from 0: idle at 100 s. The next ones start with the
    // next quarters of an hour: 900, 1800, 2700, 3600 s.
    let played = phone().play()
    #expect(
      played.story(of: 0, only: "begins") == [
        "100000 begins task", "900000 begins task", "1800000 begins task", "2700000 begins task",
        "3600000 begins task",
      ])
    #expect(played.story(of: 0, only: "makes") == ["108340 makes 0 of v0 4b 4s"])
  }

  @Test("A person's use restarts the wait")
  func used() {
    // In use from 50 s to 200 s: idle at 300 s.
    let played = phone(group: { group in
      group.usage = .states("active", in: [50_000...200_000], otherwise: "locked")
    }).play()
    #expect(played.story(of: 0, only: "begins").first == "300000 begins task")
  }

  @Test("A person who takes up the phone expires the task")
  func takenUp() {
    // From 104.340 + 1.5 s on; batch 2 may end, in the grace.
    let played = phone(group: { group in
      group.usage = .states("active", in: [105_840...200_000], otherwise: "locked")
      group.interruption.onExpiry = .checkpoint
    }).play()
    #expect(
      played.story(of: 0, only: "checkpoint", "ends", "begins") == [
        "100000 begins task", "105840 checkpoint 1/4", "106340 checkpoint 2/4",
        "106340 ends expired", "900000 begins task", "906340 ends completed",
        "1800000 begins task", "1802020 ends nothingNew", "2700000 begins task",
        "2702020 ends nothingNew", "3600000 begins task", "3602020 ends nothingNew",
      ])
  }

  @Test("The charger is removed from a task that requires it")
  func chargerRemoved() {
    // Power from 300 s to 305 s, then from 1000 s on.
    func played(_ requires: Bool) -> Played {
      phone {
        $0.requiresExternalPower = requires
      } group: {
        $0.power = .states(
          "plugged", in: [300_000...305_000, 1_000_000...9_000_000], otherwise: "unplugged")
      }.play()
    }
    #expect(
      Array(played(true).story(of: 0, only: "begins", "ends", "trains", "cut").prefix(5)) == [
        "300000 begins task", "304340 trains v0 0/4", "305340 cut 1/4", "305340 ends expired",
        "1000000 begins task",
      ])
    #expect(
      Array(played(false).story(of: 0, only: "begins", "ends").prefix(2))
        == ["100000 begins task", "110660 ends completed"])
  }

  @Test("A task that requires a network waits for it; one that does not waits within")
  func network() {
    func played(_ requires: Bool) -> [String] {
      phone {
        $0.requiresNetworkConnectivity = requires
      } group: {
        $0.link = .states("offline", in: [0...130_000], otherwise: "wifi")
      }.play().story(of: 0, only: "begins", "accepted")
    }
    #expect(Array(played(true).prefix(2)) == ["130000 begins task", "132020 accepted r1"])
    #expect(Array(played(false).prefix(2)) == ["100000 begins task", "132020 accepted r1"])
  }

  @Test(
    "The app asks for its next task as it starts, as it completes, or never",
    arguments: [
      (
        ProcessingSettings.Resubmit.atStart, ["1000000", "2000000", "3000000", "4000000"]
      ),
      // The first task ends at 1010.660, the second, with nothing new, after 2.020 s.
      (.atCompletion, ["1000000", "2010660", "3012680"]), (.never, ["1000000"]),
    ])
  func resubmission(resubmit: ProcessingSettings.Resubmit, begins: [String]) {
    // Each request may begin 1000 s after it was made; the first is made at the start.
    let played = phone {
      $0.resubmit = resubmit
      $0.earliestBegin = .seconds(1000)
    }.play()
    #expect(played.story(of: 0, only: "begins") == begins.map { $0 + " begins task" })
  }

  @Test("After a kill nothing is asked for, until a person opens the app")
  func afterKill() {
    // Killed at 105 s. The request for the next task, due on completion, is never made; the phone
    // is taken up from 300 s to 400 s, and each time the app is opened.
    var scene = phone {
      $0.resubmit = .atCompletion
    } group: {
      $0.usage = .states("active", in: [300_000...400_000], otherwise: "locked")
      $0.participation.pollOnActivation = 1
    }
    scene.inject(.kill, "phones/0", at: 105_000)
    let played = scene.play()
    // The poll: check 302.020; nothing newer than version 0.
    #expect(
      Array(played.story(of: 0, only: "begins", "ends").prefix(5)) == [
        "100000 begins task", "105000 ends killed", "300000 begins activation",
        "302020 ends completed", "900000 begins task",
      ])
  }

  @Test("The soft expiry comes a grace before the hard one, within the bounds of the budget")
  func budget() {
    // 60 s would be the median; the bounds make it 8 s: soft at 106 s, hard at 108 s.
    let played = phone {
      $0.budgetMinimum = .seconds(8)
      $0.budgetMaximum = .seconds(8)
      $0.grace = .seconds(2)
    } group: {
      $0.interruption.onExpiry = .checkpoint
    }.play()
    // Batches end at 105.340, 106.340: one is done at 106 s, the second in the grace.
    #expect(
      Array(played.story(of: 0, only: "checkpoint", "cut", "ends").prefix(4)) == [
        "106000 checkpoint 1/4", "106340 cut 2/4", "106340 checkpoint 2/4",
        "106340 ends expired",
      ])
  }

  @Test("A budget is the stated draw, another one in each quarter of an hour")
  func drawnBudget() {
    // Tasks start at 100 s and 900 s, in the quarters 0 and 1; the soft expiry is 5 s before the
    // end. No batch ends the work before: there are 2,000.
    var processing = ProcessingSettings.exact
    processing.budgetSpread = 0.5
    processing.budgetMinimum = .seconds(10)
    processing.budgetMaximum = .seconds(700)
    var scene = Scene(
      .tiny(samples: [2000]), fleet: [.group { $0.background.processing = processing }])
    scene.inputs.stop.after = .seconds(1700)
    let key = StreamKey(seed: 1, purpose: "task-budget", group: "phones", ordinal: 0)
    let expected = [(Int64(100_000), UInt64(0)), (900_000, 1)].map { begin, quarter -> String in
      var stream = key.stream(slot: quarter)
      let budget = SimDuration(roundingUp: stream.logNormal(median: 60, sigma: 0.5))
      return milliseconds(ms(begin) + budget - .seconds(5)) + " expires"
    }
    #expect(Array(scene.play().story(of: 0, only: "expires").prefix(2)) == expected)
  }

  @Test("The start is drawn within its delay, and the conditions are looked at again")
  func startDelay() {
    let eligible = phone { $0.startDelay = .minutes(15) }.play()
    let begins = eligible.tape.observed.first { $0.kind == .sessionBegan(.task) }!.time
    #expect(begins >= ms(100_000) && begins < ms(1_000_000))
    // Unlocked just before that, for an instant: the task does not start then.
    let just = begins.microseconds / 1000 - 1
    let other = phone {
      $0.startDelay = .minutes(15)
    } group: {
      $0.usage = .states("active", in: [just...just + 1], otherwise: "locked")
    }.play()
    #expect(other.tape.observed.first { $0.kind == .sessionBegan(.task) }!.time > begins)
  }

  @Test("A device without data does not start tasks without end")
  func withoutData() {
    var scene = phone()
    scene.inputs.fleet[0].firstClient = 1
    let task = LearningTask.tiny(samples: [4, 0])
    scene.inputs.task = task
    let played = scene.play()
    #expect(played.simulation.books.tallies.sessionsWithoutData == 5)
  }
}
