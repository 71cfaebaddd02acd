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
}
