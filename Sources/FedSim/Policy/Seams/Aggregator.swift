import Learning
import Schema

/// What is known of an update before it is computed.
public struct UpdateFacts: Sendable {
  /// Distinct samples it was trained on.
  public let samples: Int
  /// Versions published since its base.
  public let staleness: Int
  /// What its training's steps add up to if each gradient is 1, in learning rates (‖aᵢ‖₁): the
  /// number of batches for plain SGD; 1 where no aggregator asks for it.
  public let stepSum: Double
  /// What it counts in the length of the next step: the same, or the number of batches where
  /// training is pulled towards its beginning.
  public let effectiveSteps: Double

  /// An update with these facts.
  public init(
    samples: Int, staleness: Int, stepSum: Double = 1, effectiveSteps: Double? = nil
  ) {
    self.samples = samples
    self.staleness = staleness
    self.stepSum = stepSum
    self.effectiveSteps = effectiveSteps ?? stepSum
  }
}

/// What an aggregator asks of updates besides their parameters and samples.
public struct AggregatorNeeds: OptionSet, Sendable {
  /// The needs as bits.
  public let rawValue: UInt8
  /// Needs by their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// What each training started from, whatever the payload.
  public static let bases = AggregatorNeeds(rawValue: 1)
  /// The loss of what each training started from on the device's samples, and that itself.
  public static let baseLosses: AggregatorNeeds = [AggregatorNeeds(rawValue: 2), .bases]
  /// That they carry differences.
  public static let differences = AggregatorNeeds(rawValue: 4)
  /// What the steps of each training add up to.
  public static let stepSums = AggregatorNeeds(rawValue: 8)
}

/// Makes one out of many updates.
public protocol Aggregator: PolicyPart {
  /// What it asks of updates besides their parameters and samples.
  var needs: AggregatorNeeds { get }
  /// The weight of each update, if `combine` gives `weightedSum` of weights that depend on this
  /// alone: the sum is then formed while the updates are computed, with the same bits. Nil: not
  /// known before, as for every aggregator that remembers.
  func weights(of updates: [UpdateFacts]) -> [Double]?
  /// Whether `combine` is made of `weightedSum`, so that old updates may count less.
  var countsStaleness: Bool { get }
  /// Whether it is the plain mean: every update counts the same, whatever it is.
  var isPlainMean: Bool { get }
  /// The combination, of the same kind as the payload.
  func combine(_ batch: AggregationBatch, _ memory: inout Memory) -> ParameterBuffer
  /// What each group of the fleet counts in the next version, by what it remembers; nil: groups
  /// have no separate weights, in no version. Results hold them by version.
  func groupWeights(of groups: Int, _ memory: Memory) -> [Double]?
}

extension Aggregator {
  public var needs: AggregatorNeeds { [] }
  /// Not known before the updates are computed.
  public func weights(of updates: [UpdateFacts]) -> [Double]? { nil }
  /// Old updates count as much as others.
  public var countsStaleness: Bool { false }
  /// It is not.
  public var isPlainMean: Bool { false }
  /// They have none.
  public func groupWeights(of groups: Int, _ memory: Memory) -> [Double]? { nil }

  /// The combination, for somebody who does not know the type of its memory.
  public func combine(
    _ batch: AggregationBatch, with memory: inout AnyMemory
  ) -> ParameterBuffer {
    memory.change(Memory.self) { combine(batch, &$0) }
  }

  /// What each group counts, for somebody who does not know the type of its memory.
  public func groupWeights(of groups: Int, with memory: AnyMemory) -> [Double]? {
    groupWeights(of: groups, memory.value(Memory.self))
  }
}

extension Seam where Value == any Aggregator {
  /// How many updates become one.
  public static var aggregator: Seam { Seam("aggregator", "How are updates combined?") }
}

extension Aggregator {
  /// How its updates are combined where several ranks play a run.
  public static var note: String? {
    let isSum = Self(Settings()).weights(of: [UpdateFacts(samples: 1, staleness: 0)]) != nil
    return isSum
      ? "over ranks: each adds a slice of the parameters, and holds its own updates"
      : "over ranks: each gathers all updates of a version, 4 bytes a parameter and update"
  }
}
