import Schema

/// Training at the server, on the files that devices have sent to its store.
public struct CentralSettings: PartSettings {
  /// Which files a training reads.
  public enum Data: String, CaseIterable, Sendable { case all, new }
  /// What a training begins from.
  public enum Start: String, CaseIterable, Sendable { case latest, initial }

  /// One model that is trained centrally.
  public struct Model: PartSettings {
    /// Whose samples a model is trained on.
    public enum Scope: String, CaseIterable, Sendable, Codable { case all, user }

    /// Its name in `task.models`, or `model` for the task's own.
    public var name = ""
    /// One model for all, or one for each user.
    public var scope = Scope.all

    public init() {}
    public static var shorthand: String? { "name" }
    public static var fields: [Field<Model>] {
      [
        Field(
          "name", \.name, .identifier, required: true,
          "The model's name in `task.models`; `model` is the task's model"),
        Field(
          "scope", \.scope, .choice,
          "One model for the samples of all users, or one model for each user"),
      ]
    }
  }

  /// A training of every model at each whole multiple of this time; nil: none by time.
  public var every: SimDuration?
  /// A training of a model as soon as this many samples are new to it; nil: none by number.
  public var samples: Int?
  /// Which files a training reads.
  public var data = Data.all
  /// What a training begins from.
  public var from = Start.latest
  /// Whether files without metadata are left out.
  public var requiresMetadata = false
  /// How fast the server trains.
  public var samplesPerSecond = 1000.0
  /// What each training takes besides.
  public var overhead = SimDuration.minutes(1)
  /// The models; nil: those of `task.models`, or the task's own, for all users.
  public var models: [Model]?

  /// The most models, so that what each has read of a file fits into a word.
  public static let mostModels = 64

  public init() {}
  public static var shorthand: String? { "every" }
  public static var fields: [Field<CentralSettings>] {
    [
      Field(
        "every", \.every, optional: .duration(atLeast: .seconds(1)),
        "Train every model at each whole multiple of this time; absent: by `samples` alone"),
      Field(
        "samples", \.samples, optional: .integer(1...1_000_000_000),
        "Train a model once this many samples are new to it; absent: by `every` alone"),
      Field(
        "data", \.data, .choice,
        "Read all stored files, or only files that no training has read"),
      Field(
        "from", \.from, .choice,
        "Start a training from the latest version, or from the initial weights"),
      Field(
        "requiresMetadata", \.requiresMetadata, .flag,
        "Leave files without metadata out of trainings"),
      Field(
        "samplesPerSecond", \.samplesPerSecond, .positive, assumption: true,
        "Samples that the server processes per second, counting each epoch"),
      Field(
        "overhead", \.overhead, .duration(), assumption: true,
        "Fixed time that each training adds"),
      Field(
        "models", \.models, feature: .list(of: .settings(), minimum: 1),
        "The models to train; absent: all of `task.models`, or the task's model"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if every == nil, samples == nil {
      return [("every", "`every` or `samples` says when the server trains")]
    }
    let names = (models ?? []).map(\.name)
    if names.count > Self.mostModels {
      return [("models", "at most \(Self.mostModels) models can be trained on collected data")]
    }
    for (place, name) in names.enumerated() where names[..<place].contains(name) {
      return [("models", "`\(name)` is listed twice")]
    }
    return []
  }
}
