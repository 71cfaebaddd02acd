import Analysis
import FedSim
import Scenarios
import Schema

/// A claim about two variants, and the runs that decide it: one per seed of each.
package struct SeedClaim: Sendable {
  /// Where the claim is in the scenario's list.
  let index: Int
  let settings: ComparisonSettings
  /// The runs of the first variant, a seed each.
  let a: [Scenario]
  /// Those of the second; none where the first is held against a number.
  let b: [Scenario]
  let seeds: [UInt64]

  /// The comparisons that a scenario asks for.
  ///
  /// Throws: what is wrong with a variant's file or overrides.
  static func all(of scenario: Scenario) throws(Faults) -> [SeedClaim] {
    var comparisons: [SeedClaim] = []
    var faults: [Fault] = []
    for (index, claim) in (scenario.settings.expect ?? []).enumerated() {
      guard let settings = claim.compare else { continue }
      let seeds = (0..<UInt64(settings.seeds)).map { scenario.settings.seed &+ $0 }
      var variants: [[Scenario]] = []
      let both = [("a", settings.a), ("b", settings.b)]
      for (key, variant) in settings.than == nil ? both : [both[0]] {
        do throws(Faults) {
          variants.append(try Self.scenarios(of: variant, seeds, scenario))
        } catch {
          let path = ["expect", "[\(index)]", "compare", key]
          let place = scenario.place(of: path)
          for fault in error.faults {
            // Lines of the scenario itself are those of what was laid over each other.
            let isOwn = variant.file == nil && fault.place.file == scenario.file
            let words = isOwn ? "\(fault.path): \(fault.message)" : fault.description
            faults.append(
              Fault(at: place, path: "expect[\(index)].compare.\(key)", .contradiction(words)))
          }
        }
      }
      guard variants.count == (settings.than == nil ? 2 : 1) else { continue }
      comparisons.append(
        SeedClaim(
          index: index, settings: settings, a: variants[0],
          b: variants.count == 2 ? variants[1] : [], seeds: seeds))
    }
    guard faults.isEmpty else { throw Faults(faults) }
    return comparisons
  }

  private static func scenarios(
    of variant: VariantSettings, _ seeds: [UInt64], _ scenario: Scenario
  ) throws(Faults) -> [Scenario] {
    var scenarios: [Scenario] = []
    for seed in seeds {
      let overrides = variant.set + ["seed=\(seed)"]
      if let file = variant.file {
        scenarios.append(
          try Scenario(
            contentsOf: scenario.path(of: file), overrides: overrides, registry: scenario.registry))
      } else {
        scenarios.append(
          try Scenario(
            text: scenario.writtenNode.yaml, file: scenario.file, overrides: overrides,
            registry: scenario.registry))
      }
    }
    return scenarios
  }

  /// The outcome of the claim, from the facts of its runs.
  func verdict(_ a: [RunFacts], _ b: [RunFacts], of scenario: Scenario) -> ClaimVerdict {
    let metric = settings.metric
    let target = settings.target.map { " \(Text.shortest($0))" } ?? ""
    let claim =
      "\(metric.name)\(target) of a is \(settings.aIs.rawValue) than \(settings.other), with "
      + "\(Words.count(seeds.count, "seed")) at alpha \(Text.shortest(settings.alpha))"
    let place = scenario.placeOfClaim(index, "compare")
    var values: [[Double]] = [[], []]
    for (variant, (name, runs)) in [("a", a), ("b", b)].enumerated() {
      for (seed, facts) in zip(seeds, runs) {
        switch facts.find(metric, at: ClaimMoment(), target: settings.target) {
        case .value(let value):
          values[variant].append(value)
        case .word:
          preconditionFailure("texts are not compared")
        case .nothing(let reason):
          return ClaimVerdict(
            claim: claim, place: place, holds: false,
            found: "no \(name) with seed \(seed): \(reason)")
        }
      }
    }
    if let than = settings.than { values[1] = values[0].map { _ in than.value } }
    let (holds, found) = Self.judge(values[0], values[1], settings)
    return ClaimVerdict(claim: claim, place: place, holds: holds, found: found)
  }

  /// The signed-rank test of the claimed direction; a target that both never reach is a tie, and
  /// one that only one reaches counts as the largest difference.
  package static func judge(
    _ a: [Double], _ b: [Double], _ settings: ComparisonSettings
  ) -> (holds: Bool, found: String) {
    let differences = PairDifferences.between(b, a)
    let isLower = settings.aIs == .lower
    let test = SignedRankTest(differences, isLower ? .less : .greater)
    let agreeing = differences.count { isLower ? $0 < 0 : $0 > 0 }
    let text = settings.metric.kind.text
    var found =
      "a \(settings.aIs.rawValue) in \(agreeing) of "
      + Words.count(differences.count, settings.than == nil ? "pair" : "run")
    if test.zeros > 0 { found += ", equal in \(test.zeros)" }
    found += settings.than == nil ? "; medians " : "; median "
    found += text(median(a)) + (settings.than == nil ? " and \(text(median(b)))" : "")
    found +=
      "; "
      + "\(test.isExact ? "exact" : "approximate") one-sided signed-rank "
      + "p = \(rounded(test.probability))"
    let holds = test.probability <= settings.alpha
    if !holds { found += "; " + advice(differences, agreeing, settings) }
    return (holds, found)
  }

  /// What would help a claim that does not hold; equal pairs speak neither for it nor against it.
  private static func advice(
    _ differences: [Double], _ agreeing: Int, _ settings: ComparisonSettings
  ) -> String {
    let differing = differences.count { $0 != 0 }
    guard differing > 0 else { return "no pair distinguishes the variants" }
    guard 2 * agreeing > differing else {
      return "most pairs do not agree, and more seeds are unlikely to change this"
    }
    if agreeing == differing {
      let wanted = ComparisonSettings.leastSeeds(alpha: settings.alpha)
      let seeds = (wanted * differences.count + agreeing - 1) / agreeing
      return "all pairs that differ agree, but \(wanted) of them are needed: with as many equal,"
        + " about \(seeds) seeds"
    }
    let power = 0.8
    let needed = SeedsNeeded(differences, alpha: min(0.999, 2 * settings.alpha), power: power)
    guard let seeds = needed.forPower else {
      return needed.estimate == .tooFewPairs
        ? "too few pairs differ to estimate the number of seeds needed"
        : "the pairs do not distinguish the variants"
    }
    return "if the effect is as observed, \(seeds) seeds would show it four times out of five"
  }

  /// The middle value; of two, the mean, unless one is infinite.
  private static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard let last = sorted.last else { return .nan }
    let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
    return last.isFinite || high.isFinite ? (low + high) / 2 : high
  }

  private static func rounded(_ probability: Double) -> String {
    let digits = probability < 0.001 ? 1e7 : 1e4
    return Text.shortest((probability * digits).rounded() / digits)
  }
}
