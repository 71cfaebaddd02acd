import Learning
import Numerics

extension Simulation {
  /// What happened where the server asks for more than trainings; nil where it does not.
  public var instructionTallies: InstructionTallies? {
    cx.features.hasInstructions ? cx.books.instructions : nil
  }

  /// The accuracy of each device's own model on the samples that a federated evaluation takes; NaN
  /// for a device without any; nil where no device keeps one.
  public func ownAccuracies() -> [Double]? {
    guard !cx.states.own.isEmpty, !cx.inputs.omitsArithmetic else { return nil }
    let own = cx.states.own
    let clients = cx.members.clients.map { Int($0) }
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
