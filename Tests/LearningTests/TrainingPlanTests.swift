import Learning
import Numerics
import Testing

@Suite struct TrainingPlanTests {
  private let plan = TrainingPlan(epochs: 3, batchSize: 10, learningRate: 0.1)

  @Test("a ragged last batch counts")
  func batches() {
    #expect(plan.batchesPerEpoch(shardCount: 25) == 3)
    #expect(plan.batchesPerEpoch(shardCount: 30) == 3)
    #expect(plan.batchesPerEpoch(shardCount: 1) == 1)
    #expect(plan.batchCount(shardCount: 25) == 9)
    #expect(plan.batchCount(shardCount: 0) == 0)
    let place = plan.place(ofBatch: 5, shardCount: 25)
    #expect(place.epoch == 1 && place.positions == 20..<25)
    let first = plan.place(ofBatch: 6, shardCount: 25)
    #expect(first.epoch == 2 && first.positions == 0..<10)
  }

  @Test("samples of any run of batches are counted by the batches' sizes")
  func samples() {
    // 25 samples: batches of 10 10 5, 10 10 5, 10 10 5.
    #expect(plan.samples(inBatches: 0..<9, shardCount: 25) == 75)
    #expect(plan.samples(inBatches: 2..<4, shardCount: 25) == 15)
    #expect(plan.samples(inBatches: 1..<2, shardCount: 25) == 10)
    #expect(plan.samples(inBatches: 5..<6, shardCount: 25) == 5)
    #expect(plan.samples(inBatches: 4..<4, shardCount: 25) == 0)
    #expect(plan.samples(inBatches: 0..<0, shardCount: 0) == 0)
  }

  @Test("a keyed order is a permutation that depends on the key and the epoch alone")
  func keyedOrder() {
    let key = StreamKey(seed: 5, purpose: "batches", group: "phones", ordinal: 7)
    let order = BatchOrder.keyed(key, firstSlot: 4)
    let first = order.positions(epoch: 0, shardCount: 40)
    #expect(first.sorted() == (0..<40).map { Int32($0) })
    #expect(first != first.sorted())
    #expect(first == order.positions(epoch: 0, shardCount: 40))
    let second = order.positions(epoch: 1, shardCount: 40)
    #expect(second != first)
    #expect(BatchOrder.keyed(key, firstSlot: 5).positions(epoch: 0, shardCount: 40) == second)
    let other = BatchOrder.keyed(key.with(ordinal: 8), firstSlot: 4)
    #expect(other.positions(epoch: 0, shardCount: 40) != first)
  }

  @Test("an explicit order is taken as it is")
  func explicitOrder() {
    let order = BatchOrder.explicit([[2, 0, 1], [1, 2, 0]])
    #expect(order.positions(epoch: 1, shardCount: 3) == [1, 2, 0])
  }
}
