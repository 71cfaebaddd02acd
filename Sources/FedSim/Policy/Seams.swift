import Learning
import Numerics
import Schema

/// What a policy may see of the server: plain values, nothing to change.
public struct ServerView: Sendable {
  /// The virtual time.
  public let now: SimTime
  /// The current version.
  public let version: Int
  /// The open round, from 1.
  public let round: Int
  /// Updates that wait for aggregation.
  public let pending: Int
  /// The goal of the round's cohort, or nil before one is formed.
  public let cohortGoal: Int?
  /// Members of the round's cohort.
  public let cohortSize: Int
  /// Members of it whose streams broke before their result was there.
  public let failures: Int
  /// The open cycle, where there are cycles.
  public let cycle: CycleView?

  /// A view of a server in this state.
  public init(
    now: SimTime, version: Int, round: Int, pending: Int, cohortGoal: Int?, cohortSize: Int,
    failures: Int = 0, cycle: CycleView? = nil
  ) {
    self.failures = failures
    self.cycle = cycle
    self.now = now
    self.version = version
    self.round = round
    self.pending = pending
    self.cohortGoal = cohortGoal
    self.cohortSize = cohortSize
  }
}

/// What happened, when a trigger is asked.
public enum TriggerMoment: Sendable, Equatable {
  /// An update was admitted.
  case arrival
  /// The trigger's own timer rang.
  case timer
  /// The server found its connection again.
  case connectionReturned
  /// The stream of a cohort's member broke.
  case failure
}

/// What a trigger wants.
public enum TriggerDecision: Sendable, Equatable {
  /// Nothing yet.
  case wait
  /// An aggregation now.
  case aggregate
  /// An end to the round without a version.
  case skip
}

/// When a trigger's timer rings.
public enum TriggerTimer: Sendable, Equatable {
  /// At every whole multiple of a period since the start of the run.
  case every(SimDuration)
  /// Once, this long after the round's cohort was formed.
  case afterCohort(SimDuration)
  /// At the end of each cycle, where cycles have a timer.
  case cycleEnd
}

/// Decides when it is time to aggregate.
public protocol AggregationTrigger: Part {
  /// Its timer, if it has one.
  var timer: TriggerTimer? { get }
  /// Whether it makes sense only where cohorts are formed.
  var needsCohort: Bool { get }
  /// Whether it makes sense only where there are cycles.
  var needsCycles: Bool { get }
  /// What it wants now.
  func decide(_ moment: TriggerMoment, _ server: ServerView) -> TriggerDecision
  /// The same, of a trigger that remembers.
  func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout PartMemory
  ) -> TriggerDecision
}

extension AggregationTrigger {
  /// No timer.
  public var timer: TriggerTimer? { nil }
  /// Any selector will do.
  public var needsCohort: Bool { false }
  /// Any selector will do.
  public var needsCycles: Bool { false }
}

/// A device that asks for work.
public struct CheckIn: Sendable, Codable {
  /// The device's number in the fleet.
  public let device: Int
  /// The version that it holds; −1: none.
  public let heldVersion: Int

  /// A device that holds a version.
  public init(device: Int, heldVersion: Int) {
    self.device = device
    self.heldVersion = heldVersion
  }
}

/// What a device that asks for work is told.
public enum Admission: Sendable, Equatable {
  /// Train now.
  case accept
  /// Stay connected until a cohort is formed.
  case wait
  /// Not now.
  case reject
}

/// Decides who may train.
public protocol ClientSelector: Part {
  /// Whether devices wait until a cohort is formed, so that updates belong to one round.
  var formsCohorts: Bool { get }
  /// How long a round waits for its cohort before it is skipped; nil: for ever.
  var waitLimit: SimDuration? { get }
  /// What a device that asks for work is told.
  func admit(_ checkIn: CheckIn, _ server: ServerView) -> Admission
  /// The same, of a selector that remembers.
  func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout PartMemory
  ) -> Admission
  /// A cohort out of the waiting devices, or nil while there are too few.
  ///
  /// `waiting` is in device order. Draws: from the stream, keyed by the round. Order: of the result
  /// does not matter.
  func cohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream
  ) -> Cohort?
  /// The same, of a selector that remembers.
  func cohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout PartMemory
  ) -> Cohort?
}

/// The devices chosen for a round.
public struct Cohort: Sendable {
  /// Places in the list of waiting devices.
  public let members: [Int]
  /// How many of their updates the round wants.
  public let goal: Int

  /// A cohort.
  public init(members: [Int], goal: Int) {
    self.members = members
    self.goal = goal
  }
}

extension ClientSelector {
  /// No cohorts.
  public var formsCohorts: Bool { false }
  /// It waits for ever.
  public var waitLimit: SimDuration? { nil }
  /// No cohorts.
  public func cohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream
  ) -> Cohort? { nil }
}

/// One update at its aggregation.
public struct AggregatedUpdate: Sendable {
  /// The device's number in the fleet.
  public let device: Int
  /// Distinct samples it was trained on.
  public let samples: Int
  /// Versions published since its base.
  public let staleness: Int
  /// The trained parameters.
  public let parameters: ParameterBuffer
  /// What its training started from.
  public let base: ParameterBuffer

  /// An update of a device.
  public init(
    device: Int, samples: Int, staleness: Int, parameters: ParameterBuffer, base: ParameterBuffer
  ) {
    self.device = device
    self.samples = samples
    self.staleness = staleness
    self.parameters = parameters
    self.base = base
  }
}

/// The updates of one aggregation, in device order, with the sums that most aggregators need.
public struct AggregationBatch: Sendable {
  /// The updates, in device order; at least one.
  public let updates: [AggregatedUpdate]
  /// What updates carry.
  public let payload: Payload
  /// The current model.
  public let current: ParameterBuffer
  let kernels: Kernels
  let pool: WorkerPool

  /// A batch of updates, at least one, in device order.
  ///
  /// Shapes: all buffers have the size of `current`.
  public init(
    updates: [AggregatedUpdate], payload: Payload, current: ParameterBuffer,
    kernels: Kernels = .best, pool: WorkerPool
  ) {
    precondition(!updates.isEmpty, "an aggregation has an update")
    precondition(
      zip(updates, updates.dropFirst()).allSatisfy { $0.device <= $1.device },
      "updates are in device order")
    precondition(
      updates.allSatisfy {
        $0.parameters.count == current.count && $0.base.count == current.count
      }, "buffers have one size")
    self.updates = updates
    self.payload = payload
    self.current = current
    self.kernels = kernels
    self.pool = pool
  }

  /// What is known of the updates beside their parameters, in their order.
  public var facts: [UpdateFacts] {
    updates.map { UpdateFacts(samples: $0.samples, staleness: $0.staleness) }
  }

  /// Σ pᵢ·xᵢ, where xᵢ is what the payload carries.
  ///
  /// Order: of the updates, in `Double`, rounded to float once.
  public func weightedSum(_ weights: [Double]) -> ParameterBuffer {
    precondition(weights.count == updates.count, "one weight an update")
    switch payload {
    case .weights:
      let terms = zip(updates, weights).map { Aggregation.Term($0.parameters, weight: $1) }
      return Aggregation.weights(terms, kernels: kernels, pool: pool)
    case .delta:
      let terms = zip(updates, weights).map {
        Aggregation.Difference($0.parameters, base: $0.base, weight: $1)
      }
      let zero = ParameterBuffer(count: current.count) { _ in }
      return Aggregation.deltas(terms, now: zero, rate: 1, kernels: kernels, pool: pool)
    }
  }
}

/// What is known of an update before it is computed.
public struct UpdateFacts: Sendable {
  /// Distinct samples it was trained on.
  public let samples: Int
  /// Versions published since its base.
  public let staleness: Int

  /// An update with these facts.
  public init(samples: Int, staleness: Int) {
    self.samples = samples
    self.staleness = staleness
  }
}

/// Makes one out of many updates.
public protocol Aggregator: Part {
  /// The weight of each update, if `combine` gives `weightedSum` of weights that depend on this
  /// alone: the sum is then formed while the updates are computed, with the same bits.
  func weights(of updates: [UpdateFacts]) -> [Double]?
  /// The combination, of the same kind as the payload.
  func combine(_ batch: AggregationBatch) -> ParameterBuffer
  /// The same, of an aggregator that remembers; it knows no weights beforehand.
  func combine(_ batch: AggregationBatch, _ memory: inout PartMemory) -> ParameterBuffer
}

extension Aggregator {
  /// Not known before the updates are computed.
  public func weights(of updates: [UpdateFacts]) -> [Double]? { nil }
}

/// Moves the model by the combined update.
public protocol ServerOptimizer: Part {
  /// The next model.
  func step(
    from current: ParameterBuffer, by combined: ParameterBuffer, payload: Payload
  ) -> ParameterBuffer
  /// The same, of an optimizer that remembers.
  func step(
    from current: ParameterBuffer, by combined: ParameterBuffer, payload: Payload,
    _ memory: inout PartMemory
  ) -> ParameterBuffer
}

extension Seam where Value == any AggregationTrigger {
  /// When it is time to aggregate.
  public static var aggregationTrigger: Seam {
    Seam("aggregation trigger", "When is it time to aggregate?")
  }
}

extension Seam where Value == any ClientSelector {
  /// Who may train.
  public static var clientSelector: Seam { Seam("client selector", "Who may train now?") }
}

extension Seam where Value == any Aggregator {
  /// How many updates become one.
  public static var aggregator: Seam { Seam("aggregator", "How do many updates become one?") }
}

extension Seam where Value == any ServerOptimizer {
  /// How that one moves the model.
  public static var serverOptimizer: Seam {
    Seam("server optimizer", "How does the combined update move the model?")
  }
}
