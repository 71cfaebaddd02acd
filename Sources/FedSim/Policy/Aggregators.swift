import Learning
import Schema

/// The mean weighted by distinct samples: FedAvg.
///
/// Source: McMahan et al., "Communication-efficient learning of deep networks from decentralized
/// data" (2017), algorithm 1.
public struct SampleWeightedMean: Aggregator {
  /// Its name in a scenario.
  public static let name = "sample-weighted-mean"
  /// What it does, in one sentence.
  public static let summary = "FedAvg: the mean weighted by each update's distinct samples"

  /// It has none.
  public typealias Settings = NoSettings
  /// Made from its settings.
  public init(_ settings: NoSettings) {}

  /// One weight an update, from its samples alone.
  public func weights(of updates: [UpdateFacts]) -> [Double]? {
    let total = updates.reduce(0) { $0 + $1.samples }
    return updates.map { Double($0.samples) / Double(total) }
  }

  /// The combination, of the same kind as the payload.
  public func combine(_ batch: AggregationBatch) -> ParameterBuffer {
    batch.weightedSum(weights(of: batch.facts)!)
  }
}

/// The plain mean, every update counting the same.
public struct UniformMean: Aggregator {
  /// Its name in a scenario.
  public static let name = "uniform-mean"
  /// What it does, in one sentence.
  public static let summary = "The plain mean: every update counts the same, whatever its samples"

  /// It has none.
  public typealias Settings = NoSettings
  /// Made from its settings.
  public init(_ settings: NoSettings) {}

  /// Equal weights.
  public func weights(of updates: [UpdateFacts]) -> [Double]? {
    let weight = 1 / Double(updates.count)
    return updates.map { _ in weight }
  }

  /// The combination, of the same kind as the payload.
  public func combine(_ batch: AggregationBatch) -> ParameterBuffer {
    batch.weightedSum(weights(of: batch.facts)!)
  }
}

/// Moves the model by a rate times the combined update; at rate 1 `weights` simply replace it.
public struct ServerSGD: ServerOptimizer {
  /// Its name in a scenario.
  public static let name = "sgd"
  /// What it does, in one sentence.
  public static let summary = "Moves the model by a rate times the combined update"

  /// What can be set.
  public struct Settings: PartSettings {
    /// The rate.
    public var learningRate = 1.0
    /// The defaults.
    public init() {}
    /// The field that a bare value stands for.
    public static var shorthand: String? { "learningRate" }
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      [Field("learningRate", \.learningRate, .positive, "The server's learning rate")]
    }
  }

  private let settings: Settings
  /// Made from its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// Order: element by element, in `Double`, rounded to float once.
  public func step(
    from current: ParameterBuffer, by combined: ParameterBuffer, payload: Payload
  ) -> ParameterBuffer {
    let rate = settings.learningRate
    if payload == .weights, rate == 1 { return combined }
    return ParameterBuffer(count: current.count) { target in
      current.withUnsafeBufferPointer { now in
        combined.withUnsafeBufferPointer { new in
          for i in 0..<target.count {
            let step = payload == .delta ? Double(new[i]) : Double(new[i]) - Double(now[i])
            target[i] = Float(Double(now[i]) + rate * step)
          }
        }
      }
    }
  }
}
