import FedSim
import Learning
import Numerics
import Schema
import Testing

/// Synchronous rounds: cohorts of `cohort`, over-selected, closed when complete or at a deadline.
private func rounds(
  of fleet: [FleetGroupSettings], cohort: Int, overSelection: Double = 1,
  deadline: SimDuration? = nil, minimum: Int = 1, waiting: Int? = nil
) -> Scene {
  var scene = Scene(fleet: fleet)
  var selector = UniformSelector.Settings()
  selector.cohort = cohort
  selector.overSelection = overSelection
  selector.minimumWaiting = waiting
  scene.inputs.server.selector = Choice(UniformSelector.self, selector) { $0 }
  scene.inputs.server.trigger = [Choice(CohortCompleteTrigger.self) { $0 }]
  if let deadline {
    var settings = DeadlineTrigger.Settings()
    settings.after = deadline
    settings.minimum = minimum
    scene.inputs.server.trigger.append(Choice(DeadlineTrigger.self, settings) { $0 })
  }
  scene.inputs.stop.after = .seconds(1000)
  return scene
}

private func phones(_ count: Int, _ change: (inout FleetGroupSettings) -> Void = { _ in })
  -> [FleetGroupSettings]
{
  [.group(count: count, windows: [[0, 600_000, 605_000]], change)]
}

/// Funnel counts, widest first.
private func stages(_ funnel: Funnel) -> [Int] { Stage.allCases.map { funnel[$0] } }

@Suite("Synchronous rounds")
struct RoundTests {
  @Test(
    "A cohort of three forms when the third device asks, and the round ends with its third update")
  func complete() {
    // Two devices ask at 0 s, the third at 30 s: its check is at the server at 31.010.
    let fleet = phones(2) + [.group("late", windows: [[30_000, 600_000, 605_000]])]
    let played = rounds(of: fleet, cohort: 3).play()
    #expect(
      played.story(of: -1)
        == ["0 published v0 0", "31010 cohort r1 3", "39650 published v1 3"])
    // The answer begins at 31.020, is read at 32.020; then as ever.
    #expect(
      played.story(of: 0, only: "accepted", "trains", "arrives")
        == ["32020 accepted r1", "34340 trains v0 0/4", "39650 arrives 0"])
    #expect(played.tape.rounds[0].openedAt == .start)
    #expect(played.tape.rounds[0].closedAt == ms(39_650))
    #expect(played.tape.rounds[0].outcome == .published)
    #expect((played.tape.rounds[0].version, played.tape.rounds[0].cohort) == (1, 3))
    #expect(stages(played.simulation.participations.rounds[1]) == [3, 3, 3, 3, 3, 3, 3, 3])
    // The second round has nobody, and ends with the run.
    #expect(played.tape.rounds[1].outcome == .unfinishedAtEnd)
    #expect((played.tape.rounds[1].version, played.tape.rounds[1].cohort) == (-1, 0))
    #expect(played.tape.rounds[1].openedAt == ms(39_650))
  }

  @Test("With over-selection the last of the cohort come too late")
  func overSelection() {
    // 4 · 1.25 = 5 members. The fifth is slower by the batches of 2 s: its update is late.
    let fleet =
      phones(4) + [
        .group("slow", windows: [[0, 600_000, 605_000]]) { $0.compute.perBatch = .seconds(2) }
      ]
    let played = rounds(of: fleet, cohort: 4, overSelection: 1.25).play()
    #expect(
      played.story(of: -1) == ["0 published v0 0", "1010 cohort r1 5", "9650 published v1 4"])
    // 4.340 + 8 + 1.310, read 1.010 later.
    #expect(
      played.story(of: 4, only: "arrives", "receipt")
        == ["13650 arrives 4", "14660 receipt 4 rejected v1 n0"])
    #expect(played.simulation.books.ledgers.updates[.rejectedLate] == 1)
    #expect(stages(played.simulation.participations.rounds[1]) == [5, 5, 5, 5, 5, 5, 4, 4])
  }

  @Test("The cohort is the one that the stream of its round draws")
  func uniform() {
    let played = rounds(of: phones(8), cohort: 3).play()
    // Each arrival is asked in device order at 1.010: the first three wait together.
    #expect(played.story(of: -1, only: "cohort").first == "1010 cohort r1 3")
    func firstRound(_ played: Played) -> [Int32] {
      (0..<8).filter { !played.story(of: Int($0), only: "accepted r1").isEmpty }
    }
    #expect(firstRound(played) == [0, 1, 2])
    // With eight waiting before a cohort is formed, it is drawn from all: seed policy = 1.
    var stream = StreamKey(seed: 1, purpose: "selection").stream(slot: 1)
    let members = stream.sample(3, below: 8).sorted()
    let drawn = rounds(of: phones(8), cohort: 3, waiting: 8).play()
    #expect(firstRound(drawn) == members)
  }

  @Test("A deadline that rings while the server believes itself offline is kept when it returns")
  func deadlineOffline() {
    // As below, with the deadline at 91.010. The internet is away from 20 s to 200 s; the probes of
    // 60 s and 240 s find out. The slow device is done at 4.340 + 240 = 244.340, after the end.
    let fleet =
      phones(1) + [
        .group("slow", windows: [[0, 600_000, 605_000]]) { $0.compute.perBatch = .seconds(60) }
      ]
    var scene = rounds(of: fleet, cohort: 2, deadline: .seconds(90))
    scene.inputs.server.internet = .states("down", in: [20_000...200_000], otherwise: "up")
    #expect(
      scene.play().story(of: -1) == [
        "0 published v0 0", "1010 cohort r1 2", "60000 offline", "240000 online",
        "240000 published v1 1",
      ])
  }

  @Test("What a trigger wanted while the server believed itself offline ends with its round")
  func skippedOffline() {
    // Both ask at 0; the deadline of 71.010 finds one update and no connection, the quorum of
    // 81.010 skips the round. Both ask again at 90 s; a's update arrives at 97.330. The probe of
    // 120 s finds the connection; the second round's deadline is 70 s after 91.010.
    let windows: [[Int64]] = [[0, 60_000, 65_000], [90_000, 300_000, 305_000]]
    let fleet: [FleetGroupSettings] = [
      .group("a", windows: windows),
      .group("b", windows: windows) {
        $0.compute.perBatch = .seconds(30)
        $0.interruption.onExpiry = .discard
      },
    ]
    var scene = rounds(of: fleet, cohort: 2, deadline: .seconds(70))
    var quorum = QuorumTrigger.Settings()
    (quorum.share, quorum.after) = (1, .seconds(80))
    scene.inputs.server.trigger.append(Choice(QuorumTrigger.self, quorum) { $0 })
    scene.inputs.server.internet = .states("down", in: [20_000...110_000], otherwise: "up")
    #expect(
      scene.play().story(of: -1) == [
        "0 published v0 0", "1010 cohort r1 2", "60000 offline", "81010 skipped r1",
        "91010 cohort r2 2", "120000 online", "161010 published v1 1",
      ])
  }

  @Test("At the deadline the round is closed with what is there, or skipped below its quorum")
  func deadline() {
    // One of two is slow: 4 batches of 60 s. The cohort forms at 1.010, the deadline is 31.010.
    let fleet =
      phones(1) + [
        .group("slow", windows: [[0, 600_000, 605_000]]) { $0.compute.perBatch = .seconds(60) }
      ]
    let one = rounds(of: fleet, cohort: 2, deadline: .seconds(30)).play()
    #expect(
      one.story(of: -1) == ["0 published v0 0", "1010 cohort r1 2", "31010 published v1 1"])
    let two = rounds(of: fleet, cohort: 2, deadline: .seconds(30), minimum: 2).play()
    #expect(two.story(of: -1) == ["0 published v0 0", "1010 cohort r1 2", "31010 skipped r1"])
    #expect(two.tape.rounds.map(\.outcome) == [.skipped, .unfinishedAtEnd])
    #expect(two.simulation.books.ledgers.updates[.roundSkipped] == 1)
    #expect(two.simulation.books.ledgers.updates[.rejectedLate] == 1)
    #expect(two.tape.versions.count == 1)
  }

  @Test("The timer of a round that is over does nothing")
  func oldDeadline() {
    // The first round ends at 9.650; its deadline of 16.010 falls into the second round, whose
    // devices ask again at 10.660 + 1 s + 1.010 and whose own deadline is 15 s after that.
    let fleet = phones(2) {
      $0.participation.repeats = true
      $0.participation.pause = .seconds(1)
      $0.compute.perBatch = .seconds(1)
    }
    var scene = rounds(of: fleet, cohort: 2, deadline: .seconds(15), minimum: 2)
    scene.inputs.stop.rounds = 3
    let played = scene.play()
    #expect(played.tape.rounds.prefix(3).map(\.outcome) == [.published, .published, .published])
    // Round 2: asked 12.670, read 13.680, downloaded 16.000, trained 20.000, arrived 21.310.
    #expect(
      played.story(of: -1, only: "cohort", "published") == [
        "0 published v0 0", "1010 cohort r1 2", "9650 published v1 2", "12670 cohort r2 2",
        "21310 published v2 2", "24330 cohort r3 2", "32970 published v3 2",
      ])
    // A funnel a round, each with both devices.
    for round in 1...3 {
      #expect(stages(played.simulation.participations.rounds[round]) == [2, 2, 2, 2, 2, 2, 2, 2])
    }
  }

  @Test("A device that leaves while it waits is not chosen")
  func leaving() {
    // Device 0's window ends at 20 s, softly; the others come at 30 s: the cohort is without it.
    let fleet: [FleetGroupSettings] = [
      .group("leaves", windows: [[0, 20_000, 25_000]]),
      .group("stays", count: 2, windows: [[30_000, 600_000, 605_000]]),
    ]
    let played = rounds(of: fleet, cohort: 2).play()
    #expect(played.story(of: 0) == ["0 begins window", "20000 ends expired"])
    #expect(played.story(of: -1, only: "cohort") == ["31010 cohort r1 2"])
    #expect(played.story(of: 1, only: "accepted") == ["32020 accepted r1"])
    #expect(stages(played.simulation.participations.rounds[1]) == [3, 3, 2, 2, 2, 2, 2, 2])
  }

  @Test("A device whose link broke while it waited is a ghost in the cohort")
  func ghost() {
    let fleet: [FleetGroupSettings] = [
      .group("gone", windows: [[0, 50_000, 55_000]]) {
        $0.link = .states("offline", in: [10_000...500_000], otherwise: "wifi")
      },
      .group("stays", windows: [[30_000, 600_000, 605_000]]),
    ]
    let played = rounds(of: fleet, cohort: 2, deadline: .seconds(60)).play()
    #expect(
      played.story(of: -1)
        == ["0 published v0 0", "31010 cohort r1 2", "91010 published v1 1"])
    #expect(stages(played.simulation.participations.rounds[1]) == [2, 2, 2, 1, 1, 1, 1, 1])
  }

  @Test("A server that goes down forgets who waits; they ask again and time out, then wait again")
  func restart() {
    // Device 0 waits from 1.010. The server is down from 10 s to 20 s: the session ends there.
    // Its second window asks at 31.010 and finds device 1, which asked at 26.010.
    let fleet: [FleetGroupSettings] = [
      .group("a", windows: [[0, 25_000, 26_000], [30_000, 600_000, 605_000]]),
      .group("b", windows: [[25_000, 600_000, 605_000]]),
    ]
    var scene = rounds(of: fleet, cohort: 2)
    scene.inputs.server.reachable = .states("down", in: [10_000...20_000], otherwise: "up")
    let played = scene.play()
    #expect(
      Array(played.story(of: 0).prefix(3))
        == ["0 begins window", "10000 ends unreachable", "30000 begins window"])
    #expect(played.story(of: -1, only: "cohort") == ["31010 cohort r1 2"])
  }

  @Test("A device that asks while the server is down gives up after its timeout")
  func asksAClosedDoor() {
    var scene = rounds(of: phones(1), cohort: 1)
    scene.inputs.server.reachable = .states("down", in: [0...5_000], otherwise: "up")
    #expect(scene.play().story(of: 0) == ["0 begins window", "61000 ends unreachable"])
  }

  @Test("A device that waits for its cohort waits longer than its timeout")
  func waitsLong() {
    let fleet = phones(1) + [.group("late", windows: [[200_000, 600_000, 605_000]])]
    #expect(
      rounds(of: fleet, cohort: 2).play().story(of: 0, only: "accepted", "ends")
        == ["202020 accepted r1", "210660 ends completed"])
  }
}

@Suite("The end of a run")
struct StopTests {
  private func always(_ change: (inout Scene) -> Void) -> Played {
    var scene = Scene(
      fleet: [
        .group(count: 3, windows: [[0, 900_000, 905_000]]) {
          $0.participation.repeats = true
          $0.participation.pause = .seconds(1)
        }
      ])
    scene.inputs.record.evaluateEvery.versions = 1
    change(&scene)
    return scene.play()
  }

  // Turn 1 ends in version 1 at 9.650; each later turn: 10.660 + 1 s pause, check 2.020, download
  // 2.320, 4 batches, 1.310 to the server: 21.310, then every 11.660 s.

  @Test("after: nothing happens later, and what is open ends as unfinished")
  func after() {
    let played = always { $0.inputs.stop.after = .seconds(5) }
    #expect(played.simulation.now == ms(5_000))
    #expect(played.simulation.books.ledgers.attempts[.unfinishedAtEnd] == 3)
    // Since 4.340 not one batch was done.
    #expect(played.simulation.books.ledgers.batchesWasted == 0)
    let later = always { $0.inputs.stop.after = .milliseconds(8_339) }
    #expect(later.simulation.books.ledgers.batchesWasted == 9)
    let sending = always { $0.inputs.stop.after = .seconds(9) }
    #expect(sending.simulation.books.ledgers.updates[.unfinishedAtEnd] == 3)
    #expect(sending.simulation.books.ledgers.transmissions[.unfinishedAtEnd] == 3)
  }

  @Test("An event at the very end still happens")
  func atTheEnd() {
    #expect(always { $0.inputs.stop.after = .milliseconds(9_650) }.simulation.version == 1)
    #expect(always { $0.inputs.stop.after = .milliseconds(9_649) }.simulation.version == 0)
  }

  @Test("versions and rounds: the run ends as the number is reached")
  func versions() {
    let versions = always { $0.inputs.stop.versions = 2 }
    #expect(versions.simulation.now == ms(21_310))
    #expect(versions.simulation.version == 2)
    let rounds = always { $0.inputs.stop.rounds = 3 }
    #expect(rounds.simulation.now == ms(32_970))
    #expect(rounds.tape.rounds.count { $0.outcome == .published } == 3)
  }

  @Test("accuracy: the run ends at the first evaluated version that reaches it")
  func accuracy() {
    let free = always { $0.inputs.stop.versions = 6 }
    let best = free.tape.versions.compactMap { $0.evaluation?.test.accuracy }
    #expect(best.count == 7)
    let target = best.dropFirst().max()!
    #expect(target > best[0])
    let first = best.firstIndex { $0 >= target }!
    let stopped = always { $0.inputs.stop.accuracy = target }
    #expect(stopped.simulation.version == first)
  }

  @Test("Evaluations come after a number of versions, or at the first version after each period")
  func evaluations() {
    func evaluated(_ change: (inout EvaluationSchedule) -> Void) -> [Int] {
      always {
        $0.inputs.stop.after = .seconds(70)
        $0.inputs.record.evaluateEvery = EvaluationSchedule()
        change(&$0.inputs.record.evaluateEvery)
      }.tape.versions.filter { $0.evaluation != nil }.map(\.version)
    }
    // Versions at 9.65, 21.31, 32.97, 44.63, 56.29, 67.95 s.
    #expect(evaluated { $0.versions = 2 } == [0, 2, 4, 6])
    #expect(evaluated { $0.time = .seconds(20) } == [0, 2, 4, 6])
    #expect(evaluated { $0.time = .seconds(30) } == [0, 3, 6])
  }

  @Test("A version that is published exactly a period after the last look is evaluated")
  func exactPeriod() {
    // One update in each hour; a version at 1, 2 and 3 h.
    let windows: [[Int64]] = (0..<3).map { hour in
      [600_000, 700_000, 705_000].map { $0 + 3_600_000 * hour }
    }
    var scene = Scene(fleet: [.group(windows: windows)])
    var every = EveryTrigger.Settings()
    (every.period, every.minimum) = (.hours(1), 1)
    scene.inputs.server.trigger = [Choice(EveryTrigger.self, every) { $0 }]
    scene.inputs.record.evaluateEvery = EvaluationSchedule()
    scene.inputs.record.evaluateEvery.time = .hours(1)
    scene.inputs.stop.after = .seconds(11_000)
    let versions = scene.play().tape.versions
    #expect(versions.map(\.publishedAt) == [.start, ms(3_600_000), ms(7_200_000), ms(10_800_000)])
    #expect(versions.allSatisfy { $0.evaluation != nil })
  }
}
