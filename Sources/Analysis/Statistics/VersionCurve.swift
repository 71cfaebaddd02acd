import Results

/// What a run had cost at each version, and what the version was worth.
public struct VersionCurve: Sendable, Equatable {
  /// What is counted up to a version.
  public enum Cost: String, CaseIterable, Codable, Sendable {
    /// Virtual time, in seconds.
    case time
    /// Rounds that the server opened.
    case rounds
    /// Versions.
    case versions
    /// Bytes that devices sent and received.
    case bytes
    /// Energy that devices drew for trainings and transfers, in joules.
    case joules

    /// Its unit, in UDUNITS' spelling.
    public var units: String {
      switch self {
      case .time: "s"
      case .bytes: "byte"
      case .joules: "J"
      case .rounds, .versions: "1"
      }
    }
  }

  /// The accuracy of each version; NaN where it was not evaluated.
  public var accuracy: [Double]
  private var costs: [Cost: [Double]]
  private var ends: [Cost: Double]

  /// A curve of these accuracies, the costs at their versions, and those at the run's end.
  public init(
    accuracy: [Double], costs: [(Cost, values: [Double])], ends: [(Cost, value: Double)] = []
  ) {
    precondition(costs.allSatisfy { $0.values.count == accuracy.count }, "one cost per version")
    self.accuracy = accuracy
    self.costs = Dictionary(costs.map { ($0.0, $0.values) }) { first, _ in first }
    self.ends = Dictionary(ends.map { ($0.0, $0.value) }) { first, _ in first }
  }

  /// The curve of a result by a column of `versions`; nil where it has no such column.
  ///
  /// Bytes and joules are there where the result holds them version by version.
  public init?(_ document: ResultDocument, column: String = "centralAccuracy") {
    guard let group = document["versions"], let accuracy = group[variable: column] else {
      return nil
    }
    func numbers(_ name: String) -> [Double]? { group[variable: name]?.values.asDoubles }
    func number(_ path: String, _ name: String) -> Double? {
      document[path]?[variable: name]?.values.asDoubles.first
    }
    var costs: [(Cost, values: [Double])] = []
    var ends: [(Cost, value: Double)] = []
    for (cost, name) in [(Cost.time, "publishedAt"), (.rounds, "round"), (.versions, "version")] {
      if let values = numbers(name) { costs.append((cost, values)) }
    }
    if let up = numbers("bytesUp"), let down = numbers("bytesDown") {
      costs.append((.bytes, zip(up, down).map { $0 + $1 }))
    }
    if let joules = numbers("joules") { costs.append((.joules, joules)) }
    if let end = number("", "simulatedTime") { ends.append((.time, end)) }
    if let last = document["rounds"]?[variable: "round"]?.values.asDoubles.last {
      ends.append((.rounds, last))
    }
    if let up = number("ledger", "bytesUp"), let down = number("ledger", "bytesDown") {
      ends.append((.bytes, up + down))
    }
    if let joules = Self.joules(document["effort"]) { ends.append((.joules, joules)) }
    self.init(accuracy: accuracy.values.asDoubles, costs: costs, ends: ends)
  }

  /// All energy that devices drew for trainings, evaluations and transfers, those included that
  /// ended after the last version.
  private static func joules(_ effort: ResultDocument.Group?) -> Double? {
    guard let effort, effort[variable: "energyTraining"] != nil else { return nil }
    let names = ["energyTraining", "energyRadio", "energyRadioOther", "evaluationEnergy"]
    return names.reduce(0.0) { sum, name in
      sum + (effort[variable: name]?.values.asDoubles.reduce(0, +) ?? 0)
    } / 1e9
  }

  /// The cost at each version; nil where it is not known.
  public subscript(cost: Cost) -> [Double]? { costs[cost] }

  /// The cost at the end of the run, or at the last version where no more is known.
  public func end(_ cost: Cost) -> Double? { ends[cost] ?? costs[cost]?.last }

  /// The accuracy of the last version that was evaluated; NaN: none was.
  public var finalAccuracy: Double { accuracy.last { !$0.isNaN } ?? .nan }

  /// The best accuracy of any version; NaN: none was evaluated.
  public var bestAccuracy: Double { Statistics.sorted(accuracy).last ?? .nan }
}
