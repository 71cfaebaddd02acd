import FedSim

/// The progress of a run.
public struct RunStatus: Sendable {
  /// The virtual time.
  public let time: SimTime
  /// The part of the longest possible virtual time that has passed, from 0 to 1.
  public let share: Double
  /// The current version.
  public let version: Int
  /// Devices that are connected; nil where devices are not all at the same time.
  public let online: Int?
  /// Devices that train; nil as above.
  public let training: Int?

  /// The progress of a run now. Complexity: O(devices).
  init(_ simulation: borrowing Simulation) {
    time = simulation.progressTime
    share = time.seconds / max(simulation.end.seconds, 1e-6)
    version = simulation.version
    online = simulation.playsAhead ? nil : simulation.deviceRecords.connectedCount
    training = simulation.playsAhead ? nil : simulation.deviceRecords.trainingCount
  }
}

/// A published version, as a person follows it.
public struct VersionNews: Sendable {
  /// When it was published, in simulated time.
  public let time: SimTime
  /// The name of its model, where it was trained centrally.
  public var model: String?
  /// Its number.
  public let version: Int
  /// Its accuracy on the test samples, where it was evaluated.
  public let accuracy: Double?
  /// Its RMSE on the test samples, where targets are numbers.
  public let rmse: Double?
  /// Updates in it, or files of a central training.
  public let updates: Int
  /// Their mean training loss; NaN for version 0.
  public let loss: Double
}

/// Reports a run's progress.
public final class RunTicker: Observer {
  /// Whether there is a status to tell between versions.
  public let wantsAdvance: Bool
  private let status: ((RunStatus) -> Void)?
  private let news: (VersionNews) -> Void
  private var next = ContinuousClock.now

  /// A ticker; `status` is called at most ten times a second.
  public init(status: ((RunStatus) -> Void)? = nil, news: @escaping (VersionNews) -> Void) {
    wantsAdvance = status != nil
    self.status = status
    self.news = news
  }

  /// Reports the run's progress, if it is time.
  public func advanced(_ simulation: borrowing Simulation) { tell(simulation) }

  /// Tells of a version.
  public func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    let isError = simulation.inputs.task.train.kind == .values
    news(
      VersionNews(
        time: record.publishedAt, version: record.version,
        accuracy: isError ? nil : record.evaluation?.test.accuracy,
        rmse: isError ? record.evaluation?.test.rmse : nil, updates: record.updates,
        loss: record.trainingLoss))
    tell(simulation)
  }

  /// Tells of a version that was trained centrally.
  public func publishedCentrally(
    _ version: CentralVersion, _ simulation: borrowing Simulation
  ) {
    let own = version.userAccuracy.isNaN ? nil : version.userAccuracy
    let targets = simulation.inputs.task.test.kind
    let score = version.evaluation?.score(targets) ?? own
    news(
      VersionNews(
        time: version.publishedAt, model: simulation.collection.tasks[version.model].name,
        version: version.version, accuracy: targets == .values ? nil : score,
        rmse: targets == .values ? score : nil,
        updates: version.files, loss: version.trainingLoss))
    tell(simulation)
  }

  private func tell(_ simulation: borrowing Simulation) {
    guard let status, ContinuousClock.now >= next else { return }
    next = ContinuousClock.now + .milliseconds(100)
    status(RunStatus(simulation))
  }
}
