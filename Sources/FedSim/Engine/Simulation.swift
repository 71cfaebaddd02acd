import Learning
import Numerics

/// A run: the fleet, the server and the queue of what is to come, played forward on a virtual
/// clock.
///
/// The loop is serial; only the arithmetic of trainings, aggregations and evaluations is spread
/// over the pool, and never changes what happens next.
public struct Simulation {
  /// What the run depends on.
  public let inputs: SimulationInputs
  /// The virtual time.
  public internal(set) var now = SimTime.start
  /// The time at which it ends at the latest.
  public let end: SimTime
  /// What was begun and how it ended.
  public internal(set) var ledgers = Ledgers()
  /// What happened, counted.
  public internal(set) var tallies = Tallies()
  /// Participations by round; index 0 is unused.
  public internal(set) var roundFunnels = Pages([Funnel(), Funnel()])
  /// Participations by the hour in which their session began.
  public internal(set) var hourFunnels = Pages<Funnel>()
  /// The same by the group of their devices; empty unless that is recorded.
  public internal(set) var groupFunnels: [Pages<Funnel>] = []
  /// Digest of all events handled so far.
  public internal(set) var eventDigest = EventDigest()
  /// The last federated evaluation, of the version that was current then.
  public internal(set) var federatedEvaluation: FederatedEvaluation?
  /// Whether the run is over.
  public internal(set) var isOver = false
  /// Whether it ended because nothing that was left could ever contribute.
  public internal(set) var isStuck = false

  var queue: EventQueue
  /// The time that the run as a whole has come to; `now` is ahead of it while a device is played
  /// on.
  var played = SimTime.start
  /// Turns that were taken, each with what was played on in it.
  var turns = 0
  /// Whether it has been played already.
  var hasBegun = false
  /// How far a device is played on before its turn.
  var ahead = PlayingAhead()
  var world: World
  var devices = Table<Device>()
  /// Batteries and heat, for each device; empty where no group has a battery.
  var bodies = Table<Body>()
  /// The settings of batteries, by group; empty where no group has a battery.
  var batteryFigures: [BatterySettings] = []
  /// What system and app remember, for each device; empty where no group has `system` or `app`.
  var apps = Table<AppRegion?>()
  /// Tokens, registrations, heartbeats and clocks; empty where no group has any.
  var identities = Identities()
  /// What the fleet consists of, where its groups say so.
  var fleetTables = FleetTables()
  /// The sizes of an update and of a model, without what goes with them.
  let wireSizes: (upload: Int64, download: Int64)
  /// What processing tasks need to start, by group.
  let taskNeeds: [TaskNeeds]
  /// Figures of the operating system's rules, by group; empty where no group has `system` or `app`.
  var systemFigures: [SystemFigures?] = []
  /// Keys of what is drawn often, by purpose and group.
  var keys: KeyMemory
  /// Labels of the clients' samples, counted.
  var labels = LabelMemory()
  /// The names of requests to the operating system.
  var taskNames: [String] = []
  var server: Server
  var exchange = Exchange()
  /// What the server has to serve, where it takes time for it.
  var service = Service()
  /// What is collected for central training, where any group collects.
  var central = Central()
  var updates = Register<UpdateRecord>()
  var participations = Register<Participation>()
  var settled = Settled()
  var measures = Measures()
  var observers: [any Observer] = []
  var wantsEveryEvent = false
  var outlook = Outlook()
  var computations: Computations
  var evaluatedUntil = SimTime.start
  var federatedUntil = SimTime.start
  let allTestSamples: [Int32]
  let validationSamples: [Int32]

  /// A run at its start.
  public init(_ inputs: SimulationInputs) {
    self.init(bare: inputs)
    setTheScene()
  }

  /// All that follows from the inputs alone, before the scene is set.
  init(bare inputs: SimulationInputs) {
    self.inputs = inputs
    end = .start + inputs.stop.after
    world = World(inputs, end: end)
    queue = EventQueue(
      shaken: inputs.shakeTies.map {
        ShakenTies(key: $0 ^ inputs.seeds.ties, fleet: inputs.fleet)
      })
    let (layout, needs) = (inputs.task.network.layout, inputs.task.algorithm.needs)
    wireSizes = (
      inputs.server.updateBytes(of: layout, needs: needs),
      inputs.server.modelBytes(of: layout, needs: needs)
    )
    taskNeeds = inputs.fleet.map { TaskNeeds($0.background.processing) }
    server = Server(inputs.server, model: inputs.task.initial)
    computations = Computations(inputs)
    keys = KeyMemory(inputs)
    allTestSamples = (0..<Int32(inputs.task.test.count)).map { $0 }
    validationSamples = inputs.task.partition.validation.flatMap { $0 }.sorted()
    makeFleet()
  }

  mutating func handle(_ entry: EventQueue.Entry) {
    now = entry.time
    guard dispatch(entry.event) else {
      tallies.cancelledEvents += 1
      return
    }
    refresh(after: entry.event, actor: entry.actor)
    tallies.events += 1
    eventDigest.add(entry)
    if wantsEveryEvent {
      for observer in observers { observer.handled(entry.event, at: now, self) }
    }
  }

  /// Plays the next event of all, and what its device does next as far as that is its own affair.
  mutating func playNext() -> Bool {
    guard let entry = queue.popFirst() else { return false }
    precondition(entry.time >= played, "virtual time never goes back")
    played = entry.time
    if prefetches { prefetchNext() }
    handle(entry)
    if ahead.isOn, !isOver, entry.actor > 0 { playAhead(Int(entry.actor) - 1) }
    turns &+= 1
    if turns & 63 == 0 { tellAdvance() }
    return true
  }

  /// Schedules an event of a device, or of the server (`actor` nil).
  mutating func schedule(
    _ event: Event, _ eventClass: EventClass, at time: SimTime, by device: Int?
  ) {
    guard time <= end else { return }
    let sequence: UInt32
    if let device {
      sequence = devices[device].sequence
      devices[device].sequence &+= 1
    } else {
      sequence = server.sequence
      server.sequence &+= 1
    }
    queue.push(
      EventQueue.Entry(
        time: time, eventClass: eventClass, actor: Int32(device.map { $0 + 1 } ?? 0),
        sequence: sequence, event: event))
  }
}
