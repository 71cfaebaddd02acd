import Numerics
import Schema

/// A selector as what it is, and its memory as any: what the engine asks, and a part that is made
/// of another selector.
public struct AnySelector: Sendable {
  /// What a selector is.
  public enum Kind: Sendable {
    /// It lets in each device that asks.
    case admitting(any AdmittingSelector)
    /// It forms cohorts.
    case cohorts(any CohortSelector)
    /// It forms cohorts of candidates.
    case candidates(any CandidateSelector)
    /// It lets devices into cycles.
    case cycles(any CycleAdmission)
  }

  /// The selector itself, by what it decides.
  public let kind: Kind
  /// What it receives, and what the server keeps for it.
  public let needs: SelectorNeeds
  /// What is known of its cohorts beforehand; nil: it forms none.
  public let rules: CohortRules?

  /// A selector that is this.
  public init(_ kind: Kind) {
    self.kind = kind
    switch kind {
    case .admitting(let part): (needs, rules) = (part.needs, nil)
    case .cohorts(let part): (needs, rules) = (part.needs, part.rules)
    case .candidates(let part): (needs, rules) = (part.needs, part.rules)
    case .cycles(let part): (needs, rules) = (part.needs, nil)
    }
  }

  /// The part itself.
  public var part: any ClientSelector {
    switch kind {
    case .admitting(let part): part
    case .cohorts(let part): part
    case .candidates(let part): part
    case .cycles(let part): part
    }
  }

  /// Whether devices wait until a cohort is formed, so that updates belong to one round.
  public var formsCohorts: Bool { rules != nil }

  /// It, where it lets devices into cycles.
  public var cycles: (any CycleAdmission)? {
    if case .cycles(let part) = kind { part } else { nil }
  }

  /// It, where it forms cohorts.
  private var forming: (any CohortSelector)? {
    switch kind {
    case .cohorts(let part): part
    case .candidates(let part): part
    case .admitting, .cycles: nil
    }
  }

  /// Cohorts that are given before the run, where it has such.
  public var given: GivenCohorts? { forming?.given }

  /// How many devices must wait for a round's cohort, where a number says it.
  public func neededWaiting(ofRound round: Int) -> Int? {
    guard let cohorts = given?.cohorts else { return rules?.neededWaiting }
    return cohorts.indices.contains(round - 1) ? cohorts[round - 1].count : nil
  }

  /// Devices that a round's cohort will have, as far as that is known.
  public func likelyMembers(ofRound round: Int) -> [Int] {
    forming?.likelyMembers(ofRound: round) ?? []
  }
}

extension AnySelector {
  /// The answer to a device that asks for work, whatever the selector is.
  public enum Answer: Sendable, Equatable {
    /// Train now.
    case accept
    /// Stay connected until a cohort is formed.
    case wait
    /// Not now.
    case reject

    fileprivate init(_ admission: Admission) {
      switch admission {
      case .accept: self = .accept
      case .reject: self = .reject
      }
    }

    fileprivate init(_ reception: Reception) {
      switch reception {
      case .wait: self = .wait
      case .reject: self = .reject
      }
    }
  }

  /// Answers a device that asks for work. Into cycles devices are let otherwise.
  public func answer(
    _ checkIn: CheckIn, _ server: ServerView, with memory: inout AnyMemory
  ) -> Answer {
    switch kind {
    case .admitting(let part): Answer(part.admit(checkIn, server, with: &memory))
    case .cohorts(let part): Answer(part.receive(checkIn, server, with: &memory))
    case .candidates(let part): Answer(part.receive(checkIn, server, with: &memory))
    case .cycles: .accept
    }
  }

  /// Whether it says until when it turns everybody away.
  package var saysWhenClosed: Bool {
    if case .admitting(let part) = kind { part.saysWhenClosed } else { false }
  }

  /// Until when it turns everybody away; nil: it may accept a device now.
  package func closedUntil(_ now: SimTime, with memory: AnyMemory) -> SimTime? {
    if case .admitting(let part) = kind { part.closedUntil(now, with: memory) } else { nil }
  }

  /// Hears the outcome of a device that was let in.
  public func hear(
    _ news: DeviceNews, from device: Int, _ server: ServerView, with memory: inout AnyMemory
  ) {
    switch kind {
    case .admitting(let part): part.hear(news, from: device, server, with: &memory)
    case .cohorts(let part): part.hear(news, from: device, server, with: &memory)
    case .candidates(let part): part.hear(news, from: device, server, with: &memory)
    case .cycles(let part): part.hear(news, from: device, server, with: &memory)
    }
  }

  /// Chooses a cohort out of the waiting devices; nil while there are too few, or if it forms none.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    with memory: inout AnyMemory
  ) -> Cohort? {
    switch kind {
    case .cohorts(let part): part.chooseCohort(from: waiting, server, &stream, with: &memory)
    case .candidates(let part): part.chooseCohort(from: waiting, server, &stream, with: &memory)
    case .admitting, .cycles: nil
    }
  }

  /// Chooses the places of candidates; nil while too few wait, or if it chooses none.
  public func chooseCandidates(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    with memory: inout AnyMemory
  ) -> [Int]? {
    guard case .candidates(let part) = kind else { return nil }
    return part.chooseCandidates(from: waiting, server, &stream, with: &memory)
  }

  /// Chooses a cohort out of candidates by their losses.
  public func chooseCohort(
    of candidates: [Int], losses: [Double], _ server: ServerView, with memory: inout AnyMemory
  ) -> Cohort? {
    guard case .candidates(let part) = kind else { return nil }
    return part.chooseCohort(of: candidates, losses: losses, server, with: &memory)
  }
}

// What is asked without the type of the memory.

extension ClientSelector {
  fileprivate func hear(
    _ news: DeviceNews, from device: Int, _ server: ServerView, with memory: inout AnyMemory
  ) {
    memory.change(Memory.self) { hear(news, from: device, server, &$0) }
  }
}

extension AdmittingSelector {
  fileprivate func admit(
    _ checkIn: CheckIn, _ server: ServerView, with memory: inout AnyMemory
  ) -> Admission {
    memory.change(Memory.self) { admit(checkIn, server, &$0) }
  }

  fileprivate func closedUntil(_ now: SimTime, with memory: AnyMemory) -> SimTime? {
    closedUntil(now, memory.value(Memory.self))
  }
}

extension CohortSelector {
  fileprivate func receive(
    _ checkIn: CheckIn, _ server: ServerView, with memory: inout AnyMemory
  ) -> Reception {
    memory.change(Memory.self) { receive(checkIn, server, &$0) }
  }

  fileprivate func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    with memory: inout AnyMemory
  ) -> Cohort? {
    memory.change(Memory.self) { chooseCohort(from: waiting, server, &stream, &$0) }
  }
}

extension CandidateSelector {
  fileprivate func chooseCandidates(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    with memory: inout AnyMemory
  ) -> [Int]? {
    memory.change(Memory.self) { chooseCandidates(from: waiting, server, &stream, &$0) }
  }

  fileprivate func chooseCohort(
    of candidates: [Int], losses: [Double], _ server: ServerView, with memory: inout AnyMemory
  ) -> Cohort? {
    memory.change(Memory.self) { chooseCohort(of: candidates, losses: losses, server, &$0) }
  }
}

extension Seam where Value == AnySelector {
  /// Who may train.
  public static var clientSelector: Seam { Seam("client selector", "Which devices may train?") }
}

extension Choice where Value == AnySelector {
  /// A selector of known type, as the one that it is; `change` may make it another one.
  public init<P: ClientSelector>(
    _ type: P.Type, _ settings: P.Settings = P.Settings(), as change: (P) -> P
  ) {
    self.init(type, settings) { change($0).erased }
  }
}
