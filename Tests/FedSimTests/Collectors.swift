import FedSim
import Learning
import Numerics
import Schema

extension FleetGroupSettings {
  /// Devices that collect: 250 bytes a sample (two values of 120 characters with a comma each, a
  /// label vector of 7, a line's end), so 1,000 a client of `tiny`.
  ///
  /// A session that begins at s:
  ///
  ///     s           the file is formatted      s + 2.020  the answer begins
  ///     s + 2.000   it is sent                 s + 3.020  the answer is there
  ///     s + 2.010   it is in the store
  ///
  /// Metadata of no bytes are sent at s + 4.020, in the store at s + 4.030, done at s + 5.040. A
  /// fetch that begins at t has the model's 1,300 bytes at t + 2.320.
  static func collectors(
    _ name: String, count: Int = 1, client: Int? = nil, windows: [[Int64]],
    _ change: (inout CollectionSettings) -> Void = { _ in }
  ) -> FleetGroupSettings {
    .group(name, count: count, windows: windows) {
      $0.firstClient = client
      var collection = CollectionSettings()
      collection.timestamps = false
      collection.charactersPerValue = 120
      change(&collection)
      $0.collection = collection
    }
  }
}

extension Scene {
  /// The server trains once in this many milliseconds, four samples a second.
  mutating func central(every: Int64?, _ change: (inout CentralSettings) -> Void = { _ in }) {
    var central = CentralSettings()
    central.every = every.map { .milliseconds($0) }
    central.overhead = .zero
    central.samplesPerSecond = 4
    change(&central)
    inputs.server.central = central
  }

  /// Erases what a device's user has sent.
  mutating func erase(_ device: String, at milliseconds: Int64, _ scope: Erasure = .files) {
    inject(.erase, device, at: milliseconds)
    inputs.injections[inputs.injections.count - 1].scope = scope
  }
}

extension LearningTask {
  /// The task with these models for the server: softmax regressions from zero weights.
  func with(models names: String...) -> LearningTask {
    LearningTask(
      network: network, initial: initial, train: train, test: test, partition: partition,
      plan: plan,
      models: names.map {
        CentralModel(name: $0, network: network, initial: initial, plan: plan)
      })
  }
}

extension Played {
  /// Files by how they ended, those that came up.
  var fileEnds: [String] {
    FileOutcome.allCases.filter { simulation.collection.ledger[$0] > 0 }
      .map { "\($0) \(simulation.collection.ledger[$0])" }
  }
}

/// The parameters of one pass over samples in a stated order, computed without the engine.
///
/// Draws: the batch order's, by seed `training`, purpose `central-batches-NAME`, the group and the
/// ordinal of a user's device; slot = the epoch.
func directCentral(
  _ task: LearningTask, _ samples: [Int32], from start: [Float], epoch: UInt64 = 0,
  name: String = "model", group: String = "", ordinal: UInt32 = 0
) -> [Float] {
  let key = StreamKey(
    seed: 1, purpose: Purpose("central-batches-\(name)"), group: group, ordinal: ordinal)
  let training = LocalTraining(
    network: task.network, dataset: task.train, shard: samples, plan: task.plan,
    order: .keyed(key, firstSlot: epoch))
  return training.run(
    0..<samples.count, from: DeviceMemory(parameters: ParameterBuffer(start)), kernels: .best,
    scratch: Scratch()
  ).parameters.values
}
