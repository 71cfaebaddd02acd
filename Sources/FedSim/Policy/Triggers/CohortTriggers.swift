import Schema

/// The first updates of a cohort are enough; the others come too late.
///
/// Source: Bonawitz et al., "Towards federated learning at scale: system design" (2019), §2.2: the
/// first K of 1.3·K.
public struct FirstTrigger: AggregationTrigger {
  public static let name = "first"
  /// What it does, in one sentence.
  public static let summary = "Aggregates the first updates of a cohort, regardless of its goal"

  public struct Settings: PartSettings {
    /// How many updates.
    public var updates = 10
    public init() {}
    public static var shorthand: String? { "updates" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "updates", \.updates, .integer(1...1_000_000),
          "Number of updates that ends the round; all members if the cohort is smaller")
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  public var needs: TriggerNeeds { .cohorts }

  /// As many as it wants, and no more than there are.
  public func neededMembers(_ server: ServerView) -> Int? {
    server.cohortGoal == nil ? nil : min(settings.updates, server.cohortSize)
  }

  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    guard moment != .timer, let needed = neededMembers(server) else { return .wait }
    return server.pending >= needed ? .aggregate : .wait
  }
}

/// A share of the cohort has to answer in time: with less the round is skipped.
///
/// Source: as in Yang et al., "Characterizing impacts of heterogeneity in federated learning upon
/// large-scale smartphone data" (2021), where a round fails with less than 0.8 of its devices.
public struct QuorumTrigger: AggregationTrigger {
  public static let name = "quorum"
  public static let summary =
    "Ends a round when all have replied, or at a timeout: aggregated with a quorum, else skipped"

  public struct Settings: PartSettings {
    /// The share of the cohort.
    public var share = 0.8
    /// How long after the cohort was formed.
    public var after = SimDuration.minutes(10)
    public init() {}
    public static var shorthand: String? { "share" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "share", \.share, .number(1e-6...1),
          "Share of the cohort that must reply, rounded up to whole members"),
        Field(
          "after", \.after, .duration(atLeast: .milliseconds(1)),
          "Time from the cohort's formation to the end of the round"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Its timer.
  public var timer: TriggerTimer? { .afterCohort(settings.after) }
  public var needs: TriggerNeeds { .cohorts }

  /// What it wants now: a round that can no longer have its quorum is skipped at once.
  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    guard server.cohortGoal != nil else { return .wait }
    // A share such as 0.8 of 5 is 4, though 0.8 · 5 may be a little more in binary.
    let quorum = max(1, Int((settings.share * Double(server.cohortSize) - 1e-9).rounded(.up)))
    if moment == .timer { return server.pending >= quorum ? .aggregate : .skip }
    if server.cohortSize - server.failures < quorum { return .skip }
    let isWhole = server.pending + server.failures >= server.cohortSize
    return isWhole && server.pending >= quorum ? .aggregate : .wait
  }
}
