import Schema

/// How much an update counts that was trained from an older version than the current one.
public protocol StalenessWeight: Part {
  /// What an update counts from whose base this many versions have been published: 1 in full, 0 not
  /// at all.
  func weight(staleness: Int) -> Double
}

extension Seam where Value == any StalenessWeight {
  /// How much an old update counts.
  public static var stalenessWeight: Seam {
    Seam("staleness weight", "What is the weight of a stale update?")
  }
}

/// How the share that old updates lose is used.
public enum StalenessScale: String, CaseIterable, Sendable {
  /// Nobody has it: the step is shorter. The share is the current model's, where updates carry
  /// weights.
  case absolute
  /// All updates of the aggregation, in proportion to what they count.
  case normalised
}

/// What old updates count in an aggregation.
public struct StalenessRule: Sendable {
  /// The weight of each.
  public let weight: any StalenessWeight
  /// How the share that they lose is used.
  public let scale: StalenessScale

  /// A rule.
  public init(_ weight: any StalenessWeight, scale: StalenessScale = .absolute) {
    self.weight = weight
    self.scale = scale
  }

  /// What each update counts in the end, and what is left to the current model; nil: nothing.
  ///
  /// Where all are fresh the weights are as they were, bit for bit. Order: sums in the order of the
  /// updates.
  public static func shares(
    _ rule: StalenessRule?, _ weights: [Double], _ facts: [UpdateFacts]
  ) -> (weights: [Double], rest: Double?) {
    guard let rule else { return (weights, nil) }
    let counts = facts.map { rule.weight.weight(staleness: $0.staleness) }
    var shares = zip(weights, counts).map { $0 * $1 }
    let total = weights.reduce(0, +)
    let kept = shares.reduce(0, +)
    if rule.scale == .normalised, kept > 0 {
      let factor = total / kept
      for place in shares.indices { shares[place] *= factor }
      return (shares, nil)
    }
    let rest = zip(weights, counts).reduce(0) { $0 + $1.0 * (1 - $1.1) }
    return (shares, rest == 0 ? nil : rest)
  }
}

extension ServerSettings {
  /// The fields of what old updates count and of when models go out, each a feature that is off
  /// unless it is named.
  static var stalenessFields: [Field<ServerSettings>] {
    [
      Field(
        "staleness", \.staleness, feature: .part(.stalenessWeight),
        "What is the weight of a stale update? Absent: that of a fresh update"),
      Field(
        "stalenessScale", \.stalenessScale, feature: .choice,
        "Staleness shortens the step (absolute, absent), or all updates share the lost weight"
          + " (normalised)"),
      Field(
        "broadcast", \.broadcast, feature: .choice,
        "A device whose update waits gets the model when it asks (onRequest, absent), or"
          + " after the next aggregation (afterAggregation)"),
    ]
  }

  /// What old updates count; nil: as much as fresh ones.
  var stalenessRule: StalenessRule? {
    staleness.map { StalenessRule($0.value, scale: stalenessScale ?? .absolute) }
  }

  /// What of this does not go together.
  var stalenessContradictions: [(key: String, message: String)] {
    var found: [(key: String, message: String)] = []
    if staleness != nil, !aggregator.value.countsStaleness {
      found.append(
        (
          "staleness",
          "`\(aggregator.name)` does not use staleness weights; `maximumStaleness` rejects stale "
            + "updates"
        ))
    }
    if stalenessScale != nil, staleness == nil {
      found.append(("stalenessScale", "without `staleness` there is nothing to scale"))
    }
    if broadcast == .afterAggregation,
      selector.value.formsCohorts || selector.value.cycles != nil
    {
      found.append(
        ("broadcast", "with `\(selector.name)` devices wait for the next round already"))
    }
    return found
  }
}
