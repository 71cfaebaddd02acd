import FedSim
import Schema

/// What a sweep plays: which keys are varied, how, with how many seeds, and what is given up early.
///
/// The variants are the product of all blocks: each axis of `grid` is a block, every other key is
/// one. It concerns no single run, and is no part of a resolved scenario.
public struct SweepSettings: PartSettings {
  /// Axes of which every combination is played.
  public var grid: [SweepAxis]?
  /// Points that are written out.
  public var list: [SweepAxis]?
  /// Axes that go through their values in step.
  public var zip: [SweepAxis]?
  /// Points drawn independently.
  public var random: DrawnPoints?
  /// Points of which each axis has one in each of `count` equal shares.
  public var latinHypercube: DrawnPoints?
  /// The first points of Sobol's sequence.
  public var sobol: SequencePoints?
  /// The first points of Halton's sequence.
  public var halton: SequencePoints?
  /// What must hold for a variant to be played.
  public var constraints: [SweepExpression] = []
  /// How many seeds each variant is played with; nil: with the scenario's own.
  public var replicas: Int?
  /// Accuracies for which the table has the time.
  public var targets: [Double] = []
  /// When variants are given up; nil: never.
  public var halving: HalvingSettings?

  /// Nothing is varied.
  public init() {}

  public static var fields: [Field<SweepSettings>] {
    [
      Field(
        "grid", \.grid, feature: .steppedAxes(lockstep: false), "Every combination of these values."
      ),
      Field("list", \.list, feature: .listedPoints, "An explicit list of points."),
      Field(
        "zip", \.zip, feature: .steppedAxes(lockstep: true), "Values of several lists, in step."),
      Field("random", \.random, feature: .settings(), "Independent random points."),
      Field(
        "latinHypercube", \.latinHypercube, feature: .settings(),
        "Latin hypercube: for each axis, one point in each of `count` equal shares."),
      Field(
        "sobol", \.sobol, feature: .settings(),
        "Points of Sobol's sequence, which fill the space evenly; at most 40 axes."),
      Field(
        "halton", \.halton, feature: .settings(),
        "Points of Halton's sequence, which fill the space evenly; at most 1,229 axes."),
      Field(
        "constraints", \.constraints, .list(of: .sweepExpression),
        "Condition on variants to play, such as `threshold <= count / 2`."),
      Field(
        "replicas", \.replicas, feature: .integer(1...10_000),
        "Seeds of each variant, the same for all variants; absent: the scenario's."),
      Field(
        "targets", \.targets, .list(of: .fraction),
        "Accuracies for which the table has the time."),
      Field(
        "halving", \.halving, feature: .settings(), "Early stopping of variants."),
    ]
  }

  /// All axes, in the order of the product, the slowest first.
  public var axes: [SweepAxis] {
    (grid ?? []) + (list ?? []) + (zip ?? []) + (random?.axes ?? []) + (latinHypercube?.axes ?? [])
      + (sobol?.axes ?? []) + (halton?.axes ?? [])
  }

  public func contradictions() -> [(key: String, message: String)] {
    if axes.isEmpty, replicas == nil {
      return [("", "nothing is varied: give a `grid`, another block, or `replicas`")]
    }
    if axes.contains(where: { $0.path == "seed" }), replicas ?? 1 > 1 {
      return [("replicas", "`seed` is an axis already, but replicas also give each variant seeds")]
    }
    for (index, target) in targets.enumerated() where targets[..<index].contains(target) {
      return [("targets", "\(Text.shortest(target)) appears twice")]
    }
    return []
  }
}

/// Points that are drawn.
public struct DrawnPoints: PartSettings {
  /// How many.
  public var count = 1
  /// The axes.
  public var axes: [SweepAxis] = []
  /// The seed of the draws; nil: the scenario's.
  public var seed: UInt64?

  /// No points.
  public init() {}

  public static var fields: [Field<DrawnPoints>] {
    [
      Field("count", \.count, .integer(1...100_000), required: true, "Number of points."),
      Field("axes", \.axes, .sampledAxes, required: true, "Axes of the points."),
      Field("seed", \.seed, feature: .seed, "Seed of the draws; absent: the scenario's."),
    ]
  }
}

/// Points of a sequence without chance.
public struct SequencePoints: PartSettings {
  /// How many.
  public var count = 1
  /// The axes.
  public var axes: [SweepAxis] = []
  /// How many points of the sequence are passed over first.
  public var skip = 0

  /// No points.
  public init() {}

  public static var fields: [Field<SequencePoints>] {
    [
      Field("count", \.count, .integer(1...100_000), required: true, "Number of points."),
      Field("axes", \.axes, .sampledAxes, required: true, "Axes of the points."),
      Field("skip", \.skip, .integer(0...1_000_000), "Number of initial points to skip."),
    ]
  }
}

/// Synchronous successive halving: all variants are played for a while, the best ones longer.
public struct HalvingSettings: PartSettings {
  /// What variants are compared by; never the accuracy on test samples.
  public enum Metric: String, CaseIterable, Sendable {
    /// The last version's accuracy on all validation samples together.
    case centralValidationAccuracy
    /// The last version's loss on these; the lower the better.
    case centralValidationLoss
    /// The mean accuracy that the devices of the last version found on their own ones.
    case validationAccuracy

    /// Whether a lower value is better.
    public var prefersLower: Bool { self == .centralValidationLoss }
  }

  /// What variants are compared by.
  public var metric = Metric.centralValidationAccuracy
  /// When they are compared: values laid over `stop`, each longer than the one before.
  public var rungs: [Node] = []
  /// The share of a rung's variants that continues.
  public var keep = KeptShare(1, 2)

  /// Half of the variants at each rung.
  public init() {}

  public static var fields: [Field<HalvingSettings>] {
    [
      Field("metric", \.metric, .choice, "Metric to compare variants, mean over replicas."),
      Field(
        "rungs", \.rungs, .stopNodes, required: true,
        "When variants are compared: values of `stop`, such as {rounds: 20}, each longer than "
          + "the last."
      ),
      Field(
        "keep", \.keep, .keptShare, "Share of variants that continues, such as 1/3; rounded up."),
    ]
  }
}

/// A share as a fraction of whole numbers, so that nothing depends on rounding.
public struct KeptShare: Equatable, Sendable {
  let above: Int
  let below: Int

  /// A number of a total.
  public init(_ above: Int, _ below: Int) {
    precondition(above > 0 && below >= above, "a share must be above 0 and at most 1")
    self.above = above
    self.below = below
  }

  /// The two numbers.
  public var fraction: [Int] { [above, below] }

  /// How many of some variants continue: rounded up, one at least.
  public func count(of variants: Int) -> Int {
    max(1, (variants * above + below - 1) / below)
  }
}

extension Form where Value == KeptShare {
  /// `1/3`, or a decimal share such as 0.25.
  static var keptShare: Form {
    Form(
      shape: .free, expected: "a share between 0 and 1, such as `1/3` or 0.25",
      parse: { text, _ in
        let pieces = text.split(separator: "/", omittingEmptySubsequences: false)
        if pieces.count == 2, let above = Int(pieces[0]), let below = Int(pieces[1]),
          above > 0, below > above, below <= 1_000_000
        {
          return KeptShare(above, below)
        }
        guard let share = Text.number(text), share > 0, share < 1 else { return nil }
        let millionths = Int((share * 1e6).rounded())
        return millionths > 0 && millionths < 1_000_000 ? KeptShare(millionths, 1_000_000) : nil
      }, write: { .quoted("\($0.above)/\($0.below)") })
  }
}

extension Form where Value == [Node] {
  /// Values of `stop`, kept as they are written.
  static var stopNodes: Form {
    let stops = Form<[StopSettings]>.list(of: .settings(), minimum: 1)
    return Form(
      shape: stops.shape, expected: "a list of at least 1 value of `stop`, such as {rounds: 20}",
      read: { node, reader in
        guard case .sequence(let nodes) = node.content, !nodes.isEmpty else {
          reader.report(
            node, expected: "a list of at least 1 value of `stop`, such as {rounds: 20}")
          return nil
        }
        for (index, node) in nodes.enumerated() {
          reader.within("[\(index)]") { _ = $0.read(StopSettings.self, from: node) }
        }
        return nodes
      }, write: { Node(.sequence($0)) })
  }
}
