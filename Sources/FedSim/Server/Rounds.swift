import Learning
import Numerics

/// Triggers, and rounds from opening to closing.
enum Rounds {
  /// A round opens: nobody has failed in it; where there are cycles it is one, with its timer.
  static func openRound(_ server: inout Server, _ cx: inout Context) {
    server.openRound.failures = 0
    limitWait(&server, &cx)
    for (index, trigger) in cx.inputs.server.trigger.enumerated() {
      if case .sinceRound(let period) = trigger.value.timer {
        schedule(index, in: server.openRound.number, after: period, &cx)
      }
    }
    guard let settings = cx.features.admission?.cycle else { return }
    server.openRound.cycle = CycleView(settings, openedAt: cx.now)
    guard settings.mode == .asDocumented, let length = settings.length,
      Int(server.openRound.number) <= settings.cycles ?? .max
    else { return }
    for (index, trigger) in cx.inputs.server.trigger.enumerated() {
      if case .cycleEnd = trigger.value.timer {
        schedule(index, in: server.openRound.number, after: length, &cx)
      }
    }
  }

  /// Sets the timers of triggers that are of no round, as the server's process begins.
  static func startTimers(_ cx: inout Context) {
    for (index, trigger) in cx.inputs.server.trigger.enumerated() {
      if case .every(let period) = trigger.value.timer {
        schedule(index, in: -cx.network.server.process.stops, after: period, &cx)
      }
    }
  }

  /// Whether a trigger's timer that was set for a round, or for any, still matters.
  static func isCurrent(_ round: Int32, _ server: borrowing Server, _ cx: borrowing Context) -> Bool
  {
    round > 0
      ? round == server.openRound.number : round == -cx.network.server.process.stops
  }

  /// Sets a trigger's timer, in a round or in any since the last restart (0 or below).
  private static func schedule(
    _ index: Int, in round: Int32, after period: SimDuration, _ cx: inout Context
  ) {
    cx.schedule(
      .serverTimer(.trigger(Int32(index), round: round)), .serverTimer, at: cx.now + period, by: nil
    )
  }
}

extension Rounds {
  /// Whether the open round's cohort can no longer send as many updates as the round waits for, and
  /// nothing else ends the round.
  static func isCohortBroken(_ server: borrowing Server, _ cx: borrowing Context) -> Bool {
    guard server.openRound.cohortGoal != nil, mayCohortsBreak(cx),
      let needed = neededMembers(server, cx)
    else {
      return false
    }
    var hopes =
      server.pending.count - Facts.lateCount(server, cx) + (server.underWay?.updates.count ?? 0)
    for number in cx.participations.numbers
    where cx.participations[number].round == server.openRound.number {
      let stage = cx.participations[number].stage
      if stage >= Stage.accepted.rawValue, stage < Stage.admitted.rawValue { hopes += 1 }
    }
    return hopes < needed
  }

  /// Whether a round may depend on all of its cohort.
  static func mayCohortsBreak(_ cx: borrowing Context) -> Bool {
    let probe = ServerView(
      now: .start, version: 0, round: 1, pending: 0, cohortGoal: 1, cohortSize: 1)
    guard cx.inputs.server.duplicates != .append else { return false }
    return cx.inputs.server.trigger.allSatisfy { $0.value.neededMembers(probe) != nil }
  }

  /// How many of the round's members have to answer, at least.
  static func neededMembers(_ server: borrowing Server, _ cx: borrowing Context) -> Int? {
    let view = Facts.serverView(server, cx)
    return cx.inputs.server.trigger.compactMap { $0.value.neededMembers(view) }.min()
  }
}

extension Rounds {
  /// The deadline came with too few updates: they are given up, and the next round opens.
  static func skipRound(_ server: inout Server, _ cx: inout Context) {
    cx.computations.forgetPredicted()
    for update in server.pending {
      Inbox.countCopy(update, -1, &server, &cx)
      cx.resolve(update, .roundSkipped)
    }
    server.pending = []
    cx.note(-1, .roundSkipped(round: Int(server.openRound.number)))
    closeRound(.skipped, &server, &cx)
  }

  /// Limits the time in which a round must find its cohort.
  static func limitWait(_ server: inout Server, _ cx: inout Context) {
    guard let limit = cx.inputs.server.selector.value.rules?.waitLimit,
      server.instructions.evaluation == nil, !server.instructions.awaitsModel
    else { return }
    cx.schedule(
      .serverTimer(.cohortWait(round: server.openRound.number)), .serverTimer, at: cx.now + limit,
      by: nil)
  }

  /// Too few devices have come for a round's cohort; false where it has one.
  static func cohortWaited(
    _ round: Int32, _ server: inout Server, _ cx: inout Context
  ) -> Bool {
    guard round == server.openRound.number, server.openRound.cohortGoal == nil else { return false }
    skipRound(&server, &cx)
    return true
  }

  /// Records how the open round ended.
  static func recordRound(_ outcome: RoundOutcome, _ server: inout Server, _ cx: inout Context) {
    let record = RoundRecord(
      round: Int(server.openRound.number), openedAt: server.openRound.openedAt, closedAt: cx.now,
      outcome: outcome,
      version: outcome == .published ? Int(server.version) : -1, cohort: server.openRound.cohortSize
    )
    cx.audience.announce(.closed(record))
  }

  static func closeRound(
    _ outcome: RoundOutcome, _ server: inout Server, _ cx: inout Context
  ) {
    Polling.settle(server, &cx)
    recordRound(outcome, &server, &cx)
    if let rounds = cx.inputs.stop.rounds, Int(server.openRound.number) >= rounds {
      endAfterRound(&server, &cx)
    }
    cx.features.serverDialect?.onRound(&server, &cx)
    server.openRound.number += 1
    server.openRound.openedAt = cx.now
    server.openRound.cohortGoal = nil
    server.openRound.cohortSize = 0
    server.owed = []
    cx.participations.openRound()
    openRound(&server, &cx)
    // Who waits on a stream is asked for nothing once the run is over.
    let asksNobody = cx.isOver ? Streams.areOpen(cx) : false
    if !asksNobody { Lobby.formCohort(&server, &cx) }
    if cx.inputs.server.broadcast == .afterAggregation {
      Lobby.releaseWaiting(&server, &cx)
    }
  }

  /// The run ends with this round, or with the evaluation that devices are asked for after it.
  static func endAfterRound(_ server: inout Server, _ cx: inout Context) {
    if cx.inputs.server.evaluation == nil {
      cx.isOver = true
    } else {
      server.instructions.endsWithEvaluation = true
    }
  }
}

extension Rounds {
  /// Asks the triggers, in their order, what to do.
  static func decide(
    _ moment: TriggerMoment, _ server: inout Server, _ cx: inout Context
  ) {
    for index in cx.inputs.server.trigger.indices {
      if consult(index, moment, &server, &cx) == .acted { return }
    }
  }

  /// A trigger's timer rings.
  static func triggerRang(
    _ index: Int, _ server: inout Server, _ cx: inout Context
  ) {
    let trigger = cx.inputs.server.trigger[index].value
    switch trigger.timer {
    case .every(let period):
      schedule(index, in: -cx.network.server.process.stops, after: period, &cx)
    case .sinceRound(let period):
      schedule(index, in: server.openRound.number, after: period, &cx)
    case .afterCohort, .cycleEnd, nil: break
    }
    _ = consult(index, .timer, &server, &cx)
  }

  /// The connection is back: asks the triggers that wanted an aggregation without it, and then all.
  static func connectionReturned(_ server: inout Server, _ cx: inout Context) {
    let wishes = server.owed
    server.owed = []
    for wish in wishes {
      if consult(wish.trigger, wish.moment, &server, &cx) == .acted { return }
    }
    decide(.connectionReturned, &server, &cx)
  }

  /// What was done for a trigger: the waiting updates were aggregated or given up, or nothing.
  enum Act { case acted, waited }

  /// Asks a trigger, which may remember that, what it wants, and does it if it can be done now.
  private static func consult(
    _ index: Int, _ moment: TriggerMoment, _ server: inout Server, _ cx: inout Context
  ) -> Act {
    let view = Facts.serverView(server, cx)
    let decision = cx.inputs.server.trigger[index].value
      .decide(moment, view, with: &server.memories.triggers[index])
    // One aggregation at a time; when it is over the triggers are asked again.
    if server.underWay != nil { return .waited }
    switch decision {
    case .wait: return .waited
    case .aggregate:
      guard !server.pending.isEmpty else { return .waited }
      guard cx.network.server.believesOnline else {
        // A timer rings once: its trigger is asked again when the connection returns.
        let owed = OwedAggregation(trigger: index, moment: moment)
        if !server.owed.contains(owed) { server.owed.append(owed) }
        return .waited
      }
      Aggregating.aggregate(&server, &cx)
      return .acted
    case .skip:
      skipRound(&server, &cx)
      return .acted
    }
  }
}
