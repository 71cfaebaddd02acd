import Learning
import Schema

/// How far updates are from their nearest neighbours.
///
/// Source: Blanchard et al., "Machine learning with adversaries: Byzantine tolerant gradient
/// descent" (2017), §4: the score of an update is the sum of the squared distances to the
/// n − f − 2 others that are nearest to it; one at least.
struct KrumScores {
  /// ‖xᵢ − xⱼ‖², row by row.
  let distances: [Double]
  private let count: Int

  init(_ batch: AggregationBatch) {
    count = batch.updates.count
    distances = batch.values.squaredDistances(pool: batch.pool)
  }

  /// The scores of some of the updates among one another.
  ///
  /// Order: from the nearest neighbour on.
  func scores(among places: [Int], byzantine: Int) -> [Double] {
    let neighbours = max(1, places.count - byzantine - 2)
    return places.map { place in
      places.filter { $0 != place }.map { distances[place * count + $0] }.sorted()
        .prefix(neighbours).reduce(0, +)
    }
  }

  /// The updates from the lowest score on; of equal ones the lowest number first.
  func ranking(byzantine: Int) -> [Int] {
    let scores = scores(among: Array(0..<count), byzantine: byzantine)
    return scores.indices.sorted { (scores[$0], $0) < (scores[$1], $1) }
  }
}

/// The one update that is nearest to its neighbours.
///
/// Source: Blanchard et al. (2017), §4. Samples count nothing.
public struct Krum: Aggregator {
  public static let name = "krum"
  /// What it does, in one sentence.
  public static let summary =
    "The single update that is nearest to its n − f − 2 nearest neighbours"

  public struct Settings: PartSettings {
    /// How many updates may be Byzantine.
    public var byzantine = 1
    public init() {}
    public static var shorthand: String? { "byzantine" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "byzantine", \.byzantine, .integer(0...1_000_000),
          "Number of Byzantine updates to tolerate, f; the guarantee needs 2f + 3 updates")
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Complexity: O(updates² · parameters), all updates at once.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    batch.mean(of: [KrumScores(batch).ranking(byzantine: settings.byzantine)[0]])
  }
}

/// The plain mean of the updates that are nearest to their neighbours.
///
/// Source: Blanchard et al. (2017), §5, multi-Krum.
public struct MultiKrum: Aggregator {
  public static let name = "multi-krum"
  /// What it does, in one sentence.
  public static let summary = "The plain mean of the updates with the lowest Krum scores"

  public struct Settings: PartSettings {
    /// How many updates may be Byzantine.
    public var byzantine = 1
    /// How many are kept; nil: all but those that may be Byzantine.
    public var keep: Int?
    public init() {}
    public static var shorthand: String? { "byzantine" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "byzantine", \.byzantine, .integer(0...1_000_000),
          "Number of Byzantine updates to tolerate, f; the guarantee needs 2f + 3 updates"),
        Field(
          "keep", \.keep, optional: .integer(1...1_000_000),
          "Number of updates to average, m; absent: all but f, at least one"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Order: those kept, in the order of all. Complexity: O(updates² · parameters), all at once.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    let count = batch.updates.count
    let kept = min(count, settings.keep ?? max(1, count - settings.byzantine))
    let best = KrumScores(batch).ranking(byzantine: settings.byzantine).prefix(kept)
    return batch.mean(of: best.sorted())
  }
}

/// Krum again and again, then the values nearest to the median, parameter by parameter.
///
/// Source: El Mhamdi, Guerraoui, Rouault, "The hidden vulnerability of distributed learning in
/// Byzantium" (2018), §4: θ = n − 2f updates are chosen by Krum, one after the other among those
/// that are left; of each parameter the β = θ − 2f values nearest to the median of the chosen are
/// averaged.
public struct Bulyan: Aggregator {
  public static let name = "bulyan"
  /// What it does, in one sentence.
  public static let summary =
    "Updates chosen by Krum, then the mean of the values nearest to the median"

  public typealias Settings = Krum.Settings

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Order: the values nearest to the median in ascending order; of two equally near the lower one
  /// is taken. Complexity: O(updates² · parameters + updates³ · log updates), all at once.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    let (count, liars) = (batch.updates.count, settings.byzantine)
    let krum = KrumScores(batch)
    var left = Array(0..<count)
    var chosen: [Int] = []
    while chosen.count < max(1, count - 2 * liars) {
      let scores = krum.scores(among: left, byzantine: liars)
      let best = scores.indices.min { (scores[$0], $0) < (scores[$1], $1) }!
      chosen.append(left.remove(at: best))
    }
    let kept = max(1, count - 4 * liars)
    return batch.values.subset(chosen.sorted()).sorted(pool: batch.pool) { values in
      Self.nearest(kept, values)
    }
  }

  /// The mean of the `kept` values nearest to the median, in each lane.
  private static func nearest(
    _ kept: Int, _ values: UnsafeBufferPointer<UpdateValues.Lanes>
  ) -> UpdateValues.Lanes {
    let middle = values.count / 2
    let median =
      values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
    var means = UpdateValues.Lanes.zero
    for lane in 0..<8 {
      func distance(_ place: Int) -> Double { (values[place][lane] - median[lane]).magnitude }
      // Sorted values: the nearest ones are side by side.
      var first = 0
      while first + kept < values.count, distance(first + kept) < distance(first) { first += 1 }
      var sum = 0.0
      for place in first..<(first + kept) { sum += values[place][lane] }
      means[lane] = sum / Double(kept)
    }
    return means
  }
}
