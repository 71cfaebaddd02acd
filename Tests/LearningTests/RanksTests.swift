import Learning
import Numerics
import Schema
import Testing

@Suite("Ranks that play a run together")
struct RanksTests {
  @Test("every rank learns what each has to say", arguments: [1, 2, 5])
  func gathers(count: Int) {
    let found = ThreadRanks.run(count) { ranks in
      (
        ranks.gather(10 * ranks.rank),
        ranks.gather(bytes: Array(repeating: UInt8(ranks.rank), count: ranks.rank))
      )
    }
    for (numbers, bytes) in found {
      #expect(numbers == (0..<count).map { 10 * $0 })
      #expect(bytes == (0..<count).map { Array(repeating: UInt8($0), count: $0) })
    }
  }

  @Test(
    "indices are divided, each is computed by one rank, and all learn all", arguments: [1, 2, 3, 7])
  func spreads(count: Int) {
    for total in [0, 1, 2, 10, 23] {
      let found = ThreadRanks.run(count) { ranks in
        WorkerPool(threads: 2, ranks: ranks).spread(total) { index, _ in [index, ranks.rank].packed
        }
      }
      for values in found {
        #expect(values.map { $0 / 1000 } == Array(0..<total))
        #expect(values == found[0])
        // No rank has more than one index more than another.
        let shares = (0..<count).map { rank in values.count { $0 % 1000 == rank } }
        #expect(shares.max()! - shares.min()! <= 1)
      }
    }
  }

  @Test("an evaluation has the same bits on any number of ranks", arguments: [2, 3, 5])
  func evaluates(count: Int) {
    let network = Network.multilayerPerceptron(inputCount: 16, hidden: [8], classCount: 5)
    let dataset = byteDataset(count: 90, size: 16)
    let parameters = network.initialParameters(testStream(4))
    let samples = (0..<3_300).map { Int32($0 % 90) }
    let lists = [Array(samples[..<7]), [], samples, Array(samples[3...1_200])]
    @Sendable func found(_ pool: WorkerPool) -> [Evaluation] {
      [
        Evaluation(
          of: network, parameters: parameters, dataset: dataset, indices: samples, kernels: .best,
          pool: pool)
      ]
        + Evaluation.each(
          of: network, parameters: parameters, dataset: dataset, lists: lists, kernels: .best,
          pool: pool)
    }
    let expected = found(WorkerPool(threads: 1))
    for other in ThreadRanks.run(count, { found(WorkerPool(threads: 1, ranks: $0)) }) {
      #expect(other == expected)
    }
  }

  @Test("values are known to all, each computed by its own rank", arguments: [1, 2, 3])
  func gathersValues(count: Int) throws {
    let network = Network.multilayerPerceptron(inputCount: 16, hidden: [8], classCount: 5)
    let dataset = byteDataset(count: 60, size: 16)
    let start = network.initialParameters(testStream(4))
    @Sendable func trainings() -> [DeferredTraining] {
      (0..<5).map { number in
        let local = LocalTraining(
          network: network, dataset: dataset, shard: (0..<10).map { Int32($0 + 10 * number) },
          plan: TrainingPlan(epochs: 2, batchSize: 4, learningRate: 0.1),
          order: .keyed(StreamKey(seed: 1, purpose: "batches"), firstSlot: UInt64(number)))
        return DeferredTraining(
          local, by: Scaffold(Scaffold.Settings()), batches: 0..<local.batchCount,
          from: .continued(start, receiving: [], keeping: [], after: []),
          validation: number == 2 ? [] : [1, 2], isLast: true, kernels: .best)
      }
    }
    let expected = trainings().map { $0.value(Scratch()) }
    #expect(
      expected[0].auxiliaryOutput.sent.count == 1 && expected[0].auxiliaryOutput.kept.count == 1)
    let found = ThreadRanks.run(count) { ranks in
      let own = trainings()
      DeferredTraining.gather(
        own, by: (0..<5).map { $0 % count }, pool: WorkerPool(threads: 1, ranks: ranks),
        ranks: ranks)
      return own
    }
    for trainings in found {
      for (training, value) in zip(trainings, expected) {
        #expect(training.isComputed && training.trainer == .all)
        let other = training.value(Scratch())
        #expect(firstDifference(other.parameters, value.parameters) == nil)
        for (own, others) in [
          (value.auxiliaryOutput.sent, other.auxiliaryOutput.sent),
          (value.auxiliaryOutput.kept, other.auxiliaryOutput.kept),
        ] {
          #expect(firstDifference(try #require(others.first), try #require(own.first)) == nil)
        }
        #expect(other.lossSum == value.lossSum && other.validation == value.validation)
      }
    }
  }
}

extension [Int] {
  fileprivate var packed: Int { self[0] * 1000 + self[1] }
}
