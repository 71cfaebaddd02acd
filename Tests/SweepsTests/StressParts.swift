import FedSim
import Learning
import Schema

// Twins of parts that come with the simulator, each with one thing wrong, under the right name.

/// Throws away a backlog: if after version 2 an update arrives when more than twice the threshold
/// wait. That many wait only while the server is offline. Three things must come together.
struct ForgetfulThreshold: AggregationTrigger {
  static let name = "threshold"
  static let summary = "Wrong: forgets what waited for long"
  let right: ThresholdTrigger
  let updates: Int
  init(_ settings: ThresholdTrigger.Settings) {
    right = ThresholdTrigger(settings)
    updates = settings.updates
  }
  func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    if moment == .arrival, server.version >= 2, server.pending > 2 * updates {
      return .skip
    }
    return right.decide(moment, server, &memory)
  }
}

/// Weights that fall with staleness down to nothing, so that a batch of stale updates alone has
/// no sum.
struct VanishingMean: Aggregator {
  static let name = "sample-weighted-mean"
  static let summary = "Wrong: divides by the sum of weights that may all be 0"
  init(_ settings: NoSettings) {}
  func weights(of updates: [UpdateFacts]) -> [Double]? {
    let shares = updates.map { Double($0.samples * max(0, 2 - $0.staleness)) }
    return shares.map { $0 / shares.reduce(0, +) }
  }
  func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
    batch.weightedSum(weights(of: batch.facts)!)
  }
}

/// Steps that grow shorter from one to the next, in all runs of a process together.
struct UnsteadySGD: ServerOptimizer {
  static let name = "sgd"
  static let summary = "Wrong: remembers what came before outside of its memory"
  nonisolated(unsafe) static var steps = 0
  init(_ settings: ServerSGD.Settings) {}
  func step(
    from current: ParameterBuffer, by combined: CombinedUpdate, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    Self.steps += 1
    let rate = 1 / Float(Self.steps)
    return ParameterBuffer(count: current.count) { target in
      let (now, new) = (current.values, combined.parameters.values)
      for i in 0..<target.count { target[i] = now[i] + rate * new[i] }
    }
  }
}
