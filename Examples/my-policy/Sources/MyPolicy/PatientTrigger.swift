import FedSim
import Schema

/// Enough updates wait, or few have waited for long enough.
public struct PatientTrigger: AggregationTrigger {
  /// Its name in a scenario.
  public static let name = "patient"
  /// What it does, in one sentence.
  public static let summary = "Aggregates many updates at once, or a few after a long wait"

  /// What can be set.
  public struct Settings: PartSettings {
    /// At this many it does not wait.
    public var updates = 10
    /// Fewer than this always wait.
    public var minimum = 2
    /// How long the first of few waits.
    public var patience = SimDuration.minutes(30)
    /// How often it looks at its clock.
    public var look = SimDuration.minutes(1)
    /// The defaults.
    public init() {}
    /// The field that a bare value represents.
    public static var shorthand: String? { "updates" }
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      [
        Field("updates", \.updates, .integer(1...1_000_000), "Number of updates without a wait"),
        Field("minimum", \.minimum, .integer(1...1_000_000), "Minimum number of updates"),
        Field(
          "patience", \.patience, .duration(atLeast: .seconds(1)),
          "Maximum wait of the first update"),
        Field("look", \.look, .duration(atLeast: .seconds(1)), "Interval of the checks"),
      ]
    }
    /// What is wrong with values that are each in range.
    public func contradictions() -> [(key: String, message: String)] {
      minimum > updates ? [("minimum", "`minimum` is above `updates`: it would never count")] : []
    }
  }

  private let settings: Settings
  /// Made from its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// Its timer.
  public var timer: TriggerTimer? { .every(settings.look) }

  /// What it remembers.
  public struct Memory: Codable, Sendable {
    /// The round in which it last saw an update wait.
    var round = 0
    /// When it first saw one wait in that round.
    var since = SimTime.start
  }

  /// It has seen none.
  public func makeMemory() -> Memory { Memory() }

  /// What it wants now.
  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout Memory
  ) -> TriggerDecision {
    guard server.pending > 0 else { return .wait }
    if memory.round != server.round { memory = Memory(round: server.round, since: server.now) }
    if server.pending >= settings.updates { return .aggregate }
    let isPatient = server.now - memory.since < settings.patience
    return server.pending >= settings.minimum && !isPatient ? .aggregate : .wait
  }
}
