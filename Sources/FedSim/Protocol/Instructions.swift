import Learning
import Numerics

/// What the server asks of devices beside trainings; empty, and never looked at, where nothing asks
/// for it.
struct Instructions: Codable {
  /// Whether version 0 has still to come from a device.
  var awaitsModel = false
  /// The participation whose device was asked for it; −1: none.
  var asked: Int32 = -1
  /// How many devices were asked for it: the slot of the next draw.
  var askings: UInt64 = 0
  /// Whether the draw of such a device is due at the present time.
  var isDrawDue = false
  /// The session of each device in which it was last asked for its properties.
  var connections: [UInt32] = []
  /// The evaluation under way.
  var evaluation: EvaluationRound?
  /// Those that are over.
  var evaluations = Pages<EvaluationRecord>()
  /// Whether the run ends with the evaluation under way.
  var endsWithEvaluation = false
}

/// A model that a device has trained and keeps.
struct OwnModel: Codable {
  /// The version that the training began with.
  let base: Int32
  /// The training; nil where nothing is computed.
  let training: DeferredTraining?
  /// How many trainings have to be computed for its value, at most.
  let depth: Int

  /// How many there may be before they are computed unasked.
  static let longestChain = 64
}

/// How far a device has come with enrolling as a worker.
enum Enrolment: UInt8, Codable { case authenticate, upload, download, ready }

/// What a device answers with when the server has asked for something else than a training.
enum Reply: UInt8, Codable { case model, properties, evaluation }

/// A step between device and server that is no training.
public enum ExchangeStep: String, CaseIterable, Sendable {
  /// A device was enrolled as a new worker.
  case enrolled
  /// Both probes of a speed test are through.
  case speedTested
  /// A plan was downloaded.
  case planDownloaded
  /// A device reads that it is to send its model, or its properties.
  case modelAsked, propertiesAsked
  /// A device reads that it is to evaluate a model; it has done so; the server knows all results.
  case evaluationAsked, evaluated, evaluationEnded
}

/// What happened where the server asks for more than trainings, counted.
public struct InstructionTallies: Sendable, Equatable, Codable {
  /// Workers that were enrolled: a device is a new one for each request for work.
  public internal(set) var workers = 0
  /// Speed tests that came to their end.
  public internal(set) var speedTests = 0
  /// Plans that were sent.
  public internal(set) var plans = 0
  /// Trainings by hyper-parameters of the server.
  public internal(set) var configuredTrainings = 0
  /// Devices that were asked for the initial model.
  public internal(set) var modelsAsked = 0
  /// Answers to questions for properties.
  public internal(set) var propertiesAnswered = 0
  /// Answers that the app knows of none.
  public internal(set) var propertiesNotImplemented = 0
  /// Results of evaluations that came when their evaluation was over.
  public internal(set) var lateEvaluations = 0
  /// Streams that ended, by the reason that the device gives, in the order of `DisconnectReason`.
  public internal(set) var disconnects = [Int](repeating: 0, count: 4)
}

extension InstructionTallies {
  /// The counts with their names and meanings, in the order of declaration.
  package var named: [(name: String, count: Int, text: String)] {
    [
      ("workers", workers, "workers that were enrolled, a new one for each request for work"),
      ("speedTests", speedTests, "speed tests of both directions"),
      ("plans", plans, "plans that the server sent"),
      ("configuredTrainings", configuredTrainings, "trainings by the server's hyper-parameters"),
      ("modelsAsked", modelsAsked, "devices asked for the initial model"),
      ("propertiesAnswered", propertiesAnswered, "answers to questions for properties"),
      (
        "propertiesNotImplemented", propertiesNotImplemented,
        "answers that the app knows of no properties (code 1)"
      ),
      ("lateEvaluations", lateEvaluations, "results of evaluations that were over"),
      ("disconnectsUnknown", disconnects[0], "streams that ended for no reason given"),
      ("disconnectsReconnect", disconnects[1], "streams that ended as the server had asked"),
      ("disconnectsPower", disconnects[2], "streams that ended for want of external power"),
      ("disconnectsWifi", disconnects[3], "streams that ended for want of Wi-Fi"),
    ]
  }
}

extension ProtocolSettings {
  /// Whether it has any of what came with `Instructions`.
  var hasInstructions: Bool {
    worker != nil || ignoresConfig != nil || overwritesModel != nil || evaluation != nil
      || evaluationShare != nil || properties != nil
  }
}

extension Simulation {
  /// What happened where the server asks for more than trainings; nil where it does not.
  public var instructionTallies: InstructionTallies? {
    cx.features.hasInstructions ? cx.books.instructions : nil
  }

  /// Makes what the settings ask for.
  mutating func makeInstructions() {
    let server = cx.inputs.server
    var made = Instructions()
    cx.features.hasInstructions =
      cx.inputs.fleet.contains { $0.protocol?.hasInstructions == true } || server.exchange != nil
      || server.initialModel != nil || server.clientConfig != nil || server.evaluation != nil
      || server.asksProperties != nil || cx.features.admission?.cycle.planBytes != nil
    made.awaitsModel = server.initialModel == .client
    if server.asksProperties == true {
      made.connections = Array(repeating: 0, count: devices.count)
    }
    if server.exchange == .weightsOnly {
      cx.features.privateRanges = cx.inputs.task.network.layout.rangesBesideWeights
    }
    if cx.inputs.fleet.contains(where: { $0.protocol?.overwritesModel == true }) {
      cx.states.own = Array(repeating: nil, count: devices.count)
    }
    cx.features.plans = (server.clientConfig ?? []).map { config in
      cx.inputs.task.plan.with(
        epochs: config.epochs, batchSize: config.batchSize, learningRate: config.learningRate,
        maximumSteps: config.maximumUpdates)
    }
    self.server.instructions = made
  }

  /// The version that a device's own model was trained from; −1: it has not trained one, nil: no
  /// device keeps one.
  public func ownBase(of device: Int) -> Int? {
    cx.states.own.isEmpty
      ? nil : cx.states.own[device].map { Int($0.base) } ?? -1
  }

  /// The accuracy of each device's own model on the samples that a federated evaluation takes; NaN
  /// for a device without any; nil where no device keeps one.
  public func ownAccuracies() -> [Double]? {
    guard !cx.states.own.isEmpty, !cx.inputs.omitsArithmetic else { return nil }
    let own = cx.states.own
    let clients = devices.all.map { Int($0.client) }
    let task = cx.inputs.task
    let kernels = cx.inputs.kernels
    return cx.inputs.pool.map(own.count) { device, scratch in
      guard let training = own[device]?.training else { return .nan }
      let (samples, indices) = task.heldOut(by: clients[device])
      return Evaluation(
        of: task.network, parameters: training.value(scratch).parameters,
        dataset: samples == .test ? task.test : task.train, samples: indices, kernels: kernels,
        scratch: scratch
      ).accuracy
    }
  }
}

extension OwnModel {
  // MARK: Hyper-parameters

  /// The plan that a device trains by now.
  static func plan(of device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> TrainingPlan
  {
    let place = Int(devices[device].planPlace)
    return place < 0 ? cx.inputs.task.plan : cx.features.plans[place]
  }

  /// A training is about to begin: by the hyper-parameters that came with its round, or the
  /// device's own.
  static func takeConfig(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !cx.features.plans.isEmpty, let round = devices[device].session?.round else {
      return
    }
    let group = Int(devices[device].group)
    var place: Int16 = -1
    if cx.inputs.fleet[group].protocol?.ignoresConfig != true {
      for (index, config) in cx.inputs.server.clientConfig!.enumerated()
      where config.fromRound <= Int(round) { place = Int16(index) }
    }
    if place >= 0 { cx.books.instructions.configuredTrainings += 1 }
    guard place != devices[device].planPlace else { return }
    devices[device].planPlace = place
    devices[device].pace = Roster.pace(
      group: group, ordinal: Int(devices[device].ordinal), device: device,
      samples: Int(devices[device].sampleCount), epoch: devices[device].nextEpoch,
      plan: plan(of: device, devices, cx), devices, cx)
  }

  // MARK: Models of a device's own

  /// The model that a device's app came with.
  ///
  /// Draws: as `Network.initialParameters`, from slot 0 of `own-weights` (seed `initial`), where
  /// apps differ.
  static func ownInitial(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> ParameterBuffer
  {
    if cx.inputs.task.isInitialGiven { return cx.inputs.task.initial }
    let key = StreamKey(
      seed: cx.inputs.seeds.initial, purpose: "own-weights",
      group: Roster.group(of: device, devices, cx).name,
      ordinal: UInt32(devices[device].ordinal))
    let network = cx.inputs.task.network
    return network.keepingFrozen(
      of: cx.inputs.task.initial, in: network.initialParameters(key.stream(slot: 0)))
  }

  /// What a device's training of a version begins with: what never travels is its own.
  static func start(
    of device: Int, from version: ParameterBuffer, _ devices: borrowing Devices,
    _ cx: borrowing Context
  ) -> DeferredTraining.Start {
    if cx.features.isStateful { return ClientStates.continued(device, from: version, devices, cx) }
    let ranges = cx.features.privateRanges
    if ranges.isEmpty { return .parameters(version) }
    if !cx.states.own.isEmpty,
      let training = cx.states.own[device]?.training
    {
      return .joined(version, keeping: ranges, of: training)
    }
    guard cx.inputs.server.initialModel == .client else { return .parameters(version) }
    return .parameters(version.replacing(ranges, from: ownInitial(device, devices, cx)))
  }

  /// A training has ended well: where trainings overwrite the device's model, it is that now.
  static func keepOwn(
    _ device: Int, _ training: DeferredTraining?, base: Int32, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    guard overwritesModel(device, devices, cx) else { return }
    guard let training else {
      cx.states.own[device] = OwnModel(base: base, training: nil, depth: 0)
      return
    }
    cx.states.own[device] = linked(
      training, base: base, after: cx.states.own[device],
      isChain: !cx.features.privateRanges.isEmpty, &cx)
  }

  /// A device's training behind the one before; where they go on from one another and the chain of
  /// those that nobody asked for has grown too long, it is computed.
  static func linked(
    _ training: DeferredTraining, base: Int32, after before: OwnModel?, isChain: Bool = true,
    _ cx: inout Context
  ) -> OwnModel {
    var depth = 1
    if let before, before.training?.isComputed == false { depth += before.depth }
    if depth > OwnModel.longestChain, isChain {
      _ = cx.computations.values(of: [training])
      depth = 1
    }
    return OwnModel(base: base, training: training, depth: depth)
  }

  /// Whether a device's trainings overwrite its model, so that each round's model has to be sent.
  static func overwritesModel(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Bool
  {
    guard !cx.states.own.isEmpty else { return false }
    return cx.inputs.fleet[Int(devices[device].group)].protocol?.overwritesModel == true
  }

  /// The app is removed: its model is the one that it came with again, and nothing is left of its
  /// updates.
  static func loseOwn(_ device: Int, _ cx: inout Context) {
    if !cx.states.lastSent.isEmpty { cx.states.lastSent[device] = nil }
    if !cx.states.own.isEmpty { cx.states.own[device] = nil }
    ClientStates.loseLast(device, &cx)
  }
}
