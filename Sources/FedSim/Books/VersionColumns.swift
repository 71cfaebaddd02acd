import Learning
import Schema

/// The numbers that every version has.
///
/// The log of versions, checkpoints and the journal keep them as they are declared: a new one needs
/// its line here, its column below, and a value where it is known. Wide ones come first, for a run
/// keeps one of these for every version.
public struct VersionFigures: Sendable, Codable {
  /// The state of the run when it was published.
  public package(set) var progress = Progress()
  /// When it was published.
  public package(set) var publishedAt = SimTime.start
  /// Sum of the sizes of the updates' shares; a sample that a device drew twice counts twice.
  public package(set) var samples = 0
  /// Samples processed by the updates' trainings, repetitions counted.
  public package(set) var samplesProcessed = 0
  /// Mean loss over the samples processed by the trainings in it; NaN for the initial model.
  public package(set) var trainingLoss = Double.nan
  /// Mean accuracy on its devices' own validation samples, weighted by them; NaN without any.
  public package(set) var validationAccuracy = Double.nan
  /// Mean over its updates of the versions published since their bases.
  public package(set) var meanStaleness = 0.0
  /// Mean over its updates of the time since their bases were published, in seconds.
  public package(set) var meanStalenessSeconds = 0.0
  /// Mean over its updates of how full their devices' batteries were as the trainings ended, from 0
  /// to 1; NaN without batteries.
  public package(set) var batteryLevel = Double.nan
  /// Mean over the devices that held a version of the test accuracy of the version that each held;
  /// NaN without any.
  public package(set) var heldAccuracy = Double.nan
  /// The round that published it; 0 for the initial model.
  @Packed public package(set) var round = 0
  /// Updates in it.
  @Packed public package(set) var updates = 0
  /// Different devices in it.
  @Packed public package(set) var devices = 0
  /// The most versions published since the base of one of its updates.
  @Packed public package(set) var maximumStaleness = 0
  /// Devices that held no version then.
  @Packed public package(set) var withoutVersion = 0
}

extension VersionColumn {
  /// All of them, in the order of the result's table.
  public static let all =
    counts + trained + stale + energy + central + federated + server + progress

  /// All of them, what a model is worth first: the order of claims and of sweeps' tables.
  public static let byWorth =
    central + federated + trained + counts + stale + energy + server + progress

  /// The column of a name.
  public static func named(_ name: String) -> VersionColumn? { all.first { $0.name == name } }

  private static let overUpdates = "mean over the updates aggregated in the version"

  // MARK: What is in it

  private static let counts: [VersionColumn] = [
    .integer("version", "version, 0 for the initial model") { $0.version }.only(.recordings),
    .time("publishedAt", "simulated time") { $0.publishedAt }
      .only([.claims, .recordings]).claimed("When the version was published"),
    .integer("round", "round that published the version, 0 for version 0") { $0.round }.only(
      .recordings),
    .integer("updates", "updates aggregated in the version") { $0.updates }
      .only([.claims, .recordings, .sweeps]).claimed("Updates in the version")
      .summed(.init("aggregatedUpdates", "updates aggregated in all versions", .sum)),
    .integer("devices", "distinct devices among these updates") { $0.devices }
      .only([.claims, .recordings]),
    .integer("samples", "sum of the sizes of the updates' shares") { $0.samples }
      .only([.claims, .recordings]).claimed(
        "Sum of the sizes of the shares of the version's updates"),
    .integer(
      "samplesProcessed", "samples processed by these trainings, including repetitions"
    ) { $0.samplesProcessed }
    .only([.claims, .recordings]).claimed(
      "Samples processed by these trainings, including repetitions"),
  ]

  private static let trained: [VersionColumn] = [
    .number("trainingLoss", "training loss") { $0.trainingLoss }
      .remark("\(overUpdates), weighted by the samples processed; NaN for version 0")
      .only([.claims, .recordings]).claimed("Mean training loss of the version's updates")
      .lacking { _ in "the initial model has none" },
    .number(
      "validationAccuracy", "accuracy on the devices' local validation samples"
    ) { $0.validationAccuracy }
    .remark("\(overUpdates), weighted by the validation samples; NaN if there are none")
    .when(.hasAccuracy).only([.claims, .recordings, .sweeps])
    .claimed("Mean accuracy of the version's updates on local validation samples")
    .lacking { _ in "the version's devices have no validation samples" }
    .summed(
      .last(
        "deviceAccuracy",
        "accuracy of the last version's updates on local validation samples")),
    .number("validationRMSE", "RMSE on the devices' local validation samples") {
      $0.validationRMSE
    }
    .remark("over all of the updates' validation samples together; NaN if there are none")
    .when(.hasError).only([.claims, .recordings, .sweeps])
    .lacking { _ in "the version's devices have no validation samples" }
    .summed(
      .last("deviceRMSE", "RMSE of the last version's updates on local validation samples")),
  ]

  private static let stale: [VersionColumn] = [
    .number("meanStaleness", "versions published since the updates' base versions") {
      $0.meanStaleness
    }
    .remark(overUpdates)
    .only([.claims, .recordings, .sweeps])
    .claimed("Mean over the version's updates of versions since the base version")
    .summed(
      .init("meanStaleness", "mean over versions of their updates' mean staleness", .mean)),
    .integer(
      "maximumStaleness", "versions published since the oldest base version"
    ) { $0.maximumStaleness }
    .only([.claims, .recordings]).claimed(
      "Largest number of versions since an update's base version"),
    .number(
      "meanStalenessSeconds", "time since the publication of the updates' base versions"
    ) { $0.meanStalenessSeconds }
    .in("s").remark(overUpdates)
    .only([.claims, .recordings])
    .claimed("Mean over the version's updates of seconds since the base version was published"),
  ]

  private static let energy: [VersionColumn] = [
    .number("batteryLevel", "battery level of the devices when their trainings ended, 0 to 1") {
      $0.batteryLevel
    }
    .remark("\(overUpdates), of devices with a battery; NaN if there are none")
    .when(.drawsEnergy)
    .lacking { _ in "no update of the version is from a device with a battery" }
  ]

  // MARK: Evaluations

  @Sendable private static func unevaluated(_ record: VersionRecord) -> String {
    "version \(record.version) was not evaluated (record.evaluateEvery)"
  }

  @Sendable private static func unvalidated(_ record: VersionRecord) -> String {
    record.evaluation == nil
      ? unevaluated(record) : "there are no validation samples (task.data.validationFraction)"
  }

  private static let central: [VersionColumn] = [
    evaluated("centralAccuracy", "accuracy on the test samples") { $0.test.accuracy }
      .when(.hasAccuracy).only([.claims, .recordings, .sweeps]).lacking(unevaluated)
      .summed(
        .last("finalAccuracy", "accuracy of the last version on the test samples"),
        .init(
          "bestAccuracy", "best accuracy of any evaluated version on the test samples", .most),
        .init("bestVersion", "first version with that accuracy", .versionOfMost)),
    evaluated("centralLoss", "loss on the test samples") { $0.test.meanLoss }
      .only([.claims, .recordings, .sweeps]).lacking(unevaluated)
      .summed(.last("finalLoss", "loss of the last version on the test samples")),
    evaluated("centralValidationAccuracy", "accuracy on all validation samples") {
      $0.validation?.accuracy
    }
    .when(.hasAccuracy).only([.claims, .sweeps]).lacking(unvalidated)
    .summed(
      .last(
        "finalValidationAccuracy",
        "accuracy of the last version on all validation samples"),
      .init(
        "bestValidationAccuracy", "best accuracy of any version on all validation samples", .most)),
    evaluated("centralValidationLoss", "loss on all validation samples") {
      $0.validation?.meanLoss
    }
    .only([.claims, .sweeps]).lacking(unvalidated)
    .summed(.last("finalValidationLoss", "loss of the last version on all validation samples")),
    evaluated("centralRMSE", "RMSE on the test samples") { $0.test.rmse }
      .when(.hasError).lacking(unevaluated)
      .summed(
        .last("finalRMSE", "RMSE of the last version on the test samples"),
        .init("bestRMSE", "lowest RMSE of any evaluated version on the test samples", .least)),
    evaluated("centralValidationRMSE", "RMSE on all validation samples") { $0.validation?.rmse }
      .when(.hasError).only([.claims, .sweeps]).lacking(unvalidated)
      .summed(.last("finalValidationRMSE", "RMSE of the last version on all validation samples")),
  ]

  private static func evaluated(
    _ name: String, _ text: String, _ value: @escaping @Sendable (CentralEvaluation) -> Double?
  ) -> VersionColumn {
    .number(name, text) { $0.evaluation.flatMap(value) }
      .remark("NaN where the version was not evaluated")
  }

  private static let federated: [VersionColumn] =
    spreads("Accuracy", "accuracies", worst: "lowest", best: "highest", .isFederated)
    + spreads("RMSE", "RMSEs", worst: "highest", best: "lowest", .isFederatedError)
    + [
      .integer(
        "federatedDevices",
        "devices evaluated (those with samples); 0 where this evaluation was skipped"
      ) { $0.federated?.devices ?? 0 }
      .when(.evaluatesDevices).only([])
    ]

  private static func spreads(
    _ name: String, _ scores: String, worst: String, best: String, _ presence: Presence
  ) -> [VersionColumn] {
    let total =
      name == "RMSE"
      ? "RMSE over the samples of all devices"
      : "mean of the devices' \(scores), weighted by the samples evaluated"
    return [
      spread("federated\(name)", "mean of the devices' \(scores)") { $0.mean }
        .only(.claims)
        .claimed("Mean of the devices' \(scores) (`record.federatedEvaluation`)"),
      spread("federated\(name)BySamples", total) { $0.weightedMean },
      spread(
        "federated\(name)WorstTenth",
        "mean of the ceil(n/10) \(worst) of n devices' \(scores)"
      ) { $0.worstTenth }
      .only(.claims)
      .claimed(
        "Mean of the \(worst) tenth of the devices' \(scores) (`record.federatedEvaluation`)"),
      spread(
        "federated\(name)BestTenth", "mean of the ceil(n/10) \(best) of n devices' \(scores)"
      ) { $0.bestTenth },
      spread(
        "federated\(name)Spread",
        "standard deviation of n devices' \(scores), with divisor n"
      ) { $0.standardDeviation },
    ].map { $0.when(presence) }
  }

  private static func spread(
    _ name: String, _ text: String,
    _ value: @escaping @Sendable (FederatedEvaluation.Summary) -> Double
  ) -> VersionColumn {
    .number(name, "\(text); \(FederatedEvaluation.oracle)") { $0.federated.map(value) }
      .remark("NaN where this evaluation was skipped")
      .only([])
      .lacking {
        "version \($0.version) was not evaluated on devices (record.federatedEvaluation)"
      }
  }

  // MARK: The server

  private static let server: [VersionColumn] = [
    .number(
      "averageAccuracy", "mean of the validation accuracies reported with the updates"
    ) { $0.averageAccuracy }
    .remark {
      $0.record.averageAccuracy == .updates
        ? "each update has the same weight; NaN if there are none"
        : "weighted by the updates' samples; NaN if there are none"
    }
    .when(.averages).only([]),
    .number("epsilon", "upper bound of the privacy loss of a device when published") {
      $0.privacy?.epsilon
    }
    .remark(neighbours)
    .when(.countsPrivacy).only(.claims)
    .claimed("Upper bound of the privacy loss of a device (`server.privacy`)")
    .lacking { _ in "privacy is not accounted for (server.privacy)" },
    .number(
      "privacyNoise", "standard deviation of the noise on each parameter of the mean of the updates"
    ) {
      $0.privacy?.noise
    }
    .remark("NaN for version 0")
    .when(.addsNoise).only([]),
    .number("clipBound", "norm bound sent with the version") { $0.privacy?.bound }
      .when(.tellsBounds).only(.claims)
      .claimed("Norm bound sent with the version (`adaptive-clip`)")
      .lacking { _ in "there is no norm bound (adaptive-clip)" },
    .number("withinBound", "share of the version's updates whose norms were within the bound") {
      $0.privacy?.within
    }
    .remark("NaN for version 0")
    .when(.tellsBounds).only(.claims)
    .claimed("Share of the version's updates within the norm bound (`adaptive-clip`)")
    .lacking { _ in "there is no norm bound (adaptive-clip), or the version has no updates" },
    .ofSeries("inUseFrom", "simulated time at which the server began to use the version") {
      $1.inUse?.from[$0.version]?.seconds
    }
    .in("s").remark("NaN if never used")
    .when(.usesModels).only([]),
    .ofSeries("timeInUse", "how long the server used the version") {
      $1.inUse?.spans[$0.version].seconds
    }
    .in("s")
    .when(.usesModels).only([]),
  ]

  @Sendable private static func neighbours(_ inputs: SimulationInputs) -> String? {
    inputs.privacyLoss.map { privacy in
      let delta = "delta = \(Text.shortest(privacy.delta))"
      return privacy.isAmplified
        ? "\(delta); neighbour: a device with other updates, cohorts drawn from the fleet"
        : "\(delta); neighbour: a device whose updates are zero"
          + (inputs.server.transforms.contains { $0.value.asTold != nil }
            ? ", and whose reports count one half" : "") + ", for each version"
    }
  }

  // MARK: The run so far

  private static let progress: [VersionColumn] = [
    .integer("bytesUp", "cumulative bytes uploaded when published") {
      Int($0.progress.bytesUp)
    }
    .in("byte").only([]),
    .integer("bytesDown", "cumulative bytes downloaded when published") {
      Int($0.progress.bytesDown)
    }
    .in("byte").only([]),
    .number("deviceSeconds", "cumulative training time of devices when published") {
      Double($0.progress.microseconds) / 1e6
    }
    .in("s").remark("includes only stretches that had ended").only([]),
    .number("joules", "cumulative energy of training, evaluation and transfers when published") {
      Double($0.progress.nanojoules) / 1e9
    }
    .in("J").remark("includes only stretches and transfers that had ended")
    .when(.drawsEnergy).only([]),
    .number(
      "heldAccuracy",
      "mean over devices of the central accuracy of the version that each device held when "
        + "published"
    ) { $0.heldAccuracy }
    .remark("of the last evaluated version up to the held one; NaN if no device held a version")
    .when(.holdsAccuracy).only([]),
    .integer("heldNone", "devices that held no version when published") { $0.withoutVersion }.only(
      []),
  ]
}

// MARK: When columns are there

extension VersionColumn.Presence {
  /// There is something that is right or wrong; without words, for only few runs have none.
  static let hasAccuracy = Self(words: "") { $0.task.train.kind != .values }
  static let hasError = Self(words: "targets are numbers") {
    !$0.omitsArithmetic && $0.task.train.kind == .values
  }
  static let evaluatesDevices = Self(words: "`record.federatedEvaluation`") {
    $0.record.federatedEvaluation != nil
  }
  static let isFederated = Self(words: "`record.federatedEvaluation`") {
    evaluatesDevices.holds($0) && hasAccuracy.holds($0)
  }
  static let isFederatedError = Self(
    words: "`record.federatedEvaluation`, and targets are numbers"
  ) {
    evaluatesDevices.holds($0) && hasError.holds($0)
  }
  static let holdsAccuracy = Self(words: "something is learned") {
    !$0.omitsArithmetic && hasAccuracy.holds($0)
  }
  static let averages = Self(words: "`record.averageAccuracy`") {
    $0.record.averageAccuracy != nil
  }
  static let countsPrivacy = Self(words: "`server.privacy`") { $0.privacyLoss != nil }
  static let addsNoise = Self(words: "`server.privacy`, and something is learned") {
    $0.privacyLoss != nil && !$0.omitsArithmetic
  }
  static let tellsBounds = Self(words: "`adaptive-clip`") {
    !$0.omitsArithmetic && $0.tellsBounds
  }
  static let usesModels = Self(words: "`server.modelInUse`") { $0.loadTime != nil }
  static let drawsEnergy = Self(words: "a group has a `battery`") { $0.drawsEnergy }
}

extension FederatedEvaluation {
  /// On what devices are evaluated, in words.
  package static let oracle =
    "each device on its held-out samples: its user's test samples, else its validation "
    + "samples, else its training samples; takes no virtual time"
}
