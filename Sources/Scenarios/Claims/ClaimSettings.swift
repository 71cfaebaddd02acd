import FedSim
import Schema

/// When a claim holds: of a round, of a version, at a time, or at the end.
public struct ClaimMoment: PartSettings, Equatable {
  /// As the n-th round was closed, from 1.
  public var round: Int?
  /// As this version was published; 0: the initial model.
  public var version: Int?
  /// At this time since the start.
  public var time: SimTime?

  /// The end of the run.
  public init() {}
  public static var fields: [Field<ClaimMoment>] {
    [
      Field("round", \.round, feature: .integer(1...100_000_000), "When this round was closed"),
      Field(
        "version", \.version, feature: .integer(0...100_000_000),
        "When this version was published"),
      Field("time", \.time, feature: .sinceStart, "At this time since the start"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    let given = [round != nil, version != nil, time != nil].count { $0 }
    return given == 1 ? [] : [("", "expected one of round, version, time, or `end`")]
  }

  /// Whether it is the end of the run.
  public var isEnd: Bool { self == ClaimMoment() }

  /// In words, such as `at version 20`.
  public var words: String {
    if let round { return "in round \(round)" }
    if let version { return "at version \(version)" }
    if let time { return "at \((time - .start).description)" }
    return "at the end"
  }
}

/// A claim about a run, or about two variants of it over several seeds.
public struct ClaimSettings: PartSettings {
  /// When it holds.
  public var at = ClaimMoment()
  /// What it says, by the names of metrics, in the order written.
  public private(set) var conditions: [(metric: Metric, condition: ClaimCondition)] = []
  /// Two variants over several seeds; nil: it is about this run.
  public var compare: ComparisonSettings?

  /// A claim that says nothing.
  public init() {}

  /// What it says of one metric.
  subscript(metric name: String) -> ClaimCondition? {
    get { conditions.first { $0.metric.name == name }?.condition }
    set {
      conditions.removeAll { $0.metric.name == name }
      if let newValue, let metric = Metric.named(name) { conditions.append((metric, newValue)) }
    }
  }

  public static var fields: [Field<ClaimSettings>] {
    [
      Field(
        "at", \.at, .settings().or("end", meaning: ClaimMoment()),
        "When the assertion is checked; absent: at the end"),
      Field(
        "compare", \.compare, feature: .settings(),
        "A comparison of two variants, tested over several seeds by `fedsim check`"),
    ]
      + Metric.all.map { metric in
        Field(metric.name, \.[metric: metric.name], feature: metric.kind.form, metric.summary)
      }
  }

  public func contradictions() -> [(key: String, message: String)] {
    if conditions.isEmpty, compare == nil {
      return [("", "an assertion needs a metric, such as `centralAccuracy: {atLeast: 0.8}`")]
    }
    if compare != nil {
      if let first = conditions.first {
        return [
          (
            first.metric.name,
            "`compare` must be alone: write other conditions as separate assertions"
          )
        ]
      }
      return at.isEnd ? [] : [("at", "variants are compared at the end of their runs")]
    }
    guard !at.isEnd else { return [] }
    return conditions.filter { $0.metric.domain == .end }.map {
      (
        $0.metric.name,
        "the metric is known only at the end of a run, and this assertion has another time"
      )
    }
  }
}

/// A scenario to be compared with another one.
public struct VariantSettings: PartSettings, Equatable {
  /// The scenario's file; nil: the one that the claim is in.
  public var file: String?
  /// What is laid over it, as with `--set`.
  public var set: [String] = []

  /// The scenario itself.
  public init() {}
  public static var shorthand: String? { "set" }
  public static var fields: [Field<VariantSettings>] {
    [
      Field(
        "file", \.file, optional: .path, "The scenario's file; absent: the file of the assertion"),
      Field(
        "set", \.set, .list(of: .text),
        "Overrides, as with `--set`: [server.trigger.threshold=5]"),
    ]
  }
}

/// A claim about two variants, tested by pairs of runs with equal seeds.
public struct ComparisonSettings: PartSettings {
  /// Which way the first variant differs from the second, or from a number.
  public enum Direction: String, CaseIterable, Sendable { case lower, higher }

  /// The first variant.
  public var a = VariantSettings()
  /// The second variant.
  public var b = VariantSettings()
  /// What the first variant is held against in place of a second one.
  public var than: SweepNumber?
  /// How many seeds, counted from the scenario's own.
  public var seeds = 0
  /// What is compared.
  public var metric = Metric.all[0]
  /// The accuracy to reach, for metrics that need one.
  public var target: Double?
  /// Which way the first variant differs from the second.
  public var aIs = Direction.lower
  /// The chance of a wrong claim that is put up with.
  public var alpha = 0.05

  public init() {}

  /// What the first variant is held against, in words.
  public var other: String { than.map { metric.kind.text($0.value) } ?? "of b" }

  /// The fewest seeds that can show anything at an error rate: with n pairs that all differ the
  /// claimed way, the one-sided signed-rank probability is 2^-n.
  public static func leastSeeds(alpha: Double) -> Int {
    var (count, lowest) = (0, 1.0)
    while lowest > alpha { (count, lowest) = (count + 1, lowest / 2) }
    return count
  }

  private static var metrics: [Metric] {
    Metric.all.filter { !$0.kind.isText }
  }

  private static var metricForm: Form<Metric> {
    let names = metrics.map(\.name)
    return Form(
      shape: .oneOf(names), expected: "the name of a metric, such as `timeToAccuracy`",
      read: { node, reader in
        guard case .scalar(let text, _) = node.content else {
          reader.report(node, expected: "the name of a metric, such as `timeToAccuracy`")
          return nil
        }
        if let metric = metrics.first(where: { $0.name == text }) { return metric }
        let nearest = Spelling.nearest(to: text, among: names)
        reader.report(
          .unknownName(text, seam: "metric", nearest: nearest, known: names), at: node.place)
        return nil
      }, write: { .text($0.name) })
  }

  public static var fields: [Field<ComparisonSettings>] {
    [
      Field("a", \.a, .settings(), "The first variant; absent: this scenario"),
      Field("b", \.b, .settings(), "The second variant; absent: this scenario"),
      Field(
        "than", \.than, feature: .sweepNumber,
        "A number, or a duration, to compare the first variant with, instead of `b`"),
      Field(
        "seeds", \.seeds, .integer(1...10_000), required: true,
        "Number of seeds, starting at the scenario's seed; each variant is played with each"),
      Field(
        "metric", \.metric, metricForm, required: true,
        "The metric to compare, at the end of runs"),
      Field(
        "target", \.target, feature: .fraction,
        "Target accuracy, for `timeToAccuracy` and similar metrics"),
      Field(
        "aIs", \.aIs, .choice, required: true,
        "How the first variant differs: its values are lower or higher"),
      Field(
        "alpha", \.alpha, .number(1e-9...0.5),
        "Significance level of the test"),
    ]
  }

  public func contradictions() -> [(key: String, message: String)] {
    let needsTarget = metric.kind == .timeToTarget || metric.kind == .countToTarget
    if needsTarget, target == nil {
      return [("metric", "this metric needs `target`, the target accuracy")]
    }
    if !needsTarget, target != nil { return [("target", "`\(metric.name)` has no target")] }
    if than != nil, b != VariantSettings() {
      return [("than", "`than` replaces `b`: give one of the two")]
    }
    let isTime = metric.kind == .duration || metric.kind == .timeToTarget
    if let than, than.family != (isTime ? .duration : .number) {
      return [
        ("than", "`\(metric.name)` is a \(isTime ? "time, such as `30 min`" : "bare number")")
      ]
    }
    if isTime, let than, than.value < 0 { return [("than", "no time is below 0")] }
    if than == nil, a == b { return [("", "`a` and `b` are the same variant")] }
    let least = Self.leastSeeds(alpha: alpha)
    guard seeds < least else { return seedContradictions }
    let lowest = Text.shortest(1 / Double(1 << min(seeds, 62)))
    return [
      (
        "seeds",
        "\(seeds) pairs can never support this at alpha \(Text.shortest(alpha)): the minimum"
          + " p-value is \(lowest); at least \(least) seeds are needed"
      )
    ]
  }

  /// Variants that set the seed, which the comparison sets itself.
  private var seedContradictions: [(key: String, message: String)] {
    [("a", a), ("b", b)].compactMap { key, variant in
      variant.set.first { $0.prefix { $0 != "=" } == "seed" }.map {
        (
          key,
          "`\($0)` has no effect: both variants are played with the scenario's seed and"
            + " the next ones"
        )
      }
    }
  }
}
