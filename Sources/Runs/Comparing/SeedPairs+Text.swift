import Analysis
import FedSim
import Foundation

extension SeedPairs {
  /// The outcome, a line per item.
  public var text: String {
    let count = comparison.seeds.count
    let tests = Words.count(comparison.lines.count, "test")
    var lines = warnings.map { "warning: \($0)" }
    for (name, seeds) in [("--a", onlyA), ("--b", onlyB)] where !seeds.isEmpty {
      lines.append("left out, because only \(name) has them: seeds \(Self.list(seeds))")
    }
    lines.append("\(Words.count(count, "pair")): seeds \(Self.list(comparison.seeds))")
    if !settings.isEmpty {
      lines.append("settings that differ: \(settings.count)")
      lines += settings.map { "  " + ComparisonText.line($0) }
    }
    if let target = comparison.target {
      lines.append("target: accuracy \(Self.number(target))")
    }
    lines.append(
      "mean b - a is over the pairs, not between the medians; intervals are its BCa bootstrap "
        + "intervals of 95 % from "
        + "\(comparison.resamples) resamples of the pairs;")
    lines.append(
      "p is the two-sided signed-rank test's; Holm's is for \(tests); r is the rank-biserial "
        + "correlation")
    if comparison.lines.contains(where: { $0.medianAfterA != nil || $0.medianAfterB != nil }) {
      lines.append(
        "costs to the target, x..y: above x, the cost at the previous evaluation, and at most y; "
          + "y is compared")
    }
    lines += table
    if !unknown.isEmpty {
      lines.append(
        "not compared, because no pair has it on both sides: "
          + unknown.map(\.words).joined(separator: ", "))
    }
    let least = comparison.lines.map(\.needed.least).max() ?? 0
    if count < least {
      lines.append(
        "no claim is possible: with \(Words.count(count, "pair")) p cannot be below "
          + "\(Self.number(comparison.alpha))\(sideBySide); at least \(least) are needed")
    }
    for line in comparison.lines { lines.append("\(line.measure.words): \(sentence(line))") }
    return lines.joined(separator: "\n")
  }

  private var table: [String] {
    var rows = [["", "median a", "median b", "mean b - a", "interval", "p", "Holm", "r"]]
    for line in comparison.lines {
      rows.append([
        line.measure.words + (line.measure.units == "1" ? "" : " (\(line.measure.units))"),
        Self.median(line.medianA, line.medianAfterA, line.reachedA, line.pairs),
        Self.median(line.medianB, line.medianAfterB, line.reachedB, line.pairs),
        line.difference.map(Self.number) ?? "-",
        line.interval.map { "[\(Self.number($0.low)), \(Self.number($0.high))]" } ?? "-",
        Self.number(line.probability), Self.number(line.adjusted), Self.number(line.rankBiserial),
      ])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).enumerated().map { place, cell in
        let space = String(repeating: " ", count: cell.1 - cell.0.count)
        return place == 0 ? cell.0 + space : space + cell.0
      }
      return "  " + cells.joined(separator: "  ")
    }
  }

  /// A median, as an interval where it is known as one, with how many reached the target where not
  /// all did.
  private static func median(
    _ median: Double?, _ after: Double?, _ reached: Int?, _ pairs: Int
  ) -> String {
    var text = median.map(number) ?? "-"
    if median != nil, let after { text = "\(number(after))..\(text)" }
    guard let reached, reached < pairs else { return text }
    return "\(text), \(reached) of \(pairs)"
  }

  /// How many tests are made, where there are several.
  private var sideBySide: String {
    let tests = comparison.lines.count
    return tests > 1 ? " with \(tests) simultaneous tests" : ""
  }

  /// What is said about a measure.
  private func sentence(_ line: SeedComparison.Line) -> String {
    let all = comparison.seeds.count
    let known = line.pairs < all ? " (\(line.pairs) of \(Words.count(all, "pair")) have it)" : ""
    switch line.claim {
    case .a: return "a is better (\(line.measure.better.rawValue) is better)\(known)"
    case .b: return "b is better (\(line.measure.better.rawValue) is better)\(known)"
    case .equal: return "no claim: equal in every pair\(known)"
    case .none:
      return "no claim: p is \(Self.number(line.adjusted)) after Holm, not below "
        + Self.number(comparison.alpha) + forPower(line.needed) + known
    case .tooFewSeeds:
      let some =
        line.differing < line.pairs
        ? "only \(line.differing) of \(Words.count(line.pairs, "pair")) differ" : "too few pairs"
      return "no claim: \(some), and at least \(line.needed.least) that differ are needed"
        + sideBySide + forPower(line.needed) + known
    }
  }

  /// What the differences say of how many seeds are needed; nothing where they say nothing.
  private func forPower(_ needed: SeedsNeeded) -> String {
    switch needed.estimate {
    case .tooFewPairs, .allAgree: return ""
    case .noEffect: return "; there is no observed effect"
    case .made:
      guard let count = needed.forPower else { return "" }
      let power = Int((needed.power * 100).rounded())
      return "; if the effect is as observed, about \(Words.count(count, "pair")) would give a "
        + "power of \(power) %"
    }
  }

  /// A number with four digits that count.
  private static func number(_ value: Double) -> String {
    if value == 0 { return "0" }
    if abs(value) >= 1e6 || abs(value) < 1e-4 { return String(format: "%.3g", value) }
    if abs(value) >= 1000 { return String(format: "%.0f", value) }
    var text = String(format: "%.4g", value)
    if text.contains("e") { text = String(format: "%.4f", value) }
    return text
  }
}
