import FedSim
import Learning
import Schema
import Testing

/// Phones a/0, b/0 and so on, on streams that stay open; see `Scene`. Each waits for a cohort from
/// 1.010 s after its window opens; a first cohort's results arrive at 9.650, so version 1 is there.
///
/// From then on an instruction and its model, of 1,300 bytes, take 10 ms and 1.300 s: they are
/// there at 10.960. Four batches end at 14.960, and the result arrives at 16.270.
private func connected(
  _ windows: [[[Int64]]] = [[[0, 600_000, 605_000]], [[0, 600_000, 605_000]]], rounds: Int = 2,
  group change: (inout FleetGroupSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    .tiny(),
    fleet: zip(["a", "b", "c"], windows).enumerated().map { place, given in
      .group(given.0, windows: given.1) {
        $0.firstClient = place
        $0.outbox.capacity = 0
        $0.participation.repeats = true
        $0.participation.pause = .seconds(1)
        $0.protocol = ProtocolSettings()
        $0.protocol!.stream = true
        change(&$0)
      }
    })
  scene.inputs.server.selector = Choice(FractionSelector.self) { $0 }
  scene.inputs.server.trigger = [Choice(CohortAnsweredTrigger.self) { $0 }]
  scene.inputs.stop.rounds = rounds
  scene.inputs.stop.after = .seconds(500)
  return scene
}

/// b trains with batches of 3 s: its first result arrives 8 s after that of the others.
private func slow(_ group: inout FleetGroupSettings) {
  if group.name == "b" { group.compute.perBatch = .seconds(3) }
}

@Suite("Streams that stay open between instructions")
struct OpenStreamTests {
  @Test("Two phones that are always open: round 2's cohort is formed as version 1 is published")
  func twoRounds() {
    let played = connected().play()
    #expect(
      played.story(of: -1, only: "cohort", "published") == [
        "0 published v0 0", "1010 cohort r1 2", "9650 published v1 2", "9650 cohort r2 2",
        "16270 published v2 2",
      ])
    for device in 0..<2 {
      #expect(
        played.story(of: device, only: "accepted", "downloaded", "arrives", "rests", "receipt") == [
          "2020 accepted r1", "4340 downloaded v0", "9650 arrives \(device)",
          "10960 accepted r2", "10960 downloaded v1", "16270 arrives \(device + 2)",
        ])
    }
    // A device sends a check, a request for a model, and two results; it is sent an answer, a
    // model, and an instruction with its model.
    let ledgers = played.simulation.books.ledgers
    #expect(ledgers.bytesUp == 2 * (1_000 + 1_000 + 1_300 + 1_300))
    #expect(ledgers.bytesDown == 2 * (1_000 + 1_300 + 1_300))
    // Check, fetch, two results and an instruction.
    #expect(ledgers.transmissions.opened == 10)
    #expect(ledgers.transmissions[.delivered] == 10)
    #expect(ledgers.updates[.aggregated] == 4)
    // Both take part in each round. Who has sent its result waits for the next one already.
    let rounds = played.simulation.participations.rounds
    #expect((rounds[1][.eligible], rounds[1][.accepted], rounds[1][.aggregated]) == (4, 2, 2))
    #expect((rounds[2][.eligible], rounds[2][.accepted], rounds[2][.aggregated]) == (4, 2, 2))
    #expect(played.simulation.serverRecord.exchangeTallies?.brokenStreams == 0)
  }

  @Test("A stream that breaks between two rounds and is back in time: the device takes part again")
  func brokenBetween() {
    // a's result arrives at 9.650, b's at 17.650. From 12 s to 14 s a has no link; its check is at
    // the server at 15.010. The cohort of 17.650 has both. a is accepted at 18.660, as with any
    // check, and fetches the model by 20.980; its result is there at 26.290, b's at 32.270. At
    // 22 s the server notices the end of a stream that it asks nothing of.
    var scene = connected(group: slow)
    for place in 0..<2 { scene.inputs.fleet[place].protocol!.keepalive = .seconds(10) }
    scene.inject(.dropLink, "a/0", at: 12_000, lasting: .seconds(2))
    let played = scene.play()
    #expect(
      played.story(of: -1, only: "cohort", "published").suffix(3) == [
        "17650 published v1 2", "17650 cohort r2 2", "32270 published v2 2",
      ])
    #expect(
      played.story(of: 0, only: "accepted", "downloaded", "arrives", "ends", "disconnects") == [
        "2020 accepted r1", "4340 downloaded v0", "9650 arrives 0", "18660 accepted r2",
        "20980 downloaded v1", "26290 arrives 2",
      ])
    #expect(played.simulation.serverRecord.exchangeTallies?.brokenStreams == 0)
  }

  @Test("A stream that breaks between two rounds and is not back: unknown to the server, it fails")
  func chosenDead() {
    // a has no link from 12 s on. With a keepalive of 10 s the server chooses it at 17.650, and
    // knows better at 22.000: version 2 is b's alone. With one of 4 s it has forgotten it at 16 s,
    // and nobody is chosen until a is back, at 72 s: at the server at 73.010.
    func played(_ keepalive: SimDuration) -> Played {
      var scene = connected(group: slow)
      for place in 0..<2 { scene.inputs.fleet[place].protocol!.keepalive = keepalive }
      scene.inject(.dropLink, "a/0", at: 12_000, lasting: .seconds(60))
      return scene.play()
    }
    let late = played(.seconds(10))
    #expect(
      late.story(of: -1, only: "cohort", "published").suffix(2) == [
        "17650 cohort r2 2", "32270 published v2 1",
      ])
    #expect(late.simulation.serverRecord.exchangeTallies?.brokenStreams == 1)
    let early = played(.seconds(4))
    #expect(early.story(of: -1, only: "cohort").last == "73010 cohort r2 2")
    #expect(early.simulation.serverRecord.exchangeTallies?.brokenStreams == 0)
  }

  @Test(
    "A session that ends while its stream waits for a lost link: the server notices in its time")
  func endsInGap() {
    // a's link is gone from 12 s on, and waited for; its window closes at 13 s. The server chooses
    // it at 17.650 and knows better at 22.000, 10 s after the last sign of it.
    var scene = connected(
      [[[0, 13_000, 18_000]], [[0, 600_000, 605_000]]],
      group: {
        slow(&$0)
        $0.protocol!.keepalive = .seconds(10)
        $0.network.patience = .seconds(30)
      })
    scene.inject(.dropLink, "a/0", at: 12_000, lasting: .seconds(60))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "arrives", "ends", "disconnects") == [
        "9650 arrives 0", "13000 ends expired",
      ])
    #expect(
      played.story(of: -1, only: "cohort", "published").suffix(2) == [
        "17650 cohort r2 2", "32270 published v2 1",
      ])
    #expect(played.simulation.serverRecord.exchangeTallies?.brokenStreams == 1)
  }

  @Test("A phone that joins in the middle waits for the next cohort, and is as the others then")
  func joins() {
    // c's check is at the server at 13.010, in round 2. Of round 3's cohort, of 16.270, a and b
    // have instruction and model at 17.580 and their results at the server at 22.890; c's check is
    // answered by 17.280, its model is there at 19.600, its result at 24.910.
    let always: [[Int64]] = [[0, 600_000, 605_000]]
    let played = connected([always, always, [[12_000, 600_000, 605_000]]], rounds: 3).play()
    #expect(
      played.story(of: -1, only: "cohort", "published").suffix(4) == [
        "9650 cohort r2 2", "16270 published v2 2", "16270 cohort r3 3", "24910 published v3 3",
      ])
    #expect(
      played.story(of: 0, only: "accepted", "arrives").suffix(2) == [
        "17580 accepted r3", "22890 arrives 4",
      ])
    #expect(
      played.story(of: 2, only: "accepted", "downloaded", "arrives") == [
        "17280 accepted r3", "19600 downloaded v2", "24910 arrives 6",
      ])
  }

  @Test("An evaluation between two fits goes over their stream, and a fit follows at once")
  func evaluation() {
    // Asked at 9.650; instruction and version 1 at 10.960; 4 batches of 333,334 µs; the report, of
    // 1,000 bytes, at the server at 13.303336, with the cohort of round 2. The device has version
    // 1: the instruction alone, of 1,000 bytes, is there at 14.313336, the result 5.310 s later.
    var scene = connected(rounds: 2)
    scene.inputs.server.evaluation = ClientEvaluationSettings()
    let played = scene.play()
    #expect(
      played.story(of: -1, only: "cohort", "published").suffix(3) == [
        "9650 published v1 2", "13303.336 cohort r2 2", "19623.336 published v2 2",
      ])
    #expect(
      played.story(of: 0, only: "accepted", "downloaded", "does").prefix(6).suffix(4) == [
        "10960 does evaluationAsked", "10960 downloaded v1", "12293.336 does evaluated",
        "14313.336 accepted r2",
      ])
    // Where a fit overwrites the model it comes with each instruction, 300 bytes more.
    for place in 0..<2 { scene.inputs.fleet[place].protocol!.overwritesModel = true }
    #expect(scene.play().story(of: -1, only: "published").last == "19923.336 published v2 2")
  }

  @Test("A session that ends while it waits leaves no failure, and the server knows a moment later")
  func endsWaiting() {
    // a's session expires at 12 s; the server knows at 12.010. b's result, at 17.650, finds nobody
    // else: the next cohort is formed when a is back, at the server at 101.010.
    let played = connected(
      [[[0, 12_000, 13_000], [100_000, 600_000, 605_000]], [[0, 600_000, 605_000]]], group: slow
    ).play()
    #expect(played.story(of: 0, only: "ends").first == "12000 ends expired")
    #expect(played.story(of: -1, only: "cohort").last == "101010 cohort r2 2")
    #expect(played.simulation.serverRecord.exchangeTallies?.brokenStreams == 0)
    #expect(played.simulation.books.ledgers.updates[.dropped] == 0)
  }
}
