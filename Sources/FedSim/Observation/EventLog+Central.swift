extension EventLog {
  /// The words for what can happen on the way of a file, of metadata or of a model, in the order of
  /// their codes.
  static let centralKinds = [
    "fileFormatted", "fileUploadBegan", "fileUploadFailed", "fileStored", "metadataStored",
    "metadataFailed", "fileEnded", "uploadsRetried", "dataCleared", "errorLogCleared",
    "fetchFailed", "modelInUse", "centralTrainingBegan", "centralPublished",
  ]

  /// The parts of such a step, by codes.
  static func facts(of step: CentralStep) -> Facts {
    switch step {
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
