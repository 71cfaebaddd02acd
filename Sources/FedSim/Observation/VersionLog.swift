import Learning

/// The records of a run's versions, packed: some hundred and fifty bytes each, and its evaluations
/// where there are any.
public struct VersionLog: Sendable, Codable {
  private struct Row: Sendable, Codable {
    var publishedAt: SimTime
    var samples: Int64
    var samplesProcessed: Int64
    var trainingLoss: Double
    var validationAccuracy: Double
    var meanStaleness: Double
    var meanStalenessSeconds: Double
    var round: Int32
    var updates: Int32
    var devices: Int32
    var maximumStaleness: Int32
    /// Places in the lists of evaluations; −1: none.
    var evaluation: Int32
    var federated: Int32
    var progress: Progress
    var withoutVersion: Int32
    var heldAccuracy: Double
  }

  private var rows = Pages<Row>()
  private var evaluations = Pages<CentralEvaluation>()
  private var federated = Pages<FederatedEvaluation.Summary>()
  /// One a version, or none.
  private var averages = Pages<Double>()
  private var privacy = Pages<PrivacyRecord>()
  /// So many a version, or none.
  private var labels = Pages<Int64>()
  private var norms = Pages<TensorNorms>()
  private var groupWeights = Pages<Double>()

  /// A log of nothing.
  public init() {}

  /// How many versions there are.
  public var count: Int { rows.count }

  /// Adds the next version, from 0.
  public mutating func append(_ record: VersionRecord) {
    precondition(record.version == rows.count, "versions come in order")
    rows.append(
      Row(
        publishedAt: record.publishedAt, samples: Int64(record.samples),
        samplesProcessed: Int64(record.samplesProcessed), trainingLoss: record.trainingLoss,
        validationAccuracy: record.validationAccuracy, meanStaleness: record.meanStaleness,
        meanStalenessSeconds: record.meanStalenessSeconds, round: Int32(record.round),
        updates: Int32(record.updates), devices: Int32(record.devices),
        maximumStaleness: Int32(record.maximumStaleness),
        evaluation: record.evaluation == nil ? -1 : Int32(evaluations.count),
        federated: record.federated == nil ? -1 : Int32(federated.count),
        progress: record.progress, withoutVersion: Int32(record.withoutVersion),
        heldAccuracy: record.heldAccuracy))
    for count in record.labelCounts { labels.append(count) }
    for norm in record.norms { norms.append(norm) }
    for weight in record.groupWeights { groupWeights.append(weight) }
    if let evaluation = record.evaluation { evaluations.append(evaluation) }
    if let summary = record.federated { federated.append(summary) }
    if let average = record.averageAccuracy { averages.append(average) }
    if let told = record.privacy { privacy.append(told) }
  }

  /// The version of a number.
  public subscript(version: Int) -> VersionRecord {
    let row = rows[version]
    var record = VersionRecord(
      version: version, publishedAt: row.publishedAt, round: Int(row.round),
      updates: Int(row.updates), devices: Int(row.devices), samples: Int(row.samples),
      samplesProcessed: Int(row.samplesProcessed), trainingLoss: row.trainingLoss,
      validationAccuracy: row.validationAccuracy,
      averageAccuracy: version < averages.count ? averages[version] : nil,
      meanStaleness: row.meanStaleness, maximumStaleness: Int(row.maximumStaleness),
      meanStalenessSeconds: row.meanStalenessSeconds,
      evaluation: row.evaluation < 0 ? nil : evaluations[Int(row.evaluation)],
      federated: row.federated < 0 ? nil : federated[Int(row.federated)])
    record.progress = row.progress
    record.withoutVersion = Int(row.withoutVersion)
    record.heldAccuracy = row.heldAccuracy
    record.privacy = version < privacy.count ? privacy[version] : nil
    record.labelCounts = part(of: labels, version)
    record.norms = part(of: norms, version)
    record.groupWeights = part(of: groupWeights, version)
    return record
  }

  /// A version's part of a list that has as many elements for each.
  private func part<Element>(of list: Pages<Element>, _ version: Int) -> [Element] {
    let size = list.count / rows.count
    return (version * size..<(version + 1) * size).map { list[$0] }
  }

  /// All of them, from the initial model on.
  public var records: [VersionRecord] { (0..<count).map { self[$0] } }
}
