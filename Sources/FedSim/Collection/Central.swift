import Learning
import Numerics

/// What devices that collect, the store that they send to, and the training there remember; empty,
/// and never looked at, where no group collects.
public struct Central: Codable {
  /// Whether any group collects: what the rest of the engine looks at.
  public internal(set) var isOn = false
  /// Whether a group's devices collect, by group.
  var collects: [Bool] = []
  /// The places in `models` of what a group's devices fetch, by group.
  var fetched: [[Int]] = []
  /// The models that each data object of a group is for: by group, then by object.
  var objects: [[[Int]]] = []
  /// What each device remembers.
  var collectors = RecordArray<Collector>()
  /// Files that somebody may still ask for.
  var files = SlotMap<FileRecord>()
  /// Files by how they end.
  public internal(set) var ledger = Ledger<FileOutcome>()
  /// The samples of these files.
  public internal(set) var samples = [Int](repeating: 0, count: FileOutcome.allCases.count)
  /// Samples of files that have not ended.
  var openSamples = 0
  /// Numbers of files that came into the store, in the order in which they came; some are gone.
  var store: [Int32] = []
  /// The models that are trained.
  var models: [TrainedModel] = []
  /// The versions that were published, in order.
  public internal(set) var versions: [CentralVersion] = []
  /// Characters that are printed of a feature, by its byte; empty where features are floats.
  var byteWidths: [Int64] = []
  /// What happened, counted.
  public internal(set) var tallies = CentralTallies()
}

extension Central {
  /// The models that are trained centrally.
  public var tasks: [CentralModel] { models.map(\.task) }
  /// The latest parameters of one of them; the initial ones before its first version, and always
  /// where users have personal models.
  public func parameters(of model: Int) -> ParameterBuffer { models[model].parameters }
  /// Whether each user has a personal version of it.
  public func isOwn(_ model: Int) -> Bool { models[model].scope == .user }
  /// The latest parameters of the model that a device's user has alone; nil: there is none.
  public func ownParameters(_ model: Int, of device: Int) -> ParameterBuffer? {
    guard isOn else { return nil }
    let collector = collectors[device]
    return collector.own.last { $0.model == model && $0.user == collector.user }?.parameters
  }

  /// The size of a file of these samples, as a device that collects would write it.
  ///
  /// A line is a time of 12 characters where wanted, the features, and the label vector, `1.0` at
  /// the class and `0.0` else; values are parted by commas and lines end with one character. Other
  /// targets count as three characters each.
  package func csvBytes(
    _ samples: [Int32], _ settings: CollectionSettings, of data: Dataset
  ) -> Int64 {
    let labels = 4 * Int64(data.kind == .classes ? data.classCount : data.targets.width) - 1
    let lines =
      settings.sequences && data.sampleShape.count > 1 ? Int64(data.sampleShape[0]) : 1
    let size = Int64(data.sampleSize)
    var bytes =
      Int64(samples.count) * (lines * ((settings.timestamps ? 13 : 0) + labels + 1) + size)
    if let characters = settings.charactersPerValue {
      return bytes + Int64(samples.count) * size * Int64(characters)
    }
    for sample in samples {
      let first = Int(sample) * data.sampleSize
      switch data.features {
      case .bytes(let values):
        for place in first..<first + data.sampleSize {
          bytes += byteWidths[Int(values[place])]
        }
      case .floats(let values):
        for place in first..<first + data.sampleSize {
          bytes += SampleFiles.width(Double(values[place]))
        }
      }
    }
    return bytes
  }
}

/// A model that is trained at the server.
struct TrainedModel: Codable {
  @Rebuilt var task: CentralModel
  let scope: CentralSettings.Model.Scope
  /// The latest version for all; the initial weights before the first.
  var parameters: ParameterBuffer
  /// The latest version; 0: none.
  var version: Int32 = 0
  /// Epochs done: the slot of the next batch order.
  var nextEpoch: UInt64 = 0
  /// Samples in the store that are new to it.
  var newSamples = 0
  /// The training under way.
  var running: CentralTraining?
  /// The versions' places in the list of all.
  var places: [Int] = []
}

/// A file of samples, from its formatting to its end.
struct FileRecord: Codable {
  let device: Int32
  /// The data object that formatted it.
  let object: Int32
  /// Which of the device's users: 0 the first.
  let user: Int32
  /// The samples: places in the order in which they reached the device.
  let first: Int32
  let count: Int32
  let bytes: Int64
  /// The second of the device's own clock, local, since 1970: the file's name.
  let second: Int64
  let createdAt: SimTime
  /// Whether it is on the device's disk.
  var isKept = true
  /// Whether the app means to send it.
  var isWanted = true
  /// Whether it is in the error log.
  var isListed = false
  /// Whether its present upload was taken out of a list that was emptied.
  var isLastTry = false
  /// Whether its upload is under way.
  var isSending = false
  /// Copies on their way to the store, and copies of its metadata.
  var copiesOnTheWay = 0
  var itemsOnTheWay = 0
  /// Whether the device is sending its metadata.
  var isSendingItem = false
  var inStore = InStore()
  var outcome: FileOutcome?
  /// How it ends if the store never has it, once nobody will send it.
  var fallback = FileOutcome.forgotten

  /// A file as the store has it.
  struct InStore: Codable {
    /// Whether it is there, and since when.
    var isThere = false
    var since = SimTime.never
    /// Whether its samples count as new to models that have not read it.
    var isCounted = false
    /// A bit for each model that has read it.
    var readBy: UInt64 = 0
  }
}

/// How a file of samples ends.
public enum FileOutcome: String, CaseIterable, Sendable, Codable {
  /// A central training has read it.
  case trained
  /// A later file of the same name took its place.
  case overwritten
  /// Its user had it erased before a training read it.
  case erased
  /// The app cleared its error log.
  case cleared
  /// It failed, and no list names it any more: it stays on the device.
  case forgotten
  /// The app was removed.
  case uninstalled
  /// The device left the fleet.
  case deviceLeft
  /// It was in the store when the run ended, and no training had read it.
  case unread
  /// The run ended first: on the device or on its way.
  case unfinishedAtEnd
}

/// What a device that collects remembers.
struct Collector: Codable {
  /// What comes next in a session.
  enum Stage: Equatable, Codable { case start, retry, object(Int), item(Int), fetch(Int), done }

  /// A model on a device.
  struct Model: Codable {
    /// The version in use; −1: the placeholder.
    var inUse: Int32 = -1
    /// Whether a file is where the next download goes.
    var hasFile = false
    /// When it may be fetched again.
    var nextFetch = SimTime.start
  }

  /// A model that compiles.
  struct Compiling: Codable {
    let model: Int
    let version: Int32
    let until: SimTime
  }

  /// Metadata in the store.
  struct Item: Codable {
    let user: Int32
    let second: Int64
    let file: Int32
    let createdAt: SimTime
  }

  /// A model of the user's own at the server.
  struct Own: Codable {
    let model: Int
    let user: Int32
    let version: Int32
    let parameters: ParameterBuffer
  }

  var stage = Stage.start
  /// Which user: 0 the first, one more with each that is lost.
  var user: Int32 = 0
  /// Samples taken so far, by data object: formatted, or cleared before.
  var taken: [Int32] = []
  /// Before then nothing is formatted.
  var notBefore = SimTime.start
  /// Files on the device's disk, in the order of their formatting, and their bytes.
  var kept: [Int32] = []
  var bytes: Int64 = 0
  var mostBytes: Int64 = 0
  /// The error log.
  var log: [Int32] = []
  /// Whether its two lists differ in length.
  var isLogCorrupt = false
  /// What the present retry has still to send.
  var queue: [Int32] = []
  /// The file whose metadata comes next.
  var current: Int32 = -1
  /// The model that compiles, and until when.
  var compiling: Compiling?
  var models: [Model] = []

  // What the store has of its users.
  var stored: [Int32] = []
  var items: [Item] = []
  var own: [Own] = []
  /// Files and metadata made until then are gone there.
  var filesRefusedUntil = SimTime(microseconds: -1)
  var itemsRefusedUntil = SimTime(microseconds: -1)
  /// What it did, counted.
  var counts = CollectorCounts()
}

/// What a device that collects did, counted.
public struct CollectorCounts: Sendable, Equatable, Codable {
  /// Files formatted.
  public internal(set) var files = 0
  /// Samples in them.
  public internal(set) var samples = 0
  /// Its files that came into the store.
  public internal(set) var stored = 0
  /// Its uploads that failed.
  public internal(set) var failed = 0
  /// Its files that trainings read.
  public internal(set) var trained = 0
}
