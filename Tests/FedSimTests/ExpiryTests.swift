import FedSim
import Learning
import Schema
import Testing

/// One device with 8 samples in batches of 1: batch n ends at 4.340 + n seconds.
private func phone(
  windows: [[Int64]], _ onExpiry: InterruptionSettings.OnExpiry,
  _ change: (inout FleetGroupSettings) -> Void = { _ in }
) -> FleetGroupSettings {
  .group("phones", windows: windows) {
    $0.interruption.onExpiry = onExpiry
    $0.participation.retrain = .newVersions
    change(&$0)
  }
}

private let eight = LearningTask.tiny(samples: [8, 8])

/// The scene of one phone whose every update is a version.
private func scene(_ fleet: FleetGroupSettings...) -> Scene {
  var scene = Scene(eight, fleet: fleet)
  scene.threshold(1)
  return scene
}

/// The parameters that a direct training of these batches gives; epochs from `epoch` on.
private func trained(
  _ batches: Range<Int>, from start: [Float], group: String = "phones", client: Int = 0,
  epoch: UInt64 = 0, task: LearningTask = eight
) -> [Float] {
  directTraining(
    task, batches, from: start, group: group, client: client, firstEpoch: epoch)
}

private let zeros: [Float] = [0, 0, 0, 0, 0, 0]

@Suite("A training that is cut off")
struct ExpiryTests {
  /// (soft, hard, batches that count, whether the process is killed), times in milliseconds.
  ///
  /// Batch 2 ends at 6,340, batch 3 at 7,340.
  static let deadlines: [(soft: Int64, hard: Int64, batches: Int, isKilled: Bool)] = [
    (6_340, 9_000, 2, false),  // batch 2 ends at the soft expiry: it was running, it counts
    (6_341, 9_000, 3, false),  // batch 3 has begun: it may end
    (7_339, 7_341, 3, false),  // it ends just before the hard expiry
    (7_339, 7_340, 2, true),  // it ends at the hard expiry: not counted, and the process dies
    (6_500, 7_000, 2, true),  // it is too long for the grace
    (4_341, 9_000, 1, false),  // the first batch is running
    (4_341, 5_000, 0, true),
    (11_500, 13_000, 8, false),  // the last batch is running: the training is whole
  ]

  @Test("submitPartial submits the batches that ended before the hard expiry", arguments: deadlines)
  func submitPartial(soft: Int64, hard: Int64, batches: Int, isKilled: Bool) {
    // After the cut the upload continues until the hard expiry, and is done in the next window.
    let played = scene(
      phone(windows: [[0, soft, hard], [20_000, 40_000, 45_000]], .submitPartial)
    ).play()
    let ends = 4_340 + 1000 * Int64(batches)
    if isKilled {
      #expect(played.story(of: 0, only: "attempt").first == "\(hard) attempt killed \(batches)")
      #expect(played.simulation.books.tallies.kills == 1)
      #expect(played.simulation.books.ledgers.batchesWasted == batches)
      // The next window trains again, in the order of the second data epoch.
      #expect(played.model(1) == trained(0..<8, from: zeros, epoch: 1))
    } else {
      let outcome = batches == 8 ? "finished" : "submittedPartial"
      #expect(played.story(of: 0, only: "attempt").first == "\(ends) attempt \(outcome) \(batches)")
      #expect(
        played.story(of: 0, only: "makes").first == "\(ends) makes 0 of v0 \(batches)b \(batches)s")
      #expect(played.model(1) == trained(0..<batches, from: zeros))
      #expect(played.simulation.books.ledgers.batchesUsed >= batches)
    }
    #expect(played.simulation.books.tallies.expiredTrainings == 1)
  }

  @Test("discard throws the batches away and the model stays", arguments: deadlines)
  func discard(soft: Int64, hard: Int64, batches: Int, isKilled: Bool) {
    let played = scene(phone(windows: [[0, soft, hard]], .discard)).play()
    let ends = isKilled ? hard : 4_340 + 1000 * Int64(batches)
    let outcome = isKilled ? "killed" : batches == 8 ? "finished" : "discardedAtExpiry"
    #expect(played.story(of: 0, only: "attempt") == ["\(ends) attempt \(outcome) \(batches)"])
    #expect(played.tape.versions.count == 1)
    #expect(played.simulation.books.ledgers.updates.opened == (batches == 8 ? 1 : 0))
    #expect(played.simulation.books.ledgers.batchesWasted == (batches == 8 ? 0 : batches))
  }

  @Test("checkpoint continues where it was, and ends in the bits of a training in one piece")
  func checkpoint() {
    // Batch 3 runs at the soft expiry, 6.5 s: 2 batches are saved then, 3 as it ends at 7.340.
    // The next window asks at 20 s, trains at 22.020, and 5 batches later it is done.
    let played = scene(
      phone(windows: [[0, 6_500, 9_000], [20_000, 40_000, 45_000]], .checkpoint)
    ).play()
    #expect(
      Array(played.story(of: 0).dropFirst(3)) == [
        "4340 trains v0 0/8", "6500 checkpoint 2/8", "7340 cut 3/8", "7340 checkpoint 3/8",
        "7340 ends expired", "20000 begins window", "22020 accepted r1", "22020 trains v0 3/8",
        "27020 attempt finished 8", "27020 makes 0 of v0 8b 8s", "27020 uploads 0",
        "28330 arrives 0", "29340 receipt 0 aggregated v1 n0", "29340 ends completed",
      ])
    #expect(played.model(1) == trained(0..<8, from: zeros))
    #expect(played.simulation.books.tallies.checkpoints.resumed == 1)
    #expect(played.simulation.books.ledgers.attempts.opened == 1)
    #expect(played.simulation.books.ledgers.batchesWasted == 0)
  }

  @Test("A process killed in its grace keeps what was saved at the soft expiry")
  func killedAfterCheckpoint() {
    // 2 batches are saved at 6.5 s; the third would end at 7.340, the process dies at 7.2.
    let played = scene(
      phone(windows: [[0, 6_500, 7_200], [20_000, 40_000, 45_000]], .checkpoint)
    ).play()
    #expect(
      played.story(of: 0, only: "checkpoint", "cut", "killed", "trains") == [
        "4340 trains v0 0/8", "6500 checkpoint 2/8", "7200 killed", "7200 cut 2/8",
        "22020 trains v0 2/8",
      ])
    #expect(played.model(1) == trained(0..<8, from: zeros))
    #expect(played.simulation.books.ledgers.attempts[.killed] == 0)
  }

  @Test("The hard expiry comes before a last byte of the same microsecond")
  func hardExpiryFirst() {
    // 8 batches end at 12.340; the update's last byte leaves at 13.640.
    func story(_ hard: Int64) -> [String] {
      scene(phone(windows: [[0, 13_000, hard]], .discard)).play()
        .story(of: 0, only: "uploads", "fails", "arrives")
    }
    #expect(story(13_640) == ["12340 uploads 0", "13640 fails 0 cancelled"])
    #expect(
      story(13_641) == ["12340 uploads 0", "13641 fails 0 unacknowledged", "13650 arrives 0"])
  }

  @Test("Many small windows end in the bits of a training in one piece")
  func manyWindows() {
    // Each window of 3.1 s is just enough for the check and one batch, the running one at 3.1.
    let windows: [[Int64]] = (0..<12).map { number in
      [20_000, 23_100, 29_000].map { $0 + 10_000 * number }
    }
    let first: [Int64] = [0, 4_500, 9_000]
    let played = scene(phone(windows: [first] + windows, .checkpoint)).play()
    // 1 batch in the first window, then 2 in each: 1, 3, 5, 7, 8.
    #expect(
      played.story(of: 0, only: "cut").map { $0.split(separator: " ").last! }
        == ["1/8", "3/8", "5/8", "7/8"])
    #expect(played.model(1) == trained(0..<8, from: zeros))
    #expect(played.version(1).samplesProcessed == 8)
  }

  /// Phone 0 saves 3 batches on version 0; a second device then publishes version 1 at 50 + 13.650;
  /// phone 0 continues at 100 s: check until 102.020, download until 104.340.
  private func moved(
    _ choice: InterruptionSettings.OnModelMoved, maximumAge: SimDuration? = nil
  ) -> Played {
    scene(
      phone(windows: [[0, 6_500, 9_000], [100_000, 140_000, 145_000]], .checkpoint) {
        $0.interruption.onModelMoved = choice
        $0.interruption.maximumAge = maximumAge
      }, .group("other", windows: [[50_000, 90_000, 95_000]])
    ).play()
  }

  @Test("finish: the checkpoint ends on its old base")
  func finish() {
    let played = moved(.finish)
    #expect(
      played.story(of: 0, only: "downloaded", "trains", "makes") == [
        "4340 downloaded v0", "4340 trains v0 0/8", "104340 downloaded v1",
        "104340 trains v0 3/8", "109340 makes 1 of v0 8b 8s",
      ])
    #expect(played.model(1) == trained(0..<8, from: zeros, group: "other", client: 1))
    #expect(played.model(2) == trained(0..<8, from: zeros))
    #expect(played.version(2).meanStaleness == 1)
    // Base 0 was published at 0; the update arrives at 109.340 + 1.310.
    #expect(played.version(2).meanStalenessSeconds == 110.65)
  }

  @Test("restart: the checkpoint is given up for a training from the new version")
  func restart() {
    let played = moved(.restart)
    #expect(
      played.story(of: 0, only: "trains", "makes", "attempt") == [
        "4340 trains v0 0/8", "104340 attempt restarted 3", "104340 trains v1 0/8",
        "112340 attempt finished 8", "112340 makes 1 of v1 8b 8s",
      ])
    let first = trained(0..<8, from: zeros, group: "other", client: 1)
    #expect(played.model(2) == trained(0..<8, from: first, epoch: 1))
    #expect(played.simulation.books.ledgers.batchesWasted == 3)
    #expect(played.simulation.books.ledgers.attempts[.restarted] == 1)
  }

  @Test("rebase: the checkpoint moves to the new version and continues")
  func rebase() {
    let played = moved(.rebase)
    #expect(
      played.story(of: 0, only: "trains", "makes") == [
        "4340 trains v0 0/8", "104340 trains v1 3/8", "109340 makes 1 of v1 8b 8s",
      ])
    let first = trained(0..<8, from: zeros, group: "other", client: 1)
    // checkpoint − old + new, in double precision, rounded once.
    let checkpoint = trained(0..<3, from: zeros)
    let start = first.indices.map { i -> Float in
      let way = Double(checkpoint[i]) - Double(zeros[i])
      return Float(way + Double(first[i]))
    }
    #expect(played.model(2) == trained(3..<8, from: start))
    #expect(played.simulation.books.tallies.checkpoints.rebased == 1)
    #expect(played.version(2).meanStaleness == 0)
  }

  @Test("A checkpoint older than its limit is thrown away when it is wanted")
  func maximumAge() {
    // Written at 7.340, wanted at 104.340.
    let late = moved(.finish, maximumAge: .seconds(97) - SimDuration(microseconds: 1))
    #expect(
      late.story(of: 0, only: "attempt outdated", "trains") == [
        "4340 trains v0 0/8", "104340 attempt outdated 3", "104340 trains v1 0/8",
      ])
    let inTime = moved(.finish, maximumAge: .seconds(97))
    #expect(inTime.simulation.books.ledgers.attempts[.outdated] == 0)
  }
}

@Suite("Scripted events and lost conditions")
struct InterruptionTests {
  private let window: [[Int64]] = [[0, 100_000, 105_000]]

  @Test("kill: the batches are lost and the window is over")
  func kill() {
    var scene = scene(phone(windows: window, .discard))
    scene.inject(.kill, "phones/0", at: 7_000)
    let played = scene.play()
    #expect(
      Array(played.story(of: 0).suffix(4)) == [
        "4340 trains v0 0/8", "7000 killed", "7000 attempt killed 2", "7000 ends killed",
      ])
  }

  @Test("throw: the attempt ends as thrown")
  func throwing() {
    var scene = scene(phone(windows: window, .checkpoint))
    // Batch 3 ends in this microsecond and is not counted.
    scene.inject(.throw, "phones/0", at: 7_340)
    #expect(
      Array(scene.play().story(of: 0).suffix(2)) == ["7340 attempt threw 2", "7340 ends threw"])
  }

  @Test("expire: the task expires now, with its grace")
  func expire() {
    var scene = scene(phone(windows: window, .submitPartial))
    scene.inject(.expire, "phones/0", at: 7_000, hard: .seconds(2))
    // Batch 3 ends at 7.340; the upload of 1.3 s is sent at 8.640, received at 8.650; the hard
    // expiry at 9.000 comes before the answer is read.
    #expect(
      Array(scene.play().story(of: 0).suffix(7)) == [
        "7340 cut 3/8", "7340 attempt submittedPartial 3", "7340 makes 0 of v0 3b 3s",
        "7340 uploads 0", "8650 arrives 0", "9000 fails 0 cancelled", "9000 ends expired",
      ])
  }

  @Test("launch: a task without a window")
  func launch() {
    var scene = scene(phone(windows: [], .discard))
    scene.inject(.launch, "phones/0", at: 1_000)
    #expect(
      scene.play().story(of: 0, only: "begins", "makes", "ends") == [
        "1000 begins window", "13340 makes 0 of v0 8b 8s", "15660 ends completed",
      ])
  }

  @Test("dropLink: the transfer is lost and taken up when the link returns")
  func dropLink() {
    var scene = scene(phone(windows: window, .discard))
    scene.inject(.dropLink, "phones/0", at: 3_500, lasting: .seconds(10))
    let played = scene.play()
    // The download fails at 3.5 s; from 13.5 s the session asks again.
    #expect(
      played.story(of: 0, only: "accepted", "downloaded")
        == ["2020 accepted r1", "15520 accepted r1", "17840 downloaded v0"])
    #expect(played.simulation.books.ledgers.transmissions[.linkLost] == 1)
    // Of the model 460 bytes had come: from 3.040 to 3.500 at 1,000 bytes a second.
    #expect(played.simulation.books.ledgers.bytesDown == 1000 + 460 + 1000 + 1300 + 1000)
    // It took part again when it asked again.
    #expect(played.simulation.participations.hours[0][.accepted] == 2)
    #expect(played.simulation.participations.hours[0][.aggregated] == 1)
  }

  @Test("A scripted event that finds nothing to act on is counted")
  func withoutEffect() {
    var scene = scene(phone(windows: window, .discard))
    scene.inject(.kill, "phones/0", at: 200_000)
    scene.inject(.throw, "phones/0", at: 1_500)
    scene.inject(.launch, "phones/0", at: 2_500)
    #expect(scene.play().simulation.books.tallies.injectionsWithoutEffect == 3)
  }

  @Test(
    "When a condition of participation is lost, training is aborted, suspended, or continues",
    arguments: [
      (
        InterruptionSettings.OnConditionsLost.abort,
        ["7500 attempt conditionsLost 3", "7500 ends conditionsLost", "60000 begins window"]
      ),
      (
        .suspend, ["7500 checkpoint 3/8", "7500 ends conditionsLost", "60000 begins window"]
      ),
      (.ignore, ["12340 attempt finished 8", "12340 makes 0 of v0 8b 8s", "12340 uploads 0"]),
    ])
  func conditionsLost(policy: InterruptionSettings.OnConditionsLost, next: [String]) {
    // The charger is gone from 7.5 s to 50 s: 3 batches are done.
    let fleet = phone(
      windows: [[0, 40_000, 45_000], [60_000, 100_000, 105_000]], .discard
    ) {
      $0.participation.externalPower = true
      $0.interruption.onConditionsLost = policy
      $0.power = .states("unplugged", in: [7_500...50_000], otherwise: "plugged")
    }
    let played = scene(fleet).play()
    #expect(Array(played.story(of: 0).dropFirst(4).prefix(3)) == next)
    if policy == .suspend {
      #expect(played.story(of: 0, only: "trains").dropFirst().first == "62020 trains v0 3/8")
      #expect(played.model(1) == trained(0..<8, from: zeros))
    }
  }

  @Test("A session that begins without its condition does not take part")
  func ineligible() {
    let fleet = phone(windows: window, .discard) {
      $0.participation.network = .wifi
      $0.link = .always("cellular")
    }
    let played = scene(fleet).play()
    #expect(played.story(of: 0) == ["0 begins window", "0 ends ineligible"])
    #expect(played.simulation.books.tallies.ineligibleSessions == 1)
    #expect(played.simulation.participations.hours.isEmpty)
  }

  @Test("E45: A device without data does not ask")
  func withoutData() {
    var scene = Scene(.tiny(samples: [0, 4]), fleet: [phone(windows: window, .discard)])
    scene.threshold(1)
    let played = scene.play()
    #expect(played.story(of: 0) == ["0 begins window", "0 ends withoutData"])
  }

  @Test("A window that its session has left early begins no second one in its grace")
  func oneSessionAWindow() {
    let played = scene(phone(windows: [[0, 50_000, 60_000]], .discard)).play()
    #expect(played.story(of: 0, only: "begins") == ["0 begins window"])
    #expect(played.simulation.books.tallies.sessions == 1)
  }

  @Test("Where two windows touch, the second begins as the first expires")
  func touchingWindows() {
    let played = scene(phone(windows: [[0, 6_500, 7_000], [7_000, 50_000, 55_000]], .checkpoint))
      .play()
    #expect(
      played.story(of: 0, only: "begins", "ends", "killed", "trains") == [
        "0 begins window", "4340 trains v0 0/8", "7000 killed", "7000 ends killed",
        "7000 begins window", "9020 trains v0 2/8", "17340 ends completed",
      ])
  }

  @Test("A window shorter than its grace expires as it opens")
  func shortWindow() {
    let fleet = phone(windows: [], .discard) {
      $0.background.windows = .fixed([(from: 1_000, soft: nil, to: 3_000, state: nil)])
      $0.background.windowGrace = .seconds(5)
    }
    #expect(scene(fleet).play().story(of: 0) == ["1000 begins window", "1000 ends expired"])
  }
}
