import Results

/// What runs of two policies are compared by.
public enum Measure: String, CaseIterable, Codable, Sendable {
  /// Accuracy of the last version on the test samples.
  case finalAccuracy
  /// The best accuracy of any version.
  case bestAccuracy
  /// RMSE of the last version on the test samples.
  case finalRMSE
  /// The lowest RMSE of any version.
  case bestRMSE
  /// Virtual time to the target.
  case timeToTarget
  /// Rounds to the target.
  case roundsToTarget
  /// Versions to the target.
  case versionsToTarget
  /// Bytes to the target.
  case bytesToTarget
  /// Energy to the target.
  case joulesToTarget
  /// The share of training time whose work was lost, of what had ended.
  case wastedWork
  /// Mean staleness of the updates aggregated.
  case staleness
  /// Gini's coefficient of how often devices contributed, if any did.
  case gini
  /// Mean accuracy of the worst tenth of devices.
  case worstDecile

  /// Which side is better.
  public enum Direction: String, Codable, Sendable { case higher, lower }

  /// Which side is better.
  public var better: Direction {
    switch self {
    case .finalAccuracy, .bestAccuracy, .worstDecile: .higher
    case .finalRMSE, .bestRMSE, .timeToTarget, .roundsToTarget, .versionsToTarget, .bytesToTarget,
      .joulesToTarget,
      .wastedWork, .staleness, .gini:
      .lower
    }
  }

  /// The cost that it is of, where it asks for a target.
  public var cost: VersionCurve.Cost? {
    switch self {
    case .timeToTarget: .time
    case .roundsToTarget: .rounds
    case .versionsToTarget: .versions
    case .bytesToTarget: .bytes
    case .joulesToTarget: .joules
    case .finalAccuracy, .bestAccuracy, .finalRMSE, .bestRMSE, .wastedWork, .staleness, .gini,
      .worstDecile:
      nil
    }
  }

  /// Its unit, in UDUNITS' spelling.
  public var units: String { cost?.units ?? "1" }

  /// What it is, in a few words.
  public var words: String {
    switch self {
    case .finalAccuracy: "final accuracy"
    case .bestAccuracy: "best accuracy"
    case .finalRMSE: "final RMSE"
    case .bestRMSE: "lowest RMSE"
    case .timeToTarget: "time to target"
    case .roundsToTarget: "rounds to target"
    case .versionsToTarget: "versions to target"
    case .bytesToTarget: "bytes to target"
    case .joulesToTarget: "joules to target"
    case .wastedWork: "wasted work"
    case .staleness: "staleness"
    case .gini: "Gini of contributions"
    case .worstDecile: "worst decile"
    }
  }
}

/// One run by all measures.
public struct MeasuredRun: Sendable, Equatable {
  /// The run's seed.
  public var seed: UInt64
  /// Its accuracies and costs by version; nil: it learned nothing.
  public var curve: VersionCurve?
  private var values: [Measure: Double]

  /// A run with these values; those to a target follow from the curve.
  public init(seed: UInt64, curve: VersionCurve?, values: [(Measure, Double)] = []) {
    (self.seed, self.curve) = (seed, curve)
    self.values = Dictionary(values) { first, _ in first }
    if let curve {
      self.values[.finalAccuracy] = curve.finalAccuracy
      self.values[.bestAccuracy] = curve.bestAccuracy
    }
  }

  /// A result's run.
  public init(_ document: ResultDocument, seed: UInt64) {
    var values: [(Measure, Double)] = []
    func add(_ measure: Measure, _ value: Double?) {
      if let value, !value.isNaN { values.append((measure, value)) }
    }
    add(.wastedWork, Self.wasted(document))
    add(.staleness, Self.staleness(document))
    add(.gini, Self.gini(document))
    let errors = document["versions"]?[variable: "centralRMSE"]?.values.asDoubles
      .filter { !$0.isNaN }
    add(.finalRMSE, errors?.last)
    add(.bestRMSE, errors?.min())
    let worst = document["versions"]?[variable: "federatedAccuracyWorstTenth"]?.values.asDoubles
    add(.worstDecile, worst?.last { !$0.isNaN })
    let curve = VersionCurve(document)
    self.init(
      seed: seed, curve: curve.flatMap { $0.bestAccuracy.isNaN ? nil : $0 }, values: values)
  }

  /// Lost device-seconds by all device-seconds of trainings that had ended; nil: none had, or the
  /// result is of a schema without such sums. What was unfinished as the run ended is neither.
  private static func wasted(_ document: ResultDocument) -> Double? {
    guard let effort = document["effort"], let outcome = effort[variable: "outcome"],
      let seconds = effort[variable: "deviceSeconds"]?.values.asDoubles
    else { return nil }
    var (used, wasted) = (0.0, 0.0)
    for (name, seconds) in zip(outcome.flagMeanings, seconds) {
      if name == "aggregated" {
        used += seconds
      } else if !name.hasSuffix("UnfinishedAtEnd") {
        wasted += seconds
      }
    }
    return used + wasted > 0 ? wasted / (used + wasted) : nil
  }

  /// nil: nobody contributed, so nothing is even or uneven.
  private static func gini(_ document: ResultDocument) -> Double? {
    guard let counts = document["devices"]?[variable: "aggregated"]?.values.asDoubles,
      counts.contains(where: { $0 > 0 })
    else { return nil }
    return Statistics.gini(counts)
  }

  /// The mean over all updates that were aggregated.
  private static func staleness(_ document: ResultDocument) -> Double? {
    guard let versions = document["versions"],
      let updates = versions[variable: "updates"]?.values.asDoubles,
      let means = versions[variable: "meanStaleness"]?.values.asDoubles
    else { return nil }
    var sum = 0.0
    var count = 0.0
    for (updates, mean) in zip(updates, means) where updates > 0 && !mean.isNaN {
      sum += updates * mean
      count += updates
    }
    return count > 0 ? sum / count : nil
  }

  /// Its value by a measure; infinite where the target was not reached, nil where the result
  /// does not say.
  public func value(_ measure: Measure, target: Double?) -> Double? {
    guard let cost = measure.cost else { return values[measure] }
    guard let reach = reach(cost, target) else { return nil }
    return reach.by ?? .infinity
  }

  /// What a cost to the target was more than, where it was reached: that of the evaluation before.
  public func lowerEnd(_ measure: Measure, target: Double?) -> Double? {
    guard let cost = measure.cost, let reach = reach(cost, target) else { return nil }
    return reach.by == nil ? .infinity : reach.after
  }

  private func reach(_ cost: VersionCurve.Cost, _ target: Double?) -> TargetTime.Reach? {
    guard let target, let curve else { return nil }
    return TargetTime(target, of: curve)[cost]
  }
}
