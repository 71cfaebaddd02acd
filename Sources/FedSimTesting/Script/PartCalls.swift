import FedSim
import Learning

// Calls of a part alone, as they are the first of a run: for tests.

extension AggregationTrigger {
  /// What it wants of a server that it sees for the first time.
  public func decide(_ moment: TriggerMoment, _ server: ServerView) -> TriggerDecision {
    var memory = makeMemory()
    return decide(moment, server, &memory)
  }
}

extension Aggregator {
  /// The combination of the first updates.
  public func combine(_ batch: AggregationBatch) -> ParameterBuffer {
    var memory = makeMemory()
    return combine(batch, &memory)
  }
}

extension ServerOptimizer {
  /// The first step.
  public func step(
    from current: ParameterBuffer, by combined: CombinedUpdate
  ) -> ParameterBuffer {
    var memory = makeMemory()
    return step(from: current, by: combined, &memory)
  }
}
