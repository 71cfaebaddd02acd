import Learning
import Schema
import Testing

/// Layers, losses and optimisers: one result whatever the body and the number of threads.
@Suite struct EqualBitsTests {
  private static let bodies = KernelBody.allCases.compactMap { Kernels($0) }

  @Test(
    "1,000 random networks of each kind have equal outputs, gradients and trainings on all bodies",
    arguments: NetworkKind.all)
  func bodies(kind: NetworkKind) throws {
    for slot in 0..<1000 as Range<UInt64> {
      let example = try kind.example(slot)
      let network = example.network
      let shard: [Int32] = (0..<11).map { $0 }
      let inputs = example.dataset.gather(shard, kernels: .best)
      let training = example.training(shard: shard, slot: slot)
      let results = Self.bodies.map { kernels in
        (
          outputs: network.outputs(inputs: inputs, parameters: example.start, kernels: kernels),
          gradient: network.gradient(
            inputs: inputs, labels: example.dataset.labels, parameters: example.start, scale: 0.3,
            kernels: kernels),
          trained: training.run(
            0..<training.batchCount, from: DeviceMemory(parameters: example.start),
            kernels: kernels, scratch: Scratch())
        )
      }
      let first = try #require(results.first)
      let isEqual = results.dropFirst().allSatisfy { other in
        other.outputs.map(\.bitPattern) == first.outputs.map(\.bitPattern)
          && firstDifference(other.gradient.gradient, first.gradient.gradient) == nil
          && other.gradient.lossSum == first.gradient.lossSum
          && firstDifference(other.trained.parameters, first.trained.parameters) == nil
          && zip(other.trained.memory.optimizerSlots, first.trained.memory.optimizerSlots)
            .allSatisfy { firstDifference($0, $1) == nil }
          && other.trained.lossSum == first.trained.lossSum
      }
      try #require(isEqual, "network \(slot): \(network.layers)")
      try #require(first.trained.parameters.isFinite, "network \(slot)")
      #expect(
        network.layout.count == 0
          || firstDifference(first.trained.parameters, example.start) != nil, "network \(slot)")
    }
  }

  @Test(
    "sums of trainings and evaluations have equal bits for 1, 2, 3 and 8 threads",
    arguments: NetworkKind.all)
  func threads(kind: NetworkKind) throws {
    let pools = [1, 2, 3, 8].map { WorkerPool(threads: $0) }
    let samples: [Int32] = (0..<3_300).map { $0 % 11 }  // Four chunks of an evaluation.
    for slot in 0..<25 as Range<UInt64> {
      let example = try kind.example(slot)
      let count = example.network.layout.count
      func trainings() -> [DeferredTraining] {
        (0..<9).map { number in
          let shard: [Int32] = (0..<7).map { ($0 + Int32(number)) % 11 }
          let training = example.training(shard: shard, slot: 100 + UInt64(number))
          return DeferredTraining(
            training, by: FedAvgLocal(NoSettings()), batches: 0..<training.batchCount,
            from: .parameters(example.start), validation: number % 2 == 0 ? [1, 2, 3] : [],
            kernels: .best)
        }
      }
      let results = try pools.map { pool in
        let sum = try #require(
          StreamedSum(
            trainings().map {
              .init($0, weight: 1 / 7, base: slot % 2 == 0 ? example.start : nil)
            }, count: count, kernels: .best, pool: pool, groupBytes: 3 * 4 * count))
        let evaluation = Evaluation(
          of: example.network, parameters: sum.parameters, dataset: example.dataset,
          indices: slot % 5 == 0 ? samples : [], kernels: .best, pool: pool)
        return (sum: sum, evaluation: evaluation)
      }
      for result in results.dropFirst() {
        let message: Comment = "network \(slot): \(example.network.layers)"
        try #require(
          firstDifference(result.sum.parameters, results[0].sum.parameters) == nil, message)
        #expect(result.sum.scores.map(\.lossSum) == results[0].sum.scores.map(\.lossSum), message)
        #expect(
          result.sum.scores.map(\.validation) == results[0].sum.scores.map(\.validation), message)
        #expect(result.evaluation == results[0].evaluation, message)
      }
    }
  }
}
