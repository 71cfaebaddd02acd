import Learning
import Numerics

extension Simulation {
  /// The bytes of the run as it is between two turns, to resume from later (`between` of
  /// `run(observers:every:between:)` is the place).
  ///
  /// Trainings are saved as they are, computed or described with all that they start from; none
  /// is computed for it. Series of the world, settings and data are no part of it.
  /// Complexity: O(devices + events to come + what lives of updates and participations).
  public func archive() throws -> [UInt8] {
    precondition(!cx.ahead.isAhead, "a run is saved between two turns")
    return try Archive.bytes(
      of: SavedRun(self), marks: cx.inputs.archiveMarks, known: cx.inputs.archivedObjects,
      contexts: [trainingCatalog])
  }

  /// A run that continues where it was saved, from the same inputs; what cannot change a result
  /// (threads, kernels, the mode of computing) may be other than it was.
  ///
  /// Throws: `ArchiveFault` where the bytes are damaged, or of a run from other inputs.
  public init(_ inputs: SimulationInputs, archive bytes: [UInt8]) throws(ArchiveFault) {
    self.init(bare: inputs)
    let catalog = trainingCatalog
    let saved = try Archive.value(
      SavedRun.self, from: bytes, marks: inputs.archiveMarks, known: inputs.archivedObjects,
      types: [ParameterBuffer.self, DeferredTraining.self, DeferredUpdate.self],
      contexts: [catalog, PartCatalog(cx.inputs.server.parts)])
    guard saved.table.count == devices.count, saved.members.count == devices.count,
      saved.bodies.count == devices.bodies.count,
      saved.apps.count == devices.apps.count,
      saved.collection.models.count == cx.collection.models.count,
      saved.server.model.count == server.model.count
    else { throw .damaged(at: 0, "it is not of this fleet") }
    take(saved)
    cx.computations.take(described: catalog.trainings)
  }

  /// What all trainings of the run share.
  private var trainingCatalog: TrainingCatalog {
    let task = cx.inputs.task
    let own = TrainingCatalog.Model(network: task.network, algorithm: task.algorithm)
    let models = cx.collection.models.map {
      TrainingCatalog.Model(network: $0.task.network, algorithm: $0.task.algorithm)
    }
    return TrainingCatalog(
      models: [own] + models, dataset: task.train, kernels: cx.inputs.kernels,
      lists: task.partition.shards + task.partition.validation
        + (task.orders ?? []).flatMap { $0 },
      chain: cx.features.chain)
  }

  private mutating func take(_ saved: SavedRun) {
    cx.now = saved.now
    cx.played = saved.played
    cx.isOver = saved.isOver
    cx.ahead = saved.ahead
    // What making the fleet has scheduled is among what was saved, or is over.
    cx.agenda.restore(saved.agenda)
    cx.members = saved.members
    cx.books = saved.books
    cx.participations = saved.participations
    cx.updates = saved.updates
    eventDigest = saved.eventDigest
    cx.isStuck = saved.isStuck
    turns = saved.turns
    hasBegun = saved.hasBegun
    devices.bodies = saved.bodies
    devices.apps = saved.apps
    devices.clients = saved.clients
    stallCheck = saved.stallCheck
    takeWithRebuilt(saved)
  }

  /// Takes what has parts that are made from the inputs (`Rebuilt`): these stay as they were made.
  private mutating func takeWithRebuilt(_ saved: SavedRun) {
    let made = (devices, server, cx.collection, cx.network)
    devices.restore(saved.table)
    cx.network = saved.network
    cx.network.takeWhatIsMade(from: made.3)
    devices.identities = saved.identities
    devices.identities.presence = made.0.identities.presence
    devices.fleetTables = saved.fleetTables
    devices.fleetTables.hardware = made.0.fleetTables.hardware
    server = saved.server
    server.service.settings = made.1.service.settings
    server.quality = made.1.quality
    server.quality.restore(saved.server.quality)
    cx.states = saved.states
    cx.collection = saved.collection
    for model in cx.collection.models.indices {
      cx.collection.models[model].task = made.2.models[model].task
    }
  }

  /// Properties that are no part of an archive: they are made from the inputs, belong to one
  /// playing, or are a memory of what can be found again.
  package static let unsaved: Set<String> = [
    "inputs", "world", "batteryFigures", "wireSizes", "groupConditions", "systemFigures",
    "streamKeys", "taskNames", "computations", "audience", "features",
  ]

  /// What has parts that are made from the inputs, to be looked through.
  package var rebuiltParts: [Any] {
    [Array(devices.all), devices.identities, devices.fleetTables, server, cx.collection]
  }

  /// The names of a run's stored properties, those of its context and its devices one by one, and
  /// of those that an archive holds.
  package var archivedNames: (stored: [String], saved: [String]) {
    func names(_ value: Any) -> [String] { Mirror(reflecting: value).children.map(\.label!) }
    let parts = names(self).filter { $0 != "cx" && $0 != "devices" }
    return (parts + names(cx) + names(devices), names(SavedRun(self)))
  }
}

extension SimulationInputs {
  /// What inputs must agree in for a run to resume from them: it is written into its archive.
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
