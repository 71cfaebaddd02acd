import Learning
import Numerics

extension Simulation {
  /// The bytes of the run as it stands between two turns, to go on from later (`between` of
  /// `run(observers:every:between:)` is the place).
  ///
  /// Trainings are saved as they stand, computed or described with all that they start from; none
  /// is computed for it. Series of the world, settings and data are no part of it.
  /// Complexity: O(devices + events to come + what lives of updates and participations).
  public func archive() throws -> [UInt8] {
    precondition(!ahead.isAhead, "a run is saved between two turns")
    return try Archive.bytes(
      of: SavedRun(self), marks: inputs.archiveMarks, known: inputs.archivedObjects,
      contexts: [trainingCatalog])
  }

  /// A run that goes on where it was saved, from the same inputs; what cannot change a result
  /// (threads, kernels, the mode of computing) may be other than it was.
  ///
  /// Throws: `ArchiveFault` where the bytes are damaged, or of a run from other inputs.
  public init(_ inputs: SimulationInputs, archive bytes: [UInt8]) throws(ArchiveFault) {
    self.init(bare: inputs)
    let catalog = trainingCatalog
    let saved = try Archive.value(
      SavedRun.self, from: bytes, marks: inputs.archiveMarks, known: inputs.archivedObjects,
      types: [ParameterBuffer.self, DeferredTraining.self, DeferredUpdate.self],
      contexts: [catalog, PartCatalog(inputs.server.parts)])
    guard saved.devices.count == devices.count, saved.bodies.count == bodies.count,
      saved.apps.count == apps.count, saved.central.models.count == central.models.count,
      saved.server.model.count == server.model.count
    else { throw .damaged(at: 0, "it is not of this fleet") }
    take(saved)
    computations.take(described: catalog.trainings)
  }

  /// What all trainings of the run share.
  private var trainingCatalog: TrainingCatalog {
    let task = inputs.task
    let own = TrainingCatalog.Model(network: task.network, algorithm: task.algorithm)
    let models = central.models.map {
      TrainingCatalog.Model(network: $0.task.network, algorithm: $0.task.algorithm)
    }
    return TrainingCatalog(
      models: [own] + models, dataset: task.train, kernels: inputs.kernels,
      lists: task.partition.shards + task.partition.validation
        + (task.orders ?? []).flatMap { $0 },
      chain: exchange.chain)
  }

  private mutating func take(_ saved: SavedRun) {
    now = saved.now
    ledgers = saved.ledgers
    tallies = saved.tallies
    roundFunnels = saved.roundFunnels
    hourFunnels = saved.hourFunnels
    groupFunnels = saved.groupFunnels
    eventDigest = saved.eventDigest
    federatedEvaluation = saved.federatedEvaluation
    isOver = saved.isOver
    isStuck = saved.isStuck
    hasBegun = saved.hasBegun
    // What making the fleet has scheduled is among what was saved, or is over.
    queue.removeAll()
    for entry in saved.queue { queue.push(entry) }
    played = saved.played
    turns = saved.turns
    ahead = saved.ahead
    bodies = saved.bodies
    apps = saved.apps
    server = saved.server
    updates = saved.updates
    measures = saved.measures
    participations = saved.participations
    settled = saved.settled
    outlook = saved.outlook
    evaluatedUntil = saved.evaluatedUntil
    federatedUntil = saved.federatedUntil
    takeWithRebuilt(saved)
  }

  /// Takes what has parts that are made from the inputs (`Rebuilt`): these stay as they were made.
  private mutating func takeWithRebuilt(_ saved: SavedRun) {
    let made = (devices, identities, fleetTables, exchange, service, central)
    devices = saved.devices
    for device in devices.indices { devices[device].links = made.0[device].links }
    identities = saved.identities
    identities.service = made.1.service
    identities.presence = made.1.presence
    fleetTables = saved.fleetTables
    fleetTables.hardware = made.2.hardware
    exchange = saved.exchange
    exchange.admission = made.3.admission
    exchange.change = made.3.change
    exchange.chain = made.3.chain
    service = saved.service
    service.settings = made.4.settings
    central = saved.central
    for model in central.models.indices {
      central.models[model].task = made.5.models[model].task
    }
  }

  /// Properties that are no part of an archive: they are made from the inputs, belong to one
  /// playing, or are a memory of what can be found again.
  package static let unsaved: Set<String> = [
    "inputs", "end", "world", "batteryFigures", "wireSizes", "taskNeeds", "systemFigures", "keys",
    "labels", "taskNames", "computations", "observers", "wantsEveryEvent", "allTestSamples",
    "validationSamples",
  ]

  /// What has parts that are made from the inputs, to be looked through.
  package var rebuiltParts: [Any] {
    [Array(devices), identities, fleetTables, exchange, service, central]
  }

  /// The names of a run's stored properties, and of those that an archive holds.
  package var archivedNames: (stored: [String], saved: [String]) {
    func names(_ value: Any) -> [String] { Mirror(reflecting: value).children.map(\.label!) }
    return (names(self), names(SavedRun(self)))
  }
}

extension SimulationInputs {
  /// What inputs must agree in for a run to go on from them: it is written into its archive.
  var archiveMarks: [Archive.Mark] {
    var marks = [
      Archive.Mark("seeds", "\(seeds)"), Archive.Mark("start", civilStart),
      Archive.Mark("end", stop.after), Archive.Mark("parameters", task.network.layout.count),
      Archive.Mark("training samples", task.train.count),
      Archive.Mark("test samples", task.test.count),
      Archive.Mark("clients", task.partition.clientCount),
      Archive.Mark("order of simultaneous events", shakeTies.map { "\($0)" } ?? "of the fleet"),
      Archive.Mark("arithmetic left out", omitsArithmetic),
    ]
    for group in fleet { marks.append(Archive.Mark("devices of \(group.name)", group.count)) }
    for model in task.models { marks.append(Archive.Mark("central model", model.name)) }
    return marks
  }

  /// Objects that a run from these inputs has anyway.
  var archivedObjects: [any ArchivedObject] { [task.initial] + task.models.map(\.initial) }
}
