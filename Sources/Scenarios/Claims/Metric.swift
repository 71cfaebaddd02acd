import FedSim

/// Something that a claim can be about: a column of the tables of versions and rounds, or a figure
/// of the whole run.
public struct Metric: Sendable {
  /// What kind of value it has.
  public enum Kind: Sendable, Equatable {
    /// A number.
    case number
    /// A whole number.
    case count
    /// A time since the start, or a length of time.
    case duration
    /// What it took to reach an accuracy, which the claim gives: a length of time, or a number.
    case timeToTarget, countToTarget
    /// 16 hexadecimal digits.
    case digest
    /// How a round ended.
    case outcome
    /// One of these words.
    case word([String])

    /// Whether it is no number.
    var isText: Bool {
      switch self {
      case .digest, .outcome, .word: true
      default: false
      }
    }
  }

  /// What it is known of.
  public enum Domain: Sendable, Equatable {
    /// Each version: at a time, the last one published at or before it.
    case version
    /// Each round: at a time, the last one closed at or before it.
    case round
    /// Any time: what was counted until then.
    case count
    /// The end of the run.
    case end
  }

  /// The key in a claim.
  public let name: String
  /// What kind of value it has.
  public let kind: Kind
  /// What it is known of.
  public let domain: Domain
  /// What the metric measures, in one sentence.
  public let summary: String

  init(_ name: String, _ kind: Kind, _ domain: Domain, _ summary: String) {
    (self.name, self.kind, self.domain, self.summary) = (name, kind, domain, summary)
  }

  /// What claims about a column of versions are about.
  package init(_ column: VersionColumn) {
    let kind: Kind =
      switch column.kind {
      case .integer: .count
      case .number: .number
      case .time: .duration
      case .code(let words): .word(words)
      }
    self.init(column.name, kind, .version, column.claim)
  }

  /// The metric of a name.
  public static func named(_ name: String) -> Metric? { all.first { $0.name == name } }

  /// All of them, in the order in which they are documented.
  public static let all: [Metric] =
    ofVersions + ofRounds + counted + toTarget + ofRuns
    + ledger("attempt", "training attempts", AttemptOutcome.self)
    + ledger("update", "updates", UpdateOutcome.self)
    + ledger("transmission", "transmissions", TransmissionOutcome.self)

  private static let ofVersions =
    VersionColumn.byWorth.filter { $0.uses.contains(.claims) }.map(Metric.init)

  private static let ofRounds: [Metric] =
    [
      Metric("outcome", .outcome, .round, "How the round ended"),
      Metric("closedAt", .duration, .round, "When the round was closed"),
      Metric("cohort", .count, .round, "Devices in the round's cohort, 0 if no cohort is formed"),
    ]
    + Stage.allCases.map {
      Metric("\($0)", .count, .round, "Participations that reached `\($0)`")
    }

  private static let counted: [Metric] = [
    Metric("versions", .count, .count, "Versions published until then"),
    Metric("rounds", .count, .count, "Rounds closed until then"),
  ]

  private static let toTarget: [Metric] = [
    Metric(
      "timeToAccuracy", .timeToTarget, .end,
      "When the first evaluated version with at least the accuracy `target` was published"),
    Metric("versionsToAccuracy", .countToTarget, .end, "The number of this version"),
    Metric("roundsToAccuracy", .countToTarget, .end, "The round that published this version"),
  ]

  private static let ofRuns: [Metric] = [
    Metric("bestAccuracy", .number, .end, "The best accuracy of any evaluated version"),
    Metric("endedAt", .duration, .end, "When the run ended"),
    Metric("eventDigest", .digest, .end, "The digest of all events"),
    Metric("modelDigest", .digest, .end, "The digest of the last model's parameters"),
    Metric("batchesUsed", .count, .end, "Finished batches that are in an update"),
    Metric("batchesWasted", .count, .end, "Finished batches whose result was discarded"),
    Metric("bytesUp", .count, .end, "Bytes that devices sent"),
    Metric("bytesDown", .count, .end, "Bytes that devices received"),
    Metric("events", .count, .end, "Events handled"),
    Metric("sessions", .count, .end, "Sessions begun"),
    Metric("ineligibleSessions", .count, .end, "Sessions in which a condition did not hold"),
    Metric("expiredTrainings", .count, .end, "Trainings running when their task expired"),
    Metric("checkpoints", .count, .end, "Checkpoints written"),
    Metric("resumed", .count, .end, "Trainings resumed from their checkpoint"),
    Metric("kills", .count, .end, "Kills of the app"),
    Metric("waitedOffline", .count, .end, "Updates that waited because they could not be sent"),
    Metric("repeatedDeliveries", .count, .end, "Updates that reached the server more than once"),
    Metric("aggregatedTwice", .count, .end, "Updates aggregated more than once"),
  ]

  private static func ledger<Outcome: CaseIterable & RawRepresentable>(
    _ name: String, _ text: String, _ type: Outcome.Type
  ) -> [Metric] where Outcome.RawValue == String {
    let known = Outcome.allCases.map {
      Metric(
        "\(name).\($0.rawValue)", .count, .end, "Number of \(text) that ended as `\($0.rawValue)`")
    }
    return [Metric("\(name).opened", .count, .end, "Number of \(text) begun")] + known
  }
}
