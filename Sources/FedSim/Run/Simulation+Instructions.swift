import Learning
import Numerics

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
