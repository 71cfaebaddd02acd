import Learning
import Numerics
import Schema

/// What others may read of a run.
extension Simulation {
  /// What the run depends on.
  public var inputs: SimulationInputs { cx.inputs }
  /// The virtual time.
  public var now: SimTime { cx.now }
  /// The time at which the run ends at the latest.
  public var end: SimTime { cx.end }
  /// Whether the run is over.
  public var isOver: Bool { cx.isOver }
  /// What was begun and how it ended.
  public var ledgers: Ledgers { cx.books.ledgers }
  /// What happened, counted.
  public var tallies: Tallies { cx.books.tallies }
  /// Participations by round; index 0 is unused.
  public var roundFunnels: PagedArray<Funnel> { cx.participations.rounds }
  /// Participations by the hour in which their session began.
  public var hourFunnels: PagedArray<Funnel> { cx.participations.hours }
  /// The same by the group of their devices; empty unless that is recorded.
  public var groupFunnels: [PagedArray<Funnel>] { cx.participations.groups }
  /// The last federated evaluation, of the version that was current then.
  public var federatedEvaluation: FederatedEvaluation? { server.quality.federated }

  /// A device's path, such as `phones/17`.
  public func path(of device: Int) -> String { Roster.path(of: device, cx) }
  /// Whether a device is one of the adversaries, whether they attack already or not.
  public func isAdversary(_ device: Int) -> Bool { Adversary.isAdversary(device, cx) }
  /// The current model's quality, as an oracle sees it.
  public func evaluate() -> CentralEvaluation { Quality.evaluate(server, cx) }
  /// The current model's accuracy on each device's own samples, as an oracle sees it.
  ///
  /// A client whose data several devices have is evaluated once. Complexity: O(devices + samples of
  /// their clients).
  public func federated() -> FederatedEvaluation { Quality.federated(server, cx) }
  /// Whether the labels in a version are recorded.
  public var recordsLabels: Bool { Publication.recordsLabels(cx) }
  /// Whether the norms of a version's tensors are recorded.
  public var recordsNorms: Bool { Publication.recordsNorms(cx) }
  /// What the groups of the fleet count in the next version; empty where they have no weights.
  public var groupWeights: [Double] { Publication.groupWeights(server, cx) }
  /// What goes with the current version, such as SCAFFOLD's server variate; none: zeros.
  public var companions: [ParameterBuffer] { ClientStates.companions(server, cx) }
  /// The size of a file of these samples, as a device that collects would write it.
  package func csvBytes(_ samples: [Int32], _ settings: CollectionSettings) -> Int64 {
    SampleFiles.csvBytes(samples, settings, cx)
  }
  /// Whether it ended because nothing that was left could ever contribute.
  public var isStuck: Bool { cx.isStuck }
  /// Counts the hours of devices up to a time; for one who looks at a run that is still played.
  package mutating func countHours(until time: SimTime) {
    Accounting.countHours(until: time, &devices, &cx)
  }
  /// Whether any device trains itself.
  public var hasTrainers: Bool { Collecting.hasTrainers(cx) }
  /// The version that a device's own model was trained from; −1: it has not trained one, nil: no
  /// device keeps one.
  public func ownBase(of device: Int) -> Int? { Instructions.ownBase(of: device, cx) }

  /// How many trainings of this playing came as predicted.
  package var predictionCounts: PredictionCounts { cx.computations.predictionCounts }

  /// What happened between devices and server beyond the usual; nil where nothing asks for it.
  public var exchangeTallies: ExchangeTallies? { cx.features.isOn ? cx.books.exchange : nil }

  /// Evaluations that the server asked devices for, in order.
  public var evaluationRecords: [EvaluationRecord] { Array(server.instructions.evaluations) }

  /// Aggregations that took time, counted; nil where they take none.
  public var aggregationTallies: AggregationTallies? {
    cx.inputs.server.aggregationTime == nil ? nil : server.aggregations
  }

  /// Requests that reached the server, counted; nil where it handles them at once.
  public var serviceTallies: ServiceTallies? {
    server.service.settings == nil ? nil : server.service.tallies
  }

  /// Devices that belong to the fleet now. Complexity: O(devices).
  public var presentCount: Int { devices.indices.count { !Membership.isAway($0, devices) } }

  /// Why a device cannot train the model; nil: it can.
  public func unfitness(of device: Int) -> Unfitness? {
    Roster.hardware(of: device, devices)?.unfitness
  }

  /// The names of the files that are in the store now, in the order in which they came.
  public var storedFiles: [String] {
    cx.collection.store.filter {
      cx.collection.files.contains($0) && cx.collection.files[$0].isStored
    }
    .map { SampleStore.fileName(of: $0, cx) }
  }

  /// What a device's trainings have left for its next one, such as SCAFFOLD's own variate; none:
  /// nothing, or zeros.
  public func deviceState(of device: Int) -> [ParameterBuffer] {
    guard !cx.states.last.isEmpty, let last = cx.states.last[device]?.training
    else { return [] }
    return last.value(Scratch()).auxiliaryOutput.kept
  }

  /// What a device's own clock shows at a time, in its own time zone (written as if it were UTC).
  public func localTime(of device: Int, at time: SimTime) -> CivilTime {
    CivilTime(secondsSince1970: DeviceClock.localSeconds(device, at: time, devices, cx))
  }

  /// The name that a device gives to a file of data at a time: user, local time, kind.
  ///
  /// Source: SwiftyForesight, `LibraData`: `<userID>_<yyyyMMddHHmmss>_data.csv`.
  public func fileName(of device: Int, at time: SimTime) -> String {
    Roster.path(of: device, cx).replacing("/", with: "-") + "_"
      + DeviceClock.digits(ofSecond: DeviceClock.localSeconds(device, at: time, devices, cx))
      + "_data.csv"
  }
}
