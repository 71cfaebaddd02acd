import Schema

/// Devices that train nothing: they format what they collect as files and send them to a store,
/// where a central training reads them.
///
/// Source: SwiftyForesight; `mode` says where its code does other than its documentation.
public struct CollectionSettings: PartSettings {
  /// What the library does, and what it says that it does.
  public enum Mode: String, CaseIterable, Sendable {
    /// As its documentation says.
    case asDocumented
    /// A retry empties the list of failed uploads first, and what fails again is forgotten; an
    /// upload that a kill cuts off is forgotten, too; a fetch fails where the model's file exists;
    /// erasure takes what is in the store under names that begin with the user's, and never
    /// metadata.
    case asCoded
  }

  /// How many data objects an app has.
  public enum Objects: String, CaseIterable, Sendable {
    /// One for each model: each formats its own files.
    case perModel
    /// One for all: a file is for all models.
    case shared
  }

  /// When the app tries failed uploads again.
  public enum Retry: String, CaseIterable, Sendable { case never, onActivation, everySession }

  /// Where the user's name is kept.
  public enum UserID: String, CaseIterable, Sendable {
    /// It survives the app.
    case keychain
    /// It goes with the app: a user who reinstalls it counts as another user.
    case userDefaults
  }

  /// Which of the two.
  public var mode = Mode.asDocumented
  /// The models that data are collected for, and that are fetched; nil: all.
  public var models: [String]?
  /// How many data objects there are.
  public var objects = Objects.perModel
  /// How long the app waits after formatting one file before it formats the next.
  public var spacing = SimDuration.seconds(1)
  /// New samples without which nothing is formatted.
  public var minimumSamples = 1
  /// Whether lines begin with a time.
  public var timestamps = true
  /// Whether a sample is a line for each of its steps.
  public var sequences = false
  /// Characters of a feature's value; nil: as many as the value has.
  public var charactersPerValue: Int?
  /// A record next to each file; nil: none is sent.
  public var metadata: MetadataSettings?
  /// When failed uploads are tried again.
  public var retry = Retry.everySession
  /// The error log is cleared when its files have more bytes; nil: never.
  public var clearAbove: Int64?
  /// Where the user's name is kept.
  public var userID = UserID.keychain
  /// How models reach the device; nil: they do not.
  public var fetch: FetchSettings?

  public init() {}
  public static var shorthand: String? { "mode" }
  public static var fields: [Field<CollectionSettings>] {
    [
      Field(
        "mode", \.mode, .choice,
        "The library as documented, or as coded: a failed upload that fails again "
          + "is forgotten, fetches fail where a file exists, and erasure matches name prefixes"
      ),
      Field(
        "models", \.models, feature: .list(of: .identifier, minimum: 1),
        "The models for which data are collected, and which are fetched; absent: all"),
      Field(
        "objects", \.objects, .choice,
        "A data object with separate files for each model, or one shared by all"),
      Field(
        "spacing", \.spacing, .duration(), assumption: true,
        "Pause of the app after each file that it formats; files of one "
          + "user and second have the same name"),
      Field(
        "minimumSamples", \.minimumSamples, .integer(1...100_000_000),
        "Minimum number of new samples for a file"),
      Field(
        "timestamps", \.timestamps, .flag, "Begin each line with a time (hasTimestamp)"),
      Field(
        "sequences", \.sequences, .flag,
        "Write a line for each step of a sample, each with the label vector; else one line"),
      Field(
        "charactersPerValue", \.charactersPerValue, feature: .integer(1...1000),
        "Characters per feature value; absent: as many as Swift prints for each value"),
      Field(
        "metadata", \.metadata, feature: .settings(),
        "A record sent after each file, by user and second; absent: none"),
      Field(
        "retry", \.retry, .choice,
        "When the app retries failed uploads, once per session (retryFailedUploads)"),
      Field(
        "clearAbove", \.clearAbove, feature: .bytes,
        "The app clears the error log and its files above this many bytes (clearErrorLogs); "
          + "absent: never"),
      Field(
        "userID", \.userID, .choice,
        "Where the user's name is stored: with userDefaults the user is another one after a "
          + "re-installation"),
      Field(
        "fetch", \.fetch, feature: .settings(),
        "How models reach the device: downloaded, compiled, used; absent: not at all"),
    ]
  }
}

/// Metadata next to files: an item whose keys are the user and the second of its device's clock.
public struct MetadataSettings: PartSettings {
  /// The size of an item.
  public var bytes: Int64 = 200

  public init() {}
  public static var shorthand: String? { "bytes" }
  public static var fields: [Field<MetadataSettings>] {
    [Field("bytes", \.bytes, .bytes, assumption: true, "Size of an item on the wire")]
  }
  public func contradictions() -> [(key: String, message: String)] {
    bytes > 400_000 ? [("bytes", "an item of DynamoDB has at most 400 kB")] : []
  }
}

/// How models reach a device that collects.
public struct FetchSettings: PartSettings {
  /// How long after a model came it is fetched again.
  public var every = SimDuration.days(1)
  /// How long it takes to compile.
  public var compile = SimDuration.seconds(1)
  /// Whether the file is removed once it is compiled; nil: as documented it is, as coded it stays.
  public var removesFile: Bool?

  public init() {}
  public static var shorthand: String? { "every" }
  public static var fields: [Field<FetchSettings>] {
    [
      Field(
        "every", \.every, .duration(), assumption: true,
        "Time after a model's arrival until the app fetches again, in the next session"),
      Field("compile", \.compile, .duration(), assumption: true, "Time to compile a model"),
      Field(
        "removesFile", \.removesFile, feature: .flag,
        "Remove the downloaded file after compilation; absent: yes as documented, no as coded"),
    ]
  }
}
