import Results

/// One result as a report sees it.
public struct ReportRun: Sendable {
  /// The result's path, as it was given.
  public let path: String
  /// What is in it.
  public let document: ResultDocument
  /// The scenario's name.
  public let title: String
  /// The scenario's seed.
  public let seed: UInt64
  /// The resolved scenario without its seed: results of one policy have this in common.
  let settings: String
  let versions: ResultTable?

  /// A result that was read from a path.
  public init(_ path: String, _ document: ResultDocument) {
    self.path = path
    self.document = document
    title = document.title
    seed = document.seed ?? 0
    versions = document.table("versions")
    settings = Self.policy(document.scenarioText ?? path)
  }

  /// A resolved scenario without its seed and without what it has recorded.
  private static func policy(_ text: String) -> String {
    var kept: [Substring] = []
    var isRecord = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let first = line.first, first != " ", first != "-" { isRecord = line.hasPrefix("record:") }
      if !isRecord, !line.hasPrefix("seed:") { kept.append(line) }
    }
    return kept.joined(separator: "\n")
  }

  /// The file's name without folder and ending.
  var stem: String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return name.hasSuffix(".h5") ? String(name.dropLast(3)) : name
  }

  /// How long the run was, in simulated seconds.
  var length: Double { document.table("")?.number("simulatedTime") ?? 0 }

  /// A column of `versions` over another, without the places where either is not known.
  func curve(_ column: String, over axis: Along) -> [Figure.Point] {
    guard let versions, let values = versions.numbers(column), let places = places(axis) else {
      return []
    }
    return zip(places, values).filter { $0.isFinite && $1.isFinite }.map { .init($0, $1) }
  }

  /// What a curve is drawn over.
  enum Along: CaseIterable {
    case time, versions, bytes, joules

    var axis: Figure.Axis {
      switch self {
      case .time: .init("simulated time", .time, includesZero: true)
      case .versions: .init("version", .number, includesZero: true)
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

  private func places(_ axis: Along) -> [Double]? {
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
  func end(_ axis: Along) -> Double {
    axis == .time ? length : places(axis)?.last ?? 0
  }

  /// Amounts of training by what became of it, in words; the seconds of devices.
  var effort: [(outcome: String, seconds: Double)] {
    guard let effort = document.table("effort"), let names = effort.words("outcome"),
      let seconds = effort.numbers("deviceSeconds")
    else { return [] }
    return zip(names, seconds).filter { $1 > 0 }.map { ($0, $1) }
  }

  /// The share of devices' training time that came to nothing; nil: not known.
  var wastedShare: Double? {
    let all = effort.reduce(0) { $0 + $1.seconds }
    guard all > 0 else { return nil }
    return effort.filter { $0.outcome != "aggregated" }.reduce(0) { $0 + $1.seconds } / all
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

/// Results of one policy, a seed each.
struct ReportGroup {
  /// What it is called in legends and tables.
  var name: String
  /// The results, by seed.
  var runs: [ReportRun]
  /// Its look in figures.
  var look: Int

  /// The groups among some results, in the order in which they first come.
  static func groups(_ runs: [ReportRun]) -> [ReportGroup] {
    var groups: [ReportGroup] = []
    for run in runs {
      if let place = groups.firstIndex(where: { $0.runs[0].settings == run.settings }) {
        groups[place].runs.append(run)
      } else {
        groups.append(ReportGroup(name: run.title, runs: [run], look: groups.count))
      }
    }
    for place in groups.indices {
      groups[place].runs.sort { ($0.seed, $0.path) < ($1.seed, $1.path) }
      let isAlone = groups.count { $0.runs[0].title == groups[place].runs[0].title } == 1
      if !isAlone || groups[place].name.isEmpty { groups[place].name = groups[place].runs[0].stem }
    }
    return groups
  }
}

/// A curve thinned to so many points, the same ones every time: of each stretch of places the first,
/// the lowest, the highest and the last.
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
