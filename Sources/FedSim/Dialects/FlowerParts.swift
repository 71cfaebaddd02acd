import Numerics
import Schema

/// A share of the devices that are connected, as Flower's strategies sample them.
public struct FractionSelector: CohortSelector {
  public static let name = "fraction"
  /// What it does, in one sentence.
  public static let summary =
    "Synchronous rounds: a uniform share of the waiting devices, as in Flower"

  public struct Settings: PartSettings {
    /// The share of those who wait.
    public var fraction = 1.0
    /// Members at least.
    public var minimum = 2
    /// How many must wait before a cohort is formed.
    public var minimumAvailable = 2
    /// How long the server waits for this many; nil: for ever.
    public var waitLimit: SimDuration?
    public init() {}
    public static var shorthand: String? { "fraction" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "fraction", \.fraction, .fraction, "Share of the waiting devices to select (fraction_fit)"
        ),
        Field(
          "minimum", \.minimum, .integer(1...1_000_000),
          "Minimum number of members (min_fit_clients)"),
        Field(
          "minimumAvailable", \.minimumAvailable, .integer(1...10_000_000),
          "Minimum number of waiting devices to form a cohort (min_available_clients)"),
        Field(
          "waitLimit", \.waitLimit, feature: .duration(atLeast: .milliseconds(1)),
          "Skip the round if too few devices wait after this time; absent: wait forever"),
      ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      minimum > minimumAvailable
        ? [
          ("minimum", "`minimum` is above `minimumAvailable`: a cohort could have too few members")
        ] : []
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// How many it waits for, and for how long.
  public var rules: CohortRules {
    CohortRules(neededWaiting: settings.minimumAvailable, waitLimit: settings.waitLimit)
  }

  /// Draws: one `below` a member. Source: Flower's `FedAvg.num_fit_clients`.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout NoMemory
  ) -> Cohort? {
    guard waiting.count >= settings.minimumAvailable else { return nil }
    let wanted = max(Int(Double(waiting.count) * settings.fraction), settings.minimum)
    let members = stream.sample(min(wanted, waiting.count), below: waiting.count)
    return Cohort(members: members.map { Int($0) }, goal: members.count)
  }
}

/// Every member of the round's cohort has answered, or is known to have failed.
public struct CohortAnsweredTrigger: AggregationTrigger {
  public static let name = "cohort-answered"
  public static let summary =
    "Aggregates when each member has replied or its stream is broken, as in Flower"

  public struct Settings: PartSettings {
    /// Whether a round with failures is aggregated.
    public var acceptFailures = true
    /// After this long without an answer a member has failed; nil: only its stream tells.
    public var timeout: SimDuration?
    public init() {}
    public static var shorthand: String? { "acceptFailures" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "acceptFailures", \.acceptFailures, .flag,
          "Aggregate the remaining updates of a cohort with failures; else skip the round"),
        Field(
          "timeout", \.timeout, feature: .duration(atLeast: .milliseconds(1)),
          "A member without a reply after this time has failed (round_timeout); absent: only "
            + "a broken stream is a failure"),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// Its timer, where members have only this long.
  public var timer: TriggerTimer? { settings.timeout.map { .afterCohort($0) } }

  public var needs: TriggerNeeds { .cohorts }

  /// Source: Flower's `FedAvg.aggregate_fit`: no results, or failures that are not accepted, leave
  /// the parameters as they are.
  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    guard server.cohortGoal != nil else { return .wait }
    var failures = server.failures
    // At the timeout each member that has not answered has failed.
    if moment == .timer { failures = server.cohortSize - server.pending }
    guard server.pending + failures >= server.cohortSize else { return .wait }
    if failures > 0, !settings.acceptFailures || server.pending == 0 { return .skip }
    return server.pending > 0 ? .aggregate : .wait
  }
}
