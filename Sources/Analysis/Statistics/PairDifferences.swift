/// Differences of pairs as tests of ranks need them.
public enum PairDifferences {
  /// b - a for each pair, rounded to a multiple of a power of two below 10⁻¹² of the largest value
  /// of both sides: what differs by the rounding of the values alone ties, or is 0. Shapes: [pair].
  ///
  /// Two infinite values, such as costs of runs that did not reach a target, differ by 0.
  public static func between(_ a: [Double], _ b: [Double]) -> [Double] {
    precondition(a.count == b.count, "pairs have two sides")
    let largest = (a + b).lazy.filter(\.isFinite).map { abs($0) }.max() ?? 0
    let unit = (largest * 1e-12).binade
    return zip(a, b).map { a, b in
      let difference = a == b ? 0 : b - a
      return unit > 0 ? (difference / unit).rounded() * unit : difference
    }
  }
}
