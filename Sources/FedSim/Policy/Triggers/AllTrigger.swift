import Schema

/// Several triggers, all of which must have said that it is time.
///
/// Each is asked as it would be alone. What it has said counts until the round is over.
public struct AllTrigger: AggregationTrigger {
  /// Its name in a scenario.
  public static let name = "all"
  /// What it does, in one sentence.
  public static let summary = "Aggregates when each of several triggers has said so in this round"

  /// What can be set.
  public struct Settings: PartSettings {
    /// The triggers.
    public var of: [Choice<any AggregationTrigger>] = []
    /// The defaults.
    public init() {}
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      [
        Field(
          "of", \.of, .parts(.aggregationTrigger), required: true,
          "The triggers; a round that one of them skips is skipped")
      ]
    }
    /// What is wrong with values that are each in range.
    public func contradictions() -> [(key: String, message: String)] {
      if of.count < 2 { return [("of", "`all` is of two triggers at least")] }
      if of.contains(where: { $0.value is AllTrigger }) {
        return [("of", "`all` in `all` says no more than one list")]
      }
      if of.count(where: { $0.value.timer != nil }) > 1 {
        return [("of", "one of the triggers at most can have a time")]
      }
      return []
    }
  }

  private let triggers: [any AggregationTrigger]
  /// Made from its settings.
  public init(_ settings: Settings) { triggers = settings.of.map(\.value) }

  /// That of the one which has a time.
  public var timer: TriggerTimer? { triggers.lazy.compactMap(\.timer).first }
  /// Whether one of them needs cohorts.
  public var needsCohort: Bool { triggers.contains { $0.needsCohort } }
  /// Whether one of them needs cycles.
  public var needsCycles: Bool { triggers.contains { $0.needsCycles } }
  /// As many as the one that needs most, where none can end the round in time.
  public func neededMembers(_ server: ServerView) -> Int? {
    timer == nil ? triggers.compactMap { $0.neededMembers(server) }.max() : nil
  }

  /// Whether all could be content with such a server, each at a moment of its own.
  public func decide(_ moment: TriggerMoment, _ server: ServerView) -> TriggerDecision {
    let areContent = triggers.allSatisfy {
      $0.decide(moment, server) == .aggregate
        || $0.timer != nil && $0.decide(.timer, server) == .aggregate
    }
    return areContent && !triggers.isEmpty ? .aggregate : .wait
  }

  /// What it wants now. Remembers the round, and who has said in it that it is time.
  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout PartMemory
  ) -> TriggerDecision {
    guard !triggers.isEmpty else { return .wait }
    if memory.parts.isEmpty { memory.parts = triggers.map { _ in PartMemory() } }
    if memory.integers.first != Int64(server.round) {
      memory.integers = [Int64(server.round)] + triggers.map { _ in 0 }
    }
    var isSkipped = false
    for place in triggers.indices {
      switch triggers[place].decide(moment, server, &memory.parts[place]) {
      case .wait: break
      case .aggregate: memory.integers[1 + place] = 1
      case .skip: isSkipped = true
      }
    }
    if isSkipped { return .skip }
    return memory.integers.dropFirst().contains(0) ? .wait : .aggregate
  }
}
