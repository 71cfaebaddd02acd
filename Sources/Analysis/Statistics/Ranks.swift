/// Ranks of numbers, doubled so that the means of tied ones stay whole.
struct Ranks {
  /// Twice the rank of each number, in the order given; equal numbers share the mean of theirs.
  let doubled: [Int]
  /// How many numbers each tie has, ties of one left out.
  let ties: [Int]

  init(_ values: [Double]) {
    let order = values.indices.sorted { (values[$0], $0) < (values[$1], $1) }
    var doubled = [Int](repeating: 0, count: values.count)
    var ties: [Int] = []
    var first = 0
    while first < order.count {
      var last = first
      while last + 1 < order.count, values[order[last + 1]] == values[order[first]] { last += 1 }
      // Ranks first + 1 to last + 1, whose mean is half their sum's ends.
      for place in first...last { doubled[order[place]] = first + last + 2 }
      if last > first { ties.append(last - first + 1) }
      first = last + 1
    }
    (self.doubled, self.ties) = (doubled, ties)
  }

  /// Σ (t³ - t) over the ties.
  var tieSum: Double {
    ties.reduce(0.0) { $0 + (Double($1) * Double($1) * Double($1) - Double($1)) }
  }

  /// How many choices of ranks have each doubled sum; any number of them, or exactly `size`.
  ///
  /// Exact while there are at most 2⁵³ choices. Complexity: O(n · size · sum of all).
  static func choices(of doubled: [Int], size: Int? = nil) -> [Double] {
    let total = doubled.reduce(0, +)
    guard let size else {
      var counts = [Double](repeating: 0, count: total + 1)
      counts[0] = 1
      for rank in doubled {
        for sum in stride(from: total, through: rank, by: -1) { counts[sum] += counts[sum - rank] }
      }
      return counts
    }
    var counts = [[Double]](
      repeating: [Double](repeating: 0, count: total + 1), count: size + 1)
    counts[0][0] = 1
    for rank in doubled {
      for taken in stride(from: size, through: 1, by: -1) {
        for sum in rank...total { counts[taken][sum] += counts[taken - 1][sum - rank] }
      }
    }
    return counts[size]
  }

  /// The probabilities of a sum at most, and at least, the observed one.
  static func tails(_ counts: [Double], at sum: Int) -> (lower: Double, upper: Double) {
    let all = counts.reduce(0, +)
    return (counts[...sum].reduce(0, +) / all, counts[sum...].reduce(0, +) / all)
  }
}

/// What a test asks for.
public enum Alternative: String, CaseIterable, Codable, Sendable {
  /// A difference to either side.
  case twoSided
  /// The first is less than the second, or a difference below 0.
  case less
  /// The first is greater than the second, or a difference above 0.
  case greater

  /// The probability, from those of a statistic at most and at least the observed one.
  func probability(_ tails: (lower: Double, upper: Double)) -> Double {
    switch self {
    case .twoSided: min(1, 2 * min(tails.lower, tails.upper))
    case .less: tails.lower
    case .greater: tails.upper
    }
  }
}
