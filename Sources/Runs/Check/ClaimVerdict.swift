import FedSim
import Scenarios
import Schema

/// Whether a claim holds, and what was found.
public struct ClaimVerdict: Codable, Equatable, Sendable {
  /// What is claimed, in words.
  public var claim: String
  /// Where it is, as `file:line:column`.
  public var place: String
  /// Whether it holds.
  public var holds: Bool
  /// What was found, or why there is nothing.
  public var found: String
  /// One line for a person.
  public var text: String { "\(place): \(claim): found \(found)" }
}

extension Scenario {
  /// Whether there are claims about a run of this scenario alone.
  var hasClaims: Bool { settings.expect?.contains { $0.compare == nil } ?? false }

  /// The outcome of the claims about a single run, a verdict per metric, in the order written.
  func verdicts(_ facts: RunFacts) -> [ClaimVerdict] {
    var verdicts: [ClaimVerdict] = []
    for (index, claim) in (settings.expect ?? []).enumerated() {
      for (metric, condition) in claim.conditions {
        let finding = facts.find(metric, at: claim.at, target: condition.target)
        let (holds, found) = Self.judge(finding, condition, metric)
        verdicts.append(
          ClaimVerdict(
            claim: Self.words(claim, metric, condition),
            place: placeOfClaim(index, metric.name), holds: holds, found: found))
      }
    }
    return verdicts
  }

  /// The claims about a single run, in words, one per metric, in the order written.
  var claimWords: [String] {
    (settings.expect ?? []).flatMap { claim in
      claim.conditions.map { Self.words(claim, $0, $1) }
    }
  }

  private static func words(
    _ claim: ClaimSettings, _ metric: Metric, _ condition: ClaimCondition
  ) -> String {
    let target = condition.target.map { " \(Text.shortest($0))" } ?? ""
    return "\(metric.name)\(target) \(claim.at.words): " + condition.words(metric.kind.text)
  }

  private static func judge(
    _ finding: RunFacts.Finding, _ condition: ClaimCondition, _ metric: Metric
  ) -> (holds: Bool, found: String) {
    switch finding {
    case .value(let value): (condition.holds(value), metric.kind.text(value))
    case .word(let word): (condition.word == word, word)
    case .nothing(let reason): (false, "nothing: \(reason)")
    }
  }

  /// Where a claim is, as `file:line:column`.
  func placeOfClaim(_ index: Int, _ key: String) -> String {
    let place = place(of: ["expect", "[\(index)]", key])
    return "\(place.file):\(place.line):\(place.column)"
  }
}

extension RunSummary {
  /// Holds the run to the claims of its scenario.
  mutating func holdTo(_ scenario: Scenario, _ facts: RunFacts) {
    let comparisons = (scenario.settings.expect ?? []).count { $0.compare != nil }
    if scenario.hasClaims { claims = scenario.verdicts(facts) }
    if comparisons > 0 { untestedClaims = comparisons }
  }
}
