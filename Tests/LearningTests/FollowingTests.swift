import Learning
import Numerics
import Schema
import Testing

/// A training asks for the memory of the one that follows it; no bit may depend on that.
@Suite("Trainings one behind the other")
struct FollowingTests {
  private static let network = Network.softmaxRegression(inputCount: 40, classCount: 5)

  private static func training(
    _ dataset: Dataset, batchSize: Int, slot: UInt64, batches: Range<Int>
  ) -> DeferredTraining {
    let local = LocalTraining(
      network: network, dataset: dataset, shard: (0..<20).map { Int32($0) },
      plan: TrainingPlan(epochs: 2, batchSize: batchSize, learningRate: 0.05),
      order: .keyed(StreamKey(seed: 7, purpose: "batches"), firstSlot: slot))
    return DeferredTraining(
      local, by: FedAvgLocal(NoSettings()), batches: batches,
      from: .parameters(network.initialParameters(testStream(8))), validation: [0, 3, 19],
      kernels: .best)
  }

  /// What a training by itself gives, on memory that nobody used before.
  private static func alone(_ make: () -> DeferredTraining) -> DeferredTraining.Value {
    make().value(Scratch())
  }

  @Test(
    "a training gives the same bits behind any other, and before any other",
    arguments: zip([5, 7, 20, 2, 5], [0..<8, 0..<6, 0..<2, 3..<11, 2..<2]))
  func neighbours(batchSize: Int, batches: Range<Int>) {
    let bytes = byteDataset(count: 20, size: 40)
    let floats = Dataset(
      features: .floats(bytes.gather((0..<20).map { Int32($0) }, kernels: .best)),
      sampleShape: [40], labels: bytes.labels, classCount: 5)
    for data in [bytes, floats] {
      for slot in [0, 1, 9] as [UInt64] {
        let first = { Self.training(bytes, batchSize: 5, slot: 0, batches: 0..<8) }
        let second = {
          Self.training(data, batchSize: batchSize, slot: slot, batches: batches)
        }
        let (one, two, scratch) = (first(), second(), Scratch())
        one.computeUnlessBusy(scratch, before: two)
        two.computeUnlessBusy(scratch, before: one)
        for (made, make) in [(one, first), (two, second)] {
          let (value, expected) = (made.value(scratch), Self.alone(make))
          #expect(firstDifference(value.parameters, expected.parameters) == nil)
          #expect(value.lossSum == expected.lossSum)
          #expect(value.validation?.lossSum == expected.validation?.lossSum)
        }
      }
    }
  }
}
