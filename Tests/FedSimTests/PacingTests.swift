import FedSim
import Learning
import Numerics
import Schema
import Testing

/// Phones a/0, b/0 and so on without streams, in cohorts of a share of those who wait; see `Scene`.
///
/// Each is at the server at 1.010. With cohorts of one, a's check forms the first; b is turned
/// away: it reads so at 2.020.
private func steered(
  _ windows: [[[Int64]]] = [[[0, 600_000, 605_000]], [[0, 600_000, 605_000]]],
  share: Double = 1, available: Int = 1, jitter: Double = 0,
  _ change: (inout FleetGroupSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    .tiny(),
    fleet: zip(["a", "b", "c"], windows).enumerated().map { place, given in
      .group(given.0, windows: given.1) {
        $0.firstClient = place
        change(&$0)
      }
    })
  var selector = FractionSelector.Settings()
  (selector.fraction, selector.minimum, selector.minimumAvailable) = (share, 1, available)
  scene.inputs.server.selector = Choice(FractionSelector.self, selector) { $0 }
  scene.inputs.server.trigger = [Choice(CohortAnsweredTrigger.self) { $0 }]
  scene.inputs.server.retry = RetrySettings()
  scene.inputs.server.retry!.after = .seconds(30)
  scene.inputs.server.retry!.jitter = jitter
  scene.inputs.stop.rounds = 2
  scene.inputs.stop.after = .seconds(500)
  return scene
}

@Suite("Pace steering")
struct PacingTests {
  @Test("A device that finds the cohort full asks again exactly at the time it was given")
  func exactly() {
    // Turned away at 2.020 for 30 s, b begins to ask at 32.020 and is at the server at 33.030.
    let played = steered().play()
    #expect(
      played.story(of: -1, only: "cohort", "published") == [
        "0 published v0 0", "1010 cohort r1 1", "9650 published v1 1", "33030 cohort r2 1",
        "41670 published v2 1",
      ])
    #expect(
      played.story(of: 1, only: "rejected", "accepted") == [
        "2020 rejected 30000", "34040 accepted r2",
      ])
    #expect(played.simulation.serverRecord.exchangeTallies?.rejectedWithTimeout == 1)
    // a: an answer, a model and a receipt; b: the rejection, as large as an answer, an answer, a
    // model.
    #expect(played.simulation.books.ledgers.bytesDown == 3_300 + 3_300)
  }

  @Test("The wait varies within its bounds by the device's own draw, whatever others do")
  func jitter() throws {
    // The server answers at 1.010.
    var stream = StreamKey(seed: 1, purpose: "retry", group: "b", ordinal: 0)
      .stream(slot: 1_010_000)
    let delay = SimDuration(roundingUp: 30 * (1 + 0.2 * (2 * stream.uniform() - 1)))
    #expect(delay >= .seconds(24) && delay <= .seconds(36) && delay != .seconds(30))
    let asked = ms(2_020) + delay + .milliseconds(1_010)
    func cohort(_ scene: Scene) throws -> SimTime {
      let cohorts = scene.play().tape.observed.filter { $0.kind.line == "cohort r2 1" }
      return try #require(cohorts.first).time
    }
    var scene = steered(jitter: 0.2)
    #expect(try cohort(scene) == asked)
    scene.inputs.compute = .eager
    #expect(try cohort(scene) == asked)
    // c is turned away at the same time, and b's time is what it was.
    let always: [[Int64]] = [[0, 600_000, 605_000]]
    let three = steered([always, always, always], jitter: 0.2).play()
    let told = three.story(of: 1, only: "rejected").first
    #expect(told == scene.play().story(of: 1, only: "rejected").first)
    #expect(three.story(of: 2, only: "rejected").first?.hasPrefix("2020 rejected") == true)
    #expect(three.story(of: 2, only: "rejected").first != told)
  }

  @Test("Sessions before that time do not ask, also in a new process; the next one does")
  func quiet() {
    // b's first session ends at 5 s, its second one is from 10 to 20 s; it asks in its third.
    var scene = steered([
      [[0, 600_000, 605_000]],
      [[0, 5_000, 6_000], [10_000, 20_000, 21_000], [40_000, 600_000, 605_000]],
    ])
    scene.inject(.kill, "b/0", at: 12_000)
    let played = scene.play()
    #expect(
      played.story(of: 1, only: "rejected", "accepted", "ends").prefix(4) == [
        "2020 rejected 30000", "5000 ends expired", "12000 ends killed", "42020 accepted r2",
      ])
    #expect(played.story(of: -1, only: "cohort").last == "41010 cohort r2 1")
  }

  @Test("An app that takes no notice of the time asks as after any rejection")
  func ignored() {
    // It pauses for 5 s after 2.020, is at the server at 8.030, and is turned away again.
    let scene = steered {
      $0.protocol = ProtocolSettings()
      $0.protocol!.timeouts = .ignored
      $0.participation.repeats = true
      $0.participation.pause = .seconds(5)
    }
    #expect(
      scene.play().story(of: 1, only: "rejected").prefix(2) == [
        "2020 rejected 30000", "9040 rejected 30000",
      ])
  }

  @Test("Devices that waited for a cohort and are not in it are turned away as it is formed")
  func notChosen() throws {
    // Of two that wait at 1.010 one is chosen. The other reads so at 2.020 and waits again from
    // 33.030 on; with the first one gone, nobody else comes.
    let played = steered(share: 0.5, available: 2).play()
    let chosen = try #require((0..<2).first { !played.story(of: $0, only: "accepted").isEmpty })
    #expect(played.story(of: 1 - chosen, only: "rejected", "accepted") == ["2020 rejected 30000"])
    let waits = played.tape.observed.filter {
      if case .waited = $0.kind { $0.device == 1 - chosen } else { false }
    }
    #expect(waits.map(\.time) == [ms(1_010), ms(33_030)])
  }

  @Test("Where it is asked for, a receipt says when the device may train again")
  func accepted() {
    // The receipt is there at 10.660: the device may ask at 60.660 instead of after its pause of a
    // second, at 11.660, and is accepted 2.020 s later.
    func story(_ accepted: SimDuration?) -> [String] {
      var scene = steered([[[0, 600_000, 605_000]]]) {
        $0.participation.repeats = true
        $0.participation.pause = .seconds(1)
      }
      scene.inputs.server.selector = Choice(OpenSelector.self) { $0 }
      scene.threshold(1)
      scene.inputs.server.retry!.accepted = accepted
      return Array(scene.play().story(of: 0, only: "accepted").prefix(2))
    }
    #expect(story(.seconds(50)) == ["2020 accepted r1", "62680 accepted r2"])
    #expect(story(nil) == ["2020 accepted r1", "13680 accepted r2"])
  }

  @Test("A task that begins before that time ends at once, without a request")
  func tasks() {
    // The task of 100 s has its receipt at 110.660, with a wait of an hour: no other task asks.
    var phone = Phone()
    phone.group.participation.retrain = .always
    phone.stop = .seconds(3_700)
    var scene = phone.scene()
    scene.inputs.server.retry = RetrySettings()
    scene.inputs.server.retry!.jitter = 0
    scene.inputs.server.retry!.accepted = .seconds(3_600)
    let played = scene.play()
    let ends = played.story(of: 0, only: "ends")
    #expect(ends.first == "110660 ends completed")
    #expect(ends.count > 1)
    #expect(ends.dropFirst().allSatisfy { $0.hasSuffix("ends rejected") })
    #expect(played.story(of: 0, only: "accepted").count == 1)
  }

  @Test("It is refused where the server gives times already, and where nobody is turned away")
  func refused() {
    var server = ServerSettings()
    server.retry = RetrySettings()
    #expect(server.contradictions().map(\.key) == ["retry"])
    server.retry!.accepted = .minutes(15)
    #expect(server.contradictions().isEmpty)
    server.selector = Choice(CycleSelector.self) { $0 }
    #expect(server.contradictions().map(\.key).contains("retry"))
  }

  @Test("The stall report says that devices were sent away")
  func stall() {
    // a is killed in its training, so no version comes; b is wanted back after the end of the run.
    var scene = steered()
    scene.inject(.kill, "a/0", at: 6_000)
    scene.inputs.server.retry!.after = .seconds(3_600)
    let counts = scene.play().simulation.stallReport?.counts ?? []
    #expect(counts.contains { $0.group == 1 && $0.obstacle == .sentAway })
  }
}
