import DataSets
import FedSim
import Learning

extension CrossChecks {
  /// What needs classes, or something that is right or wrong, has it.
  mutating func checkTargets() {
    let source = settings.task.data.source
    let targets = source.value.targets
    checkLoss(targets)
    if targets != .values, settings.task.learning == nil { checkErrors(targets) }
    guard targets != .classes else { return }
    let without =
      "the samples of `\(source.name)` have "
      + (targets == .values ? "numbers" : "a token at each position")
      + " as targets, and no class"
    checkClasses(without)
    if targets == .values { checkAccuracies(without) }
  }

  /// The loss is one of such targets.
  private mutating func checkLoss(_ targets: Dataset.TargetKind) {
    guard settings.task.learning == nil else { return }
    let models = settings.task.models ?? []
    let losses =
      [(settings.task.training.loss, ["task", "training", "loss"])]
      + models.enumerated().map {
        ($1.training.loss, ["task", "models", "[\($0)]", "training", "loss"])
      }
    for (loss, keys) in losses where loss.loss(for: targets) == nil {
      let needed = targets == .values ? LossName.meanSquaredError : .crossEntropy
      let what = targets == .values ? "numbers" : "a token at each position"
      report(
        "the samples of `\(settings.task.data.source.name)` have \(what) as targets: use "
          + "`loss: \(needed.rawValue)`", at: keys)
    }
  }

  /// What looks at errors of numbers.
  private mutating func checkErrors(_ targets: Dataset.TargetKind) {
    let what = targets == .tokens ? "a token at each position" : "classes"
    let message =
      "there is no RMSE: the samples of `\(settings.task.data.source.name)` have \(what) as "
      + "targets; there is `centralAccuracy`"
    for (i, claim) in (settings.expect ?? []).enumerated() {
      for (metric, _) in claim.conditions where metric.isError {
        report(message, at: ["expect", "[\(i)]", metric.name])
      }
      if let compare = claim.compare, compare.metric.isError {
        report(message, at: ["expect", "[\(i)]", "compare", "metric"])
      }
    }
  }

  /// What looks at the class of a sample.
  private mutating func checkClasses(_ without: String) {
    let partition = settings.task.data.partition
    if let rule = partition.value as? any Partitioner, rule.dealsByClass {
      report("`\(partition.name)` divides by class: \(without)", at: ["task", "data", "partition"])
    }
    if settings.record.labelShare == true {
      report("there are no labels to count: \(without)", at: ["record", "labelShare"])
    }
    for (i, group) in settings.fleet.enumerated() {
      if let attack = group.adversary?.attack, attack.value.relabelling(classCount: 2) != nil {
        report(
          "`\(attack.name)` changes classes: \(without)",
          at: ["fleet", "[\(i)]", "adversary", "attack"])
      }
      if group.couple?.labels != nil {
        report(
          "clients are ranked by their mean label: \(without)",
          at: ["fleet", "[\(i)]", "couple", "labels"])
      }
    }
  }

  /// What looks at the share of right answers.
  private mutating func checkAccuracies(_ without: String) {
    let advice = "there is no accuracy: \(without)"
    if settings.stop.accuracy != nil { report(advice, at: ["stop", "accuracy"]) }
    if settings.record.averageAccuracy != nil {
      report(advice, at: ["record", "averageAccuracy"])
    }
    if let halving = settings.sweep?.halving, halving.metric.isAccuracy {
      report(
        "\(advice); compare by `centralValidationLoss`", at: ["sweep", "halving", "metric"])
    }
    for (i, claim) in (settings.expect ?? []).enumerated() {
      let keys = ["expect", "[\(i)]"]
      for (metric, _) in claim.conditions where metric.isAccuracy {
        report("\(advice); there is `centralRMSE`", at: keys + [metric.name])
      }
      if let compare = claim.compare, compare.metric.isAccuracy {
        report("\(advice); there is `centralRMSE`", at: keys + ["compare", "metric"])
      }
    }
  }
}

extension Metric {
  /// Whether it is an accuracy, or what it took to reach one.
  var isAccuracy: Bool { name.lowercased().contains("accuracy") }
  /// Whether it is an error of numbers.
  var isError: Bool { name.contains("RMSE") }
}

extension HalvingSettings.Metric {
  /// Whether it is an accuracy.
  var isAccuracy: Bool { rawValue.lowercased().contains("accuracy") }
}
