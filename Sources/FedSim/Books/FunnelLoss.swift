/// Why a participation came no further in the funnel.
public struct FunnelLoss: Sendable, Equatable, Codable {
  /// Its place in `names`.
  let place: UInt8

  /// Nothing has stopped it: of a participation that ends so, the run ended first.
  static let none = FunnelLoss(place: 0)
  /// A training was cut off, and a checkpoint of it is kept.
  static let checkpointed = FunnelLoss(place: 1)
  /// Its session asked the server for work again, and is another participation.
  static let askedAgain = FunnelLoss(place: 2)

  private static let own = ["unfinishedAtEnd", "checkpointed", "askedAgain"]
  private static let sessionEnds = SessionEnd.allCases
  // How a session and an update end has the same word where it means the same.
  private static let updateEnds = UpdateOutcome.allCases.filter { outcome in
    outcome != .aggregated
      && !(own + sessionEnds.map(\.rawValue)).contains(outcome.rawValue)
  }

  /// All reasons, in the order in which results list them.
  public static let names = own + sessionEnds.map(\.rawValue) + updateEnds.map(\.rawValue)

  /// Its session ended so.
  static func session(_ end: SessionEnd) -> FunnelLoss { named(end.rawValue) }

  /// Its update ended so.
  static func update(_ outcome: UpdateOutcome) -> FunnelLoss {
    outcome == .aggregated ? .none : named(outcome.rawValue)
  }

  private static func named(_ name: String) -> FunnelLoss {
    guard let place = names.firstIndex(of: name) else {
      preconditionFailure("every end of a session or an update is a reason")
    }
    return FunnelLoss(place: UInt8(place))
  }
}

/// Participations that came no further, by the last stage that they reached and by the reason.
public struct FunnelLosses: Sendable, Codable {
  private var counts = [Int](
    repeating: 0, count: Stage.allCases.count * FunnelLoss.names.count)

  /// Counts one.
  mutating func count(_ stage: UInt8, _ loss: FunnelLoss) {
    counts[Int(stage) * FunnelLoss.names.count + Int(loss.place)] += 1
  }

  /// How many reached this stage and not the next one, for the reason at this place in
  /// `FunnelLoss.names`.
  public subscript(stage: Stage, reason: Int) -> Int {
    counts[Int(stage.rawValue) * FunnelLoss.names.count + reason]
  }

  /// How many reached this stage and not the next one.
  func total(_ stage: Stage) -> Int {
    FunnelLoss.names.indices.reduce(0) { $0 + self[stage, $1] }
  }
}
