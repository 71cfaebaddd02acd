import FedSim
import Learning
import Numerics
import Schema

// Twins of parts that come with the simulator, each with one thing wrong. They bear the right
// part's name, so that a registry with one of them plays the same scenarios.

/// Forgets the samples.
struct ForgetfulMean: Aggregator {
  static let name = "sample-weighted-mean"
  static let summary = "Wrong: every update counts the same"
  init(_ settings: NoSettings) {}
  func weights(of updates: [UpdateFacts]) -> [Double]? {
    updates.map { _ in 1 / Double(updates.count) }
  }
  func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
    batch.weightedSum(weights(of: batch.facts)!)
  }
}

/// Counts the first update twice.
struct DoublingMean: Aggregator {
  static let name = "sample-weighted-mean"
  static let summary = "Wrong: the first update counts twice"
  init(_ settings: NoSettings) {}
  func weights(of updates: [UpdateFacts]) -> [Double]? {
    let samples = updates.enumerated().map { Double($1.samples * ($0 == 0 ? 2 : 1)) }
    return samples.map { $0 / samples.reduce(0, +) }
  }
  func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
    batch.weightedSum(weights(of: batch.facts)!)
  }
}

/// A policy of somebody's own: what is fresh counts more.
struct FreshMean: Aggregator {
  static let name = "fresh-mean"
  static let summary = "The mean by samples over staleness plus one"
  init(_ settings: NoSettings) {}
  func weights(of updates: [UpdateFacts]) -> [Double]? {
    let shares = updates.map { Double($0.samples) / Double(1 + $0.staleness) }
    return shares.map { $0 / shares.reduce(0, +) }
  }
  func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
    batch.weightedSum(weights(of: batch.facts)!)
  }
}

/// Counts staleness from the version that comes, and not from the one that is there.
struct StaleMean: Aggregator {
  static let name = "fresh-mean"
  static let summary = "Wrong: counts staleness from the next version"
  init(_ settings: NoSettings) {}
  func weights(of updates: [UpdateFacts]) -> [Double]? {
    let shares = updates.map { Double($0.samples) / Double(2 + $0.staleness) }
    return shares.map { $0 / shares.reduce(0, +) }
  }
  func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
    batch.weightedSum(weights(of: batch.facts)!)
  }
}

/// Waits for one update too many.
struct LateThreshold: AggregationTrigger {
  static let name = "threshold"
  static let summary = "Wrong: more than the threshold must wait"
  let settings: ThresholdTrigger.Settings
  init(_ settings: ThresholdTrigger.Settings) { self.settings = settings }
  func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    moment != .timer && server.pending > settings.updates ? .aggregate : .wait
  }
}

/// Lets what comes at the same time come first.
struct PoliteDeadline: AggregationTrigger {
  static let name = "deadline"
  static let summary = "Wrong: rings a microsecond later, so that arrivals win"
  let settings: DeadlineTrigger.Settings
  init(_ settings: DeadlineTrigger.Settings) { self.settings = settings }
  var timer: TriggerTimer? { .afterCohort(settings.after + SimDuration(microseconds: 1)) }
  var needs: TriggerNeeds { .cohorts }
  func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    guard moment == .timer else { return .wait }
    return server.pending >= settings.minimum ? .aggregate : .skip
  }
}

/// Is content with one update fewer.
struct HastyCohort: AggregationTrigger {
  static let name = "cohort-complete"
  static let summary = "Wrong: closes the round one update too early"
  init(_ settings: NoSettings) {}
  var needs: TriggerNeeds { .cohorts }
  func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    guard moment != .timer, let goal = server.cohortGoal else { return .wait }
    return server.pending >= max(1, goal - 1) ? .aggregate : .wait
  }
}

/// Takes the last of those who wait, and not a sample of them.
struct LastSelector: CohortSelector {
  static let name = "uniform"
  static let summary = "Wrong: takes who waits last in the list"
  let right: UniformSelector
  init(_ settings: UniformSelector.Settings) { right = UniformSelector(settings) }
  func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout NoMemory
  ) -> Cohort? {
    guard let cohort = right.chooseCohort(from: waiting, server, &stream, &memory) else {
      return nil
    }
    return Cohort(
      members: Array(waiting.indices.suffix(cohort.members.count)), goal: cohort.goal)
  }
}

/// Goes half as far.
struct TimidSGD: ServerOptimizer {
  static let name = "sgd"
  static let summary = "Wrong: half a step"
  init(_ settings: ServerSGD.Settings) {}
  func step(
    from current: ParameterBuffer, by combined: CombinedUpdate, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    ParameterBuffer(count: current.count) { target in
      let (now, new) = (current.values, combined.parameters.values)
      for i in 0..<target.count { target[i] = now[i] + 0.5 * new[i] }
    }
  }
}
