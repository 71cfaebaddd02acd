import Learning

/// One model's accuracy on each device's own samples, as an oracle sees it: no virtual time, no
/// events, no draws. Where targets are numbers it is the RMSE, whose best tenth is the lowest.
public struct FederatedEvaluation: Sendable, Equatable, Codable {
  /// Which of its client's samples a device is evaluated on: the first of these that there are.
  public enum Samples: String, CaseIterable, Sendable {
    /// Its user's part of the test set, where the source divides it and the partition is by user.
    case test
    /// Those kept back for validation.
    case validation
    /// Those it trains on, for lack of any other.
    case training
    /// It has none and does not count.
    case none
  }

  /// The spread over the devices that have samples; NaN where none has.
  public struct Summary: Sendable, Equatable, Codable {
    /// Devices evaluated.
    public let devices: Int
    /// Mean of their accuracies, each device counting the same.
    public let mean: Double
    /// That of all samples together: right answers by answers, or the RMSE over all.
    public let weightedMean: Double
    /// Mean of the ⌈n/10⌉ worst of n accuracies.
    public let worstTenth: Double
    /// Mean of the ⌈n/10⌉ best of n accuracies.
    public let bestTenth: Double
    /// Standard deviation of the accuracies about their mean, with n as divisor.
    public let standardDeviation: Double
  }

  /// By device; NaN for a device without samples.
  public let accuracies: [Double]
  /// The spread over devices.
  public let summary: Summary

  /// The spread of these evaluations, one per device; one of no samples does not count.
  ///
  /// Order: means and deviations are summed in device order, tenths from their outer end inwards.
  public init(_ evaluations: [Evaluation], of targets: Dataset.TargetKind = .classes) {
    accuracies = evaluations.map { $0.score(targets) }
    let known = accuracies.filter { !$0.isNaN }
    let count = Double(known.count)
    let mean = known.reduce(0, +) / count
    let squares = known.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    let sorted = targets == .values ? known.sorted(by: >) : known.sorted()
    let tenth = (known.count + 9) / 10
    var all = Evaluation(count: 0, correct: 0, lossSum: 0)
    for evaluation in evaluations { all += evaluation }
    summary = Summary(
      devices: known.count, mean: mean,
      weightedMean: all.score(targets),
      worstTenth: sorted.prefix(tenth).reduce(0, +) / Double(tenth),
      bestTenth: sorted.reversed().prefix(tenth).reduce(0, +) / Double(tenth),
      standardDeviation: (squares / count).squareRoot())
  }
}

extension LearningTask {
  /// What a device with a client's data is evaluated on: positions in the test set for `.test`,
  /// else in the training pool.
  public func heldOut(
    by client: Int
  ) -> (samples: FederatedEvaluation.Samples, indices: [Int32]) {
    guard client < partition.clientCount else { return (.none, []) }
    if client < clientTests.count, !clientTests[client].isEmpty {
      return (.test, clientTests[client])
    }
    if !partition.validation[client].isEmpty { return (.validation, partition.validation[client]) }
    let shard = partition.shards[client]
    return shard.isEmpty ? (.none, []) : (.training, shard)
  }
}
