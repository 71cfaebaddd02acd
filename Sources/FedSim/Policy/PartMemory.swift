import Learning
import Numerics

/// What a part of the server remembers from one call to the next: plain values, which are saved
/// with the run.
///
/// A part itself is a value made from settings and never changes; runs share it. One that depends
/// on what came before keeps that here, in an order of its own: it implements the form of its
/// method that takes a memory, for which the other form is the default. Every part begins with an
/// empty memory; no part sees another's.
public struct PartMemory: Sendable, Codable {
  /// Whole numbers: counts, devices, times.
  public var integers: [Int64] = []
  /// Numbers: averages, scores.
  public var numbers: [Double] = []
  /// Parameters: moments, models of before.
  public var buffers: [ParameterBuffer] = []
  /// The memories of parts that it is made of.
  public var parts: [PartMemory] = []

  /// An empty memory.
  public init() {}
}

/// The memories of the server's parts.
struct PartMemories: Codable {
  /// One a trigger, in their order.
  var triggers: [PartMemory]
  var selector = PartMemory()
  /// One a transform, in their order: what the server tells them, by version.
  var transforms: [PartMemory] = []
  var aggregator = PartMemory()
  var optimizer = PartMemory()

  init(triggers: Int) { self.triggers = Array(repeating: PartMemory(), count: triggers) }
}

extension AggregationTrigger {
  /// As it decides without a memory.
  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout PartMemory
  ) -> TriggerDecision { decide(moment, server) }
}

extension ClientSelector {
  /// As it answers without a memory.
  public func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout PartMemory
  ) -> Admission { admit(checkIn, server) }

  /// As it chooses without a memory.
  public func cohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout PartMemory
  ) -> Cohort? { cohort(from: waiting, server, &stream) }
}

extension Aggregator {
  /// As it combines without a memory.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout PartMemory
  ) -> ParameterBuffer { combine(batch) }
}

/// An optimizer that remembers: its step is the form with a memory, which it has to have.
public protocol RememberingOptimizer: ServerOptimizer {}

extension RememberingOptimizer {
  /// The first step, which remembers nothing.
  public func step(
    from current: ParameterBuffer, by combined: ParameterBuffer, payload: Payload
  ) -> ParameterBuffer {
    var memory = PartMemory()
    return step(from: current, by: combined, payload: payload, &memory)
  }
}

extension ServerOptimizer {
  /// As it steps without a memory.
  public func step(
    from current: ParameterBuffer, by combined: ParameterBuffer, payload: Payload,
    _ memory: inout PartMemory
  ) -> ParameterBuffer { step(from: current, by: combined, payload: payload) }

  /// As it steps whatever was combined.
  public func step(
    from current: ParameterBuffer, by combined: ParameterBuffer, payload: Payload,
    of facts: CombinedFacts, _ memory: inout PartMemory
  ) -> ParameterBuffer { step(from: current, by: combined, payload: payload, &memory) }
}
