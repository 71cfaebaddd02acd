import Schema

/// When a run ends: the first to hold.
public struct StopSettings: PartSettings {
  /// After this much virtual time.
  public var after = SimDuration.days(30)
  /// After this many closed rounds.
  public var rounds: Int?
  /// At this version.
  public var versions: Int?
  /// At the first evaluated version with at least this central accuracy.
  public var accuracy: Double?
  /// Whether a run that can never produce a version is played out nevertheless; nil: it stops.
  public var playsOut: Bool?

  public init() {}
  public static var shorthand: String? { "after" }
  public static var fields: [Field<StopSettings>] {
    [
      Field(
        "after", \.after, .duration(atLeast: .milliseconds(1)),
        "Stop after this much virtual time"),
      Field("rounds", \.rounds, optional: .integer(1...100_000_000), "Stop after this many rounds"),
      Field("versions", \.versions, optional: .integer(1...100_000_000), "Stop at this version"),
      Field(
        "accuracy", \.accuracy, optional: .fraction,
        "Stop at the first evaluated version with at least this central accuracy"),
      Field(
        "playsOut", \.playsOut, feature: .flag,
        "Continue to the end even if no device can ever contribute; "
          + "absent: stop early and report the unmet conditions"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    after > .days(36_500) ? [("after", "a run lasts at most 100 years")] : []
  }
}

/// How often the model is evaluated.
public struct EvaluationSchedule: PartSettings {
  /// The number of versions between two evaluations.
  public var versions: Int?
  /// The first version published after each whole multiple of this time.
  public var time: SimDuration?

  public init() {}
  public static var shorthand: String? { "versions" }
  public static var fields: [Field<EvaluationSchedule>] {
    [
      Field(
        "versions", \.versions, optional: .integer(1...1_000_000),
        "One evaluation per this many versions"),
      Field(
        "time", \.time, optional: .duration(atLeast: .seconds(1)),
        "The first version published after each whole multiple of this time"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    versions != nil && time != nil
      ? [("versions", "`versions` and `time` exclude each other")] : []
  }
}

/// Evaluation on the devices' own samples.
public struct FederatedEvaluationSettings: PartSettings {
  /// How often; version 0 and the last one always are.
  public var every = EvaluationSchedule()
  /// Steps on the device's own samples first; nil: none.
  public var fineTuning: FineTuningSettings?

  public init() { every.versions = 1 }
  public static var shorthand: String? { "every" }
  public static var fields: [Field<FederatedEvaluationSettings>] {
    [
      Field(
        "every", \.every, .settings(),
        "How often to evaluate on devices; version 0 and the last version are always evaluated"),
      Field(
        "fineTuning", \.fineTuning, feature: .settings(),
        "Steps on the device's training samples before the evaluation; absent: none"),
    ]
  }
}

/// What the accuracies that come with updates are weighted by in their mean.
public enum AccuracyWeights: String, CaseIterable, Sendable {
  /// Each update counts the same.
  case updates
  /// By the updates' numbers of samples.
  case samples
}

/// What is recorded besides the tables that every run has.
public struct RecordSettings: PartSettings {
  /// How often the model is evaluated; version 0 and the last one always are.
  public var evaluateEvery = EvaluationSchedule()
  /// Accuracy on each device's own held-out samples; nil: not evaluated.
  public var federatedEvaluation: FederatedEvaluationSettings?
  /// Whether the final model is stored.
  public var finalModel = true
  /// A folder for `global_model_v{N}.json` and `global_model_latest.json`; nil: none are written.
  public var modelFiles: String?
  /// Whether everything that happens is stored; nil: no.
  public var events: Bool?
  /// How many things are stored at most; nil: `defaultEventLimit`.
  public var eventLimit: Int?
  /// Whether each update is stored; nil: no.
  public var updates: Bool?
  /// How the accuracies that come with a version's updates are averaged; nil: they are not.
  public var averageAccuracy: AccuracyWeights?
  /// Whether sessions that do not take part are counted by their reason; nil: no.
  public var ineligibility: Bool?
  /// Devices whose states over time are stored; nil: none.
  public var timelineOf: [DevicePath]?
  /// Whether participations by hour are distinguished by the groups of the fleet; nil: no.
  public var hoursByGroup: Bool?
  /// Whether the share of each label in a version is recorded; nil: up to `labelLimit` labels.
  public var labelShare: Bool?
  /// Whether the L2 norms of a version's tensors and of their changes are recorded; nil: no.
  public var layerNorms: Bool?
  /// Whether what devices were doing is recorded by hour; nil: yes.
  public var fleetHours: Bool?

  /// Labels up to which their shares are recorded, unless set otherwise.
  public static let labelLimit = 100
  /// Things that are stored at most, unless set otherwise: 32 bytes each while the run continues.
  public static let defaultEventLimit = 5_000_000

  public init() { evaluateEvery.versions = 1 }
  public static var fields: [Field<RecordSettings>] {
    [
      Field(
        "evaluateEvery", \.evaluateEvery, .settings(),
        "How often to evaluate the model; version 0 and the last version are always evaluated"),
      Field(
        "federatedEvaluation", \.federatedEvaluation, optional: .settings(),
        "Evaluate on each device's local samples (its user's test samples, else its validation"
          + " samples, else its training samples); absent: not evaluated"),
      Field("finalModel", \.finalModel, .flag, "Store the final model"),
      Field(
        "modelFiles", \.modelFiles, optional: .text,
        "Folder for global_model_v{N}.json and global_model_latest.json, next to the result;"
          + " absent: none"),
      Field(
        "events", \.events, feature: .flag,
        "Store all that happens to devices and server, in `events`; absent: no"),
      Field(
        "eventLimit", \.eventLimit, feature: .integer(1...1_000_000_000),
        "Maximum number of stored events; the first ones are kept (32 bytes each during the run);"
          + " absent: 5,000,000"),
      Field(
        "updates", \.updates, feature: .flag,
        "Store each update with its times, versions, loss, bytes and outcome, in `updates`"
          + " (80 bytes each during the run); absent: no"),
      Field(
        "averageAccuracy", \.averageAccuracy, feature: .choice,
        "Mean of the validation accuracies reported with a version's updates, with equal weights"
          + " or weighted by samples: a column of `versions`, and `average_accuracy` in model "
          + "files; absent: no column, and weighted by validation samples in model files"),
      Field(
        "ineligibility", \.ineligibility, feature: .flag,
        "Count ineligible sessions by the first condition that did not hold:"
          + " low-power mode, heat, power, battery, network, use; absent: no"),
      Field(
        "timelineOf", \.timelineOf, feature: .list(of: .device),
        "Devices whose power, link, use, tasks, work and battery are stored over time, in"
          + " `timeline`; absent: none"),
      Field(
        "hoursByGroup", \.hoursByGroup, feature: .flag,
        "Split `hours` by the groups of the fleet; absent: no"),
      Field(
        "labelShare", \.labelShare, feature: .flag,
        "Store the share of each label among the samples of a version's updates; absent: only"
          + " with up to 100 labels"),
      Field(
        "layerNorms", \.layerNorms, feature: .flag,
        "Store the L2 norm of each tensor and of its change since the previous"
          + " version; absent: no"),
      Field(
        "fleetHours", \.fleetHours, feature: .flag,
        "Store what devices were doing by hour in `fleetHours`; absent: yes"),
    ]
  }
}

/// The seeds of a run: one, or one for each of its random worlds.
public struct Seeds: Sendable, Equatable {
  /// Devices' series and properties.
  public var world: UInt64
  /// Partition and generated data.
  public var data: UInt64
  /// Initial weights.
  public var initial: UInt64
  /// Batch orders.
  public var training: UInt64
  /// Selection.
  public var policy: UInt64
  /// Shaken ties.
  public var ties: UInt64

  /// The same seed for all; purposes keep their streams apart.
  public init(_ seed: UInt64) {
    (world, data, initial, training, policy, ties) = (seed, seed, seed, seed, seed, seed)
  }
}
