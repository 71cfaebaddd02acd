import FedSim
import Learning
import Numerics

/// The parameters of a local training of these batches, computed without the engine.
///
/// Draws: the batch order's, by the stated key: seed `training`, purpose `batches`, the group's
/// name, the ordinal in it; slot = the data epoch.
func directTraining(
  _ task: LearningTask, _ batches: Range<Int>, from start: [Float], group: String, client: Int,
  ordinal: UInt32 = 0, firstEpoch: UInt64 = 0, seed: UInt64 = 1
) -> [Float] {
  let key = StreamKey(seed: seed, purpose: "batches", group: group, ordinal: ordinal)
  let training = LocalTraining(
    network: task.network, dataset: task.train, shard: task.partition.shards[client],
    plan: task.plan, order: .keyed(key, firstSlot: firstEpoch))
  return training.run(
    batches, from: DeviceMemory(parameters: ParameterBuffer(start)), kernels: .best,
    scratch: Scratch()
  ).parameters.values
}
