import Schema

/// Enough updates wait, whenever an update arrives or the connection returns.
public struct ThresholdTrigger: AggregationTrigger {
  public static let name = "threshold"
  public static let summary = "Aggregates as soon as this many updates wait"

  public struct Settings: PartSettings {
    /// How many updates.
    public var updates = 3
    public init() {}
    public static var shorthand: String? { "updates" }
    public static var fields: [Field<Settings>] {
      [Field("updates", \.updates, .integer(1...1_000_000), "Number of updates that must wait")]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  public var neededUpdates: Int? { settings.updates }

  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    moment != .timer && server.pending >= settings.updates ? .aggregate : .wait
  }
}

/// A timer rings and enough updates wait.
public struct EveryTrigger: AggregationTrigger {
  public static let name = "every"
  /// What it does, in one sentence.
  public static let summary = "Checks at fixed intervals whether enough updates wait"

  public struct Settings: PartSettings {
    /// The interval.
    public var period = SimDuration.minutes(30)
    /// How many updates.
    public var minimum = 3
    /// Whether the interval begins again with each version; nil: it does not.
    public var restarts: Bool?
    public init() {}
    public static var shorthand: String? { "period" }
    public static var fields: [Field<Settings>] {
      [
        Field("period", \.period, .duration(atLeast: .seconds(1)), "The interval"),
        Field("minimum", \.minimum, .integer(1...1_000_000), "Number of updates that must wait"),
        Field(
          "restarts", \.restarts, feature: .flag,
          "The interval begins again when a round ends; absent: whole multiples since the start"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Its timer.
  public var timer: TriggerTimer? {
    settings.restarts == true ? .sinceRound(settings.period) : .every(settings.period)
  }
  public var neededUpdates: Int? { settings.minimum }

  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    moment == .timer && server.pending >= settings.minimum ? .aggregate : .wait
  }
}

/// The round's cohort has sent as many updates as the round wants.
public struct CohortCompleteTrigger: AggregationTrigger {
  public static let name = "cohort-complete"
  public static let summary = "Aggregates when the round's goal of updates has arrived"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  public var needs: TriggerNeeds { .cohorts }

  /// The goal of the cohort.
  public func neededMembers(_ server: ServerView) -> Int? { server.cohortGoal }

  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    guard moment != .timer, let goal = server.cohortGoal else { return .wait }
    return server.pending >= goal ? .aggregate : .wait
  }
}

/// The round has lasted long enough: aggregate what is there, or skip the round.
public struct DeadlineTrigger: AggregationTrigger {
  public static let name = "deadline"
  /// What it does, in one sentence.
  public static let summary = "Ends a round at a fixed time after its cohort was formed"

  public struct Settings: PartSettings {
    /// How long after the cohort was formed.
    public var after = SimDuration.minutes(10)
    /// With fewer updates than this the round is skipped.
    public var minimum = 1
    public init() {}
    public static var shorthand: String? { "after" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "after", \.after, .duration(atLeast: .milliseconds(1)),
          "Time from the cohort's formation to the end of the round"),
        Field(
          "minimum", \.minimum, .integer(1...1_000_000),
          "Minimum number of updates; with fewer, the round is skipped"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Its timer.
  public var timer: TriggerTimer? { .afterCohort(settings.after) }
  public var needs: TriggerNeeds { .cohorts }
  public var neededUpdates: Int? { settings.minimum }

  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    guard moment == .timer else { return .wait }
    return server.pending >= settings.minimum ? .aggregate : .skip
  }
}
