import FedSim
import Learning
import PythonParts
import Results
import Scenarios

/// Collects what a run's result file will hold: rounds and versions as they come, the rest at the
/// end.
///
/// Nothing here depends on threads, kernels, the mode of computing, the host or the clock on its
/// wall.
public final class RunRecorder: SavedObserver {
  /// The rounds closed so far.
  public private(set) var rounds = PagedArray<RoundRecord>()
  /// The last version's accuracies by device, where they were asked for.
  public private(set) var lastFederated: FederatedEvaluation?
  private var log = VersionLog()
  /// Participations by round, of rounds that only a journal holds.
  private var laterFunnels: [Int: Funnel] = [:]
  /// Versions that were trained centrally, that only a journal holds.
  private var laterCentral: [CentralVersion] = []
  private var lastEvaluation: CentralEvaluation?
  private var events: EventLog?
  private var timeline: TimelineLog?

  /// Whether events or timelines are to be stored.
  public var wantsEveryEvent: Bool { events != nil || timeline != nil }

  /// The versions published so far, from the initial model on. Complexity: O(versions).
  public var versions: [VersionRecord] { log.records }

  /// The same, the last version with the evaluations that it got once the run was over.
  private var evaluated: [VersionRecord] {
    var versions = versions
    if let lastEvaluation { versions[log.count - 1].evaluation = lastEvaluation }
    if let lastFederated { versions[log.count - 1].federated = lastFederated.summary }
    return versions
  }

  /// These, as columns look at them.
  func series(_ simulation: borrowing Simulation) -> VersionSeries {
    VersionSeries(evaluated, of: simulation.inputs, at: simulation.now)
  }

  /// The evaluations of these versions; that of the last one too once the run is over.
  public var evaluations: [CentralEvaluation?] { evaluated.map(\.evaluation) }

  /// How many events are kept, and how many did not fit; nil where they were not asked for.
  var storedEvents: (stored: Int, missed: Int)? { events.map { ($0.rows.count, $0.missed) } }

  /// What a recorder remembers.
  public struct Memory: Codable {
    let rounds: PagedArray<RoundRecord>
    let lastFederated: FederatedEvaluation?
    let log: VersionLog
    let lastEvaluation: CentralEvaluation?
    let events: EventLog.Memory?
    let timeline: TimelineLog.Memory?
  }

  public var memory: Memory {
    get {
      Memory(
        rounds: rounds, lastFederated: lastFederated, log: log, lastEvaluation: lastEvaluation,
        events: events?.memory, timeline: timeline?.memory)
    }
    set {
      (rounds, lastFederated) = (newValue.rounds, newValue.lastFederated)
      (log, lastEvaluation) = (newValue.log, newValue.lastEvaluation)
      events = newValue.events.map { memory in
        let log = EventLog(limit: 0)
        log.memory = memory
        return log
      }
      timeline = newValue.timeline.map { memory in
        let log = TimelineLog([])
        log.memory = memory
        return log
      }
    }
  }

  /// A recorder of one run.
  public init() {}

  /// Begins the logs that the scenario asks for.
  public func began(_ simulation: borrowing Simulation) {
    let record = simulation.inputs.record
    if record.events == true {
      events = EventLog(limit: record.eventLimit ?? RecordSettings.defaultEventLimit)
    }
    if let named = record.timelineOf, !named.isEmpty {
      var devices: [Int] = []
      for device in named {
        guard let number = simulation.inputs.device(at: device.path) else {
          preconditionFailure("no device \(device.path)")
        }
        devices.append(number)
      }
      timeline = TimelineLog(devices)
      timeline?.began(simulation)
    }
  }

  /// Passes on what happened.
  public func happened(_ event: ObservedEvent) { events?.happened(event) }

  /// Passes on what was handled.
  public func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    timeline?.handled(event, at: time, simulation)
  }

  /// Keeps a version.
  public func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    log.append(record)
  }

  /// Keeps a round.
  public func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
    rounds.append(record)
    events?.closed(record, simulation)
  }

  /// Keeps what a journal tells of a version.
  func take(_ record: VersionRecord) { log.append(record) }

  /// Keeps what a journal tells of a version that was trained centrally.
  func take(_ version: CentralVersion) { laterCentral.append(version) }

  /// Keeps what a journal tells of a round.
  func take(_ record: RoundRecord, _ funnel: Funnel) {
    rounds.append(record)
    laterFunnels[record.round] = funnel
  }

  /// The participations of a round.
  func funnel(of round: Int, _ simulation: Simulation) -> Funnel {
    laterFunnels[round] ?? simulation.participations.rounds[round]
  }

  /// Evaluates the last version, if it has not been.
  public func ended(_ simulation: borrowing Simulation) {
    timeline?.ended(simulation)
    if simulation.inputs.omitsArithmetic { return }
    let last = log[log.count - 1]
    if last.evaluation == nil { lastEvaluation = simulation.serverRecord.evaluate() }
    guard simulation.inputs.record.federatedEvaluation != nil else { return }
    lastFederated =
      last.federated == nil
      ? simulation.serverRecord.federated() : simulation.serverRecord.federatedEvaluation
  }

  /// Which part of a run a document holds.
  enum Standing {
    /// All of it.
    case whole
    /// Rounds and versions until a time, and the rest as of another one, or not at all.
    case soFar(until: SimTime, asOf: SimTime?)
  }

  /// The result of a run that is over.
  public func document(_ simulation: Simulation, of scenario: Scenario) -> ResultDocument {
    precondition(simulation.isOver, "a result is about a complete run")
    return document(simulation, of: scenario, standing: .whole)
  }

  /// The code in Python that is part of a run, and what computes it; nil: there is none.
  private static func foreign(_ inputs: SimulationInputs) -> String? {
    let trainer = inputs.omitsArithmetic ? nil : inputs.task.network.foreign as? PythonTrainer
    let parts = PythonPartList(inputs.server)
    let names = (trainer.map { [$0.words] } ?? []) + parts.words
    let versions = trainer?.versions ?? []
    let others = parts.versions.filter { !versions.contains($0) }
    return names.isEmpty ? nil : (names + versions + others).joined(separator: "; ")
  }

  /// The result of a run, or of a part of one.
  func document(
    _ simulation: Simulation, of scenario: Scenario, standing: Standing
  ) -> ResultDocument {
    let identity = ResultDocument.Identity(
      title: scenario.settings.name ?? "", engineVersion: FedSimVersion.current,
      schemaVersion: FedSimVersion.resultSchema, seed: scenario.settings.seed,
      eventDigest: simulation.eventDigest.value.hexDigits, scenarioDigest: scenario.digest)
    var attributes = identity.attributes
    attributes.append(.init("dataDigest", .text(simulation.inputs.task.digest.hexDigits)))
    if let words = Self.foreign(simulation.inputs) {
      attributes.append(.init("foreign", .text(words)))
    }
    if let program = simulation.inputs.program as? FlowerProgram {
      attributes.append(.init("foreign", .text(program.computedBy)))
    }
    if let key = simulation.inputs.shakeTies {
      attributes.append(.init("shakeTies", .unsigned(key)))
    }
    var time = simulation.now
    var meaning = "virtual time at which the run ended"
    var groups = [roundTable(simulation), VersionTable.group(series(simulation), simulation)]
    switch standing {
    case .whole: groups += otherTables(simulation)
    case .soFar(let until, let asOf):
      attributes.append(.init("isComplete", .integer(0)))
      time = until
      var standing = simulation
      standing.countHours(until: asOf ?? .start)
      var others = asOf == nil ? [] : otherTables(standing)
      // Of no events there is no digest.
      if asOf == nil { attributes.removeAll { $0.name == "eventDigest" } }
      if asOf == nil, simulation.collection.isOn {
        // The versions are the journal's; files are as they are at the start.
        others = [CentralTable.central(simulation, laterCentral)]
      }
      for place in others.indices { others[place].mark(asOf: asOf ?? .start) }
      groups += others
      meaning = "virtual time that the run had reached; the run had not ended"
    }
    let assumptions = scenario.assumptionLines
    return ResultDocument(
      attributes: attributes,
      variables: [
        .scalar(
          "simulatedTime", .double([time.seconds]), units: "s", meaning),
        .scalar(
          "startTime", .int64([simulation.inputs.civilStart]),
          units: "seconds since 1970-01-01 00:00:00", "civil time (UTC) at virtual time 0"),
      ],
      texts: [.init("scenario", scenario.resolvedText)]
        + (assumptions.isEmpty ? [] : [.init("assumptions", assumptions)]), groups: groups)
  }

  /// All tables but those of rounds and versions.
  private func otherTables(_ simulation: Simulation) -> [ResultDocument.Group] {
    var groups = [StalenessTable.group(simulation), HourTable.group(simulation)]
    groups += LossTable.groups(simulation) + FleetHoursTable.groups(simulation)
    groups += [
      DeviceTable.group(simulation, lastFederated, evaluations), Fairness.group(simulation),
      ledgerTable(simulation), EffortTable.group(simulation), PartitionTable.group(simulation),
    ]
    groups += IdentityTable.groups(simulation)
    groups += EvaluationTable.groups(simulation)
    groups += CentralTable.groups(simulation, later: laterCentral)
    groups += UpdateTable.groups(simulation)
    if let events { groups.append(EventTable.group(events)) }
    if let timeline { groups.append(TimelineTable.group(timeline)) }
    if simulation.isOver, let stallReport = simulation.stallReport {
      groups.append(StallReportTable.group(stallReport, simulation.inputs))
    }
    if simulation.inputs.record.finalModel, !simulation.inputs.omitsArithmetic {
      groups.append(ModelTable.group(simulation))
    }
    return groups
  }
}
