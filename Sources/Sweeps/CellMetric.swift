import Results

/// One number of a cell's result that tables hold.
struct CellMetric: Sendable {
  /// The column's name.
  let name: String
  /// The unit, in UDUNITS' spelling.
  let unit: String
  /// What it is.
  let text: String
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
  static let all: [CellMetric] = [
    CellMetric("versions", "last version") { $0.column("version").last ?? .nan },
    CellMetric("rounds", "rounds that were closed or open at the end") {
      Double($0["rounds"]?[variable: "round"]?.values.count ?? 0)
    },
    CellMetric("simulatedTime", "virtual time at which the run ended", unit: "s") {
      $0.root[variable: "simulatedTime"]?.values.asDoubles.first ?? .nan
    },
    CellMetric("finalAccuracy", "accuracy of the last version on the test samples") {
      $0.column("centralAccuracy").lastNumber
    },
    CellMetric("bestAccuracy", "best accuracy of any evaluated version on the test samples") {
      $0.column("centralAccuracy").most
    },
    CellMetric("bestVersion", "first version with that accuracy") { document in
      let accuracies = document.column("centralAccuracy")
      let best = accuracies.most
      guard let place = accuracies.firstIndex(of: best) else { return .nan }
      return document.column("version")[place]
    },
    CellMetric("finalLoss", "loss of the last version on the test samples") {
      $0.column("centralLoss").lastNumber
    },
    CellMetric(
      "finalValidationAccuracy", "accuracy of the last version on all validation samples together"
    ) { $0.column("centralValidationAccuracy").lastNumber },
    CellMetric("bestValidationAccuracy", "best accuracy of any version on these") {
      $0.column("centralValidationAccuracy").most
    },
    CellMetric("finalValidationLoss", "loss of the last version on these") {
      $0.column("centralValidationLoss").lastNumber
    },
    CellMetric("deviceAccuracy", "accuracy that the last version's devices found on their own") {
      $0.column("validationAccuracy").lastNumber
    },
    CellMetric("aggregatedUpdates", "updates aggregated in all versions") {
      $0.column("updates").reduce(0, +)
    },
    CellMetric("meanStaleness", "mean over versions of their updates' mean staleness") {
      let values = $0.column("meanStaleness").dropFirst().filter { !$0.isNaN }
      return values.isEmpty ? .nan : values.reduce(0, +) / Double(values.count)
    },
    CellMetric("bytesUp", "bytes that devices sent", unit: "byte") { $0.ledger("bytesUp") },
    CellMetric("bytesDown", "bytes that devices received", unit: "byte") {
      $0.ledger("bytesDown")
    },
    CellMetric("batchesUsed", "batches done that are in an update") { $0.ledger("batchesUsed") },
    CellMetric("batchesWasted", "batches done whose result was thrown away") {
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
  /// The last that is a number.
  fileprivate var lastNumber: Double { last { !$0.isNaN } ?? .nan }
  /// The largest that is a number.
  fileprivate var most: Double { filter { !$0.isNaN }.max() ?? .nan }
}
