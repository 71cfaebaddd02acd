import FedSim
import Learning
import Numerics
import Schema

/// Small worlds drawn from a seed: mixed fleets, servers and policies.
struct RandomWorld {
  private var stream: RandomStream
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
    stream = StreamKey(seed: seed, purpose: "worlds").stream(slot: 0)
  }

  private mutating func pick<T>(_ choices: [T]) -> T {
    choices[Int(stream.below(UInt32(choices.count)))]
  }

  /// What is scripted, for collecting apps and for others.
  private static let collectingVerbs: [InjectionSettings.Verb] = [
    .clearData, .clearErrorLogs, .corruptErrorLogs,
  ]
  private static let verbs = InjectionSettings.Verb.allCases.filter {
    !collectingVerbs.contains($0)
  }

  private mutating func chance(_ share: Double) -> Bool { stream.uniform() < share }

  /// A scene of three hours with up to three groups.
  mutating func scene() -> Scene {
    var scene = Scene(
      .tiny(
        samples: [3, 0, 5, 8, 1, 4, 7, 6], batchSize: 2, epochs: 2, rate: 0.25, validation: 1))
    scene.inputs.seeds = Seeds(seed)
    scene.inputs.stop.after = .hours(3)
    scene.inputs.civilStart = Int64(seed) * 7919
    if chance(0.3) { scene.inputs.shakeTies = seed }
    scene.inputs.fleet = ["a", "b", "c"].prefix(Int(stream.below(3)) + 1).map { group($0) }
    scene.inputs.server = server()
    addFleetFeatures(to: &scene)
    addConnections(to: &scene)
    let device = scene.inputs.fleet[0].name + "/0"
    for _ in 0..<stream.below(6) {
      scene.inject(
        pick(Self.verbs), device, at: Int64(stream.below(10_800_000)),
        hard: .milliseconds(Int64(1 + stream.below(60_000))),
        lasting: .milliseconds(Int64(1 + stream.below(900_000))))
      scene.inputs.injections[scene.inputs.injections.count - 1].scope = pick(Erasure.allCases)
    }
    return scene
  }

  /// The same world with a server that trains, and groups that collect for it; drawn from a
  /// separate stream.
  mutating func collectingScene() -> Scene {
    var scene = scene()
    var stream = StreamKey(seed: seed, purpose: "worlds").stream(slot: 2)
    func chance(_ share: Double) -> Bool { stream.uniform() < share }
    func pick<T>(_ choices: [T]) -> T { choices[Int(stream.below(UInt32(choices.count)))] }
    let task = scene.inputs.task
    scene.inputs.task = LearningTask(
      network: task.network, initial: task.initial, train: task.train, test: task.test,
      partition: task.partition, plan: task.plan,
      models: ["x", "y"].map {
        CentralModel(name: $0, network: task.network, initial: task.initial, plan: task.plan)
      })
    for place in scene.inputs.fleet.indices where place == 0 || chance(0.7) {
      var collection = CollectionSettings()
      collection.mode = pick(CollectionSettings.Mode.allCases)
      collection.objects = pick(CollectionSettings.Objects.allCases)
      collection.retry = pick(CollectionSettings.Retry.allCases)
      collection.userID = pick(CollectionSettings.UserID.allCases)
      collection.spacing = .milliseconds(Int64(pick([0, 1000, 90_000])))
      collection.minimumSamples = pick([1, 2])
      if chance(0.3) { collection.models = ["y"] }
      if chance(0.6) { collection.metadata = MetadataSettings() }
      if chance(0.3) { collection.clearAbove = 300 }
      if chance(0.7) {
        collection.fetch = FetchSettings()
        collection.fetch!.every = .seconds(Int64(pick([0, 600])))
        collection.fetch!.compile = .milliseconds(Int64(pick([0, 500, 20_000])))
        if chance(0.3) { collection.fetch!.removesFile = pick([true, false]) }
      }
      scene.inputs.fleet[place].collection = collection
      scene.inputs.fleet[place].background.transfers = nil
      if chance(0.8) {
        scene.inputs.fleet[place].arrival = ArrivalSettings()
        scene.inputs.fleet[place].arrival!.initial = 0.3
        scene.inputs.fleet[place].arrival!.perDay = 50
      }
    }
    scene.central(every: chance(0.7) ? Int64(pick([300_000, 1_700_000])) : nil) {
      if $0.every == nil || chance(0.5) { $0.samples = pick([1, 6, 20]) }
      $0.data = pick(CentralSettings.Data.allCases)
      $0.from = pick(CentralSettings.Start.allCases)
      $0.requiresMetadata = chance(0.3)
      $0.overhead = .seconds(Int64(pick([0, 10, 2000])))
      var own = CentralSettings.Model()
      (own.name, own.scope) = ("x", pick(CentralSettings.Model.Scope.allCases))
      var other = CentralSettings.Model()
      other.name = "y"
      $0.models = [own, other]
    }
    let device = scene.inputs.fleet[0].name + "/0"
    let verbs = Self.collectingVerbs + [.erase, .erase, .dropLink, .kill, .reinstall, .open]
    for _ in 0..<6 {
      scene.inject(
        pick(verbs), device, at: Int64(stream.below(10_800_000)),
        lasting: .milliseconds(Int64(1 + stream.below(900_000))))
      scene.inputs.injections[scene.inputs.injections.count - 1].scope = pick(Erasure.allCases)
    }
    return scene
  }

  /// In some groups connections wait for their link, or continue over the other one; drawn from its
  /// own stream.
  private func addConnections(to scene: inout Scene) {
    var stream = StreamKey(seed: seed, purpose: "worlds").stream(slot: 3)
    for place in scene.inputs.fleet.indices {
      let patience: [Int64] = [0, 0, 1, 20, 60, 600]
      scene.inputs.fleet[place].network.patience = .seconds(patience[Int(stream.below(6))])
      if stream.uniform() < 0.5 { scene.inputs.fleet[place].network.handover = .survives }
      if stream.uniform() < 0.4, scene.inputs.fleet[place].protocol?.stream != true {
        scene.inputs.fleet[place].background.transfers = true
      }
    }
  }

  /// In half of the worlds devices come and go, in others they get data over time, vary from
  /// training to training, decline, or have data that go with them; drawn from its own stream.
  private func addFleetFeatures(to scene: inout Scene) {
    var stream = StreamKey(seed: seed, purpose: "worlds").stream(slot: 1)
    for place in scene.inputs.fleet.indices {
      if stream.uniform() < 0.5 {
        var settings = MarkovSource.Settings()
        settings.states = [("here", Int64(2000)), ("away", 600)].map {
          var state = MarkovSource.State()
          (state.state, state.mean) = (StateName($0.0), .seconds($0.1))
          return state
        }
        scene.inputs.fleet[place].presence = Choice(MarkovSource.self, settings) { $0 }
      }
      if stream.uniform() < 0.3 {
        var arrival = ArrivalSettings()
        (arrival.initial, arrival.perDay) = (0.2, 50)
        scene.inputs.fleet[place].arrival = arrival
      }
      if stream.uniform() < 0.3 { scene.inputs.fleet[place].compute.jitter = 0.3 }
      if stream.uniform() < 0.3 {
        scene.inputs.fleet[place].hardware = .lab([
          Lab.choice(), Lab.choice { ($0.speed, $0.osVersion) = (4, 10) },
        ]) { $0.minimumOSVersion = 9 + Double(stream.below(3)) }
        var couple = CoupleSettings()
        couple.quantity = CoupleSettings.Rule()
        couple.quantity!.by = .speed
        scene.inputs.fleet[place].couple = couple
      }
    }
  }

  private mutating func markov(
    _ states: [(String, Int64)]
  ) -> Choice<any TimelineSource> {
    var settings = MarkovSource.Settings()
    settings.states = states.map {
      var state = MarkovSource.State()
      (state.state, state.mean) = (StateName($0.0), .seconds($0.1))
      return state
    }
    return Choice(MarkovSource.self, settings) { $0 }
  }

  private mutating func group(_ name: String) -> FleetGroupSettings {
    var group = FleetGroupSettings.group(name, count: 1 + Int(stream.below(4)))
    group.link = markov([("offline", 300), ("cellular", 200), ("wifi", 900)])
    group.power = markov([("unplugged", 900), ("plugged", 1800)])
    group.usage = markov([("locked", 1500), ("active", 200)])
    group.network.spread = pick([0, 0.5])
    group.network.requestTimeout = .seconds(pick([2, 20, 60]))
    group.compute.perBatch = .milliseconds(pick([100, 2_000, 20_000]))
    group.compute.perSample = .milliseconds(pick([0, 500]))
    group.compute.spread = pick([0, 0.7])
    if chance(0.6) {
      group.background.windows = markov([("closed", 600), ("open", 240)])
      group.background.windowGrace = .seconds(pick([1, 5, 60]))
    } else {
      var processing = ProcessingSettings()
      processing.requiresExternalPower = chance(0.5)
      processing.requiresNetworkConnectivity = chance(0.5)
      processing.idleDwell = .seconds(pick([0, 30, 300]))
      processing.startDelay = .seconds(pick([0, 600]))
      processing.earliestBegin = .seconds(pick([0, 1000]))
      processing.resubmit = pick(ProcessingSettings.Resubmit.allCases)
      group.background.processing = processing
    }
    group.interruption.onExpiry = pick(InterruptionSettings.OnExpiry.allCases)
    group.interruption.onConditionsLost = pick(InterruptionSettings.OnConditionsLost.allCases)
    group.interruption.onModelMoved = pick(InterruptionSettings.OnModelMoved.allCases)
    group.interruption.maximumAge = pick([nil, .seconds(1200)])
    group.participation.retrain = pick(ParticipationSettings.Retrain.allCases)
    group.participation.externalPower = chance(0.3)
    group.participation.network = chance(0.3) ? .wifi : .any
    group.participation.idle = chance(0.2)
    group.participation.repeats = chance(0.5)
    group.participation.pause = .seconds(pick([1, 60]))
    group.participation.pollOnActivation = pick([0, 0.5, 1])
    group.outbox.capacity = pick([0, 1, 3])
    group.outbox.timeToLive = pick([nil, .seconds(900)])
    group.outbox.attempts = pick([1, 3])
    group.outbox.delay = .seconds(pick([0, 5]))
    group.outbox.persists = chance(0.5)
    if chance(0.4) { addIdentity(&group) }
    if chance(0.5) { group.protocol = library() }
    return group
  }

  private mutating func addIdentity(_ group: inout FleetGroupSettings) {
    if chance(0.8) {
      var authentication = AuthenticationSettings()
      authentication.onUnauthorised = pick(AuthenticationSettings.OnUnauthorised.allCases)
      authentication.bootstrapDelay = .seconds(pick([0, 60]))
      if chance(0.2) { authentication.scopes = [.check, .download, .heartbeat, .register] }
      group.authentication = authentication
    }
    if chance(0.6) {
      var registration = RegistrationSettings()
      registration.persists = chance(0.5)
      registration.inBackground = chance(0.7)
      registration.atStart = chance(0.5)
      registration.keepsData = chance(0.8)
      registration.reinstallEvery = pick([nil, .hours(1)])
      group.registration = registration
    }
    if chance(0.8) {
      var heartbeats = HeartbeatSettings()
      heartbeats.foreground = .seconds(pick([1, 20, 300]))
      heartbeats.background = .seconds(pick([3, 60, 900]))
      heartbeats.ignoresStatus = chance(0.5)
      group.heartbeats = heartbeats
    }
    if chance(0.6) {
      var clock = ClockSettings()
      clock.skew = .zero - .seconds(pick([0, 7200, -7200, 20]))
      clock.skewSpread = .seconds(pick([0, 100]))
      clock.drift = pick([0, 5000, -5000])
      group.clock = clock
    }
  }

  private mutating func library() -> ProtocolSettings {
    var library = ProtocolSettings()
    library.timeouts = pick(ProtocolSettings.Timeouts.allCases)
    library.requestGap = .seconds(pick([1, 60]))
    library.stream = chance(0.5)
    library.keepalive = .seconds(pick([1, 1000]))
    library.onFailure = pick(ProtocolSettings.OnFailure.allCases)
    library.reconnect = pick(ProtocolSettings.Reconnect.allCases)
    library.checksFinite = chance(0.5)
    library.knowsNewLayout = chance(0.5)
    library.skipsUnknownLayers = chance(0.5)
    return library
  }

  /// PyGrid's cycles of some minutes.
  private mutating func cycles(_ server: inout ServerSettings) {
    var cycle = CycleSettings()
    cycle.mode = pick(CycleSettings.Mode.allCases)
    cycle.length = pick([nil, .seconds(300), .seconds(1200)])
    cycle.maximumWorkers = pick([nil, 2])
    cycle.minimumDiffs = pick([nil, 2])
    cycle.maximumDiffs = pick([nil, 3])
    cycle.cycles = pick([nil, 4])
    cycle.reuseAfter = 1 + Int(stream.below(3))
    cycle.minimumUpload = pick([nil, BitRate(bitsPerSecond: 6_000)])
    server.selector = Choice(CycleSelector.self, cycle) { $0 }
    server.trigger = [Choice(CycleEndTrigger.self) { $0 }]
  }

  /// Flower's cohorts.
  private mutating func flower(_ server: inout ServerSettings) {
    var selector = FractionSelector.Settings()
    selector.fraction = pick([0.5, 1])
    selector.minimum = 1
    selector.minimumAvailable = 1 + Int(stream.below(2))
    var answered = CohortAnsweredTrigger.Settings()
    answered.acceptFailures = chance(0.5)
    var deadline = DeadlineTrigger.Settings()
    deadline.after = .seconds(600)
    server.selector = Choice(FractionSelector.self, selector) { $0 }
    server.trigger = [
      Choice(CohortAnsweredTrigger.self, answered) { $0 },
      Choice(DeadlineTrigger.self, deadline) { $0 },
    ]
  }

  private mutating func server() -> ServerSettings {
    var server = ServerSettings()
    server.messageBytes = 1000
    server.bytesPerParameter = 50
    server.payload = pick(Payload.allCases)
    server.duplicates = pick(Duplicates.allCases)
    server.maximumStaleness = pick([nil, 0, 2])
    server.reachable = markov([("down", 200), ("up", 1200)])
    server.internet = markov([("down", 400), ("up", 1200)])
    var tokens = TokenSettings()
    tokens.tokenLife = .seconds(pick([40, 300, 3600]))
    tokens.refreshLife = pick([nil, .seconds(1500)])
    tokens.rotates = chance(0.7)
    tokens.service = markov([("down", 100), ("up", 900)])
    server.authentication = tokens
    if chance(0.2) {
      server.layoutChange = LayoutChange()
      server.layoutChange!.version = 1 + Int(stream.below(4))
      server.layoutChange!.layer = "dense1"
    }
    if chance(0.2) {
      cycles(&server)
    } else if chance(0.2) {
      flower(&server)
    } else if chance(0.4) {
      var selector = UniformSelector.Settings()
      selector.cohort = 1 + Int(stream.below(3))
      selector.overSelection = pick([1, 1.5])
      server.selector = Choice(UniformSelector.self, selector) { $0 }
      var deadline = DeadlineTrigger.Settings()
      deadline.after = .seconds(pick([60, 600]))
      deadline.minimum = pick([1, 2])
      server.trigger = [
        Choice(CohortCompleteTrigger.self) { $0 }, Choice(DeadlineTrigger.self, deadline) { $0 },
      ]
    } else {
      var threshold = ThresholdTrigger.Settings()
      threshold.updates = pick([1, 2, 3])
      server.trigger = [
        Choice(ThresholdTrigger.self, threshold) { $0 }, Choice(EveryTrigger.self) { $0 },
      ]
    }
    return server
  }
}

extension RandomWorld {
  /// A random world without what keeps devices in step with others.
  static func quietInputs(seed: UInt64) -> SimulationInputs {
    var world = RandomWorld(seed: seed)
    var inputs = world.scene().inputs
    inputs.injections = []
    inputs.server.layoutChange = nil
    if inputs.server.selector.value.part is CycleSelector
      || inputs.server.selector.value.part is FractionSelector
    {
      inputs.server = ServerSettings()
      inputs.server.messageBytes = 1000
    }
    if seed % 2 == 0 {
      inputs.server.reachable = ServerSettings().reachable
      inputs.server.internet = ServerSettings().internet
    }
    inputs.server.authentication = nil
    for place in inputs.fleet.indices {
      inputs.fleet[place].presence = nil
      inputs.fleet[place].authentication = nil
      inputs.fleet[place].registration = nil
      inputs.fleet[place].heartbeats = nil
      inputs.fleet[place].clock = nil
      inputs.fleet[place].protocol = nil
      inputs.fleet[place].background.transfers = nil
      inputs.fleet[place].background.continued = nil
      guard seed % 3 != 0 else { continue }
      // A battery of two hours, and the system's own rules.
      inputs.fleet[place].battery = BatterySettings()
      inputs.fleet[place].battery!.capacity = .milliwattHours(3000)
      inputs.fleet[place].thermal = ThermalSettings()
      inputs.fleet[place].background.system = SystemSettings()
      inputs.fleet[place].background.refresh = Phone.refreshing { $0.likelihood = 0.5 }
    }
    return inputs
  }
}
