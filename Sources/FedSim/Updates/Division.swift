import Learning

/// How a run's trainings are divided among its ranks: which rank computes which.
///
/// It follows from the trainings as they are described, so all ranks agree on it without a word.
package struct Division {
  private let ranks: any Ranks
  /// Batches that each rank was dealt since values were last asked for.
  private var batches: [Int]

  /// A division in which nobody has anything yet.
  package init(_ ranks: any Ranks) {
    self.ranks = ranks
    batches = Array(repeating: 0, count: ranks.count)
  }

  /// Gives a training to the rank that has the fewest batches, the first of several; one that
  /// continues another goes where that one is.
  package mutating func deal(_ training: DeferredTraining) {
    guard training.trainer == .none else { return }
    var least = 0
    if case .rank(let rank)? = training.begunBy?.trainer {
      least = rank
    } else {
      for rank in batches.indices where batches[rank] < batches[least] { least = rank }
    }
    batches[least] += training.batchCount
    training.trainer = .rank(least)
  }

  /// Whether this rank computes a training.
  func isOwn(_ training: DeferredTraining) -> Bool { training.trainer == .rank(ranks.rank) }

  /// The rank of each training; those that all ranks have are dealt in turn.
  mutating func trainers(of trainings: [DeferredTraining]) -> [Int] {
    var trainers: [Int] = []
    for (place, training) in trainings.enumerated() {
      deal(training)
      if case .rank(let rank) = training.trainer {
        trainers.append(rank)
      } else {
        trainers.append(place % ranks.count)
      }
    }
    for rank in batches.indices { batches[rank] = 0 }
    return trainers
  }

  /// Computes trainings, each on its rank, and makes what they give known to all.
  mutating func gather(_ trainings: [DeferredTraining], pool: WorkerPool) {
    let trainers = trainers(of: trainings)
    let places = trainings.indices.filter { trainings[$0].trainer != .all }
    guard !places.isEmpty else { return }
    DeferredTraining.gather(
      places.map { trainings[$0] }, by: places.map { trainers[$0] }, pool: pool, ranks: ranks)
  }
}
