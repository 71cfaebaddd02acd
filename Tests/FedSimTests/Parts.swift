import FedSim
import Learning
import Numerics
import Schema

/// A part, with settings that are changed.
func make<P: Part>(_ type: P.Type, _ change: (inout P.Settings) -> Void = { _ in }) -> P {
  var settings = P.Settings()
  change(&settings)
  return P(settings)
}

/// A transform that is chosen, with settings that are changed.
func choice<P: UpdateTransform>(
  _ type: P.Type, _ change: (inout P.Settings) -> Void = { _ in }
) -> Choice<any UpdateTransform> {
  var settings = P.Settings()
  change(&settings)
  return Choice(type, settings) { $0 }
}

// Calls of a part as they are the first of a run.

extension AggregationTrigger {
  func decide(_ moment: TriggerMoment, _ server: ServerView) -> TriggerDecision {
    var memory = makeMemory()
    return decide(moment, server, &memory)
  }
}

extension Aggregator {
  func combine(_ batch: AggregationBatch) -> ParameterBuffer {
    var memory = makeMemory()
    return combine(batch, &memory)
  }
}

extension ServerOptimizer {
  func step(from current: ParameterBuffer, by combined: CombinedUpdate) -> ParameterBuffer {
    var memory = makeMemory()
    return step(from: current, by: combined, &memory)
  }
}

extension AdmittingSelector {
  func admit(_ checkIn: CheckIn, _ server: ServerView) -> Admission {
    var memory = makeMemory()
    return admit(checkIn, server, &memory)
  }
}

extension CohortSelector {
  func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream
  ) -> Cohort? {
    var memory = makeMemory()
    return chooseCohort(from: waiting, server, &stream, &memory)
  }
}
