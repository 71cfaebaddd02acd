import Numerics
import Schema

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

/// What a selector hears of a device that it let in.
public enum DeviceNews: Sendable, Equatable {
  /// An update of the device reached the server.
  case delivered
  /// The device's stream broke before its update was there.
  case lost
}

/// What a selector hears, and what the server keeps for it.
public struct SelectorNeeds: OptionSet, Sendable {
  /// The needs as bits.
  public let rawValue: UInt8
  /// Needs by their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// The outcome of devices that it let in.
  public static let news = SelectorNeeds(rawValue: 1)
  /// What the server knows of devices; only then is that kept.
  public static let facts = SelectorNeeds(rawValue: 2)
  /// Losses among it: then nothing can be played without learning.
  public static let losses = SelectorNeeds(rawValue: 4)
  /// The squares of losses, too; only then do trainings keep them.
  public static let lossSquares: SelectorNeeds = [SelectorNeeds(rawValue: 8), .losses]
  /// What the server believes of devices by their heartbeats; only then is it asked.
  public static let beliefs: SelectorNeeds = [SelectorNeeds(rawValue: 32), .facts]
  /// How full batteries were by the last heartbeats, too.
  public static let batteries: SelectorNeeds = [SelectorNeeds(rawValue: 64), .beliefs]
  /// What the current model loses on candidates' samples, before it chooses among them.
  public static let currentLosses: SelectorNeeds = [SelectorNeeds(rawValue: 16), .losses]
}

/// Decides who may train.
///
/// A selector is an `AdmittingSelector` or a `CohortSelector`, perhaps a `CandidateSelector`,
/// or a `CycleAdmission`.
public protocol ClientSelector: PolicyPart {
  /// What it receives, and what the server keeps for it.
  var needs: SelectorNeeds { get }
  /// Hears the outcome of a device, where it needs news; the server is as it was just before.
  func hear(_ news: DeviceNews, from device: Int, _ server: ServerView, _ memory: inout Memory)
  /// The selector as the one of these that it is.
  var erased: AnySelector { get }
}

extension ClientSelector {
  public var needs: SelectorNeeds { [] }
  /// It does not listen.
  public func hear(
    _ news: DeviceNews, from device: Int, _ server: ServerView, _ memory: inout Memory
  ) {}
}

// MARK: Each device that asks

/// The answer to a device that asks for work and is answered at once.
public enum Admission: Sendable, Equatable {
  /// Train now.
  case accept
  /// Not now.
  case reject
}

/// Lets in each device that asks, at once, or not.
public protocol AdmittingSelector: ClientSelector {
  /// Decides whether a device that asks for work gets some.
  func admit(_ checkIn: CheckIn, _ server: ServerView, _ memory: inout Memory) -> Admission
  /// Whether it says until when it turns everybody away (`closedUntil`): then requests of devices
  /// that ask again and again are booked without being played one by one.
  var saysWhenClosed: Bool { get }
  /// Until when it rejects each device that asks and that it has rejected before, if it hears no
  /// news meanwhile, and remembers nothing new by it; nil: it may accept one now.
  func closedUntil(_ now: SimTime, _ memory: Memory) -> SimTime?
}

extension AdmittingSelector {
  /// It does not say that.
  public var saysWhenClosed: Bool { false }
  /// It may accept any device at any time.
  public func closedUntil(_ now: SimTime, _ memory: Memory) -> SimTime? { nil }
  /// It lets in each device that asks.
  public var erased: AnySelector { AnySelector(.admitting(self)) }
}

// MARK: Cohorts

/// The answer to a device that asks for work where cohorts are formed.
public enum Reception: Sendable, Equatable {
  /// Stay connected until a cohort is formed.
  case wait
  /// Not now.
  case reject
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

/// What is known of a selector's cohorts beforehand.
public struct CohortRules: Sendable, Equatable {
  /// How many devices must wait before a cohort is formed, where a number says it.
  public var neededWaiting: Int?
  /// How many devices a fleet must have for rounds to follow one another, where a number says it.
  public var neededDevices: Int?
  /// How long a round waits for its cohort before it is skipped; nil: for ever.
  public var waitLimit: SimDuration?
  /// Whether updates of members of earlier rounds are taken in when they come.
  public var acceptsLate: Bool
  /// How many members are drawn, each of those who wait with the same chance and without
  /// replacement, where privacy may count on that; nil: otherwise.
  public var uniformMembers: Int?

  /// Rules. Without this setting a fleet needs the devices of one cohort.
  public init(
    neededWaiting: Int? = nil, neededDevices: Int? = nil, waitLimit: SimDuration? = nil,
    acceptsLate: Bool = false, uniformMembers: Int? = nil
  ) {
    self.neededWaiting = neededWaiting
    self.neededDevices = neededDevices ?? neededWaiting
    self.waitLimit = waitLimit
    self.acceptsLate = acceptsLate
    self.uniformMembers = uniformMembers
  }
}

/// Cohorts that are given before a run.
public struct GivenCohorts: Sendable {
  /// The file that they are read from; nil: they are here.
  public let file: FileName?
  /// Each round's devices, from round 1 on.
  public let cohorts: [[Int]]
  /// The selector with the cohorts of its file.
  public let selector: @Sendable (_ cohorts: [[Int]]) -> AnySelector

  /// Cohorts, or the file that has them.
  public init(
    file: FileName?, cohorts: [[Int]],
    selector: @escaping @Sendable (_ cohorts: [[Int]]) -> AnySelector
  ) {
    self.file = file
    self.cohorts = cohorts
    self.selector = selector
  }
}

/// Lets devices wait, and forms cohorts of them: updates belong to one round.
public protocol CohortSelector: ClientSelector {
  /// What is known of its cohorts beforehand.
  var rules: CohortRules { get }
  /// Cohorts that are given; nil: it chooses itself.
  var given: GivenCohorts? { get }
  /// Devices that a round's cohort will have, as far as that is known before it is formed: threads
  /// that are idle may begin with their trainings. No result depends on it.
  func likelyMembers(ofRound round: Int) -> [Int]
  /// Receives a device that asks for work: it waits, unless it is turned away.
  func receive(_ checkIn: CheckIn, _ server: ServerView, _ memory: inout Memory) -> Reception
  /// Chooses a cohort out of the waiting devices; nil while there are too few.
  ///
  /// `waiting` is in device order. Draws: from the stream, keyed by the round. Order: of the result
  /// does not matter.
  func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout Memory
  ) -> Cohort?
}

extension CohortSelector {
  public var rules: CohortRules { CohortRules() }
  /// It chooses itself.
  public var given: GivenCohorts? { nil }
  /// Nothing is known.
  public func likelyMembers(ofRound round: Int) -> [Int] { [] }
  /// Each device that asks waits.
  public func receive(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout Memory
  ) -> Reception { .wait }
  /// It forms cohorts.
  public var erased: AnySelector { AnySelector(.cohorts(self)) }
}

/// Forms cohorts of those that lose most among some candidates: by what they last reported, or, if
/// it needs `currentLosses`, by the model of now.
public protocol CandidateSelector: CohortSelector {
  /// Chooses the places of waiting devices that are candidates; nil while too few wait.
  ///
  /// `waiting` is in device order. Draws: from the stream, keyed by the round.
  func chooseCandidates(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout Memory
  ) -> [Int]?
  /// Chooses a cohort out of these places; `losses` has the mean loss on the samples of each: −∞
  /// for one without samples, ∞ for one that has reported none.
  func chooseCohort(
    of candidates: [Int], losses: [Double], _ server: ServerView, _ memory: inout Memory
  ) -> Cohort?
}

extension CandidateSelector {
  /// Chooses candidates, and the cohort by what these have reported.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout Memory
  ) -> Cohort? {
    guard let candidates = chooseCandidates(from: waiting, server, &stream, &memory) else {
      return nil
    }
    return chooseCohort(
      of: candidates,
      losses: candidates.map { server.facts(of: waiting[$0].device).loss ?? .infinity }, server,
      &memory)
  }
  /// It forms cohorts of candidates.
  public var erased: AnySelector { AnySelector(.candidates(self)) }
}
