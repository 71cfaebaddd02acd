/// Probabilities of several tests, each adjusted for there being several.
public enum SeveralTests {
  /// Holm's adjustment: below α, the chance of any wrong claim among all tests is below α.
  ///
  /// Order: of the probabilities given. NaN stays NaN and does not count as a test.
  /// Source: Holm (1979).
  public static func holm(_ probabilities: [Double]) -> [Double] {
    adjusted(probabilities) { ordered in
      var highest = 0.0
      return ordered.enumerated().map { index, p in
        highest = max(highest, min(1, Double(ordered.count - index) * p))
        return highest
      }
    }
  }

  /// Benjamini and Hochberg's adjustment: below α, the expected share of wrong claims among those
  /// made is below α. Source: Benjamini and Hochberg (1995).
  public static func benjaminiHochberg(_ probabilities: [Double]) -> [Double] {
    adjusted(probabilities) { ordered in
      var lowest = 1.0
      return ordered.enumerated().reversed().map { index, p in
        lowest = min(lowest, Double(ordered.count) / Double(index + 1) * p)
        return lowest
      }.reversed()
    }
  }

  private static func adjusted(
    _ probabilities: [Double], _ adjust: ([Double]) -> [Double]
  ) -> [Double] {
    let order = probabilities.indices.filter { !probabilities[$0].isNaN }
      .sorted { (probabilities[$0], $0) < (probabilities[$1], $1) }
    var result = [Double](repeating: .nan, count: probabilities.count)
    for (index, p) in zip(order, adjust(order.map { probabilities[$0] })) { result[index] = p }
    return result
  }
}
