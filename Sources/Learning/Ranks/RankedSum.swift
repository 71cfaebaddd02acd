extension StreamedSum {
  /// What the trainings of one thread that wait for their sum take, in bytes: as little as stays in
  /// a core's own cache, as they are read by the rank that adds them.
  private static let ownBytes = 1 << 20

  /// How many trainings of each rank are exchanged and added together.
  package static func ownGroup(parameters: Int, threads: Int, bytes: Int = ownBytes) -> Int {
    threads * max(1, bytes / max(1, parameters * MemoryLayout<Float>.stride))
  }

  /// The same sum with trainings and parameters divided among ranks: each rank trains its terms,
  /// each adds one range of parameters over all terms, and each learns the whole sum.
  ///
  /// `trainers` has the rank of each term. Every rank calls it, with the same terms. Order: that of
  /// the terms, as on one rank. Ranges end at whole blocks of parameters. A rank holds its own
  /// trainings of one group of terms, and the other ranks' parameters in its range.
  package init?(
    _ terms: [Term], by trainers: [Int], first: Aggregation.Term?, count: Int, kernels: Kernels,
    pool: WorkerPool, ranks: any Ranks, groupBytes: Int = ownBytes
  ) {
    precondition(!terms.isEmpty && trainers.count == terms.count, "each term has its trainer")
    let work = RankedSum(terms, trainers, count: count, kernels: kernels, pool: pool, ranks: ranks)
    if let first { work.add(first) }
    let group =
      ranks.count * Self.ownGroup(parameters: count, threads: pool.threads, bytes: groupBytes)
    for start in stride(from: 0, to: terms.count, by: group) {
      work.train(start..<min(start + group, terms.count))
    }
    guard let parameters = work.gatherSum() else { return nil }
    scores = work.gatherScores()
    self.parameters = parameters
  }
}

/// A weighted sum as it is made by several ranks.
private final class RankedSum: @unchecked Sendable {
  private let terms: [StreamedSum.Term]
  private let trainers: [Int]
  private let count: Int
  private let kernels: Kernels
  private let pool: WorkerPool
  private let ranks: any Ranks
  /// Which parameters each rank adds.
  private let ranges: [Range<Int>]
  /// The sums of this rank's parameters.
  private var sums: [Double]
  private var scores: [StreamedSum.Score?]

  init(
    _ terms: [StreamedSum.Term], _ trainers: [Int], count: Int, kernels: Kernels,
    pool: WorkerPool, ranks: any Ranks
  ) {
    (self.terms, self.trainers, self.count) = (terms, trainers, count)
    (self.kernels, self.pool, self.ranks) = (kernels, pool, ranks)
    let blocks = (count + BlockSum.size - 1) / BlockSum.size
    ranges = (0..<ranks.count).map { rank in
      let share = ranks.share(of: rank, blocks)
      return share.lowerBound * BlockSum.size..<min(share.upperBound * BlockSum.size, count)
    }
    sums = Array(repeating: 0, count: ranges[ranks.rank].count)
    scores = Array(repeating: nil, count: terms.count)
  }

  private var range: Range<Int> { ranges[ranks.rank] }

  /// Trains this rank's terms of a group, exchanges them, and adds the group.
  func train(_ group: Range<Int>) {
    let own = group.filter { trainers[$0] == ranks.rank }
    var trained = [Int: ParameterBuffer]()
    for (index, buffer) in zip(own, train(own)) { trained[index] = buffer }
    // The parameters of this rank's range that others trained, term by term.
    let foreign = group.count - own.count
    let received = ParameterBuffer(uninitializedCount: max(1, foreign * range.count)) { _ in }
    var (places, next) = ([UnsafePointer<Float>](), received.storage)
    var (sent, expected) = ([RankPiece](), [RankPiece]())
    for index in group {
      if let buffer = trained[index] {
        places.append(UnsafePointer(buffer.storage + range.lowerBound))
        for other in ranks.others {
          sent.append(piece(other, buffer.storage + ranges[other].lowerBound, ranges[other].count))
        }
      } else {
        places.append(UnsafePointer(next))
        expected.append(piece(trainers[index], next, range.count))
        next += range.count
      }
    }
    ranks.exchange(sent, expected)
    withExtendedLifetime((trained, received)) {
      add(
        places,
        minus: group.compactMap {
          terms[$0].base.map { UnsafePointer($0.storage + range.lowerBound) }
        },
        weights: group.map { terms[$0].weight })
    }
  }

  private func piece(_ rank: Int, _ start: UnsafeMutablePointer<Float>, _ count: Int) -> RankPiece {
    RankPiece(
      rank, UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(start: start, count: count)))
  }

  /// Trains some terms on all threads of this rank; nobody waits for one that another thread has
  /// begun while there are others.
  private func train(_ own: [Int]) -> [ParameterBuffer] {
    let terms = own.map { self.terms[$0].training }
    let threads = pool.threads
    let early = pool.map(own.count) { index, scratch in
      let following = index + threads < terms.count ? terms[index + threads] : nil
      return terms[index].passed(scratch, waits: false, before: following)
    }
    let passed = pool.map(own.count) { index, scratch in
      early[index] ?? terms[index].passed(scratch, waits: true)!
    }
    for (index, value) in zip(own, passed) { scores[index] = value.1 }
    return passed.map(\.0)
  }

  /// Adds terms to the sums of this rank's range, at whose start their parameters and bases are.
  private func add(
    _ places: [UnsafePointer<Float>], minus bases: [UnsafePointer<Float>], weights: [Double]
  ) {
    let (count, stretch) = (range.count, Aggregation.stretch)
    sums.withUnsafeMutableBufferPointer { sums in
      // Stretches are disjoint.
      nonisolated(unsafe) let (sums, places, bases) = (sums, places, bases)
      pool.forEach((count + stretch - 1) / stretch) { index, _ in
        let part = index * stretch..<min((index + 1) * stretch, count)
        bases.withUnsafeBufferPointer {
          Aggregation.add(
            part, of: places, minus: bases.isEmpty ? nil : $0.baseAddress, weights: weights,
            count: weights.count, to: sums.baseAddress! + part.lowerBound, kernels: kernels)
        }
      }
    }
  }

  /// Adds a term that is there already.
  func add(_ term: Aggregation.Term) {
    let start = UnsafePointer(term.parameters.storage + range.lowerBound)
    withExtendedLifetime(term) { add([start], minus: [], weights: [term.weight]) }
  }

  /// The whole sum, rounded to float; nil if some of it is not finite.
  func gatherSum() -> ParameterBuffer? {
    let isDifference = terms[0].base != nil
    let range = self.range
    let sum = ParameterBuffer(uninitializedCount: count) { target in
      let own = target + range.lowerBound
      if isDifference {
        own.update(repeating: 0, count: range.count)
        sums.withUnsafeBufferPointer {
          kernels.functions.round_step(range.count, own, 1, $0.baseAddress, own)
        }
      } else {
        sums.withUnsafeBufferPointer {
          kernels.functions.round_sum(range.count, $0.baseAddress, own)
        }
      }
      ranks.gather(UnsafeMutableBufferPointer(start: target, count: count), ranges: ranges)
    }
    return sum.isFinite ? sum : nil
  }

  /// What is left of all trainings, in the order of the terms.
  func gatherScores() -> [StreamedSum.Score] {
    let none = StreamedSum.Score(lossSum: 0, lossSquares: nil, validation: nil)
    return ranks.gather(scores.map { $0 ?? none }, owners: trainers)
  }
}
