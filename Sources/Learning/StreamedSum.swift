import Foundation
import Synchronization

/// The weighted sum of trainings that are computed on the way, a group at a time.
///
/// While one group is trained the group before is summed, so what a training leaves is read from a
/// cache and its memory serves the next but one group. The bits are those of training everything
/// first and then adding, for any number of threads.
public struct StreamedSum: Sendable {
  /// One training's part in the sum.
  public struct Term: Sendable {
    /// The training.
    public let training: DeferredTraining
    /// Its weight, used as it is.
    public let weight: Double
    /// What is taken from its parameters; nil: nothing.
    public let base: ParameterBuffer?

    /// A term weight·(what the training gives − base).
    public init(_ training: DeferredTraining, weight: Double, base: ParameterBuffer?) {
      self.training = training
      self.weight = weight
      self.base = base
    }
  }

  /// What is left of a training's value.
  public struct Score: Sendable, BitwiseCopyable {
    /// The sum of the losses of all samples processed since the training began.
    public let lossSum: Double
    /// The sum of their squares, where the training keeps it.
    public let lossSquares: Double?
    /// Evaluation on the device's validation samples, where there was one.
    public let validation: Evaluation?
  }

  /// Σ weight·parameters, or Σ weight·(parameters − base), rounded to float once; a term that is
  /// there already comes first.
  public let parameters: ParameterBuffer
  /// What is left of the trainings, in the order of the terms.
  public let scores: [Score]

  /// Trains and sums; nil if a sum is not finite, as it is not where some parameters are not.
  ///
  /// Either all terms have a base or none has. `first` is a term without a base that needs no
  /// training. Order: `first`, then the terms; every operation is rounded to `Double`, as in
  /// `Aggregation`.
  public init?(
    _ terms: [Term], first: Aggregation.Term? = nil, count: Int, kernels: Kernels, pool: WorkerPool
  ) {
    // Two groups are under way at a time. Smaller ones would read and write the sums more often,
    // larger ones would drive one another out of the cache that threads share.
    self.init(
      terms, first: first, count: count, kernels: kernels, pool: pool,
      groupBytes: pool.threads * (7 << 18))
  }

  /// The same with groups of about as many bytes as given.
  package init?(
    _ terms: [Term], first: Aggregation.Term? = nil, count: Int, kernels: Kernels,
    pool: WorkerPool, groupBytes: Int
  ) {
    precondition(!terms.isEmpty, "a sum of updates has an update")
    precondition(first.map { $0.parameters.count == count } ?? true, "buffers have one size")
    precondition(first == nil || terms[0].base == nil, "existing terms have no base")
    precondition(
      terms.allSatisfy { ($0.base == nil) == (terms[0].base == nil) },
      "all terms have bases, or none")
    let work = Work(
      terms, first: first, count: count, kernels: kernels, threads: pool.threads,
      groupBytes: groupBytes)
    let parameters = ParameterBuffer(uninitializedCount: count) { target in
      nonisolated(unsafe) let target = target  // Ranges are disjoint.
      pool.forEach(work.pieceCount) { piece, scratch in work.run(piece, scratch, into: target) }
    }
    guard work.isFinite.load(ordering: .acquiring) else { return nil }
    scores = (0..<terms.count).map { work.scores[$0]! }
    self.parameters = parameters
  }
}

extension StreamedSum {
  /// Pieces of work, numbered so that each waits for earlier ones only: the trainings of group 0,
  /// then for each further group its trainings and the sums of the one before.
  fileprivate final class Work: @unchecked Sendable {
    private static let rangesAThread = 4
    private static let blockSize = 2048

    let isFinite = Atomic<Bool>(true)
    let scores: UnsafeMutableBufferPointer<Score?>
    private let terms: [Term]
    private let first: Aggregation.Term?
    private let count: Int
    private let kernels: Kernels
    private let threads: Int
    private let groupSize: Int
    private let groups: Int
    private let rangeSize: Int
    private let ranges: Int
    private let memory: BufferMemory.Block
    private let sums: UnsafeMutablePointer<Double>
    /// The parameters of the trainings whose group is not summed yet.
    private let trained: UnsafeMutableBufferPointer<ParameterBuffer?>
    /// Where the terms' parameters begin, where their bases do, and their weights; what is there
    /// already comes first. Addresses, so that threads count no references to buffers they share.
    private let places: UnsafeMutablePointer<UnsafePointer<Float>>
    private let origins: UnsafeMutablePointer<UnsafePointer<Float>>?
    private let weights: UnsafeMutablePointer<Double>
    /// Trainings done in each group, then ranges summed in it.
    private let progress: UnsafeMutableBufferPointer<Atomic<Int>>
    /// Groups summed in each range.
    private let summed: UnsafeMutableBufferPointer<Atomic<Int>>
    /// Trainings that another thread was at, as it had begun them before the sum.
    private let busy = Mutex<[Int]>([])

    init(
      _ terms: [Term], first: Aggregation.Term?, count: Int, kernels: Kernels, threads: Int,
      groupBytes: Int
    ) {
      self.terms = terms
      self.first = first
      self.count = count
      self.kernels = kernels
      self.threads = threads
      let fitting = groupBytes / max(1, count * MemoryLayout<Float>.stride)
      groupSize = min(terms.count, (max(1, fitting) + threads - 1) / threads * threads)
      groups = (terms.count + groupSize - 1) / groupSize
      let blocks = (count + Self.blockSize - 1) / Self.blockSize
      let most = threads == 1 ? 1 : Self.rangesAThread * threads
      let blocksARange = (blocks + most - 1) / most
      rangeSize = max(1, blocksARange) * Self.blockSize
      ranges = (count + rangeSize - 1) / rangeSize
      memory = BufferMemory.take(count: 2 * max(1, count))
      sums = UnsafeMutableRawPointer(memory.floats)
        .bindMemory(to: Double.self, capacity: max(1, count))
      sums.initialize(repeating: 0, count: count)
      trained = .allocate(capacity: terms.count)
      trained.initialize(repeating: nil)
      places = .allocate(capacity: terms.count + 1)
      weights = .allocate(capacity: terms.count + 1)
      if let first {
        places.initialize(to: UnsafePointer(first.parameters.storage))
        weights.initialize(to: first.weight)
      }
      origins = terms[0].base == nil ? nil : .allocate(capacity: terms.count + 1)
      for (index, term) in terms.enumerated() {
        (weights + index + 1).initialize(to: term.weight)
        guard let base = term.base else { continue }
        (origins! + index + 1).initialize(to: UnsafePointer(base.storage))
      }
      scores = .allocate(capacity: terms.count)
      scores.initialize(repeating: nil)
      progress = .allocate(capacity: groups)
      summed = .allocate(capacity: ranges)
      for group in 0..<groups { (progress.baseAddress! + group).initialize(to: Atomic(0)) }
      for range in 0..<ranges { (summed.baseAddress! + range).initialize(to: Atomic(0)) }
    }

    deinit {
      BufferMemory.give(memory)
      trained.deinitialize()
      trained.deallocate()
      places.deallocate()
      origins?.deallocate()
      weights.deallocate()
      scores.deinitialize()
      scores.deallocate()
      progress.deinitialize()
      progress.deallocate()
      summed.deinitialize()
      summed.deallocate()
    }

    var pieceCount: Int { terms.count + groups * ranges }

    func run(_ piece: Int, _ scratch: Scratch, into target: UnsafeMutablePointer<Float>) {
      if piece < groupSize { return train(piece, scratch) }
      // Then rows of one group's trainings and the sums of the one before; the last group has no
      // trainings behind it.
      if piece >= pieceCount - ranges {
        return add(group: groups - 1, range: piece - (pieceCount - ranges), scratch, into: target)
      }
      let row = (piece - groupSize) / (groupSize + ranges)
      let place = (piece - groupSize) % (groupSize + ranges)
      let next = terms(of: row + 1)
      if place < next.count {
        train(next.lowerBound + place, scratch)
      } else {
        add(group: row, range: place - next.count, scratch, into: target)
      }
    }

    private func terms(of group: Int) -> Range<Int> {
      group * groupSize..<min((group + 1) * groupSize, terms.count)
    }

    private func train(_ index: Int, _ scratch: Scratch) {
      // Threads take turns, as most trainings take equally long.
      let following = index + threads < terms.count ? terms[index + threads].training : nil
      if let passed = terms[index].training.passed(scratch, waits: false, before: following) {
        take(passed, index)
      } else {
        busy.withLock { $0.append(index) }
      }
    }

    private func take(_ passed: (ParameterBuffer, Score), _ index: Int) {
      precondition(passed.0.count == count, "buffers have one size")
      (trained[index], scores[index]) = passed
      (places + index + 1).initialize(to: UnsafePointer(passed.0.storage))
      progress[index / groupSize].wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    private func add(
      group: Int, range: Int, _ scratch: Scratch, into target: UnsafeMutablePointer<Float>
    ) {
      let members = terms(of: group)
      while progress[group].load(ordering: .acquiring) < members.count
        || summed[range].load(ordering: .acquiring) < group
      {
        if let index = busy.withLock({ $0.popLast() }) {
          take(terms[index].training.passed(scratch, waits: true)!, index)
        } else {
          sched_yield()
        }
      }
      // What is there already has the place before the first term.
      let lowest = group == 0 && first != nil ? 0 : members.lowerBound + 1
      let end = min((range + 1) * rangeSize, count)
      for start in stride(from: range * rangeSize, to: end, by: Aggregation.stretch) {
        let block = start..<min(start + Aggregation.stretch, end)
        Aggregation.add(
          block, of: places + lowest, minus: origins.map { UnsafePointer($0 + lowest) },
          weights: weights + lowest, count: members.upperBound + 1 - lowest, to: sums + start,
          kernels: kernels)
        if group == groups - 1 { round(block, into: target) }
      }
      summed[range].store(group + 1, ordering: .releasing)
      let done = progress[group].wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
      guard done == members.count + ranges else { return }
      for index in members { trained[index] = nil }
    }

    /// Sums as floats; differences are a step from zero, which decides the sign of a zero.
    private func round(_ block: Range<Int>, into target: UnsafeMutablePointer<Float>) {
      let (out, sums) = (target + block.lowerBound, sums + block.lowerBound)
      if terms[0].base == nil {
        kernels.functions.round_sum(block.count, sums, out)
      } else {
        out.update(repeating: 0, count: block.count)
        kernels.functions.round_step(block.count, out, 1, sums, out)
      }
      if !ParameterBuffer.areFinite(out, count: block.count) {
        isFinite.store(false, ordering: .relaxed)
      }
    }
  }
}
