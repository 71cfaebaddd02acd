import Learning
import Numerics
import Schema

/// What devices learn: model, data, partition and plan.
public struct LearningTask: Sendable {
  /// The layers of the model that is trained, and its loss.
  public let network: Network
  /// Version 0.
  public let initial: ParameterBuffer
  /// The samples that shards point into.
  public let train: Dataset
  /// The samples that nobody trains on.
  public let test: Dataset
  /// Training and validation samples by client.
  public let partition: Partition
  /// Samples of the test set that are a client's own. Shapes: [client][its samples]; empty where
  /// the test set is nobody's.
  public let clientTests: [[Int32]]
  /// Epochs, batch size and step.
  public let plan: TrainingPlan
  /// The local algorithm, such as FedProx, that a device trains with.
  public let algorithm: any LocalAlgorithm
  /// Batch orders given by a file: [client][data epoch][position]; nil: keyed shuffles.
  public let orders: [[[Int32]]]?
  /// Whether the initial weights were given: then every app comes with them.
  public let isInitialGiven: Bool
  /// Models that are trained at the server, by name; empty: the task's own alone.
  public let models: [CentralModel]
  /// SHA-256 of the files that the network, and those of `models`, come from, empty for one from
  /// no file; none: no file at all.
  public var modelDigests: [String] = []
  /// What runs the server in place of its policy, and learns; nil: the policy does.
  public var program: (any ServerProgram)?

  /// A task.
  public init(
    network: Network, initial: ParameterBuffer, train: Dataset, test: Dataset,
    partition: Partition, plan: TrainingPlan,
    algorithm: any LocalAlgorithm = FedAvgLocal(NoSettings()), orders: [[[Int32]]]? = nil,
    clientTests: [[Int32]] = [], isInitialGiven: Bool = false, models: [CentralModel] = []
  ) {
    self.isInitialGiven = isInitialGiven
    precondition(
      clientTests.isEmpty || clientTests.count == partition.clientCount, "one list per client")
    self.clientTests = clientTests
    self.models = models
    self.network = network
    self.initial = initial
    self.train = train
    self.test = test
    self.partition = partition
    self.plan = plan
    self.algorithm = algorithm
    self.orders = orders
  }
}

/// When deferred trainings are computed; the result is the same.
public enum ComputeMode: String, CaseIterable, Sendable {
  /// When an aggregation needs them.
  case lazy
  /// As soon as they are described, needed or not.
  case eager
}

/// What need not be played event by event, in the order of all events; the result is the same.
public struct Shortcuts: Sendable {
  /// Whether a device is played on ahead of the others where what it does is its own affair.
  public var playsAhead = true
  /// Whether polls that can only be turned away are booked in closed form.
  public var foreseesPolls = true
  /// Fleets of more devices have their tables in one memory, with a row for each device.
  public var devicesWithoutRows = 2000

  /// All of them.
  public init() {}
}

/// Everything that a run depends on, and how it is to be computed.
public struct SimulationInputs: Sendable {
  /// Seeds of the random worlds.
  public var seeds = Seeds(1)
  /// The start in seconds since 1970-01-01T00:00:00Z.
  public var civilStart: Int64 = 0
  /// The fleet's groups.
  public var fleet: [FleetGroupSettings] = []
  /// The server and its policy.
  public var server = ServerSettings()
  /// Scripted events.
  public var injections: [InjectionSettings] = []
  /// When the run ends.
  public var stop = StopSettings()
  /// What is recorded.
  public var record = RecordSettings()
  /// What is learned.
  public var task: LearningTask
  /// Tables for the sources that name a file, by path.
  public var tables: [String: IntervalTable] = [:]
  /// Traces for the sources that play them, by the name that a source gives.
  public var traces: [String: TraceSet] = [:]
  /// What devices compute and send, for groups with a capacity trace, by path.
  public var capacities: [String: [DeviceCapacity]] = [:]
  /// Permutes the actors within one (time, class), by this key; nil: the order of the fleet.
  public var shakeTies: UInt64?

  /// Whether the run ends as soon as nothing that is left can ever contribute to a version.
  public var stopsWhenStuck = false
  /// Whether trainings, aggregations and evaluations are left out, for the story alone: the model
  /// stays what it was.
  public var omitsArithmetic = false

  // What cannot change a result.
  /// The arithmetic.
  public var kernels = Kernels.best
  /// Who computes trainings; nil: the threads of the pool.
  public var executor: (any TrainingExecutor)?
  /// The threads.
  public var pool = WorkerPool(threads: 1)
  /// When trainings are computed.
  public var compute = ComputeMode.lazy
  /// What need not be played event by event.
  public var shortcuts = Shortcuts()
  /// Described trainings beyond this many bytes of base versions are computed, oldest first.
  public var retainedBytes = 256 << 20

  /// Inputs for a task; everything else has its default.
  public init(task: LearningTask) { self.task = task }

  /// What runs the server in place of its policy; nil: the policy does.
  public var program: (any ServerProgram)? {
    get { task.program }
    set { task.program = newValue }
  }

  /// Whether what happens depends on what is learned.
  public var followsLearning: Bool {
    stop.accuracy != nil || server.selector.value.needs.contains(.losses)
  }

  /// The sources of the server's series, by name, in the order of `ServerSeries`.
  var serverSources: [(name: String, source: any TimelineSource)] {
    [("reachable", server.reachable.value), ("internet", server.internet.value)]
  }

  /// When the server's process runs, where it restarts.
  var serverRestarts: RestartTimeline? {
    server.restarts.map {
      RestartTimeline(
        at: $0.at, every: $0.every, mean: $0.meanInterval, downFor: $0.downFor,
        key: StreamKey(seed: seeds.world, purpose: "restarts"))
    }
  }

  /// Whether the selector looks at the squares of losses.
  var keepsLossSquares: Bool { server.selector.value.needs.contains(.lossSquares) }

  /// Whether updates are summed while they are trained, and over ranks in slices; otherwise all of
  /// a version are there before they are combined.
  package var sumsAsTrained: Bool {
    let facts = [UpdateFacts(samples: 1, staleness: 0)]
    return server.aggregator.value.weights(of: facts) != nil && server.transforms.isEmpty
      && !task.algorithm.needs.chainsTrainings && task.algorithm.needs.companions == 0
      && fleet.allSatisfy { $0.adversary == nil }
  }

  /// Whether any device trains for rounds.
  public var hasTrainers: Bool {
    fleet.allSatisfy { $0.collection == nil }
      || fleet.contains { $0.collection == nil && $0.count > 0 }
  }

  /// Whether the labels in a version are recorded.
  public var recordsLabels: Bool {
    let labels = task.train.classCount
    if omitsArithmetic { return false }
    return record.labelShare ?? (labels > 1 && labels <= RecordSettings.labelLimit)
  }

  /// Whether the norms of a version's tensors are recorded.
  public var recordsNorms: Bool { !omitsArithmetic && record.layerNorms == true }

  /// What bounds the privacy loss of a device; nil: it is not counted.
  var privacyLoss: (delta: Double, isAmplified: Bool)? {
    server.privacy.map { ($0.delta, $0.amplification != .none) }
  }

  /// Whether a transform receives a bound with each version.
  var tellsBounds: Bool { server.transforms.contains { $0.value.asTold != nil } }

  /// How long the server takes to load a version that it uses; nil: nobody asks.
  var loadTime: SimDuration? { server.modelInUse?.loadTime }

  /// Whether any device has a battery.
  var drawsEnergy: Bool { deviceCount > 0 && fleet.contains { $0.battery != nil } }

  /// The names of the models that are trained centrally, in their order.
  public var centralNames: [String] {
    if let listed = server.central?.models { return listed.map(\.name) }
    return task.models.isEmpty ? [CentralModel.ownName] : task.models.map(\.name)
  }

  /// Devices in all groups.
  public var deviceCount: Int { fleet.reduce(0) { $0 + $1.count } }

  /// The number in the fleet of a device such as `phones/17`, or nil.
  public func device(at path: String) -> Int? {
    var first = 0
    for group in fleet {
      if path.hasPrefix(group.name + "/"),
        let ordinal = Int(path.dropFirst(group.name.count + 1)), (0..<group.count).contains(ordinal)
      {
        return first + ordinal
      }
      first += group.count
    }
    return nil
  }

  /// The models that are trained at the server, in the order of their places.
  var centralModels: [CentralModel] {
    let own = CentralModel(
      name: CentralModel.ownName, network: task.network, initial: task.initial, plan: task.plan,
      algorithm: task.algorithm)
    let known = task.models.isEmpty ? [own] : task.models
    return centralNames.map { name in
      guard let model = known.first(where: { $0.name == name }) else {
        preconditionFailure("no model \(name)")
      }
      return model
    }
  }
}
