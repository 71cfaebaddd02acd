import Learning
import Schema

/// A model that is trained at the server, in addition to or instead of the one that devices train.
public struct CentralModel: Sendable {
  /// Its name in scenarios and results.
  public let name: String
  /// Its layers and loss.
  public let network: Network
  /// What its first training begins from.
  public let initial: ParameterBuffer
  /// Epochs, batch size and step.
  public let plan: TrainingPlan
  /// What the task's own model is called.
  public static let ownName = "model"
  /// How the server trains it.
  public let algorithm: any LocalAlgorithm

  /// A model.
  public init(
    name: String, network: Network, initial: ParameterBuffer, plan: TrainingPlan,
    algorithm: any LocalAlgorithm = FedAvgLocal(NoSettings())
  ) {
    self.name = name
    self.network = network
    self.initial = initial
    self.plan = plan
    self.algorithm = algorithm
  }
}

/// One version of a model that was trained centrally.
public struct CentralVersion: Sendable, Codable {
  /// The model's place in the list.
  public let model: Int
  /// The version, from 1.
  public let version: Int
  /// When its training began: what was in the store then was read.
  public let startedAt: SimTime
  /// When it was published.
  public let publishedAt: SimTime
  /// Files that were read.
  public let files: Int
  /// Samples in them.
  public let samples: Int
  /// Of these, samples that no training of this model had read before.
  public let newSamples: Int
  /// Users whose samples they are.
  public let users: Int
  /// Samples processed, repetitions counted.
  public let samplesProcessed: Int
  /// Mean loss over the samples processed.
  public let trainingLoss: Double
  /// On the test samples; nil for users' own models, and where arithmetic is left out.
  public let evaluation: Evaluation?
  /// For users' own models: the mean, over the users trained, of each model's accuracy on the
  /// user's held-out samples, or RMSE where targets are numbers; NaN else.
  public let userAccuracy: Double
  /// As it was published: how many versions behind it the devices that fetch it were, on the
  /// average, the placeholder counted as version 0; NaN where none fetches it.
  public let meanLag: Double
  /// As it was published: the mean accuracy, or RMSE, on the test samples of the versions in use,
  /// over the devices that have one; NaN where none has, and for users' own models.
  public let heldAccuracy: Double
  /// How many devices took it into use.
  public internal(set) var adoptions = 0
  /// How long that took them after it was published, summed over them.
  public internal(set) var adoptionTime = SimDuration.zero
}

/// What happened around the store, counted.
public struct CentralTallies: Sendable, Codable {
  /// Uploads of files that failed, those without a link counted.
  public internal(set) var failedUploads = 0
  /// Times at which an app tried its failed uploads again.
  public internal(set) var retries = 0
  /// Times at which an error log was cleared.
  public internal(set) var clearedLogs = 0
  /// Samples that were cleared before they were formatted.
  public internal(set) var clearedSamples = 0
  /// Files that reached the store again.
  public internal(set) var repeatedFiles = 0
  /// Files in the store whose place a later one of the same name took.
  public internal(set) var overwrittenFiles = 0
  /// Items of metadata that came into the store.
  public internal(set) var items = 0
  /// Items whose place a later one of the same keys took.
  public internal(set) var overwrittenItems = 0
  /// Items that were not sent, and are not tried again.
  public internal(set) var failedItems = 0
  /// Files that were erased in the store, those that a training had read counted.
  public internal(set) var erasedFiles = 0
  /// Of these, files of other users whose names begin alike.
  public internal(set) var erasedOfOthers = 0
  /// Items that were erased in the store.
  public internal(set) var erasedItems = 0
  /// Requests for erasure that did nothing.
  public internal(set) var failedErasures = 0
  /// Files that trainings left out for lack of metadata, each time counted.
  public internal(set) var withoutMetadata = 0
  /// Times at which a training of a model was due and found nothing to read.
  public internal(set) var emptyTrainings = 0
  /// Times at which one was due and the one before was not done.
  public internal(set) var overruns = 0
  /// Models that reached devices.
  public internal(set) var fetches = 0
  /// Fetches that failed, on the way or because a file was there.
  public internal(set) var failedFetches = 0

  package var named: [(name: String, count: Int, text: String)] {
    [
      ("failedUploads", failedUploads, "failed uploads of files"),
      ("retries", retries, "times that an app retried its failed uploads"),
      ("clearedLogs", clearedLogs, "times that an error log was cleared"),
      ("clearedSamples", clearedSamples, "samples cleared before they were formatted"),
      ("repeatedFiles", repeatedFiles, "files that reached the store more than once"),
      (
        "overwrittenFiles", overwrittenFiles,
        "stored files replaced by a later file of the same name"
      ),
      ("items", items, "metadata items that reached the store"),
      ("overwrittenItems", overwrittenItems, "items replaced by a later item with the same keys"),
      ("failedItems", failedItems, "items that were not sent and are never retried"),
      (
        "erasedFiles", erasedFiles,
        "files erased from the store, including files that trainings had read"
      ),
      (
        "erasedOfOthers", erasedOfOthers,
        "erased files of other users whose names have the same prefix"
      ),
      ("erasedItems", erasedItems, "metadata items erased from the store"),
      ("failedErasures", failedErasures, "erasure requests without effect"),
      (
        "withoutMetadata", withoutMetadata,
        "files left out of a training because they have no metadata"
      ),
      (
        "emptyTrainings", emptyTrainings,
        "trainings that were due when the store had nothing to read"
      ),
      ("overruns", overruns, "trainings that were due while the previous one was still running"),
      ("fetches", fetches, "model downloads that reached a device"),
      ("failedFetches", failedFetches, "failed model downloads"),
    ]
  }
}

/// A device that collects, at the end of the run.
public struct CollectorRecord: Sendable {
  /// What it did.
  public let counts: CollectorCounts
  /// Files on its disk.
  public let keptFiles: Int
  /// Their bytes.
  public let keptBytes: Int64
  /// The most bytes that were there at once.
  public let mostBytes: Int64
  /// Of the files there, those in its error log.
  public let logged: Int
  /// Samples that had come and were not formatted, over its data objects.
  public let waiting: Int
  /// The version in use of each model: −1 the placeholder, −2 none, since it does not fetch it.
  public let inUse: [Int]
}
