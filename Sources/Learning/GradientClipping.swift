/// A bound on the mean gradient of a batch, before the optimiser sees it.
public enum GradientClipping: Equatable, Sendable, Codable {
  /// Scaled down to this Euclidean norm over all trained parameters, if it is longer.
  case norm(Double)
  /// Each element brought between −bound and bound.
  case value(Double)

  /// Clips in place.
  ///
  /// Order: range by range; in each its parts of blocks of 4,096 parameters (`BlockSum`), 16
  /// partial sums of a part in order, added as a tree; `Double`.
  func apply(
    to gradient: UnsafeMutablePointer<Float>, layout: ParameterLayout, kernels: Kernels
  ) {
    let ranges = layout.trainedRanges
    switch self {
    case .value(let bound):
      let bound = Float(bound)
      for range in ranges {
        for i in range { gradient[i] = min(max(gradient[i], -bound), bound) }
      }
    case .norm(let bound):
      var square = 0.0
      for range in ranges {
        BlockSum.forEachPart(of: range) { part in
          var sums = SIMD16<Double>.zero
          withUnsafeMutablePointer(to: &sums) { sums in
            sums.withMemoryRebound(to: Double.self, capacity: 16) { sums in
              kernels.functions.sum_of_squares(part.count, gradient + part.lowerBound, sums)
            }
          }
          square += BlockSum.total(sums.lowHalf + sums.highHalf)
        }
      }
      let norm = square.squareRoot()
      guard norm > bound else { return }
      let factor = Float(bound / norm)
      for range in ranges {
        for i in range { gradient[i] *= factor }
      }
    }
  }
}
