import FedSim
import Learning
import Numerics
import Schema
import Testing

private func view(
  pending: Int, of size: Int = 5, failures: Int = 0, round: Int = 1, goal: Int? = 5
) -> ServerView {
  ServerView(
    now: .start, version: 0, round: round, pending: pending, cohortGoal: goal, cohortSize: size,
    failures: failures)
}

private func make<P: AggregationTrigger>(
  _ type: P.Type, _ change: (inout P.Settings) -> Void = { _ in }
) -> Choice<any AggregationTrigger> {
  var settings = P.Settings()
  change(&settings)
  return Choice(type, settings) { $0 }
}

@Suite("Triggers")
struct TriggerTests {
  @Test("every arrival and a buffer of one want the same; a buffer waits until it is full")
  func arrivals() {
    let every = make(EveryArrivalTrigger.self).value
    let three = make(BufferTrigger.self) { $0.size = 3 }.value
    for pending in 0...4 {
      #expect((every.decide(.arrival, view(pending: pending)) == .aggregate) == (pending >= 1))
      #expect((three.decide(.arrival, view(pending: pending)) == .aggregate) == (pending >= 3))
    }
    #expect(every.decide(.connectionReturned, view(pending: 1)) == .aggregate)
    #expect(three.decide(.connectionReturned, view(pending: 3)) == .aggregate)
    #expect(three.decide(.timer, view(pending: 3)) == .wait)
  }

  @Test("the first K end a round, and no more than there are members")
  func first() {
    let first = make(FirstTrigger.self) { $0.updates = 3 }.value
    #expect(first.decide(.arrival, view(pending: 2)) == .wait)
    #expect(first.decide(.arrival, view(pending: 3)) == .aggregate)
    #expect(first.decide(.arrival, view(pending: 2, of: 2)) == .aggregate)
    #expect(first.decide(.arrival, view(pending: 9, goal: nil)) == .wait)
    #expect(first.neededMembers(view(pending: 0)) == 3)
    #expect(first.neededMembers(view(pending: 0, of: 2)) == 2)
  }

  @Test("a quorum is a share of whole members; the round that cannot have it is skipped at once")
  func quorum() {
    let quorum = make(QuorumTrigger.self).value  // 0.8 of 5 is 4.
    #expect(quorum.decide(.timer, view(pending: 4)) == .aggregate)
    #expect(quorum.decide(.timer, view(pending: 3)) == .skip)
    #expect(quorum.decide(.arrival, view(pending: 4)) == .wait)
    #expect(quorum.decide(.arrival, view(pending: 5)) == .aggregate)
    #expect(quorum.decide(.failure, view(pending: 4, failures: 1)) == .aggregate)
    #expect(quorum.decide(.failure, view(pending: 1, failures: 1)) == .wait)
    #expect(quorum.decide(.failure, view(pending: 0, failures: 2)) == .skip)
    #expect(quorum.decide(.timer, view(pending: 9, goal: nil)) == .wait)
    // Of three 0.8 are 2.4, so all.
    #expect(quorum.decide(.timer, view(pending: 2, of: 3)) == .skip)
    let all = make(QuorumTrigger.self) { $0.share = 1 }.value
    #expect(all.decide(.timer, view(pending: 4)) == .skip)
    let any = make(QuorumTrigger.self) { $0.share = 1e-6 }.value
    #expect(any.decide(.timer, view(pending: 1)) == .aggregate)
    #expect(any.decide(.timer, view(pending: 0)) == .skip)
  }

  @Test("all of several is when each has said so in this round, saved on the way")
  func all() throws {
    let trigger = make(AllTrigger.self) {
      $0.of = [make(ThresholdTrigger.self), make(EveryTrigger.self) { $0.minimum = 1 }]
    }.value
    #expect(trigger.timer == .every(.minutes(30)))
    var memory = trigger.freshMemory()
    func ask(_ moment: TriggerMoment, _ pending: Int, _ round: Int) throws -> TriggerDecision {
      let decision = trigger.decide(
        moment, view(pending: pending, round: round), with: &memory)
      memory = try AnyMemory(archived: memory.archived(), of: trigger)
      return decision
    }
    #expect(try ask(.timer, 0, 1) == .wait)
    #expect(try ask(.arrival, 3, 1) == .wait)
    #expect(try ask(.arrival, 4, 1) == .wait)
    #expect(try ask(.timer, 4, 1) == .aggregate)
    // In the next round the timer comes first.
    #expect(try ask(.timer, 1, 2) == .wait)
    #expect(try ask(.arrival, 2, 2) == .wait)
    #expect(try ask(.arrival, 3, 2) == .aggregate)
    #expect(try ask(.arrival, 3, 3) == .wait)
  }

  @Test("a round that one of several skips is skipped; what makes no sense together is said")
  func skipping() {
    let trigger = make(AllTrigger.self) {
      $0.of = [make(FirstTrigger.self), make(DeadlineTrigger.self) { $0.minimum = 2 }]
    }.value
    #expect(trigger.decide(.timer, view(pending: 1)) == .skip)
    #expect(trigger.needs == .cohorts && trigger.neededMembers(view(pending: 0)) == nil)
    func faults(_ triggers: [Choice<any AggregationTrigger>]) -> [String] {
      var settings = AllTrigger.Settings()
      settings.of = triggers
      return settings.contradictions().map(\.message)
    }
    let threshold = make(ThresholdTrigger.self)
    #expect(faults([threshold, make(EveryTrigger.self)]) == [])
    #expect(faults([threshold]) == ["`all` needs at least two triggers"])
    #expect(
      faults([make(EveryTrigger.self), make(DeadlineTrigger.self)])
        == ["at most one of the triggers may have a time"])
    let pair = make(AllTrigger.self) { $0.of = [threshold, threshold] }
    #expect(faults([pair, threshold]) == ["`all` in `all` has no effect: write one list"])
  }
}

@Suite("Rounds by triggers")
struct TriggerSceneTests {
  /// Five phones, of which some are slow: 4 batches of this many seconds; updates arrive at
  /// 5.650 s and the time of the batches.
  private func rounds(
    _ perBatch: [Int64], _ triggers: [Choice<any AggregationTrigger>],
    _ change: (inout Scene) -> Void = { _ in }
  ) -> Scene {
    var scene = Scene(
      .tiny(samples: perBatch.map { _ in 4 }),
      fleet: perBatch.enumerated().map { place, seconds in
        .group("p\(place)", windows: [[0, 400_000, 405_000]]) {
          $0.firstClient = place
          $0.compute.perBatch = .seconds(seconds)
        }
      })
    var selector = UniformSelector.Settings()
    selector.cohort = perBatch.count
    scene.inputs.server.selector = Choice(UniformSelector.self, selector) { $0 }
    scene.inputs.server.trigger = triggers
    scene.inputs.stop.after = .seconds(300)
    change(&scene)
    return scene
  }

  @Test("The first three of five make a version; the others are late")
  func first() {
    let played = rounds([1, 1, 2, 3, 4], [make(FirstTrigger.self) { $0.updates = 3 }]).play()
    // 4.340 + 8 + 1.310.
    #expect(
      played.story(of: -1) == ["0 published v0 0", "1010 cohort r1 5", "13650 published v1 3"])
    #expect(played.simulation.books.ledgers.updates[.rejectedLate] == 2)
  }

  @Test("With a quorum in time there is a version, without one the round is skipped")
  func quorum() {
    // At 31.010 four have answered: 4.340 + 4·6 + 1.310 = 29.650. The last comes at 45.650.
    let in30 = make(QuorumTrigger.self) { $0.after = .seconds(30) }
    #expect(
      rounds([1, 1, 2, 6, 10], [in30]).play().story(of: -1)
        == ["0 published v0 0", "1010 cohort r1 5", "31010 published v1 4"])
    #expect(
      rounds([1, 1, 7, 7, 10], [in30]).play().story(of: -1)
        == ["0 published v0 0", "1010 cohort r1 5", "31010 skipped r1"])
    // All five before: no waiting.
    #expect(
      rounds([1, 1, 1, 1, 1], [in30]).play().story(of: -1)
        == ["0 published v0 0", "1010 cohort r1 5", "9650 published v1 5"])
  }

  @Test("The K-th comes after the deadline: the round ends in time, by what is there")
  func deadline() {
    let triggers = [
      make(FirstTrigger.self) { $0.updates = 4 },
      make(DeadlineTrigger.self) { ($0.after, $0.minimum) = (.seconds(30), 2) },
    ]
    #expect(
      rounds([1, 1, 9, 9, 9], triggers).play().story(of: -1)
        == ["0 published v0 0", "1010 cohort r1 5", "31010 published v1 2"])
    #expect(
      rounds([1, 9, 9, 9, 9], triggers).play().story(of: -1)
        == ["0 published v0 0", "1010 cohort r1 5", "31010 skipped r1"])
  }

  @Test("A cohort of which too few are left to be the first is found out")
  func broken() {
    // Two are killed at 5 s, and their apps have no other window.
    func stallReport(_ updates: Int) -> StallReport? {
      rounds([1, 1, 1, 1, 1], [make(FirstTrigger.self) { $0.updates = updates }]) {
        $0.inject(.kill, "p0/0", at: 5_000)
        $0.inject(.kill, "p1/0", at: 5_000)
        $0.inputs.stopsWhenStuck = true
        $0.inputs.stop.after = .hours(48)
      }.play().simulation.stallReport
    }
    #expect(stallReport(3) == nil)
    #expect(stallReport(4)?.waits.first == .members(round: 1, goal: 4, arrived: 3))
  }

  @Test("What all of several need together, each at a different moment, is found out")
  func needed() {
    func waits(_ updates: Int, _ minimum: Int) -> [StallReport.Wait]? {
      let trigger = make(AllTrigger.self) {
        $0.of = [
          make(ThresholdTrigger.self) { $0.updates = updates },
          make(EveryTrigger.self) { ($0.period, $0.minimum) = (.seconds(20), minimum) },
        ]
      }
      return rounds([1, 1, 1], [trigger]) {
        $0.inputs.server.selector = Choice(OpenSelector.self) { $0 }
        $0.inputs.stopsWhenStuck = true
        $0.inputs.stop.after = .hours(48)
      }.play().simulation.stallReport?.waits
    }
    // Each of three devices has one update in it.
    #expect(waits(3, 1)?.contains { if case .updates = $0 { true } else { false } } != true)
    #expect(waits(4, 1)?.contains(.updates(needed: 4, waited: 3, isPossible: false)) == true)
    #expect(waits(2, 5)?.contains(.updates(needed: 5, waited: 3, isPossible: false)) == true)
  }

  @Test("A version needs its updates and its time")
  func all() {
    let trigger = make(AllTrigger.self) {
      $0.of = [
        make(ThresholdTrigger.self) { $0.updates = 2 },
        make(EveryTrigger.self) { ($0.period, $0.minimum) = (.seconds(20), 1) },
      ]
    }
    let played = rounds([1, 3, 9], [trigger]) {
      $0.inputs.server.selector = Choice(OpenSelector.self) { $0 }
    }.play()
    // Updates at 9.650, 17.650 and 41.650. The time of version 1 comes at 20; that of version 2
    // would need a second update.
    #expect(played.story(of: -1).prefix(2) == ["0 published v0 0", "20000 published v1 2"])
    #expect(played.simulation.version == 1)
  }

  @Test("An interval that restarts counts from the last version", arguments: [true, false])
  func restarts(restarts: Bool) {
    // Two phones make version 1 at 10.650; phone 0 sends another update, of version 1, at 29.650.
    // The timer rings 100 s after version 1, or 100 s after the start.
    var scene = Scene(
      fleet: [
        .group("p", windows: [[0, 15_000, 16_000], [20_000, 60_000, 65_000]]),
        .group("q", windows: [[1_000, 15_000, 16_000]]),
      ])
    var threshold = ThresholdTrigger.Settings()
    threshold.updates = 2
    var every = EveryTrigger.Settings()
    (every.period, every.minimum) = (.seconds(100), 1)
    if restarts { every.restarts = true }
    scene.inputs.server.trigger = [
      Choice(ThresholdTrigger.self, threshold) { $0 }, Choice(EveryTrigger.self, every) { $0 },
    ]
    scene.inputs.stop.after = .seconds(300)
    let played = scene.play()
    #expect(played.version(1).publishedAt == ms(10_650))
    #expect(played.version(2).publishedAt == ms(restarts ? 110_650 : 100_000))
  }
}
