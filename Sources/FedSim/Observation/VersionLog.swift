import Learning

/// The records of a run's versions, packed: some hundred and sixty bytes each, and its evaluations
/// where there are any.
///
/// Figures are kept as they are, so a new one needs nothing here; a new part of the record does.
public struct VersionLog: Sendable, Codable {
  private struct Row: Sendable, Codable {
    var figures: VersionFigures
    /// Places in the lists of evaluations; −1: none.
    var evaluation: Int32
    var federated: Int32
  }

  private var rows = PagedArray<Row>()
  private var evaluations = PagedArray<CentralEvaluation>()
  private var federated = PagedArray<FederatedEvaluation.Summary>()
  /// One per version, or none.
  private var averages = PagedArray<Double>()
  private var errors = PagedArray<Double>()
  private var privacy = PagedArray<PrivacyRecord>()
  /// This many per version, or none.
  private var labels = PagedArray<Int64>()
  private var norms = PagedArray<TensorNorms>()
  private var groupWeights = PagedArray<Double>()

  /// A log of nothing.
  public init() {}

  /// How many versions there are.
  public var count: Int { rows.count }

  /// Adds the next version, from 0.
  public mutating func append(_ record: VersionRecord) {
    precondition(record.version == rows.count, "versions come in order")
    rows.append(
      Row(
        figures: record.figures,
        evaluation: record.evaluation == nil ? -1 : Int32(evaluations.count),
        federated: record.federated == nil ? -1 : Int32(federated.count)))
    for count in record.labelCounts { labels.append(count) }
    for norm in record.norms { norms.append(norm) }
    for weight in record.groupWeights { groupWeights.append(weight) }
    if let evaluation = record.evaluation { evaluations.append(evaluation) }
    if let summary = record.federated { federated.append(summary) }
    if let average = record.averageAccuracy { averages.append(average) }
    if let error = record.validationRMSE { errors.append(error) }
    if let told = record.privacy { privacy.append(told) }
  }

  /// The version of a number.
  public subscript(version: Int) -> VersionRecord {
    let row = rows[version]
    return VersionRecord(
      version: version, figures: row.figures,
      averageAccuracy: version < averages.count ? averages[version] : nil,
      validationRMSE: version < errors.count ? errors[version] : nil,
      evaluation: row.evaluation < 0 ? nil : evaluations[Int(row.evaluation)],
      federated: row.federated < 0 ? nil : federated[Int(row.federated)],
      privacy: version < privacy.count ? privacy[version] : nil,
      labelCounts: part(of: labels, version), norms: part(of: norms, version),
      groupWeights: part(of: groupWeights, version))
  }

  /// A version's part of a list that has as many elements for each.
  private func part<Element>(of list: PagedArray<Element>, _ version: Int) -> [Element] {
    let size = list.count / rows.count
    return (version * size..<(version + 1) * size).map { list[$0] }
  }

  /// All of them, from the initial model on.
  public var records: [VersionRecord] { (0..<count).map { self[$0] } }
}
