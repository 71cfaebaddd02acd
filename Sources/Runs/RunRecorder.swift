import FedSim
import Learning
import Results
import Scenarios

/// Collects what a run's result file will hold: rounds and versions as they come, the rest at the
/// end.
///
/// Nothing here depends on threads, kernels, the mode of computing, the host or the clock on its
/// wall.
public final class RunRecorder: Observer {
  /// The rounds closed so far.
  public private(set) var rounds: [RoundRecord] = []
  /// The versions published so far, from the initial model on.
  public private(set) var versions: [VersionRecord] = []
  /// The evaluations of these versions.
  public private(set) var evaluations: [CentralEvaluation?] = []

  /// The federated evaluations of these versions, where there were any.
  public private(set) var federated: [FederatedEvaluation.Summary?] = []
  /// The last version's accuracies by device, where they were asked for.
  public private(set) var lastFederated: FederatedEvaluation?

  /// A recorder of one run.
  public init() {}

  /// Keeps a version.
  public func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    versions.append(record)
    evaluations.append(record.evaluation)
    federated.append(record.federated)
  }

  /// Keeps a round.
  public func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
    rounds.append(record)
  }

  /// Evaluates the last version, if it has not been.
  public func ended(_ simulation: borrowing Simulation) {
    if let last = evaluations.indices.last, evaluations[last] == nil {
      evaluations[last] = simulation.evaluate()
    }
    guard simulation.inputs.record.federatedEvaluation != nil, let last = federated.indices.last
    else { return }
    let isKnown = federated[last] != nil
    lastFederated = isKnown ? simulation.federatedEvaluation : simulation.federated()
    federated[last] = lastFederated?.summary
  }

  /// The result of a run that is over.
  public func document(_ simulation: Simulation, of scenario: Scenario) -> ResultDocument {
    precondition(simulation.isOver, "a result is that of a whole run")
    let identity = ResultDocument.Identity(
      title: scenario.settings.name ?? "", engineVersion: FedSimVersion.current,
      schemaVersion: FedSimVersion.resultSchema, seed: scenario.settings.seed,
      eventDigest: simulation.eventDigest.value.hexDigits, scenarioDigest: scenario.digest)
    var attributes = identity.attributes
    attributes.append(.init("dataDigest", .text(simulation.inputs.task.digest.hexDigits)))
    if let key = simulation.inputs.shakeTies {
      attributes.append(.init("shakeTies", .unsigned(key)))
    }
    var groups = [
      roundTable(simulation), versionTable(simulation), HourTable.group(simulation),
      DeviceTable.group(simulation, lastFederated), LedgerTable.group(simulation),
      PartitionTable.group(simulation),
    ]
    if simulation.inputs.record.finalModel { groups.append(ModelTable.group(simulation)) }
    return ResultDocument(
      attributes: attributes,
      variables: [
        .scalar(
          "simulatedTime", .double([simulation.now.seconds]), units: "s",
          "virtual time at which the run ended"),
        .scalar(
          "startTime", .int64([simulation.inputs.civilStart]),
          units: "seconds since 1970-01-01 00:00:00", "civil time (UTC) at virtual time 0"),
      ], texts: [.init("scenario", scenario.resolvedText)], groups: groups)
  }
}
