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
    return inRanges(of: count, pool: pool) { range, target, sums in
      for term in terms {
        kernels.functions.accumulate(
          range.count, term.weight, term.parameters.storage + range.lowerBound, sums)
      }
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
    return inRanges(of: count, pool: pool) { range, target, sums in
      for term in terms {
        kernels.functions.accumulate_difference(
          range.count, term.weight, term.parameters.storage + range.lowerBound,
          term.base.storage + range.lowerBound, sums)
      }
      kernels.functions.round_step(
        range.count, now.storage + range.lowerBound, rate, sums, target)
    }
  }

  /// Parameters summed together: their accumulators stay in the nearest cache.
  private static let rangeSize = 2048

  private static func inRanges(
    of count: Int, pool: WorkerPool,
    _ body:
      @Sendable (Range<Int>, UnsafeMutablePointer<Float>, UnsafeMutablePointer<Double>) ->
      Void
  ) -> ParameterBuffer {
    ParameterBuffer(uninitializedCount: count) { target in
      nonisolated(unsafe) let target = target  // Ranges are disjoint.
      pool.forEach((count + rangeSize - 1) / rangeSize) { index, scratch in
        let first = index * rangeSize
        let range = first..<min(first + rangeSize, count)
        scratch.withSums(count: range.count) { body(range, target + first, $0) }
      }
    }
  }
}
