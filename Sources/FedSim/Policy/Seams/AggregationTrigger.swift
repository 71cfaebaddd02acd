import Schema

/// What happened, when a trigger is asked.
public enum TriggerMoment: Sendable, Equatable, Codable {
  /// An update was admitted.
  case arrival
  /// The trigger's own timer rang, now or while the server believed itself offline: then a trigger
  /// that wanted an aggregation is asked a second time when the connection returns.
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
  /// This long after a round was opened, and again and again until it is closed.
  case sinceRound(SimDuration)
  /// Once, this long after the round's cohort was formed.
  case afterCohort(SimDuration)
  /// At the end of each cycle, where cycles have a timer.
  case cycleEnd
}

/// What a trigger makes sense with.
public struct TriggerNeeds: OptionSet, Sendable {
  /// The needs as bits.
  public let rawValue: UInt8
  /// Needs by their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Where cohorts are formed, and nowhere else.
  public static let cohorts = TriggerNeeds(rawValue: 1)
  /// Where there are cycles, and nowhere else.
  public static let cycles = TriggerNeeds(rawValue: 2)
}

/// Decides when it is time to aggregate.
public protocol AggregationTrigger: PolicyPart {
  /// Its timer, if it has one.
  var timer: TriggerTimer? { get }
  /// What it makes sense with.
  var needs: TriggerNeeds { get }
  /// How many updates of the round's cohort have to arrive, where it waits for nothing else; nil:
  /// a round does not depend on that.
  func neededMembers(_ server: ServerView) -> Int?
  /// How many updates have to wait before it ever wants an aggregation; nil: that depends.
  var neededUpdates: Int? { get }
  /// What the server does now: wait, aggregate, or give the round up.
  func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout Memory
  ) -> TriggerDecision
}

extension AggregationTrigger {
  /// No timer.
  public var timer: TriggerTimer? { nil }
  /// Any selector will do.
  public var needs: TriggerNeeds { [] }
  /// A round does not depend on it.
  public func neededMembers(_ server: ServerView) -> Int? { nil }

  /// That depends.
  public var neededUpdates: Int? { nil }

  /// What it wants now, for somebody who does not know the type of its memory.
  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, with memory: inout AnyMemory
  ) -> TriggerDecision {
    memory.change(Memory.self) { decide(moment, server, &$0) }
  }
}

extension Seam where Value == any AggregationTrigger {
  /// When it is time to aggregate.
  public static var aggregationTrigger: Seam {
    Seam("aggregation trigger", "When does the server aggregate?")
  }
}
