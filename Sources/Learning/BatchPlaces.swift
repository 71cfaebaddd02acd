/// Which samples the batches of a training take, epoch by epoch.
struct BatchPlaces {
  private let shard: [Int32]
  private let plan: TrainingPlan
  private let order: BatchOrder
  private let scratch: Scratch
  private(set) var epoch = -1
  private var positions: [Int32] = []

  init(_ training: LocalTraining, _ scratch: Scratch) {
    shard = training.shard
    plan = training.plan
    order = training.order
    self.scratch = scratch
  }

  /// Writes the samples of a batch, which is of this epoch or a later one.
  mutating func fill(
    _ target: UnsafeMutablePointer<Int32>, batch: Int
  ) -> UnsafeBufferPointer<Int32> {
    let place = plan.place(ofBatch: batch, shardCount: shard.count)
    if place.epoch != epoch {
      epoch = place.epoch
      positions = scratch.positions(of: order, epoch: epoch, shardCount: shard.count)
    }
    for (row, position) in place.positions.enumerated() {
      target[row] = shard[Int(positions[position])]
    }
    return UnsafeBufferPointer(start: target, count: place.positions.count)
  }
}

extension Scratch {
  /// The samples that the thread will most likely need first when a training is over: those of the
  /// first batch of the one that follows, none where `rows` has no room for them or they are of
  /// other data.
  func firstOfFollowing(
    into target: UnsafeMutablePointer<Int32>, rows: Int, of dataset: Dataset
  ) -> UnsafeBufferPointer<Int32> {
    guard let following, !following.batches.isEmpty, following.training.dataset === dataset,
      min(following.training.plan.batchSize, following.training.shard.count) <= rows
    else { return UnsafeBufferPointer(start: target, count: 0) }
    var places = BatchPlaces(following.training, self)
    return places.fill(target, batch: following.batches.lowerBound)
  }
}
