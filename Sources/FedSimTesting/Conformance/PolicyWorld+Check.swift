import FedSim
import Learning
import Schema

extension PolicyWorld {
  /// Plays a policy in one piece, again, with other threads and kernels, and in six pieces, each
  /// resumed from the bytes of the one before; adds what it breaks.
  static func check(_ make: () -> ServerSettings, _ findings: inout Findings) {
    for (key, message) in make().contradictions() {
      findings.add(.shape, "server.\(key): \(message)")
    }
    if findings.has(.shape) { return }
    if let objection = Size(make()).objection { return findings.add(.progress, objection) }
    let whole = PolicyRun(make)
    whole.report(&findings)
    if whole.isEndless { return }
    if let found = whole.firstDifference(PolicyRun(make)) {
      findings.add(.repeats, "\(found) when the same run was played again")
    }
    let threaded = PolicyRun(make) { inputs in
      inputs.pool = WorkerPool(threads: 3)
      inputs.compute = .eager
      if let kernels = Kernels(.baseline) { inputs.kernels = kernels }
    }
    if let found = whole.firstDifference(threaded) {
      findings.add(
        .storage, "\(found) with 3 threads, eagerly computed, and the kernels `baseline`")
    }
    let stops = (1...5).map { $0 * whole.turns / 6 }
    if let found = whole.firstDifference(PolicyRun(make, stops: stops)) {
      findings.add(
        .saved,
        "\(found) where the run was saved and restored after \(stops) of \(whole.turns) events")
    }
  }
}

/// A run of a policy in `PolicyWorld`, and its outcome.
private struct PolicyRun {
  private let diary: PolicyDiary
  private let broken: [String]
  private let model: ParameterBuffer
  private let aggregated: (counted: Int, twice: Int)
  private let arrived: Int
  private let time: SimTime
  private let digest: EventDigest
  private let size: PolicyWorld.Size
  let turns: Int
  /// Whether it was given up, for its events had no end.
  private(set) var isEndless = false

  private struct Stop: Error {}

  init(
    _ make: () -> ServerSettings, stops: [Int] = [],
    _ change: (inout SimulationInputs) -> Void = { _ in }
  ) {
    let diary = PolicyDiary()
    let invariants = Invariants()
    let size = PolicyWorld.Size(make())
    func inputs() -> SimulationInputs {
      var inputs = PolicyWorld.inputs(make())
      change(&inputs)
      return inputs
    }
    var simulation = Simulation(inputs())
    var stops = stops[...]
    do {
      while true {
        var bytes: [UInt8]?
        do {
          try simulation.run(observers: [diary, invariants], every: 1) { run in
            if run.turns >= size.mostEvents { throw Stop() }
            guard let stop = stops.first, run.turns >= stop else { return }
            stops.removeFirst()
            bytes = try run.archive()
            throw Stop()
          }
          break
        } catch is Stop {
          isEndless = bytes == nil
          guard let bytes else { break }
          simulation = try Simulation(inputs(), archive: bytes)
        }
      }
    } catch {
      preconditionFailure("a run resumes from its saved bytes: \(error)")
    }
    self.diary = diary
    self.size = size
    broken = invariants.broken
    model = simulation.model
    aggregated = (
      simulation.books.ledgers.updates[.aggregated], simulation.books.tallies.aggregatedTwice
    )
    arrived = diary.arrived
    time = simulation.now
    digest = simulation.eventDigest
    turns = simulation.turns
  }

  /// Adds what this run alone shows.
  func report(_ findings: inout Findings) {
    if isEndless {
      let message = "after \(turns) events the run is still at \(time) of \(size.length)"
      return findings.add(.progress, message)
    }
    if let first = broken.first {
      let more = broken.count == 1 ? "" : " (and \(broken.count - 1) more)"
      findings.add(.ledgers, "after an event: \(first)\(more)")
    }
    let used = diary.versions.reduce(0) { $0 + $1.updates }
    if used != aggregated.counted + aggregated.twice {
      findings.add(
        .ledgers,
        "versions hold \(used) updates, of which \(aggregated.counted) ended as aggregated")
    }
    if diary.rounds.isEmpty {
      findings.add(
        .progress,
        "in \(size.length) with \(size.devices) devices \(arrived) updates arrived and no round"
          + " ended")
    } else if diary.versions.count < 2 {
      let rounds =
        "with \(size.devices) devices \(diary.rounds.count) rounds ended with \(arrived) updates"
        + " that arrived"
      findings.add(.progress, "\(rounds), and none with a version")
    }
    for (version, model) in diary.models.enumerated() {
      if let place = model.firstIndex(where: { !$0.isFinite }) {
        findings.add(.finite, "parameter \(place) of version \(version) is \(word(model[place]))")
      }
    }
  }

  /// The first event, version or round that is another one in another run.
  func firstDifference(_ other: PolicyRun) -> String? {
    let (mine, others) = (diary, other.diary)
    for (place, pair) in zip(mine.events, others.events).enumerated()
    where pair.0.time != pair.1.time || pair.0.event != pair.1.event {
      return "event \(place + 1) was \(Self.words(pair.0)), and \(Self.words(pair.1))"
    }
    if mine.events.count != others.events.count {
      return "there were \(mine.events.count) events, and \(others.events.count)"
    }
    for (version, pair) in zip(mine.models, others.models).enumerated() {
      let (a, b) = (ParameterBuffer(pair.0), ParameterBuffer(pair.1))
      if let found = a.firstDifference(b) { return "\(found) in version \(version)" }
    }
    for (a, b) in zip(mine.rounds, others.rounds) where a.outcome != b.outcome {
      return "round \(a.round) was \(a.outcome), and \(b.outcome)"
    }
    if digest != other.digest { return "the digest of events was \(digest), and \(other.digest)" }
    return model.firstDifference(other.model).map { "\($0) in the model at the end" }
  }

  private static func words(_ entry: (time: SimTime, event: Event)) -> String {
    "\(entry.event) at \(entry.time)"
  }
}

/// Writes down every event, version and round.
private final class PolicyDiary: Observer {
  private(set) var events: [(time: SimTime, event: Event)] = []
  private(set) var versions: [VersionRecord] = []
  private(set) var models: [[Float]] = []
  private(set) var rounds: [RoundRecord] = []
  private(set) var arrived = 0

  var wantsEveryEvent: Bool { true }
  func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    events.append((time, event))
  }
  func happened(_ event: ObservedEvent) {
    if case .arrived = event.kind { arrived += 1 }
  }
  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    versions.append(record)
    models.append(simulation.model.values)
  }
  func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
    if record.outcome != .unfinishedAtEnd { rounds.append(record) }
  }
}
