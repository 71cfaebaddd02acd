import Schema

/// How a device trains: a pure function of what it starts from and its data.
///
/// A stretch of batches begins from the memory that the stretch before left, so an algorithm keeps
/// what it needs between batches in `DeviceMemory`. The memory commits with the checkpoint.
public protocol LocalAlgorithm: Part {
  /// Runs some batches of a training.
  ///
  /// The bits of running 0 ..< n equal those of 0 ..< k and then k ..< n. Order: batch by batch.
  func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome
  /// What it asks of device and server besides the model.
  var needs: LocalNeeds { get }
  /// μ of a pull towards what a training begins with; 0: none.
  var proximalPull: Double { get }
  /// What a training of this many batches leaves at its end, next to its parameters.
  func auxiliaryOutput(
    of training: LocalTraining, batches: Int, _ memory: DeviceMemory
  ) -> AuxiliaryOutput
  /// What goes with the next version, out of what went with this one and what came with its
  /// updates, in device order; no buffers means zeros.
  func companions(
    after current: [ParameterBuffer], sent: [[ParameterBuffer]], devices: Int, pool: WorkerPool
  ) -> [ParameterBuffer]
  /// Why it cannot train by a plan; nil: it can.
  func objection(to plan: TrainingPlan) -> String?
}

extension Seam where Value == any LocalAlgorithm {
  /// The seam of local algorithms: a task's `algorithm`.
  public static var localAlgorithm: Seam { Seam("local algorithm", "How does a device train?") }
}

/// Minibatch SGD on the device's own loss: the local part of FedAvg.
///
/// Source: McMahan et al., "Communication-efficient learning of deep networks from decentralized
/// data" (2017), algorithm 1, ClientUpdate.
public struct FedAvgLocal: LocalAlgorithm {
  public static let name = "sgd"
  public static let summary = "Minibatch SGD on the device's own loss, as in FedAvg"

  public typealias Settings = NoSettings
  /// Plain local training.
  public init(_ settings: NoSettings) {}

  /// Runs the batches as the training's plan says.
  public func run(
    _ training: LocalTraining, _ batches: Range<Int>, from memory: DeviceMemory, lossSum: Double,
    kernels: Kernels, scratch: Scratch
  ) -> TrainingOutcome {
    training.run(batches, from: memory, lossSum: lossSum, kernels: kernels, scratch: scratch)
  }
}
