import FedSim
import Numerics
import Schema

extension Conformance {
  /// What an aggregation trigger breaks.
  func trigger(_ make: () -> Choice<any AggregationTrigger>) -> [Finding] {
    withoutActuallyEscaping(make) { make in
      var findings = Findings(make().name, skipping: skipped)
      TriggerChecks(make: { make().value }).run(&findings)
      // With such a timer virtual time would not advance, and such a run is not restored.
      if findings.has(.timer) || findings.has(.restored) { return findings.list }
      PolicyWorld.check(
        {
          var server = ServerSettings()
          server.trigger = [make()]
          if server.trigger[0].value.needs.contains(.cycles) {
            server.selector = .part(CycleSelector.self)
          } else if server.trigger[0].value.needs.contains(.cohorts) {
            server.selector = .cohorts(of: max(5, server.trigger[0].value.neededUpdates ?? 0))
          }
          return server
        }, &findings)
      return findings.list
    }
  }

  /// What a client selector breaks.
  func selector(_ make: () -> Choice<AnySelector>) -> [Finding] {
    withoutActuallyEscaping(make) { make in
      var findings = Findings(make().name, skipping: skipped)
      SelectorChecks(make: { make().value }).run(&findings)
      ClosedCheck { make().value }.run(&findings)
      // Members that are no places in the list would end the program.
      if findings.has(.cohort) || findings.has(.restored) { return findings.list }
      PolicyWorld.check(
        {
          var server = ServerSettings()
          server.selector = make()
          if server.selector.value.cycles != nil {
            server.trigger = [.part(CycleEndTrigger.self)]
          } else if server.selector.value.formsCohorts {
            server.trigger = [.part(CohortAnsweredTrigger.self)]
          }
          return server
        }, &findings)
      return findings.list
    }
  }
}

/// Calls of a trigger alone.
private struct TriggerChecks {
  let make: () -> any AggregationTrigger

  func run(_ findings: inout Findings) {
    var period: SimDuration?
    switch make().timer {
    case .every(let duration), .sinceRound(let duration), .afterCohort(let duration):
      period = duration
    case .cycleEnd, nil: break
    }
    if let period, period <= .zero {
      findings.add(.timer, "its timer fires after \(period): virtual time would not advance")
    }
    let moments: [TriggerMoment] =
      [.arrival, .arrival, .failure, .arrival, .connectionReturned]
      + (period == nil ? [] : [.timer])
    StateCheck(make: make, part: { $0 }, steps: 60) { part, index, memory in
      ["\(part.decide(moments[index % moments.count], Self.view(index), with: &memory))"]
    }.run(&findings)
  }

  /// A server in the middle of its rounds.
  private static func view(_ index: Int) -> ServerView {
    let now = SimTime.start + .seconds(97 * Int64(index))
    return ServerView(
      now: now, version: index / 13, round: index / 13 + 1, pending: index % 13 + 1,
      cohortGoal: 10, cohortSize: 13, failures: index % 13 / 6,
      cycle: CycleView(CycleSettings(), openedAt: .start))
  }
}

/// Calls of a selector alone.
private struct SelectorChecks {
  let make: () -> AnySelector

  func run(_ findings: inout Findings) {
    let selector = make()
    var memory = selector.part.freshMemory()
    for index in 0..<60 {
      let waiting = Self.waiting(index)
      let view = Self.view(index)
      if !waiting.isEmpty { _ = selector.answer(waiting[0], view, with: &memory) }
      if let cohort = Self.cohort(selector, index, view, &memory) {
        check(cohort, of: waiting.count, &findings)
      }
    }
    StateCheck(make: make, part: \.part, steps: 60) { selector, index, memory in
      let view = Self.view(index)
      var words = Self.waiting(index).prefix(1).map {
        "\(selector.answer($0, view, with: &memory))"
      }
      if selector.formsCohorts, !Self.waiting(index).isEmpty {
        let cohort = Self.cohort(selector, index, view, &memory)
        words.append("members \(cohort?.members.description ?? "none yet")")
      }
      if selector.needs.contains(.news) {
        selector.hear(index % 3 == 0 ? .lost : .delivered, from: 1, view, with: &memory)
      }
      return words
    }.run(&findings)
  }

  /// The cohort that it chooses, by losses of now where it looks at these.
  private static func cohort(
    _ selector: AnySelector, _ index: Int, _ view: ServerView, _ memory: inout AnyMemory
  ) -> Cohort? {
    let waiting = waiting(index)
    if waiting.isEmpty { return nil }
    var stream = stream(index)
    guard selector.needs.contains(.currentLosses) else {
      return selector.chooseCohort(from: waiting, view, &stream, with: &memory)
    }
    guard let places = selector.chooseCandidates(from: waiting, view, &stream, with: &memory)
    else { return nil }
    let losses = places.map { Double(($0 * 5 + index) % 7) }
    return selector.chooseCohort(of: places, losses: losses, view, with: &memory)
  }

  private func check(_ cohort: Cohort, of waiting: Int, _ findings: inout Findings) {
    let members = cohort.members.sorted()
    if let wrong = members.first(where: { !(0..<waiting).contains($0) }) {
      findings.add(.cohort, "it chose place \(wrong) of \(waiting) waiting devices")
    }
    if let twice = zip(members, members.dropFirst()).first(where: { $0.0 == $0.1 }) {
      findings.add(
        .cohort, "it chose place \(twice.0) of \(waiting) twice: the update would count twice")
    }
    if members.isEmpty {
      findings.add(.cohort, "it formed a cohort without members, out of \(waiting)")
    } else if !(1...members.count).contains(cohort.goal) {
      findings.add(
        .cohort, "it wants \(cohort.goal) updates of \(members.count) members: no round would end")
    }
  }

  /// From none to 28 devices, every third of the fleet's.
  private static func waiting(_ index: Int) -> [CheckIn] {
    (0..<(index * 7 % 29)).map { CheckIn(device: 3 * $0 + 1, heldVersion: $0 % 4 - 1) }
  }

  private static func view(_ index: Int) -> ServerView {
    ServerView(
      now: .start + .seconds(97 * Int64(index)), version: index / 2, round: index / 2 + 1,
      pending: 0, cohortGoal: nil, cohortSize: 0,
      roundOpenedAt: .start + .seconds(90 * Int64(index)),
      known: known(index))
  }

  /// What is known of 90 devices, of every fifth nothing, and each time something else.
  private static func known(_ index: Int) -> [DeviceFacts] {
    (0..<90).map { device in
      var facts = DeviceFacts()
      guard device % 5 > 0 else { return facts }
      facts.believed = [.online, .online, .idle][(device + index) % 3]
      if device % 4 > 0 { facts.reportedBattery = Double((device + index) % 10) / 10 }
      facts.samples = device * 7 % 23
      facts.checkIns = 1 + index / 2
      facts.checkedInAt = .start + .seconds(80 * Int64(index))
      guard device % 5 > 1, index > 4 else { return facts }
      facts.timesChosen = 1 + (device + index) % 4
      facts.lastRound = 1 + (device + index) % (index / 2 + 1)
      facts.chosenAt = .start + .seconds(60 * Int64(index))
      facts.duration = .seconds(Int64(10 + device * 13 % 41))
      guard device % 5 > 2 else { return facts }
      facts.timesAggregated = facts.timesChosen
      facts.loss = Double((device + index) * 11 % 17) / 8
      facts.lossRound = facts.lastRound
      return facts
    }
  }

  private static func stream(_ index: Int) -> RandomStream {
    StreamKey(seed: 1, purpose: "conformance-selection").stream(slot: UInt64(index / 2 + 1))
  }
}
