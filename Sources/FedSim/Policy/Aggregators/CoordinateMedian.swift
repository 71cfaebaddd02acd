import Learning
import Schema

/// The median of the updates, parameter by parameter.
///
/// Source: Yin et al., "Byzantine-robust distributed learning: towards optimal statistical rates"
/// (2018), definition 1. Of an even number of updates the mean of the two in the middle. Samples
/// count nothing.
public struct CoordinateMedian: Aggregator {
  public static let name = "median"
  /// What it does, in one sentence.
  public static let summary =
    "Coordinate-wise median; robust while fewer than half of the updates are Byzantine"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// Order: see `UpdateValues.sorted`. Complexity: all updates at once.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    batch.values.sorted(pool: batch.pool) { values in
      let middle = values.count / 2
      if values.count % 2 == 1 { return values[middle] }
      return (values[middle - 1] + values[middle]) / 2
    }
  }
}

/// The mean of each parameter without its lowest and highest values.
///
/// Source: Yin et al. (2018), definition 2: of m updates the ⌊β·m⌋ lowest and as many highest
/// values are left out.
public struct CoordinateTrimmedMean: Aggregator {
  public static let name = "trimmed-mean"
  /// What it does, in one sentence.
  public static let summary = "Coordinate-wise mean without a share of the values at each end"

  public struct Settings: PartSettings {
    /// The share that is left out at each end.
    public var share = 0.1
    public init() {}
    public static var shorthand: String? { "share" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "share", \.share, .number(0...0.499_999),
          "Share of values trimmed at each end, β; rounded down to whole updates")
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Order: the values that are left, in ascending order; with nothing left out the uniform mean,
  /// in the order of the updates. Complexity: all updates at once.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    let cut = Int(settings.share * Double(batch.updates.count) + 1e-9)
    if cut == 0 { return batch.weightedSum(UpdateWeights.uniform.of(batch.facts)) }
    return batch.values.sorted(pool: batch.pool) { values in
      var sum = UpdateValues.Lanes.zero
      for place in cut..<(values.count - cut) { sum += values[place] }
      return sum / Double(values.count - 2 * cut)
    }
  }
}
