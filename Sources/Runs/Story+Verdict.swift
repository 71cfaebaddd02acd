import FedSim

/// What decided a story.
struct Verdict {
  let cause: Explanation.Cause
  /// The cause in a few words, for the last line.
  let headline: String
  /// The same with times, to follow `because` or a colon.
  let reason: String

  init(_ cause: Explanation.Cause, _ headline: String, _ reason: String? = nil) {
    (self.cause, self.headline, self.reason) = (cause, headline, reason ?? headline)
  }
}

extension Story {
  /// What decided it: how far the device came, and why not further.
  var verdict: Verdict {
    if isCollecting { return collected }
    return contribution ?? endOfUpdate ?? openUpdate ?? endOfAttempt ?? openAttempt ?? endOfSession
      ?? withoutSession
  }

  // MARK: Updates

  private var contribution: Verdict? {
    let used = updates.filter { update in
      update.end.map { $0.outcome == .aggregated && isInside($0.time) } ?? false
    }
    guard let last = used.last else { return nil }
    let version = watch.observed.compactMap { event -> Int? in
      guard case .published(let version, _) = event.kind, event.time == last.end!.time
      else { return nil }
      return version
    }.last
    let text =
      "its update \(last.number) became part of version \(version.map { "\($0)" } ?? "?")"
    return Verdict(.contributed, text, text + " at \(last.end!.time.words)")
  }

  /// The last update that had another end.
  private var endOfUpdate: Verdict? {
    let ended = updates.filter { $0.end.map { isInside($0.time) } ?? false }
    guard let last = ended.max(by: { $0.end!.time < $1.end!.time }), let end = last.end else {
      return nil
    }
    let name = "its update \(last.number)"
    let at = "at \(end.time.words)"
    func notKept(_ how: String) -> Verdict {
      Verdict(.notKept, "the device did not keep its update: \(how)", "\(name), \(at): \(how)")
    }
    switch end.outcome {
    case .aggregated, .unfinishedAtEnd: return nil
    case .rejectedLate:
      let round = last.round.map { "round \($0)" } ?? "its round"
      let failed = last.failures.last.map {
        ", because sending it had failed at \($0.time.words) (\(Self.text($0.outcome)))"
      }
      return Verdict(
        .late,
        last.failures.isEmpty
          ? "its update arrived after its round was over"
          : "its upload was lost, and its update arrived after its round was over",
        "\(name) reached the server \(at), after \(round) was over" + (failed ?? ""))
    case .rejectedStale:
      let current = version(at: end.time)
      let most = inputs.server.maximumStaleness ?? 0
      return Verdict(
        .stale, "its update was stale",
        "\(name) was of version \(last.base) when it arrived \(at), and version \(current) was "
          + "current: the server accepts none that is more than \(Words.count(most, "version")) old"
      )
    case .rejectedDuplicate:
      return Verdict(
        .duplicate, "its update was a duplicate, which the server ignores",
        "\(name) arrived \(at), when the server had another one of this device on version "
          + "\(last.base)")
    case .replaced:
      return Verdict(
        .replaced, "its update was replaced by a later one",
        "a later one on the same version replaced \(name) \(at)")
    case .rejectedNotFinite:
      return Verdict(
        .notFinite, "the parameters of its update were not finite",
        "\(name) was rejected \(at), because its parameters were not finite")
    case .roundSkipped:
      return Verdict(
        .roundSkipped, "its round was skipped with its update",
        "\(name) was given up \(at): the deadline passed with too few updates")
    case .uninstalled, .erased:
      let what = end.outcome == .erased ? "had it erased" : "removed the app"
      return Verdict(
        .erased, "its user \(what)", "\(name) was lost \(at): its user \(what)")
    case .deviceLeft:
      return Verdict(
        .absent, "the device left the fleet",
        "\(name) was lost \(at), when the device left the fleet")
    case .refusedOffline:
      return Verdict(
        .serverOffline, "the server believed itself offline and then accepts no updates",
        "\(name) was not accepted \(at), because the server believed itself offline")
    case .lostAtRestart:
      return Verdict(
        .serverRestarted, "the server restarted and lost its update",
        "\(name) waited at the server \(at), when the server restarted and lost it")
    case .forbidden:
      return Verdict(
        .unidentified, "the server refused its update: its tokens are not valid for that",
        "\(name) was refused \(at): its tokens are not for this server or purpose")
    case .rejectedLocally:
      return Verdict(
        .notFinite, "the parameters of its update were not finite",
        "\(name) was not sent \(at), because its parameters were not finite")
    case .weightless:
      return Verdict(
        .threw, "its training had failed and sent no samples",
        "\(name) was discarded \(at), because its training had failed")
    case .dropped: return notKept("it could not be sent, and the device keeps none")
    case .evicted: return notKept("a newer one needed its place in the outbox")
    case .outdated: return notKept("it had waited in the outbox for too long")
    case .lostAtKill: return notKept("the app was killed and keeps no outbox")
    }
  }

  /// The last update that had not ended yet.
  private var openUpdate: Verdict? {
    guard let last = updates.last(where: { $0.end == nil && $0.madeAt <= to }) else { return nil }
    let name = "its update \(last.number)"
    if let arrival = last.arrivals.first {
      guard watch.snapshot(at: to).believesOnline else {
        return Verdict(
          .serverOffline, "the server believed itself offline and aggregated nothing",
          "\(name) waited at the server from \(arrival.words) on, which believed itself offline"
        )
      }
      return Verdict(
        .waiting, "its update waited at the server, which had too few to aggregate",
        "\(name) waited at the server from \(arrival.words) on, but the condition to aggregate "
          + "was never met")
    }
    if watch.view(at: to).work == .uploading {
      return Verdict(
        .notReady, "its update was still in transit", "\(name) was in transit at \(to.words)")
    }
    if let failure = last.failures.last {
      return Verdict(
        .uploadLost, "its upload was lost and not sent again in time",
        "sending \(name) failed at \(failure.time.words) (\(Self.text(failure.outcome))), and it "
          + "was not sent again before \(to.words)")
    }
    let why =
      watch.view(at: to).link == 0 ? "the device was offline" : "its app did not run again"
    return Verdict(
      .notSent, "its update was not sent: \(why)",
      "\(name), made at \(last.madeAt.words), was not sent before \(to.words), because \(why)"
    )
  }

  /// The version that was current at a time.
  private func version(at time: SimTime) -> Int {
    watch.observed.reduce(0) { version, event in
      guard case .published(let other, _) = event.kind, event.time <= time else {
        return version
      }
      return other
    }
  }

  // MARK: Trainings

  private var endOfAttempt: Verdict? {
    let ends = inside.compactMap { event -> (time: SimTime, AttemptOutcome, Int)? in
      guard case .attemptEnded(let outcome, let batches) = event.kind else { return nil }
      return (event.time, outcome, batches)
    }
    guard let (time, outcome, batches) = ends.last else { return nil }
    let after =
      batches == 0 ? "before the first batch ended" : "after \(Words.count(batches, "batch"))"
    switch outcome {
    case .finished, .submittedPartial, .unfinishedAtEnd: return nil
    case .discardedAtExpiry:
      return Verdict(
        .expired, "its task expired \(after)",
        "its task expired \(after), and at \(time.words) its finished batches were discarded")
    case .killed: return kill(at: time, after)
    case .conditionsLost:
      return Verdict(
        .conditionsLost, "a condition of its app was lost while it trained (\(unmet(at: time)))",
        "at \(time.words) its training was given up \(after), because it was \(unmet(at: time))"
      )
    case .threw:
      return Verdict(
        .threw, "its training threw an error", "its training threw an error at \(time.words)")
    case .uninstalled, .erased:
      let what = outcome == .erased ? "had it erased" : "removed the app"
      return Verdict(
        .erased, "its user \(what) while it trained",
        "its training was lost at \(time.words) \(after): its user \(what)")
    case .deviceLeft:
      return Verdict(
        .absent, "the device left the fleet while it trained",
        "its training was lost at \(time.words) \(after): the device left the fleet")
    case .restarted, .outdated:
      let why = outcome == .outdated ? "too old" : "of an older version"
      return Verdict(
        .givenUp, "its checkpoint was \(why)",
        "at \(time.words) its checkpoint was given up, because it was \(why)")
    }
  }

  /// Why the app was killed.
  private func kill(at time: SimTime, _ after: String) -> Verdict {
    let before = watch.observed.filter { $0.device >= 0 && $0.time <= time }
    let began = before.last { if case .sessionBegan = $0.kind { true } else { false } }
    let expired = before.last { $0.kind == .softExpiry && $0.time >= began?.time ?? .start }
    func has(_ kind: ObservedEvent.Kind) -> Bool {
      watch.observed.contains { $0.device >= 0 && $0.time == time && $0.kind == kind }
    }
    func killed(_ why: String, _ clause: String) -> Verdict {
      Verdict(
        .killed, "its app was killed: \(why)",
        "its app was killed at \(time.words) \(after), \(clause)")
    }
    if has(.forceQuit) { return killed("its user swiped it away", "swiped away by its user") }
    if has(.processorExceeded) {
      return killed(
        "it used the processor for too long", "because it had used the processor for too long")
    }
    if has(.condition(.shutDown)) {
      return killed("the battery was empty", "because the battery was empty")
    }
    guard let expired else {
      return killed("it was ended by a scripted event", "by a scripted event")
    }
    switch group.app?.onExpiration ?? .complete {
    case .ignore:
      return killed(
        "it continued after the expiry of its task",
        "because it had continued after the expiry of its task at \(expired.time.words)")
    case .forget:
      return killed(
        "it never completed its task",
        "because it had not completed its task since "
          + "the expiry at \(expired.time.words)"
      )
    case .complete:
      return Verdict(
        .expired, "its task expired \(after)",
        "its task expired at \(expired.time.words), and a batch was still running at the hard "
          + "expiry, so its app was killed at \(time.words) \(after)")
    }
  }

  /// A training that had not ended yet, if anything was done for it in this time.
  private var openAttempt: Verdict? {
    var isOpen = false
    var done = (0, 0)
    var last: SimTime?
    for event in watch.observed where event.device >= 0 && event.time <= to {
      switch event.kind {
      case .trainingBegan(_, let first, let all):
        (isOpen, done, last) = (true, (first, all), event.time)
      case .trainingCut(let batches, let all), .checkpointed(let batches, let all):
        (done, last) = ((batches, all), event.time)
      case .attemptEnded: isOpen = false
      default: break
      }
    }
    guard isOpen, let last else { return nil }
    if watch.view(at: to).work == .training,
      watch.view(before: to).work == .training || to == watch.end
    {
      return Verdict(
        .notReady, "it was still training", "it was still training at \(to.words)")
    }
    guard isInside(last) else { return nil }
    let after =
      done.0 == 0 ? "before the first batch ended" : "after \(done.0) of \(done.1) batches"
    if let kill = inside.last(where: { $0.kind == .killed }), kill.time >= last {
      return self.kill(at: kill.time, after)
    }
    return Verdict(
      .expired, "its training was interrupted \(after)",
      "its training was interrupted \(after) at \(last.words), and was not resumed before "
        + "\(to.words)"
    )
  }
}
