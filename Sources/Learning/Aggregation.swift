/// Sums of many parameter buffers in a stated order, with `Double` accumulators.
///
/// Work is split over ranges of parameters and never over updates, so the bits do not depend on
/// threads.
public enum Aggregation {
  /// One update's part in a weighted sum.
  public struct Term: Sendable {
    /// The parameters that the update brings.
    public let parameters: ParameterBuffer
    /// Its weight, used as it is: the caller makes weights sum to 1 where that is meant.
    public let weight: Double

    /// A term weight·parameters.
    public init(_ parameters: ParameterBuffer, weight: Double) {
      self.parameters = parameters
      self.weight = weight
    }
  }

  /// One update's part in a weighted sum of differences.
  public struct Difference: Sendable {
    /// The parameters that the update brings.
    public let parameters: ParameterBuffer
    /// The parameters that its training started from.
    public let base: ParameterBuffer
    /// Its weight, used as it is.
    public let weight: Double

    /// A term weight·(parameters − base).
    public init(_ parameters: ParameterBuffer, base: ParameterBuffer, weight: Double) {
      self.parameters = parameters
      self.base = base
      self.weight = weight
    }
  }

  /// Σ pᵢ·wᵢ, rounded to float once.
  ///
  /// Order: of the terms; product and sum are each rounded to `Double`.
  public static func weights(_ terms: [Term], kernels: Kernels, pool: WorkerPool) -> ParameterBuffer
  {
    precondition(!terms.isEmpty, "a sum of updates has an update")
    let count = terms[0].parameters.count
    precondition(terms.allSatisfy { $0.parameters.count == count }, "buffers have one size")
    let addresses = Addresses(terms.map(\.parameters), weights: terms.map(\.weight))
    return inRanges(of: count, pool: pool) { range, target, sums in
      addresses.add(range, to: sums, kernels: kernels)
      kernels.functions.round_sum(range.count, sums, target)
    }
  }

  /// now + rate·Σ pᵢ·(wᵢ − bᵢ), each difference against its own base, rounded to float once.
  ///
  /// Order: of the terms; every operation is rounded to `Double`.
  public static func deltas(
    _ terms: [Difference], now: ParameterBuffer, rate: Double, kernels: Kernels, pool: WorkerPool
  ) -> ParameterBuffer {
    let count = now.count
    precondition(
      terms.allSatisfy { $0.parameters.count == count && $0.base.count == count },
      "buffers have one size")
    let addresses = Addresses(
      terms.map(\.parameters), bases: terms.map(\.base), weights: terms.map(\.weight))
    return inRanges(of: count, pool: pool) { range, target, sums in
      addresses.add(range, to: sums, kernels: kernels)
      kernels.functions.round_step(
        range.count, now.storage + range.lowerBound, rate, sums, target)
    }
  }

  /// Parameters summed together at most: their accumulators stay in a near cache, and what is read
  /// of an update is long enough to be fetched ahead.
  static let stretch = 16_384
  /// Updates that are read side by side: memory hands out more at once only slower.
  private static let together = 16

  /// Parameters summed together: a piece for each thread where the model is small.
  private static func rangeSize(_ count: Int, _ pool: WorkerPool) -> Int {
    let pieces = 4 * pool.threads
    let share = (count + pieces - 1) / pieces
    return min(stretch, (share + 2047) / 2048 * 2048)
  }

  private static func inRanges(
    of count: Int, pool: WorkerPool,
    _ body:
      @Sendable (Range<Int>, UnsafeMutablePointer<Float>, UnsafeMutablePointer<Double>) ->
      Void
  ) -> ParameterBuffer {
    let rangeSize = max(1, rangeSize(count, pool))
    return ParameterBuffer(uninitializedCount: count) { target in
      nonisolated(unsafe) let target = target  // Ranges are disjoint.
      pool.forEach((count + rangeSize - 1) / rangeSize) { index, scratch in
        let first = index * rangeSize
        let range = first..<min(first + rangeSize, count)
        scratch.withSums(count: range.count) { body(range, target + first, $0) }
      }
    }
  }

  /// Where the buffers of some terms are, as the kernels want it. It keeps the buffers alive.
  struct Addresses: @unchecked Sendable {
    private let buffers: [ParameterBuffer]
    private let bases: [ParameterBuffer]
    private let weights: [Double]
    private let places: [UnsafePointer<Float>]
    private let origins: [UnsafePointer<Float>]

    init(_ buffers: [ParameterBuffer], bases: [ParameterBuffer] = [], weights: [Double]) {
      self.buffers = buffers
      self.bases = bases
      self.weights = weights
      places = buffers.map { UnsafePointer($0.storage) }
      origins = bases.map { UnsafePointer($0.storage) }
    }

    /// Adds all terms to a range of the sums.
    func add(_ range: Range<Int>, to sums: UnsafeMutablePointer<Double>, kernels: Kernels) {
      withExtendedLifetime((buffers, bases)) {
        origins.withUnsafeBufferPointer {
          Aggregation.add(
            range, of: places, minus: bases.isEmpty ? nil : $0.baseAddress, weights: weights,
            count: weights.count, to: sums, kernels: kernels)
        }
      }
    }
  }

  /// Adds a range of `count` terms, whose parameters and bases begin at these places, to the sums.
  static func add(
    _ range: Range<Int>, of places: UnsafePointer<UnsafePointer<Float>>,
    minus origins: UnsafePointer<UnsafePointer<Float>>?, weights: UnsafePointer<Double>,
    count: Int, to sums: UnsafeMutablePointer<Double>, kernels: Kernels
  ) {
    withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: 2 * together) { here in
      let (near, bases) = (here.baseAddress!, here.baseAddress! + together)
      for first in stride(from: 0, to: count, by: together) {
        let terms = min(together, count - first)
        for term in 0..<terms {
          (near + term).initialize(to: places[first + term] + range.lowerBound)
          (bases + term).initialize(to: origins.map { $0[first + term] + range.lowerBound })
        }
        kernels.functions.accumulate(
          range.count, terms, weights + first, near, origins == nil ? nil : bases, sums)
      }
    }
  }
}
