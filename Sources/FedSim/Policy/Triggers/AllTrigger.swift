import Schema

/// Several triggers, all of which must have said that it is time.
///
/// Each is asked as it would be alone. What it has said counts until the round is over.
public struct AllTrigger: AggregationTrigger {
  public static let name = "all"
  /// What it does, in one sentence.
  public static let summary = "Aggregates once all of several triggers have fired in the round"

  public struct Settings: PartSettings {
    /// The triggers.
    public var of: [Choice<any AggregationTrigger>] = []
    public init() {}
    public static var fields: [Field<Settings>] {
      [
        Field(
          "of", \.of, .parts(.aggregationTrigger), required: true,
          "The triggers; if one of them skips a round, the round is skipped")
      ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      if of.count < 2 { return [("of", "`all` needs at least two triggers")] }
      if of.contains(where: { $0.name == AllTrigger.name }) {
        return [("of", "`all` in `all` has no effect: write one list")]
      }
      if of.count(where: { $0.value.timer != nil }) > 1 {
        return [("of", "at most one of the triggers may have a time")]
      }
      return []
    }
  }

  private let triggers: [any AggregationTrigger]
  public init(_ settings: Settings) { triggers = settings.of.map(\.value) }

  /// That of the one which has a time.
  public var timer: TriggerTimer? { triggers.lazy.compactMap(\.timer).first }
  /// What one of them needs.
  public var needs: TriggerNeeds { triggers.reduce([]) { $0.union($1.needs) } }
  /// As many as the one that needs most, where none can end the round in time.
  public func neededMembers(_ server: ServerView) -> Int? {
    timer == nil ? triggers.compactMap { $0.neededMembers(server) }.max() : nil
  }
  /// As many as the one that needs most.
  public var neededUpdates: Int? { triggers.compactMap(\.neededUpdates).max() }

  public struct Memory: Codable, Sendable {
    /// The round that it is of.
    var round = 0
    /// Which of the triggers have said in it that it is time.
    var haveSaid: [Bool]
    /// What they remember themselves.
    var triggers: [AnyMemory]
  }

  /// The triggers.
  public var children: [any PolicyPart] { triggers }

  /// None has said anything.
  public func makeMemory() -> Memory {
    Memory(haveSaid: triggers.map { _ in false }, triggers: triggers.map { $0.freshMemory() })
  }

  /// What it wants now. Remembers the round, and who has said in it that it is time.
  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout Memory
  ) -> TriggerDecision {
    guard !triggers.isEmpty else { return .wait }
    if memory.round != server.round {
      memory.round = server.round
      for place in memory.haveSaid.indices { memory.haveSaid[place] = false }
    }
    var isSkipped = false
    for place in triggers.indices {
      switch triggers[place].decide(moment, server, with: &memory.triggers[place]) {
      case .wait: break
      case .aggregate: memory.haveSaid[place] = true
      case .skip: isSkipped = true
      }
    }
    if isSkipped { return .skip }
    return memory.haveSaid.contains(false) ? .wait : .aggregate
  }
}
