/// A step function: the value at a place is that of the last step at or before it.
public struct StepCurve: Sendable, Equatable {
  /// Where it steps, rising.
  public let places: [Double]
  /// The value from each step on.
  public let values: [Double]
  /// Where it ends; nothing is known beyond.
  public let end: Double

  /// A curve; steps whose value is NaN are left out, and of several at one place the last counts.
  public init(_ steps: [(place: Double, value: Double)], end: Double? = nil) {
    var places: [Double] = []
    var values: [Double] = []
    for step in steps where !step.value.isNaN {
      if let last = places.last {
        precondition(last <= step.place, "steps rise")
        if last == step.place {
          values[values.count - 1] = step.value
          continue
        }
      }
      places.append(step.place)
      values.append(step.value)
    }
    (self.places, self.values) = (places, values)
    self.end = end ?? places.last ?? 0
  }

  /// The value at a place; NaN before the first step and beyond the end. Complexity: O(log steps).
  public func value(at place: Double) -> Double {
    guard place <= end else { return .nan }
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle] <= place { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? .nan : values[low - 1]
  }
}

/// Several seeds' curves as one band: at each place their median and two of their quantiles.
public struct SeedBand: Sendable, Equatable {
  /// Where anything steps, rising.
  public let places: [Double]
  /// The median there.
  public let median: [Double]
  /// The lower quantile there.
  public let low: [Double]
  /// The upper quantile there.
  public let high: [Double]
  /// How many curves are known there.
  public let counts: [Int]

  /// The band of some curves between two quantiles, by default 5 and 95 %.
  ///
  /// Of more than `mostPlaces` places, evenly many of them in order are kept, and the last. Where
  /// only some of the curves have begun, or some have ended, the others count.
  public init(
    _ curves: [StepCurve], from low: Double = 0.05, to high: Double = 0.95,
    mostPlaces: Int = 500
  ) {
    var all: [Double] = []
    for place in curves.flatMap({ $0.places + [$0.end] }).sorted() where place != all.last {
      all.append(place)
    }
    let kept = min(all.count, max(2, mostPlaces))
    places =
      kept == all.count
      ? all : (0..<kept).map { all[$0 * (all.count - 1) / (kept - 1)] }
    let known = places.map { place in
      Statistics.sorted(curves.map { $0.value(at: place) })
    }
    median = known.map { Statistics.quantile(0.5, ofSorted: $0) }
    self.low = known.map { Statistics.quantile(low, ofSorted: $0) }
    self.high = known.map { Statistics.quantile(high, ofSorted: $0) }
    counts = known.map(\.count)
  }
}
