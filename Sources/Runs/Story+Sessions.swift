import FedSim

extension Story {
  /// Why the last time that the app ran for a training brought none.
  var endOfSession: Verdict? {
    let observed = inside
    var isPoll = true
    var ran = false
    var words: [ObservedEvent] = []
    for event in watch.observed where event.device >= 0 && event.time <= to {
      if case .sessionBegan(let kind) = event.kind {
        isPoll = kind.isPoll
        if !isPoll { words = [] }
        if !isPoll, isInside(event.time) { ran = true }
      }
      if !isPoll {
        words.append(event)
        if isInside(event.time) { ran = true }
      }
      // What happens between sessions is none of theirs.
      if case .sessionEnded = event.kind { isPoll = true }
    }
    let isRunning = watch.view(at: to).app.map { !$0.isPoll } ?? false
    guard ran || isRunning else { return nil }
    var recent = words.filter { isInside($0.time) || isRunning }
    if let rest = recent.lastIndex(where: { $0.kind == .rested(.completed) }) {
      if isRunning, watch.view(at: to).work == .pausing { return pausing(since: recent[rest].time) }
      // What came before is done; it asked for work again.
      if rest + 1 < recent.count { recent = Array(recent[(rest + 1)...]) }
    }
    return answer(recent) ?? refusal(recent, observed) ?? ending(recent)
  }

  /// It had done its work before, and waits until it asks again.
  private func pausing(since time: SimTime) -> Verdict {
    let pause = Words.duration(group.participation.pause)
    return Verdict(
      .pausing, "it had finished its work and paused before its next request",
      "it had finished its work at \(time.words), and pauses for \(pause) before its next request")
  }

  /// It was accepted, and never began to train.
  private func answer(_ words: [ObservedEvent]) -> Verdict? {
    guard let accepted = words.last(where: { if case .accepted = $0.kind { true } else { false } })
    else { return nil }
    let later = words.filter { $0.time >= accepted.time }
    if let offline = later.last(where: { $0.kind == .serverOffline }) {
      return Verdict(
        .serverOffline, "the server believed itself offline and sent no model",
        "at \(offline.time.words) the server replied that it believes itself "
          + "offline, and sent no model"
      )
    }
    for event in later.reversed() {
      switch event.kind {
      case .requestFailed(.download, let outcome):
        return Verdict(
          .requestLost, "its download of the model failed",
          "its download failed at \(event.time.words): \(Self.text(outcome))")
      case .rested(.nothingNew), .sessionEnded(.nothingNew):
        let held = watch.view(at: event.time).heldVersion
        return Verdict(
          .nothingNew, "there was no newer version than the one that it had trained on",
          "at \(event.time.words) it had already trained on version \(held), and there was no "
            + "newer one")
      case .sessionEnded(.expired):
        return Verdict(
          .expired, "its task expired before it had the model",
          "its time was over at \(event.time.words), before it had the model")
      default: continue
      }
    }
    return Verdict(
      .notReady, "it was not ready yet",
      "it was accepted at \(accepted.time.words), but not ready by \(to.words)")
  }

  /// It asked and was not accepted.
  private func refusal(_ words: [ObservedEvent], _ inside: [ObservedEvent]) -> Verdict? {
    let waits = words.last { if case .waited = $0.kind { true } else { false } }
    let cohort = watch.observed.last { event in
      guard case .cohortFormed(let number, _) = event.kind else { return false }
      return round.map { number == $0.round } ?? true
    }
    if let waits, !inputs.server.selector.value.formsCohorts {
      return Verdict(
        .waiting, "it waited for the version that its update goes into",
        "an update of it waited from \(waits.time.words) on, and it waited for the aggregation")
    }
    if let waits {
      guard let cohort, case .cohortFormed(let number, let members) = cohort.kind else {
        return Verdict(
          .noCohort, "no cohort was formed: too few devices waited at once",
          "it waited for a cohort from \(waits.time.words) on, and none was formed by \(to.words)"
        )
      }
      let isLate = waits.time > cohort.time
      return Verdict(
        .notChosen,
        isLate
          ? "it arrived after the round's cohort had been formed"
          : "the server did not select it",
        "the cohort of round \(number) was formed at \(cohort.time.words), of "
          + "\(Words.count(members, "device")), "
          + (isLate
            ? "before it arrived at \(waits.time.words)" : "and it was not among those selected")
      )
    }
    for event in words.reversed() {
      switch event.kind {
      case .rested(.rejected), .sessionEnded(.rejected):
        return Verdict(
          .rejected, "the server had no work for it",
          "the server had no work for it at \(event.time.words)")
      case .rejected(let retry?):
        return Verdict(
          .rejected, "the server had no work for it and gave a time to return",
          "the server had no work for it at \(event.time.words) and wanted it back after "
            + Words.duration(retry.duration))
      case .requestFailed(.check, let outcome):
        guard watch.snapshot(at: event.time).isReachable else {
          return Verdict(
            .serverUnreachable, "the server could not be reached",
            "the server could not be reached: its request failed at \(event.time.words) "
              + "(\(Self.text(outcome)))")
        }
        return Verdict(
          .requestLost, "its request to the server was lost",
          "its request to the server failed at \(event.time.words): \(Self.text(outcome))"
        )
      default: continue
      }
    }
    return nil
  }

  /// It never asked.
  private func ending(_ words: [ObservedEvent]) -> Verdict? {
    for event in words.reversed() {
      let time = event.time
      guard case .sessionEnded(let end) = event.kind else { continue }
      switch end {
      case .ineligible:
        return Verdict(
          .notEligible, "a condition of its app did not hold when it ran (\(unmet(at: time)))",
          "when its app ran at \(time.words), the device was \(unmet(at: time))")
      case .withoutData:
        return Verdict(.noData, "it has no training data", "it has no training data")
      case .declined:
        return Verdict(
          .unfit, "the device cannot train this model", "the device cannot train this model")
      case .left:
        return Verdict(
          .absent, "the device left the fleet", "the device left the fleet at \(time.words)")
      case .unauthorised, .unregistered, .keychainLocked:
        return Verdict(
          .unidentified, "its app could not request work: \(Self.text(end))",
          "its app stopped at \(time.words): \(Self.text(end))")
      case .unknownError, .expiredRound, .undecodable, .streamBroken, .disconnected, .wrongURL:
        return Verdict(
          .misunderstood, "app and server did not connect: \(Self.text(end))",
          "its app stopped at \(time.words): \(Self.text(end))")
      case .erased:
        return Verdict(
          .erased, "its user had its data erased",
          "its app stopped at \(time.words): \(Self.text(end))")
      case .completed:
        // The end of what belongs to an earlier round.
        return nil
      case .expired, .killed, .unreachable, .rejected, .nothingNew, .conditionsLost, .threw,
        .locked:
        if watch.view(before: time).link == 0 || watch.view(at: time).link == 0 {
          return Verdict(
            .offline, "it was offline while its app ran",
            "it was offline while its app ran, until \(time.words)")
        }
        return Verdict(
          end == .killed ? .killed : .expired, "its app stopped before it could request work",
          "its app stopped at \(time.words), before it could request work: \(Self.text(end))")
      }
    }
    if watch.view(at: to).work == .pausing {
      return Verdict(
        .pausing, "it paused before its next request",
        "it paused at \(to.words) before its next request"
      )
    }
    return watch.view(at: to).link == 0
      ? Verdict(.offline, "it was offline while its app ran", "it was offline at \(to.words)")
      : Verdict(
        .notReady, "it was not ready yet", "its app had just begun to run at \(to.words)")
  }

  /// Which of the app's own conditions did not hold at a time, the one that counted first.
  func unmet(at time: SimTime) -> String {
    let view = watch.view(at: time)
    let words = view.unmet(at: time, of: group).map { $0.lacking(view.conditions) }
    return words.isEmpty ? "without what the app asks for" : Words.list(words)
  }

  // MARK: Without a session

  /// Why the app did not run for a training at all.
  var withoutSession: Verdict {
    let all = stretches
    if !all.isEmpty, all.allSatisfy({ $0.view.isAway }) {
      return Verdict(.absent, "the device was not in the fleet")
    }
    let background = group.background
    if background.windows != nil {
      if let open = stretches.first(where: { $0.view.window != 0 && $0.view.energy != .off }) {
        return Verdict(
          .noWindow, "its app had stopped before in a window that was still open",
          "its window was open at \(open.from.words), but its app had stopped before, and no new "
            + "one opened")
      }
      return stretches.contains { $0.view.energy == .off && $0.view.window != 0 }
        ? Verdict(.neverHeld, "its battery was empty when its window opened")
        : Verdict(
          .noWindow, "no background window opened for it",
          "no background window opened for it from \(from.words) to \(to.words)")
    }
    guard background.processing != nil else {
      if background.continued != nil {
        return Verdict(.nothingRuns, "its user started no training in the app")
      }
      return Verdict(
        .nothingRuns, "nothing lets its app run in the background",
        "its group `\(group.name)` has neither `background.processing` nor `background.windows`")
    }
    return conditions
  }

  /// Which conditions of a processing task never held, or never at once.
  private var conditions: Verdict {
    let needed = Conditions(askedBy: .processing, of: group)
    let found = stretches.map { (held: $0.view.held(at: $0.from, of: needed), $0.from, $0.to) }
    let missing = needed.missing(in: found.map(\.held))
    let task = "the system never started its task"
    if missing.isEmpty {
      let free = found.filter { $0.held.isSuperset(of: needed) }
        .reduce(SimDuration.zero) { $0 + ($1.2 - $1.1) }
      return Verdict(
        .notStarted, "the system did not start its task in time",
        "every condition of its task held for \(Words.duration(free)), and the system, which "
          + "starts tasks with a delay, had not started it by \(to.words)")
    }
    if missing.count > 1 {
      return Verdict(
        .neverHeld, "never \(missing.whileClause)",
        "\(task), because it was never \(missing.whileClause)")
    }
    let alone = needed.inReports.filter { condition in
      !found.contains { $0.held.contains(condition) }
    }
    if alone == [.due] {
      let due = stretches.map(\.view.conditions.requestFrom).min() ?? to
      return Verdict(
        .notDue, "its next task was not due yet",
        "\(task), because its request for the next one was not due before \(due.words)")
    }
    let words = alone.map(\.words.never)
    return Verdict(
      .neverHeld, Words.list(words), "\(task), because it was \(Words.list(words))")
  }
}
