import Learning
import Schema

/// What an update counts before anything else is looked at.
public enum UpdateWeights: String, CaseIterable, Sendable {
  /// Every update the same.
  case uniform
  /// By the sizes of shares; where no update has any, every one the same.
  case samples

  /// One weight an update; they add up to 1 but for rounding.
  public func of(_ updates: [UpdateFacts]) -> [Double] {
    let total = updates.reduce(0) { $0 + $1.samples }
    guard self == .samples, total > 0 else {
      let weight = 1 / Double(updates.count)
      return updates.map { _ in weight }
    }
    return updates.map { Double($0.samples) / Double(total) }
  }
}

/// The mean weighted by the sizes of shares: FedAvg.
///
/// Source: McMahan et al., "Communication-efficient learning of deep networks from decentralized
/// data" (2017), algorithm 1.
public struct SampleWeightedMean: Aggregator {
  public static let name = "sample-weighted-mean"
  public static let summary = "FedAvg: the mean weighted by the size of each update's share"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  public var countsStaleness: Bool { true }

  /// One weight an update, from its samples alone; equal ones where no update has any.
  public func weights(of updates: [UpdateFacts]) -> [Double]? { UpdateWeights.samples.of(updates) }

  /// The combination, of the same kind as the payload.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    batch.weightedSum(weights(of: batch.facts)!)
  }
}

/// The plain mean, every update counting the same.
public struct UniformMean: Aggregator {
  public static let name = "uniform-mean"
  /// What it does, in one sentence.
  public static let summary = "The plain mean: every update has the same weight"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  public var countsStaleness: Bool { true }
  /// It is.
  public var isPlainMean: Bool { true }

  /// Equal weights.
  public func weights(of updates: [UpdateFacts]) -> [Double]? { UpdateWeights.uniform.of(updates) }

  /// The combination, of the same kind as the payload.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    batch.weightedSum(weights(of: batch.facts)!)
  }
}
