import Learning
import Numerics

/// What a run is beyond its inputs, as it is saved.
///
/// What is not here is made again from the inputs (`unsaved`).
package struct SavedRun: Codable {
  let now: SimTime
  let played: SimTime
  let isOver: Bool
  let ahead: PlayingAhead
  let agenda: SavedAgenda
  let network: DeviceNetwork
  let members: Members
  let books: Books
  let participations: Participations
  let updates: Updates
  let eventDigest: EventDigest
  let isStuck: Bool
  let turns: Int
  let hasBegun: Bool
  let devices: SavedDevices
  let server: Server
  let states: ClientStates
  let collection: Central
  let stallCheck: StallCheck

  init(_ run: borrowing Simulation) {
    now = run.cx.now
    played = run.cx.played
    isOver = run.cx.isOver
    ahead = run.cx.ahead
    agenda = SavedAgenda(run.cx.agenda)
    network = run.cx.network
    members = run.cx.members
    books = run.cx.books
    participations = run.cx.participations
    updates = run.cx.updates
    eventDigest = run.eventDigest
    isStuck = run.cx.isStuck
    turns = run.turns
    hasBegun = run.hasBegun
    devices = SavedDevices(run.devices)
    server = run.server
    states = run.cx.states
    collection = run.cx.collection
    stallCheck = run.stallCheck
  }

  /// Puts what was saved into a run that was made from the same inputs.
  func continueIn(_ run: inout Simulation) throws(ArchiveFault) {
    guard devices.table.count == run.devices.count, members.count == run.devices.count,
      network.count == run.devices.count, devices.bodies.count == run.devices.bodies.count,
      devices.apps.count == run.devices.apps.count,
      collection.models.count == run.cx.collection.models.count,
      server.model.count == run.server.model.count
    else { throw .damaged(at: 0, "it is not of this fleet") }
    run.eventDigest = eventDigest
    run.turns = turns
    run.hasBegun = hasBegun
    run.stallCheck = stallCheck
    take(&run.cx)
    devices.continueIn(&run.devices)
    let made = run.server
    run.server = server
    run.server.service.settings = made.service.settings
    run.server.quality = made.quality
    run.server.quality.restore(server.quality)
  }

  /// Of what has parts that are made from the inputs (`Rebuilt`), these stay as they were made.
  private func take(_ cx: inout Context) {
    cx.now = now
    cx.played = played
    cx.isOver = isOver
    cx.isStuck = isStuck
    cx.ahead = ahead
    // What making the fleet has scheduled is among what was saved, or is over.
    agenda.restore(to: &cx.agenda)
    cx.members = members
    cx.books.restore(books)
    cx.participations = participations
    cx.updates = updates
    cx.states = states
    cx.network.restore(network)
    let made = cx.collection
    cx.collection = collection
    for model in cx.collection.models.indices {
      cx.collection.models[model].task = made.models[model].task
    }
  }
}

/// The devices of a run, as they are saved.
struct SavedDevices: Codable {
  let table: RecordArray<Device>
  let bodies: RecordArray<Body>
  let apps: RecordArray<AppRegion?>
  let identities: Identities
  let fleetTables: FleetTables
  let clients: [ClientRegion]

  init(_ devices: borrowing Devices) {
    table = devices.all
    bodies = devices.bodies
    apps = devices.apps
    identities = devices.identities
    fleetTables = devices.fleetTables
    clients = devices.clients
  }

  /// Puts them in place of those that were made; what is made from the inputs stays.
  func continueIn(_ devices: inout Devices) {
    let made = (presence: devices.identities.presence, hardware: devices.fleetTables.hardware)
    devices.restore(table)
    for place in bodies.indices {
      var body = bodies[place]
      body.take(figuresOf: devices.bodies[place])
      devices.bodies[place] = body
    }
    devices.apps.take(apps)
    devices.clients = clients
    devices.identities = identities
    devices.identities.presence = made.presence
    devices.fleetTables = fleetTables
    devices.fleetTables.hardware = made.hardware
  }
}

extension SavedRun {
  /// Properties that are no part of an archive: they are made from the inputs, belong to one
  /// playing, or are a memory of what can be found again.
  package static let unsaved: Set<String> = [
    "inputs", "world", "batteryFigures", "bodyFigures", "wireSizes", "groupConditions",
    "systemFigures", "streamKeys", "taskNames", "computations", "audience", "features", "rows",
  ]

  /// What of a run has parts that are made from the inputs, to be looked through.
  package static func rebuiltParts(of run: Simulation) -> [Any] {
    [
      Array(run.devices.all), run.devices.bodies.indices.map { run.devices.bodies[$0] },
      run.devices.identities, run.devices.fleetTables, run.server, run.cx.collection,
    ]
  }

  /// The names of a run's stored properties, those of its context and its devices one by one, and
  /// of those that an archive holds.
  package static func names(of run: Simulation) -> (stored: [String], saved: [String]) {
    func names(_ value: Any) -> [String] { Mirror(reflecting: value).children.map(\.label!) }
    func parts(_ value: Any) -> [String] { names(value).filter { $0 != "cx" && $0 != "devices" } }
    let saved = SavedRun(run)
    return (
      parts(run) + names(run.cx) + names(run.devices), parts(saved) + names(saved.devices)
    )
  }

  /// What all trainings of a run share.
  static func trainings(of cx: borrowing Context) -> TrainingCatalog {
    cx.inputs.trainings(chain: cx.features.chain)
  }
}

extension SimulationInputs {
  /// What all trainings of a run share.
  package func trainings(chain: TransformChain? = nil) -> TrainingCatalog {
    let own = TrainingCatalog.Model(network: task.network, algorithm: task.algorithm)
    let models = centralModels.map {
      TrainingCatalog.Model(network: $0.network, algorithm: $0.algorithm)
    }
    return TrainingCatalog(
      models: [own] + models, dataset: task.train, kernels: kernels,
      lists: task.partition.shards + task.partition.validation
        + (task.orders ?? []).flatMap { $0 },
      chain: chain, executor: executor)
  }

  /// What inputs must agree in for a run to continue with them: it is written into its archive.
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
