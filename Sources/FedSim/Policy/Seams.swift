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
  /// Updates that wait for aggregation; where late ones are taken in, those of the open round.
  public let pending: Int
  /// The goal of the round's cohort, or nil before one is formed.
  public let cohortGoal: Int?
  /// Members of the round's cohort.
  public let cohortSize: Int
  /// Members of it whose streams broke before their result was there.
  public let failures: Int
  /// The open cycle, where there are cycles.
  public let cycle: CycleView?
  /// When the open round began.
  public let roundOpenedAt: SimTime
  /// What the server knows of devices, by number, as far as it has heard of any; empty unless the
  /// selector `needsFacts`.
  public let known: [DeviceFacts]

  /// A view of a server in this state.
  public init(
    now: SimTime, version: Int, round: Int, pending: Int, cohortGoal: Int?, cohortSize: Int,
    failures: Int = 0, cycle: CycleView? = nil, roundOpenedAt: SimTime = .start,
    known: [DeviceFacts] = []
  ) {
    self.roundOpenedAt = roundOpenedAt
    self.known = known
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
  /// How many updates of the round's cohort have to arrive, where it waits for nothing else; nil:
  /// a round does not depend on that.
  func neededMembers(_ server: ServerView) -> Int?
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
  /// A round does not depend on it.
  public func neededMembers(_ server: ServerView) -> Int? { nil }
}

/// A device that asks for work.
public struct CheckIn: Sendable, Codable {
  /// The device's number in the fleet.
  public let device: Int
  /// The version that it holds; −1: none.
  public let heldVersion: Int
  /// Whether an update of the device waits for aggregation.
  public let hasPending: Bool

  /// A device that holds a version.
  public init(device: Int, heldVersion: Int, hasPending: Bool = false) {
    self.device = device
    self.heldVersion = heldVersion
    self.hasPending = hasPending
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

/// What a selector hears of a device that it let in.
public enum DeviceNews: Sendable, Equatable {
  /// An update of the device reached the server.
  case delivered
  /// The device's stream broke before its update was there.
  case lost
}

/// Decides who may train.
public protocol ClientSelector: Part {
  /// Whether it is told what becomes of devices that it let in.
  var listens: Bool { get }
  /// What became of a device; the server is as it was just before.
  func hear(
    _ news: DeviceNews, from device: Int, _ server: ServerView, _ memory: inout PartMemory)
  /// Whether devices wait until a cohort is formed, so that updates belong to one round.
  var formsCohorts: Bool { get }
  /// How long a round waits for its cohort before it is skipped; nil: for ever.
  var waitLimit: SimDuration? { get }
  /// How many devices must wait before a cohort is formed, where a number says it.
  var neededWaiting: Int? { get }
  /// How many devices a fleet must have for this to go on, where a number says it.
  var neededDevices: Int? { get }
  /// Whether updates of members of earlier rounds are taken in when they come.
  var acceptsLate: Bool { get }
  /// Whether it looks at what the server knows of devices; only then is that kept.
  var needsFacts: Bool { get }
  /// Whether it looks at losses: then nothing can be played without learning.
  var needsLosses: Bool { get }
  /// Whether it looks at the squares of losses, too; only then do trainings keep them.
  var needsLossSquares: Bool { get }
  /// Whether it is told, before it chooses, what the current model loses on candidates' samples:
  /// `candidates` and `cohort(of:losses:_:)` are asked then in place of `cohort(from:_:_:_:)`.
  var needsCurrentLosses: Bool { get }
  /// Devices that a round's cohort will have, as far as that is known before it is formed: threads
  /// that are idle may begin with their trainings. No result depends on it.
  func likelyMembers(ofRound round: Int) -> [Int]
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
  /// Places of the waiting devices that are candidates, or nil while too few wait.
  ///
  /// `waiting` is in device order. Draws: from the stream, keyed by the round.
  func candidates(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout PartMemory
  ) -> [Int]?
  /// A cohort out of these places; `losses` has what the current model loses on the samples of
  /// each: their mean, −∞ for one without samples.
  func cohort(of candidates: [Int], losses: [Double], _ server: ServerView) -> Cohort?
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
  /// It need not know.
  public var listens: Bool { false }
  /// It does not listen.
  public func hear(
    _ news: DeviceNews, from device: Int, _ server: ServerView, _ memory: inout PartMemory
  ) {}
  /// No cohorts.
  public var formsCohorts: Bool { false }
  /// It waits for ever.
  public var waitLimit: SimDuration? { nil }
  /// No number says it.
  public var neededWaiting: Int? { nil }
  /// Those of one cohort.
  public var neededDevices: Int? { neededWaiting }
  /// A round that is over is over.
  public var acceptsLate: Bool { false }
  /// It does not.
  public var needsFacts: Bool { false }
  /// Where it looks at their squares, or at those of the current model.
  public var needsLosses: Bool { needsLossSquares || needsCurrentLosses }
  /// It does not.
  public var needsLossSquares: Bool { false }
  /// It is not.
  public var needsCurrentLosses: Bool { false }
  /// Nothing is known.
  public func likelyMembers(ofRound round: Int) -> [Int] { [] }
  /// No candidates.
  public func candidates(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout PartMemory
  ) -> [Int]? { nil }
  /// No cohorts.
  public func cohort(
    of candidates: [Int], losses: [Double], _ server: ServerView
  ) -> Cohort? { nil }
  /// No cohorts.
  public func cohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream
  ) -> Cohort? { nil }
}

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

/// Makes one out of many updates.
public protocol Aggregator: Part {
  /// The weight of each update, if `combine` gives `weightedSum` of weights that depend on this
  /// alone: the sum is then formed while the updates are computed, with the same bits.
  func weights(of updates: [UpdateFacts]) -> [Double]?
  /// Whether `combine` is made of `weightedSum`, so that old updates may count less.
  var countsStaleness: Bool { get }
  /// Whether it needs what each training started from, whatever the payload.
  var needsBases: Bool { get }
  /// Whether it needs the loss of what each training started from on the device's samples.
  var needsBaseLosses: Bool { get }
  /// Whether updates have to carry differences.
  var needsDifferences: Bool { get }
  /// Whether it needs what the steps of each training add up to.
  var needsStepSums: Bool { get }
  /// The combination, of the same kind as the payload.
  func combine(_ batch: AggregationBatch) -> ParameterBuffer
  /// The same, of an aggregator that remembers; it knows no weights beforehand.
  func combine(_ batch: AggregationBatch, _ memory: inout PartMemory) -> ParameterBuffer
  /// What each group of the fleet counts in the next version, by what it remembers; nil: groups
  /// have no weights of their own, in no version. Results hold them by version.
  func groupWeights(of groups: Int, _ memory: PartMemory) -> [Double]?
}

extension Aggregator {
  /// Not known before the updates are computed.
  public func weights(of updates: [UpdateFacts]) -> [Double]? { nil }
  /// Old updates count as much as others.
  public var countsStaleness: Bool { false }
  /// Only where the payload does.
  public var needsBases: Bool { false }
  /// No.
  public var needsBaseLosses: Bool { false }
  /// Either kind will do.
  public var needsDifferences: Bool { false }
  /// No.
  public var needsStepSums: Bool { false }
  /// They have none.
  public func groupWeights(of groups: Int, _ memory: PartMemory) -> [Double]? { nil }
}

/// What was combined, beside its parameters.
public struct CombinedFacts: Sendable {
  /// How many updates.
  public let updates: Int
  /// How many devices the fleet has.
  public let devices: Int

  /// So many updates of so large a fleet.
  public init(updates: Int, devices: Int) {
    precondition(updates > 0 && devices > 0, "an aggregation has an update, a fleet a device")
    (self.updates, self.devices) = (updates, devices)
  }
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
  /// The same, of an optimizer that looks at how much of the fleet was combined.
  func step(
    from current: ParameterBuffer, by combined: ParameterBuffer, payload: Payload,
    of facts: CombinedFacts, _ memory: inout PartMemory
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
