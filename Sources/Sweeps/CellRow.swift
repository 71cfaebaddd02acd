import Results

/// What tables need of one cell's result: a function of the result alone.
public struct CellRow: Codable, Equatable, Sendable {
  /// The metrics, in the order of the tables' columns; nil: not a number.
  var metrics: [Double?]
  /// The time to each target accuracy, in seconds; nil: it was not reached.
  var times: [Double?]
  /// Digest of the run's events.
  package var eventDigest: String
  /// Digest of the result's content.
  package var contentDigest: String
  /// Columns of `versions`, a number per version; in the order of `curveNames`.
  var curves: [[Double?]]

  /// The columns of `versions` that tables hold, with unit and meaning.
  static let curveNames: [(name: String, unit: String, text: String)] = [
    ("publishedAt", "s", "simulated time of publication"),
    ("centralAccuracy", "1", "accuracy on the test samples"),
    ("centralLoss", "1", "loss on the test samples"),
    ("centralValidationAccuracy", "1", "accuracy on all validation samples"),
  ]

  /// The row of a result.
  init(_ document: ResultDocument, targets: [Double]) {
    func finite(_ value: Double) -> Double? { value.isFinite ? value : nil }
    metrics = CellMetric.all.map { finite($0.value(document)) }
    let times = document.column("publishedAt")
    let accuracies = document.column("centralAccuracy")
    self.times = targets.map { target in
      zip(times, accuracies).first { $0.1 >= target }?.0
    }
    eventDigest = document.text("eventDigest")
    contentDigest = document.text(ResultDocument.digestAttribute)
    curves = Self.curveNames.map { document.column($0.name).map(finite) }
  }

  /// A metric by its name.
  package func metric(_ name: String) -> Double? {
    CellMetric.all.firstIndex { $0.name == name }.flatMap { metrics[$0] }
  }

  /// What variants are compared by at a rung.
  func score(_ metric: String) -> Double? {
    switch metric {
    case "centralValidationAccuracy": self.metric("finalValidationAccuracy")
    case "centralValidationLoss": self.metric("finalValidationLoss")
    case "validationAccuracy": self.metric("deviceAccuracy")
    default: nil
    }
  }
}

extension ResultDocument {
  /// A text among the root's attributes; "" where there is none.
  func text(_ name: String) -> String {
    guard case .text(let text)? = root[attribute: name] else { return "" }
    return text
  }
}
