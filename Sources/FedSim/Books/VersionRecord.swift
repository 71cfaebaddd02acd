/// One published model: the numbers that every version has, and what only some versions have.
///
/// A new number belongs in `VersionFigures`; a new part, stored here, in `VersionLog` too.
@dynamicMemberLookup
public struct VersionRecord: Sendable, Codable {
  /// Its number; 0 is the initial model.
  public let version: Int
  /// The numbers that every version has; each is a member of the record too, as `record.round`.
  public package(set) var figures: VersionFigures
  /// Mean of the accuracies that came with its updates; nil: not asked for.
  public let averageAccuracy: Double?
  /// Root of the mean squared error on its devices' own validation samples, NaN without any; nil:
  /// targets are no numbers.
  public let validationRMSE: Double?
  /// Its evaluation, where it was due.
  public package(set) var evaluation: CentralEvaluation?
  /// Its accuracy over the devices, where it was due.
  public package(set) var federated: FederatedEvaluation.Summary?
  /// What it may tell of a device, and how updates are clipped; nil: neither is looked at.
  public package(set) var privacy: PrivacyRecord?
  /// Labels of its updates' samples, each update's counted once; empty where not recorded.
  public package(set) var labelCounts: [Int64]
  /// L2 norm of each tensor, and of its change since the version before (NaN for the initial
  /// model); empty where not recorded.
  public package(set) var norms: [TensorNorms]
  /// What each group of the fleet counts in the version after it; empty where groups have no
  /// weights.
  public package(set) var groupWeights: [Double]

  /// One of its figures.
  @inlinable @inline(__always)
  public subscript<Value>(dynamicMember path: KeyPath<VersionFigures, Value>) -> Value {
    figures[keyPath: path]
  }

  /// One of its figures, to be set.
  @inline(__always)
  package subscript<Value>(dynamicMember path: WritableKeyPath<VersionFigures, Value>) -> Value {
    get { figures[keyPath: path] }
    set { figures[keyPath: path] = newValue }
  }
}

extension VersionRecord {
  package init(
    version: Int, publishedAt: SimTime, round: Int, updates: Int, devices: Int, samples: Int,
    samplesProcessed: Int, trainingLoss: Double, validationAccuracy: Double,
    validationRMSE: Double? = nil, averageAccuracy: Double? = nil, meanStaleness: Double,
    maximumStaleness: Int, meanStalenessSeconds: Double, evaluation: CentralEvaluation?,
    federated: FederatedEvaluation.Summary?
  ) {
    var figures = VersionFigures()
    figures.publishedAt = publishedAt
    figures.round = round
    figures.updates = updates
    figures.devices = devices
    figures.samples = samples
    figures.samplesProcessed = samplesProcessed
    figures.trainingLoss = trainingLoss
    figures.validationAccuracy = validationAccuracy
    figures.meanStaleness = meanStaleness
    figures.maximumStaleness = maximumStaleness
    figures.meanStalenessSeconds = meanStalenessSeconds
    self.init(
      version: version, figures: figures, averageAccuracy: averageAccuracy,
      validationRMSE: validationRMSE, evaluation: evaluation, federated: federated, privacy: nil,
      labelCounts: [], norms: [],
      groupWeights: [])
  }
}

/// What a version may tell of a device, and how its updates were clipped.
public struct PrivacyRecord: Sendable, Codable, Equatable {
  /// ε of all versions up to it; NaN where none is counted.
  public let epsilon: Double
  /// Deviation of the noise on each parameter of its step; NaN without any.
  public let noise: Double
  /// The bound that the server tells with it; NaN where it tells none.
  public let bound: Double
  /// The share of its updates that were within their bounds; NaN without any.
  public let within: Double
}
