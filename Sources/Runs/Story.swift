import FedSim

/// The story of one device in one round, or in a whole run.
struct Story {
  let inputs: SimulationInputs
  let watch: DeviceWatch
  /// The round; nil: the whole run.
  let round: RoundRecord?
  let from: SimTime
  let to: SimTime
  let mostSentences: Int
  /// The outcomes of the device's updates, in the order of their making.
  let updates: [UpdateStory]

  /// The outcome of an update at the end of the story.
  struct UpdateStory {
    let number: Int
    let base: Int
    let madeAt: SimTime
    let round: Int?
    var failures: [(time: SimTime, outcome: TransmissionOutcome)] = []
    var arrivals: [SimTime] = []
    var end: (time: SimTime, outcome: UpdateOutcome)?
  }

  init(_ inputs: SimulationInputs, _ watch: DeviceWatch, round: Int?, mostSentences: Int) {
    self.inputs = inputs
    self.watch = watch
    self.mostSentences = mostSentences
    self.round = round.map { watch.rounds[$0 - 1] }
    from = self.round?.openedAt ?? .start
    to = self.round?.closedAt ?? watch.end
    var updates: [UpdateStory] = []
    var accepted: Int?
    func place(_ number: Int) -> Int? { updates.lastIndex { $0.number == number } }
    for event in watch.observed where event.time <= to && event.device >= 0 {
      switch event.kind {
      case .accepted(let round): accepted = round
      case .updateCreated(let number, let base, _, _):
        updates.append(
          UpdateStory(number: number, base: base, madeAt: event.time, round: accepted))
      case .uploadFailed(let number, let outcome):
        if let place = place(number) { updates[place].failures.append((event.time, outcome)) }
      case .arrived(let number):
        if let place = place(number) { updates[place].arrivals.append(event.time) }
      case .updateEnded(let number, let outcome):
        if let place = place(number), outcome != .unfinishedAtEnd {
          updates[place].end = (event.time, outcome)
        }
      default: break
      }
    }
    self.updates = updates
  }

  /// The settings of the device's group.
  var group: FleetGroupSettings {
    var first = 0
    for group in inputs.fleet {
      if watch.device < first + group.count { return group }
      first += group.count
    }
    preconditionFailure("a device is in a group")
  }

  /// Whether a moment belongs to the story: what happens as a round closes is that round's.
  func isInside(_ time: SimTime) -> Bool {
    time <= to && (time > from || from == .start)
  }

  /// What happened to the device within the story.
  var inside: [ObservedEvent] {
    watch.observed.filter { $0.device >= 0 && isInside($0.time) }
  }

  /// The time in words: `round 5`, `the run`.
  var name: String { round.map { "round \($0.round)" } ?? "the run" }

  // MARK: How long what was so

  /// The stretches of the story with the device in each, split where only time changes something.
  var stretches: [(from: SimTime, to: SimTime, view: DeviceView)] {
    var found: [(from: SimTime, to: SimTime, view: DeviceView)] = []
    for (place, (time, view)) in watch.views.enumerated() {
      let next = place + 1 < watch.views.count ? watch.views[place + 1].time : watch.end
      var start = max(time, from)
      let end = min(next, to)
      guard start < end || (from == to && time <= from && from < next) else { continue }
      for cut in view.conditions.turns.sorted() where cut > start && cut < end {
        found.append((start, cut, view))
        start = cut
      }
      found.append((start, end, view))
    }
    return found
  }

  private func time(_ isSo: (SimTime, DeviceView) -> Bool) -> SimDuration {
    stretches.reduce(.zero) { isSo($1.from, $1.view) ? $0 + ($1.to - $1.from) : $0 }
  }

  /// How long the device was what matters.
  private var overview: String {
    let away = time { $1.isAway }
    if away == to - from { return "In that time the device was not in the fleet." }
    let parts: [(String, SimDuration)] = [
      ("charging", time { $1.isPlugged && !$1.isAway }),
      ("idle", time { $1.conditions.idleFrom <= $0 && !$1.isAway }),
      ("on Wi-Fi", time { $1.link == 2 }), ("on a cellular link", time { $1.link == 1 }),
      ("away from the fleet", away),
    ]
    let some = parts.filter { $0.1 > .zero }.map { "\($0.0) for \(Words.duration($0.1))" }
    let offline = time { $1.link == 0 }
    var never = parts.prefix(3).filter { $0.1 == .zero }.map {
      "never \($0.0)"
    }
    if offline == to - from { never = never.filter { $0 != "never on Wi-Fi" } + ["never online"] }
    let all = some + never
    let ran = time { $1.app != nil }
    let app =
      ran == .zero ? "Its app never ran." : "Its app ran for \(Words.duration(ran))."
    return "In that time the device was \(Words.list(all)). \(app)"
  }

  // MARK: Sentences

  /// The story: when it was, how the device was, what happened, what came of it.
  func sentences(_ verdict: Verdict) -> [String] {
    var found = [opening]
    if to > from { found.append(overview) }
    let events = watch.observed.filter { isInside($0.time) }.compactMap(sentence)
    if events.count > mostSentences {
      let half = mostSentences / 2
      found += events.prefix(half)
      found.append("(\(events.count - 2 * half) more events.)")
      found += events.suffix(half)
    } else {
      found += events
    }
    let target = round == nil ? "" : " to \(name)"
    found.append(
      verdict.cause == .contributed
        ? "So it contributed\(target): \(verdict.reason)."
        : "So it did not contribute\(target): \(verdict.reason).")
    return found
  }

  /// When the story was.
  private var opening: String {
    guard let round else {
      let closed = watch.rounds.count { $0.outcome != .unfinishedAtEnd }
      let versions = watch.rounds.count { $0.outcome == .published }
      return
        "The run lasted from \(from.words) to \(to.words), with \(Words.count(closed, "round")) "
        + "and \(Words.count(versions, "version"))."
    }
    let end =
      switch round.outcome {
      case .published: "published version \(round.version)"
      case .skipped: "was skipped at its deadline"
      case .failed: "failed, because none of its updates could be used"
      case .unfinishedAtEnd: "was still open when the run ended"
      case .lostAtRestart: "was lost when the server restarted"
      }
    return "Round \(round.round) was open from \(from.words) to \(to.words) and \(end)."
  }
}
