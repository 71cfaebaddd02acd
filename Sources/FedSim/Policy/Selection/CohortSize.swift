import Numerics
import Schema

/// Settings of a selector whose cohorts have a size: the fields that all of them share.
public protocol CohortSettings: PartSettings {
  /// Updates that a round needs.
  var cohort: Int { get set }
  /// Devices chosen for each update that the round needs, at least 1.
  var overSelection: Double { get set }
  /// How many devices must wait before a cohort is formed; nil: as many as are chosen.
  var minimumWaiting: Int? { get set }
}

/// The settings of a selector of which nothing else can be set.
public struct CohortSize: CohortSettings {
  public var cohort = 10
  public var overSelection = 1.0
  /// How many devices must wait before a cohort is formed; nil: as many as are chosen.
  public var minimumWaiting: Int?
  public init() {}
  public static var fields: [Field<CohortSize>] { cohortFields }
}

extension CohortSettings {
  public static var shorthand: String? { "cohort" }

  /// The fields that such selectors share.
  static var cohortFields: [Field<Self>] {
    [
      Field(
        "cohort", \.cohort, .integer(1...1_000_000), "Number of updates to aggregate per round"),
      Field(
        "overSelection", \.overSelection, .number(1...10),
        "Members selected per update to aggregate (1.3 in Bonawitz et al. 2019)"),
      Field(
        "minimumWaiting", \.minimumWaiting, optional: .integer(1...10_000_000),
        "Waiting devices needed to form a cohort; absent: the number of members"),
    ]
  }

  /// How many members a cohort is meant to have.
  var wanted: Int { Int((Double(cohort) * overSelection - 1e-9).rounded(.up)) }

  /// How many devices must wait before a cohort is formed.
  var neededWaiting: Int { minimumWaiting ?? wanted }

  /// A cohort of these members.
  func cohort(of members: [Int]) -> Cohort? {
    members.isEmpty ? nil : Cohort(members: members, goal: min(cohort, members.count))
  }
}

extension RandomStream {
  /// `count` different places, drawn one after the other, each among those left and with a chance
  /// in proportion to its weight; in the order drawn. Places without weight come last.
  ///
  /// Draws: one `uniformAboveZero` a place, in their order. Order: of equal keys, the lower place.
  /// Complexity: O(n·log n). Source: Efraimidis and Spirakis, "Weighted random sampling with a
  /// reservoir" (2006), algorithm A: the largest u^(1/w).
  package mutating func sample(_ count: Int, weights: [Double]) -> [Int] {
    var keys: [(hasWeight: Bool, key: Double)] = []
    keys.reserveCapacity(weights.count)
    for weight in weights {
      let key = Portable.log(uniformAboveZero())
      keys.append((weight > 0, weight > 0 ? key / weight : key))
    }
    let order = keys.indices.sorted { a, b in
      if keys[a].hasWeight != keys[b].hasWeight { return keys[a].hasWeight }
      return keys[a].key != keys[b].key ? keys[a].key > keys[b].key : a < b
    }
    return Array(order.prefix(count))
  }
}
