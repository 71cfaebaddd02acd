import Results
import Schema

/// One result as a report sees it.
public struct ReportRun: Sendable {
  /// The result's path, as it was given.
  public let path: String
  /// What is in it.
  public let document: ResultDocument
  /// The name of the scenario that was run.
  public let title: String
  /// The scenario's seed.
  public let seed: UInt64
  /// The settings that results of one policy have in common.
  public let policy: Node
  let fleet: Node?
  /// The seeds of single random worlds, in words; nil: the scenario names none.
  let otherSeeds: String?
  let versions: ResultTable?
  let central: ResultTable?

  /// A result that was read from a path, and the resolved scenario in it.
  public init(_ path: String, _ document: ResultDocument, scenario: Node) {
    self.path = path
    self.document = document
    title = document.title
    seed = document.seed ?? 0
    policy = scenario.policy
    fleet = scenario["fleet"]
    otherSeeds = Self.otherSeeds(scenario["seeds"])
    versions = document.table("versions")
    central = document.table("central")
  }

  private static func otherSeeds(_ seeds: Node?) -> String? {
    guard case .mapping(let entries)? = seeds?.content else { return nil }
    let given = entries.filter { if case .null = $0.value.content { false } else { true } }
    return given.isEmpty
      ? nil : given.map { "\($0.key) \($0.value.json)" }.joined(separator: ", ")
  }

  /// Whether two results are of one policy and one seed: they count once.
  public func isOfOneRun(with other: ReportRun) -> Bool {
    seed == other.seed && policy.hasSameContent(as: other.policy)
  }

  /// The file's name without folder and ending.
  var stem: String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return name.hasSuffix(".h5") ? String(name.dropLast(3)) : name
  }

  /// Whether the run had ended.
  var isWhole: Bool { document.root[attribute: "isComplete"] == nil }

  /// The names of the fleet's groups, in its order; nil: the scenario does not say.
  var groupNames: [String]? {
    guard case .sequence(let groups)? = fleet?.content else { return nil }
    return groups.enumerated().map { place, group in
      guard case .scalar(let name, _)? = group["name"]?.content else { return "fleet[\(place)]" }
      return name
    }
  }

  /// How long the run was, in simulated seconds.
  var length: Double { document.table("")?.number("simulatedTime") ?? 0 }

  /// Until when anything is known: the run's end, or a later version of an unfinished run.
  var lastMoment: Double {
    let last = [versions, central].map { $0?.numbers("publishedAt")?.max() ?? 0 }
    return max(length, last.max() ?? 0)
  }

  /// Whether there is a variable, such as `versions/joules`.
  func has(_ path: String) -> Bool {
    guard let cut = path.lastIndex(of: "/") else { return false }
    let name = String(path[path.index(after: cut)...])
    return document.table(String(path[..<cut]))?.has(name) ?? false
  }

  /// A column of `versions` over another, without the places where either is not known.
  func curve(_ column: String, over axis: CurveAxis) -> [Figure.Point] {
    guard let versions, let values = versions.numbers(column), let places = places(axis) else {
      return []
    }
    return zip(places, values).filter { $0.isFinite && $1.isFinite }.map { .init($0, $1) }
  }

  /// The models that the server trained on devices' files, by their names.
  var centralModels: [String] {
    var names: [String] = []
    for name in central?.words("model") ?? [] where !names.contains(name) { names.append(name) }
    return names
  }

  /// Whether devices trained for the server, so that `versions` tells of more than the initial
  /// model; of a run without central training always.
  var isFederated: Bool {
    central == nil || (versions?.length(of: "version") ?? 0) > 1
      || (document.table("ledger")?.number("attemptsOpened") ?? 0) > 0
  }

  /// A column of `central` over simulated time: of one model.
  func centralCurve(_ column: String, of model: String) -> [Figure.Point] {
    guard let central, let models = central.words("model"), let values = central.numbers(column),
      let times = central.numbers("publishedAt")
    else { return [] }
    return models.indices.filter { models[$0] == model && values[$0].isFinite }
      .map { .init(times[$0], values[$0]) }
  }

  /// What a curve is drawn over.
  enum CurveAxis: CaseIterable {
    case time, versions, bytes, joules

    var axis: Figure.Axis {
      switch self {
      case .time: .init("simulated time", .time, includesZero: true)
      case .versions: .init("version", .whole, includesZero: true)
      case .bytes: .init("bytes sent and received", .bytes, includesZero: true)
      case .joules: .init("energy of training and transfers", .energy, includesZero: true)
      }
    }

    var words: String {
      switch self {
      case .time: "over time"
      case .versions: "over versions"
      case .bytes: "over bytes"
      case .joules: "over energy"
      }
    }
  }

  private func places(_ axis: CurveAxis) -> [Double]? {
    switch axis {
    case .time: versions?.numbers("publishedAt")
    case .versions: versions?.numbers("version")
    case .bytes:
      versions?.numbers("bytesUp").flatMap { up in
        versions?.numbers("bytesDown").map { down in zip(up, down).map { $0 + $1 } }
      }
    case .joules: versions?.numbers("joules")
    }
  }

  /// The end of an axis: a step function holds until then.
  func end(_ axis: CurveAxis) -> Double {
    axis == .time ? length : places(axis)?.last ?? 0
  }

  /// Amounts of training by their outcome, in words; the seconds of devices.
  var effort: [(outcome: String, seconds: Double)] {
    guard let effort = document.table("effort"), let names = effort.words("outcome"),
      let seconds = effort.numbers("deviceSeconds")
    else { return [] }
    return zip(names, seconds).filter { $1 > 0 }.map { ($0, $1) }
  }

  /// The outcome of training, as far as the report distinguishes it.
  enum Fate {
    /// It is in a version.
    case used
    /// Its work was lost.
    case wasted
    /// It, or its update, was under way as the run ended.
    case underWay

    private static let good = [
      "aggregated", "finished", "submittedPartial", "delivered", "trained",
    ]

    /// By the name of an outcome, of work or of a ledger.
    init(_ outcome: String) {
      if Self.good.contains(outcome) {
        self = .used
      } else if outcome.lowercased().hasSuffix("unfinishedatend") || outcome == "unread" {
        self = .underWay
      } else {
        self = .wasted
      }
    }

    /// Its look in figures.
    var look: Int {
      switch self {
      case .used: 2
      case .wasted: 1
      case .underWay: 7
      }
    }
  }

  /// The share of devices' training time whose work was lost, of what had ended; nil:
  /// nothing had, or it is not known.
  var wastedShare: Double? {
    let (used, wasted) = (seconds(.used), seconds(.wasted))
    return used + wasted > 0 ? wasted / (used + wasted) : nil
  }

  /// The share of devices' training time whose work was under way at the end; nil: not known.
  var openShare: Double? {
    let all = effort.reduce(0) { $0 + $1.seconds }
    return all > 0 ? seconds(.underWay) / all : nil
  }

  private func seconds(_ fate: Fate) -> Double {
    effort.filter { Fate($0.outcome) == fate }.reduce(0) { $0 + $1.seconds }
  }

  /// A count of an outcome in a ledger.
  func ledger(_ name: String, _ outcome: String) -> Double? {
    guard let ledger = document.table("ledger"),
      let words = ledger.words(String(name.dropLast()) + "Outcome"),
      let counts = ledger.numbers(name), let place = words.firstIndex(of: outcome)
    else { return nil }
    return counts[place]
  }
}

/// A curve thinned to this many points, the same ones every time: of each stretch of places the
/// first, the lowest, the highest and the last.
package func thinned(_ points: [Figure.Point], to count: Int) -> [Figure.Point] {
  guard points.count > max(4, count) else { return points }
  let stretches = max(1, count / 4)
  var kept: [Figure.Point] = []
  for stretch in 0..<stretches {
    let range = (stretch * points.count / stretches)..<((stretch + 1) * points.count / stretches)
    guard let first = range.first, let last = range.last else { continue }
    var (low, high) = (first, first)
    for place in range {
      if points[place].y < points[low].y { low = place }
      if points[place].y > points[high].y { high = place }
    }
    var before = -1
    for place in [first, low, high, last].sorted() where place != before {
      kept.append(points[place])
      before = place
    }
  }
  return kept
}

/// A step function's points, its last value kept until the end.
func extended(_ points: [Figure.Point], to end: Double) -> [Figure.Point] {
  guard let last = points.last, end > last.x else { return points }
  return points + [.init(end, last.y)]
}
