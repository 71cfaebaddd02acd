import FedSim
import Results

/// One number of a cell's result that tables hold.
struct CellMetric: Sendable {
  /// The column's name.
  let name: String
  /// The unit, in UDUNITS' spelling.
  let unit: String
  /// The metric in a few words.
  let text: String
  /// Whether every table has it; others have it if a cell has a number.
  var isAlwaysThere = true
  /// The number, NaN where the run has none.
  let value: @Sendable (ResultDocument) -> Double

  init(
    _ name: String, _ text: String, unit: String = "1",
    _ value: @escaping @Sendable (ResultDocument) -> Double
  ) {
    self.name = name
    self.unit = unit
    self.text = text
    self.value = value
  }

  /// All of them, in the order of the columns.
  static let all =
    ofRun
    + VersionColumn.byWorth.flatMap { column in column.summaries.map { CellMetric($0, of: column) }
    }
    + ofLedger

  /// What summarises a column of versions over the run.
  init(_ summary: VersionSummary, of column: VersionColumn) {
    let unit = summary.kind == .versionOfMost ? "1" : column.unit
    self.init(summary.name, summary.text, unit: unit) { document in
      document.column(column.name).figure(summary.kind, document.column("version"))
    }
    isAlwaysThere = column.presence.words.isEmpty
  }

  private static let ofRun: [CellMetric] = [
    CellMetric("versions", "last version") { $0.column("version").last ?? .nan },
    CellMetric("rounds", "rounds that were closed, or open at the end") {
      Double($0["rounds"]?[variable: "round"]?.values.count ?? 0)
    },
    CellMetric("simulatedTime", "virtual time at which the run ended", unit: "s") {
      $0.root[variable: "simulatedTime"]?.values.asDoubles.first ?? .nan
    },
  ]

  private static let ofLedger: [CellMetric] = [
    CellMetric("bytesUp", "bytes sent by devices", unit: "byte") { $0.ledger("bytesUp") },
    CellMetric("bytesDown", "bytes received by devices", unit: "byte") {
      $0.ledger("bytesDown")
    },
    CellMetric("batchesUsed", "finished batches that are in an update") {
      $0.ledger("batchesUsed")
    },
    CellMetric("batchesWasted", "finished batches whose result was discarded") {
      $0.ledger("batchesWasted")
    },
  ]
}

extension ResultDocument {
  /// A column of `versions`; empty where there is none.
  func column(_ name: String) -> [Double] {
    self["versions"]?[variable: name]?.values.asDoubles ?? []
  }

  fileprivate func ledger(_ name: String) -> Double {
    self["ledger"]?[variable: name]?.values.asDoubles.first ?? .nan
  }
}

extension [Double] {
  /// The summary of the values of these versions; NaN where none of them is a number.
  fileprivate func figure(_ kind: VersionSummary.Kind, _ versions: [Double]) -> Double {
    switch kind {
    case .last: return last { !$0.isNaN } ?? .nan
    case .most: return most
    case .least: return filter { !$0.isNaN }.min() ?? .nan
    case .versionOfMost: return firstIndex(of: most).map { versions[$0] } ?? .nan
    case .sum: return isEmpty ? .nan : reduce(0, +)
    case .mean:
      let values = dropFirst().filter { !$0.isNaN }
      return values.isEmpty ? .nan : values.reduce(0, +) / Double(values.count)
    }
  }

  /// The largest that is a number.
  private var most: Double { filter { !$0.isNaN }.max() ?? .nan }
}
