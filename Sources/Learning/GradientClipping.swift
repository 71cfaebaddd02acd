/// A bound on the mean gradient of a batch, before the optimiser sees it.
public enum GradientClipping: Equatable, Sendable, Codable {
  /// Scaled down to this Euclidean norm over all trained parameters, if it is longer.
  case norm(Double)
  /// Each element brought between −bound and bound.
  case value(Double)

  /// Clips in place.
  ///
  /// Order: 16 partial sums over parameters in order, range by range, added as a tree; `Double`.
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
      var sums = [Double](repeating: 0, count: 16)
      for range in ranges {
        kernels.functions.sum_of_squares(range.count, gradient + range.lowerBound, &sums)
      }
      for width in [8, 4, 2, 1] {
        for i in 0..<width { sums[i] += sums[i + width] }
      }
      let norm = sums[0].squareRoot()
      guard norm > bound else { return }
      let factor = Float(bound / norm)
      for range in ranges {
        for i in range { gradient[i] *= factor }
      }
    }
  }
}
