extension Statistics {
  /// Gini's coefficient of amounts that are not negative: 0 if all have the same, near 1 if one has
  /// all; 0 if nobody has anything.
  ///
  /// Half the mean absolute difference of all pairs, a number with itself included, by the mean.
  public static func gini(_ amounts: [Double]) -> Double {
    let ordered = sorted(amounts)
    guard let first = ordered.first else { return .nan }
    precondition(first >= 0, "Gini's coefficient is of amounts that are not negative")
    let count = Double(ordered.count)
    var sum = 0.0
    var weighted = 0.0
    for (index, amount) in ordered.enumerated() {
      sum += amount
      weighted += (2 * Double(index + 1) - count - 1) * amount
    }
    return sum == 0 ? 0 : weighted / (count * sum)
  }

  /// Jain's index (Σx)² / (n Σx²): 1 if all have the same or nobody has anything, 1/n if one has
  /// all.
  ///
  /// Source: Jain, Chiu and Hawe (1984).
  public static func jain(_ amounts: [Double]) -> Double {
    let known = amounts.filter { !$0.isNaN }
    guard !known.isEmpty else { return .nan }
    var sum = 0.0
    var squares = 0.0
    for amount in known {
      sum += amount
      squares += amount * amount
    }
    return squares == 0 ? 1 : sum * sum / (Double(known.count) * squares)
  }
}
