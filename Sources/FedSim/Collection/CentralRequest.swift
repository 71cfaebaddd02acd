/// What a device that collects asks of the store.
public enum CentralRequest: Equatable, Sendable, Codable {
  /// Keep this file.
  case file(Int32)
  /// Keep the metadata of this file.
  case item(Int32)
  /// Send the newest version of this model.
  case model(Int32)
  /// Remove what the user has stored.
  case remove(Erasure)

  /// Words that tell it from every other, for the run's digest.
  func words(_ device: Int32) -> [UInt64] {
    let (kind, number): (UInt64, Int32) =
      switch self {
      case .file(let file): (1, file)
      case .item(let file): (2, file)
      case .model(let model): (3, model)
      case .remove(let scope): (4, Int32(Erasure.allCases.firstIndex(of: scope)!))
      }
    return [
      pack(.storeRequest, device, kind),
      UInt64(UInt32(bitPattern: number)),
    ]
  }
}

/// What the store answers.
public enum CentralResponse: Equatable, Sendable, Codable {
  /// It is kept.
  case kept
  /// A version of a model follows.
  case model(Int32, version: Int32)
  /// There is no version of it.
  case noModel

  /// Words that tell it from every other, for the run's digest.
  func words(_ device: Int32) -> [UInt64] {
    var (kind, number): (UInt64, UInt64) = (1, 0)
    switch self {
    case .kept: break
    case .model(let model, let version):
      kind = 2
      number = UInt64(UInt32(bitPattern: model)) << 32 | UInt64(UInt32(bitPattern: version))
    case .noModel: kind = 3
    }
    return [pack(.storeAnswer, device, kind), number]
  }
}

/// A step on the way of a file, of metadata, or of a model.
public enum CentralStep: Equatable, Sendable {
  /// Samples were formatted as a file.
  case formatted(file: Int, samples: Int, bytes: Int64)
  /// A file's upload began.
  case uploadBegan(file: Int)
  /// A file's upload failed; nil: there was no link.
  case uploadFailed(file: Int, TransmissionOutcome?)
  /// The store has a file.
  case stored(file: Int)
  /// The store has a file's metadata.
  case itemStored(file: Int)
  /// The metadata of a file was not sent, and will not be.
  case itemFailed(file: Int)
  /// A file ended.
  case ended(file: Int, FileOutcome)
  /// The app tries this many failed uploads again.
  case retried(files: Int)
  /// This many samples were cleared before they were formatted.
  case dataCleared(samples: Int)
  /// The error log was cleared, with this many files.
  case logCleared(files: Int)
  /// A model was not fetched.
  case fetchFailed(model: Int)
  /// A version of a model was compiled and is in use.
  case inUse(model: Int, version: Int)
  /// The server began to train a model on this many samples.
  case trainingBegan(model: Int, samples: Int)
  /// The server published a version of a model.
  case published(model: Int, version: Int)

  /// The words for what can happen, in the order of their codes.
  static let kinds = [
    "fileFormatted", "fileUploadBegan", "fileUploadFailed", "fileStored", "metadataStored",
    "metadataFailed", "fileEnded", "uploadsRetried", "dataCleared", "errorLogCleared",
    "fetchFailed", "modelInUse", "centralTrainingBegan", "centralPublished",
  ]

  /// Its parts, by codes.
  var facts: EventLog.Facts {
    switch self {
    case .formatted(let file, let samples, _):
      .init("fileFormatted", update: file, count: samples)
    case .uploadBegan(let file): .init("fileUploadBegan", update: file)
    case .uploadFailed(let file, let outcome):
      .init("fileUploadFailed", outcome?.rawValue, update: file)
    case .stored(let file): .init("fileStored", update: file)
    case .itemStored(let file): .init("metadataStored", update: file)
    case .itemFailed(let file): .init("metadataFailed", update: file)
    case .ended(let file, let outcome): .init("fileEnded", outcome.rawValue, update: file)
    case .retried(let files): .init("uploadsRetried", count: files)
    case .dataCleared(let samples): .init("dataCleared", count: samples)
    case .logCleared(let files): .init("errorLogCleared", count: files)
    case .fetchFailed(let model): .init("fetchFailed", count: model)
    case .inUse(let model, let version): .init("modelInUse", version: version, count: model)
    case .trainingBegan(_, let samples): .init("centralTrainingBegan", count: samples)
    case .published(let model, let version):
      .init("centralPublished", version: version, count: model)
    }
  }
}
