import FedSim
import Learning
import Schema
import Testing

/// Phones a/0 and b/0 with Flower's library and server: a cohort of the two that wait first, whose
/// results arrive at 9.650 (see `Scene`).
private func flower(
  _ windows: [[[Int64]]] = [[[0, 60_000, 65_000]], [[0, 60_000, 65_000]]],
  task: LearningTask = .tiny(), acceptFailures: Bool = true,
  _ change: (inout ProtocolSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    task,
    fleet: zip(["a", "b"], windows).enumerated().map { place, group in
      .group(group.0, windows: group.1) {
        $0.firstClient = place
        $0.outbox.capacity = 0
        var settings = ProtocolSettings()
        settings.stream = true
        settings.onFailure = .report
        change(&settings)
        $0.protocol = settings
      }
    })
  var trigger = CohortAnsweredTrigger.Settings()
  trigger.acceptFailures = acceptFailures
  scene.inputs.server.selector = Choice(FractionSelector.self) { $0 }
  scene.inputs.server.trigger = [Choice(CohortAnsweredTrigger.self, trigger) { $0 }]
  return scene
}

@Suite("Edge cases of Flower's streams")
struct EdgeCaseStreamTests {
  private let start: [Float] = [0.25, -0.125, 0.5, 0.75, 0.0625, -0.5]

  @Test("E27: A fit that fails sends no samples and has no weight; all without: a failed round")
  func e27() {
    // a throws at 5 s: its answer of 1,300 bytes arrives at 6.310. b's weight is 4/4.
    let task = LearningTask.tiny(initial: start)
    var scene = flower(task: task)
    scene.inject(.throw, "a/0", at: 5_000)
    var played = scene.play()
    #expect(
      played.story(of: 0, only: "attempt", "makes", "arrives") == [
        "5000 attempt threw 0", "5000 makes 0 of v0 0b 0s", "6310 arrives 0",
      ])
    #expect(played.story(of: -1, only: "published").last == "9650 published v1 1")
    #expect(played.model(1) == directTraining(task, 0..<4, from: start, group: "b", client: 1))
    #expect(played.simulation.books.ledgers.updates[.weightless] == 1)
    #expect(played.simulation.books.ledgers.updates[.aggregated] == 1)

    // 0/0 is nobody's weight: the round fails at 6.310 and the parameters stay.
    scene.inject(.throw, "b/0", at: 5_000)
    played = scene.play()
    #expect(played.simulation.version == 0)
    #expect(played.simulation.model.values == start)
    #expect(played.tape.rounds.first?.outcome == .failed)
    #expect(played.tape.rounds.first?.closedAt == ms(6_310))
    #expect(played.simulation.books.ledgers.updates[.weightless] == 2)
  }

  @Test("E28: A client that is gone in its fit has failed: the others count, or none does")
  func e28() {
    // a's process ends at 6 s, in batch 2; the server sees its stream close at 6.010.
    let task = LearningTask.tiny(initial: start)
    func played(_ acceptFailures: Bool) -> Played {
      var scene = flower(task: task, acceptFailures: acceptFailures)
      scene.inject(.kill, "a/0", at: 6_000)
      return scene.play()
    }
    let accepted = played(true)
    #expect(
      accepted.story(of: 0, only: "attempt", "disconnects", "ends") == [
        "6000 attempt killed 1", "6000 disconnects unknown", "6000 ends killed",
      ])
    #expect(accepted.story(of: -1, only: "published").last == "9650 published v1 1")
    #expect(accepted.model(1) == directTraining(task, 0..<4, from: start, group: "b", client: 1))
    let refused = played(false)
    #expect(refused.story(of: -1, only: "skipped") == ["9650 skipped r1"])
    #expect(refused.simulation.model.values == start)
    #expect(refused.simulation.books.ledgers.updates[.roundSkipped] == 1)
    #expect(refused.simulation.serverRecord.exchangeTallies?.brokenStreams == 1)
    // Suspended at a soft expiry of 6 s, once batch 2 has ended at 6.340.
    let suspended = flower([[[0, 6_000, 7_000]], [[0, 60_000, 65_000]]]).play()
    #expect(
      suspended.story(of: 0, only: "attempt", "disconnects", "ends") == [
        "6340 attempt discardedAtExpiry 2", "6340 disconnects unknown", "6340 ends expired",
      ])
    #expect(suspended.story(of: -1, only: "published").last == "9650 published v1 1")
  }

  @Test(
    "E28: A stream whose link is lost is noticed after the keepalive, and is not taken up again")
  func lostLink() {
    // From 6 s on a has no link for 2 s; at 16 s the server notices and takes b's alone.
    var scene = flower { $0.keepalive = .seconds(10) }
    scene.inject(.dropLink, "a/0", at: 6_000, lasting: .seconds(2))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "attempt", "disconnects", "ends", "uploads") == [
        "6000 attempt conditionsLost 1", "6000 disconnects unknown", "6000 ends streamBroken",
      ])
    #expect(played.story(of: -1, only: "published").last == "16000 published v1 1")
  }

  @Test("E28: A second without a link in a fit: the stream waits for it, and so does its result")
  func shortGap() {
    // From 6 to 7 s, within the fit: as if nothing had been. From 8 to 9 s the fit ends without a
    // link at 8.340; its result goes out at 9.000: sent 10.300, at the server 10.310.
    func played(at start: Int64) -> Played {
      var scene = flower()
      scene.inputs.fleet[0].network.patience = .seconds(5)
      scene.inject(.dropLink, "a/0", at: start, lasting: .seconds(1))
      return scene.play()
    }
    let words = ["uploads", "arrives", "ends"]
    func story(_ played: Played) -> [String] {
      played.story(of: 0).filter { line in words.contains { line.contains($0) } }
    }
    #expect(
      story(played(at: 6_000)) == ["8340 uploads 0", "9650 arrives 0", "10660 ends completed"])
    #expect(played(at: 6_000).story(of: -1, only: "published").last == "9650 published v1 2")
    #expect(
      story(played(at: 8_000)) == ["9000 uploads 0", "10310 arrives 0", "11320 ends completed"])
    #expect(played(at: 8_000).story(of: -1, only: "published").last == "10310 published v1 2")
  }

  @Test("E28: A stream whose link is gone for too long breaks then, and its result with it")
  func longGap() {
    // From 6 s on; the fit ends at 8.340, the stream at 11. The server has heard nothing since 6:
    // it notices at 16, and takes b's alone.
    var scene = flower { $0.keepalive = .seconds(10) }
    scene.inputs.fleet[0].network.patience = .seconds(5)
    scene.inject(.dropLink, "a/0", at: 6_000, lasting: .seconds(14))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "attempt", "uploads", "disconnects", "ends", "ended") == [
        "8340 attempt finished 4", "11000 ended 0 dropped", "11000 disconnects unknown",
        "11000 ends streamBroken",
      ])
    #expect(played.story(of: -1, only: "published").last == "16000 published v1 1")
  }

  @Test("E28: A server whose keepalive is shorter than the gap breaks the stream")
  func shortKeepalive() {
    // The server gives the stream up at 8 s, 2 s after it last heard of a, whose fit ends there.
    var scene = flower { $0.keepalive = .seconds(2) }
    scene.inputs.fleet[0].network.patience = .seconds(5)
    scene.inject(.dropLink, "a/0", at: 6_000, lasting: .seconds(3))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "attempt", "disconnects", "ends") == [
        "8000 attempt conditionsLost 3", "8000 disconnects unknown", "8000 ends streamBroken",
      ])
    #expect(played.story(of: -1, only: "published").last == "9650 published v1 1")
    #expect(played.simulation.serverRecord.exchangeTallies?.brokenStreams == 1)
  }

  @Test("E28: A stream breaks with a handover, and the server notices after the keepalive")
  func handover() {
    var scene = flower { $0.keepalive = .seconds(10) }
    scene.inputs.fleet[0].link = .states("cellular", in: [6_000...500_000], otherwise: "wifi")
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "attempt", "disconnects", "ends", "uploads") == [
        "6000 attempt conditionsLost 1", "6000 disconnects unknown", "6000 ends streamBroken",
      ])
    #expect(played.story(of: -1, only: "published").last == "16000 published v1 1")
    // Where it survives, the result takes 2.6 s over cellular, and 20 ms.
    scene.inputs.fleet[0].network.handover = .survives
    #expect(scene.play().story(of: -1, only: "published").last == "10960 published v1 2")
  }

  @Test("E28: All members gone: the round is skipped at the last one's failure")
  func allGone() {
    var scene = flower()
    scene.inject(.kill, "a/0", at: 6_000)
    scene.inject(.kill, "b/0", at: 7_000)
    let played = scene.play()
    #expect(played.story(of: -1, only: "skipped") == ["7010 skipped r1"])
    #expect(played.simulation.version == 0)
  }

  @Test("E29: Asked to reconnect in 30 s: never as coded while the process lives, else at +30 s")
  func e29() {
    // a waits for its cohort from 1.010 on and is answered at 20 s. b comes at 45 s and waits from
    // 46.010 on. Back at 50 s, a is at the server at 51.010, and both read it at 52.020.
    func played(_ reconnect: ProtocolSettings.Reconnect) -> Played {
      var scene = flower(
        [
          [[0, 80_000, 85_000], [90_000, 100_000, 105_000], [120_000, 180_000, 185_000]],
          [[45_000, 300_000, 305_000]],
        ]
      ) { $0.reconnect = reconnect }
      scene.inject(.reconnect, "a/0", at: 20_000, lasting: .seconds(30))
      scene.inject(.kill, "a/0", at: 110_000)
      return scene.play()
    }
    // A new process, after the kill, connects again: at the server at 121.010.
    #expect(
      played(.asCoded).story(of: 0, only: "disconnects", "accepted", "begins", "ends") == [
        "0 begins window", "20000 disconnects reconnect", "20000 ends disconnected",
        "90000 begins window", "90000 ends disconnected", "120000 begins window",
        "122020 accepted r1", "130660 ends completed",
      ])
    #expect(
      played(.fixed).story(of: 0, only: "disconnects", "accepted", "ends").prefix(3) == [
        "20000 disconnects reconnect", "52020 accepted r1", "60660 ends completed",
      ])
  }

  @Test("E29: Asked to reconnect in a task: the task waits for it, for nobody was rejected")
  func reconnectInTask() {
    // Accepted at 102.020; back at 114 s, accepted again 2.020 s later; the receipt after 10.660.
    var scene = Phone.scene {
      $0.group.protocol = ProtocolSettings()
      $0.group.protocol!.stream = true
      $0.group.protocol!.reconnect = .fixed
      $0.stop = .seconds(800)
    }
    scene.inject(.reconnect, "phones/0", at: 104_000, lasting: .seconds(10))
    #expect(
      scene.play().story(of: 0, only: "disconnects", "accepted", "ends") == [
        "102020 accepted r1", "104000 disconnects reconnect", "116020 accepted r1",
        "124660 ends completed",
      ])
  }

  @Test("E29: Asked to reconnect in the middle of a fit: the fit has failed")
  func reconnectInFit() {
    var scene = flower { $0.reconnect = .fixed }
    scene.inject(.reconnect, "a/0", at: 6_000, lasting: .seconds(30))
    let played = scene.play()
    #expect(played.story(of: -1, only: "published").last == "9650 published v1 1")
    #expect(played.simulation.serverRecord.exchangeTallies?.brokenStreams == 1)
    #expect(played.simulation.serverRecord.exchangeTallies?.reconnects == 1)
  }
}
