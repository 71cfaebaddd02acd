import Learning
import Numerics

extension Quality {
  /// Whether devices are evaluated with personal models: with one that they keep, with layers
  /// that never leave them, or after some steps on their own samples.
  static func evaluatesPersonally(_ cx: borrowing Context) -> Bool {
    let needs = cx.inputs.task.algorithm.needs
    return cx.inputs.record.federatedEvaluation?.fineTuning != nil || needs.ownModel
      || needs.keepsParameters
  }

  /// The model of each device, evaluated on the device's held-out samples: the one that it keeps,
  /// or the current one with the device's own layers; fine-tuned where that is asked for.
  ///
  /// Draws: the order of fine-tuning's batches, at slot = the epoch, the same for all versions
  /// (seed `training`, purpose `fine-tuning`). Complexity: a training of as many steps a device,
  /// and a pass over its held-out samples.
  static func personalEvaluations(
    _ server: borrowing Server, _ cx: borrowing Context
  ) -> [Evaluation] {
    let task = cx.inputs.task
    let tuning = cx.inputs.record.federatedEvaluation?.fineTuning
    let ranges = cx.features.privateRanges
    let keepsModel = task.algorithm.needs.ownModel
    var clients: [Int] = []
    var shards: [[Int32]] = []
    var keys: [StreamKey] = []
    var own: [DeferredTraining?] = []
    let isAlike = ranges.isEmpty && !keepsModel ? true : cx.states.last.isEmpty
    for device in cx.members.indices {
      clients.append(Int(cx.members.clients[device]))
      shards.append(
        tuning == nil || clients[device] >= task.partition.clientCount
          ? [] : Roster.shard(of: device, cx))
      keys.append(
        StreamKey(
          seed: cx.inputs.seeds.training, purpose: "fine-tuning",
          group: cx.inputs.fleet[cx.members.group(of: device)].name,
          ordinal: UInt32(cx.members.ordinal(of: device))))
      own.append(
        isAlike ? nil : cx.states.last[device]?.training)
    }
    let (model, kernels) = (server.model, cx.inputs.kernels)
    let plan = tuning?.plan(task.plan)
    let facts = (clients, shards, keys, own)
    return cx.inputs.pool.spread(clients.count) { device, scratch in
      let (clients, shards, keys, own) = facts
      let (samples, indices) = task.heldOut(by: clients[device])
      guard !indices.isEmpty else { return Evaluation(count: 0, correct: 0, lossSum: 0) }
      var parameters = model
      if let own = own[device]?.value(scratch) {
        parameters =
          keepsModel
          ? own.auxiliaryOutput.kept.first ?? model : model.replacing(ranges, from: own.parameters)
      }
      if let plan, !shards[device].isEmpty {
        let training = LocalTraining(
          network: task.network, dataset: task.train, shard: shards[device], plan: plan,
          order: .keyed(keys[device], firstSlot: 0), owner: .init(client: clients[device]))
        parameters =
          training.run(
            0..<training.batchCount, from: DeviceMemory(parameters: parameters), kernels: kernels,
            scratch: scratch
          ).parameters
      }
      return Evaluation(
        of: task.network, parameters: parameters,
        dataset: samples == .test ? task.test : task.train, samples: indices, kernels: kernels,
        scratch: scratch)
    }
  }
}
