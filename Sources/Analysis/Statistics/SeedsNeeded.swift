import CGSL

/// How many seeds a claim from paired differences needs.
public struct SeedsNeeded: Codable, Equatable, Sendable {
  /// The least with which any outcome could come below α, whatever other tests say: with n pairs
  /// that all differ to one side, the two-sided signed-rank probability is 2^(1-n), times the
  /// number of tests.
  public let least: Int
  /// How many give the wanted power if the effect is the one observed; nil: see `estimate`.
  public let forPower: Int?
  /// Whether there is such a number, or why not.
  public let estimate: Estimate
  /// That power.
  public let power: Double

  /// What differences say of the number of seeds.
  public enum Estimate: String, Codable, CaseIterable, Sendable {
    /// `forPower` is estimated from them.
    case made
    /// Fewer than six differ: they say nothing of how many more.
    case tooFewPairs
    /// All that differ do so to one side: `least` of them are enough.
    case allAgree
    /// They are centred at 0.
    case noEffect
  }

  /// Fewer differences than could ever come below 0.05 give no estimate.
  private static let fewest = 6

  /// For differences as observed. `tests` is how many are made side by side (Holm).
  ///
  /// Source: Noether (1987): n = (z(1 - α/2) + z(power))² / (3 (p - ½)²), with p the chance that
  /// the sum of two differences is above 0, here its share among all pairs of them.
  public init(_ differences: [Double], alpha: Double = 0.05, tests: Int = 1, power: Double = 0.8) {
    precondition(alpha > 0 && alpha < 1, "α is between 0 and 1")
    precondition(power > 0 && power < 1, "a power is between 0 and 1")
    let limit = alpha / Double(max(1, tests))
    self.power = power
    least = Self.least(alpha: limit)
    let known = differences.filter { !$0.isNaN }
    var above = 0.0
    var pairs = 0.0
    for (index, value) in known.enumerated() {
      for other in known[(index + 1)...] {
        let sum = value + other
        // Of two infinities to different sides neither wins.
        above += sum > 0 ? 1 : sum < 0 ? 0 : 0.5
        pairs += 1
      }
    }
    let (positive, negative) = (known.count { $0 > 0 }, known.count { $0 < 0 })
    let off = pairs == 0 ? 0 : above / pairs - 0.5
    let z = gsl_cdf_ugaussian_Qinv(limit / 2) + gsl_cdf_ugaussian_Pinv(power)
    let wanted = z * z / (3 * off * off)
    let isKnown = wanted < 1e6
    estimate =
      if positive + negative > 0, positive == 0 || negative == 0 {
        .allAgree
      } else if positive + negative < Self.fewest {
        .tooFewPairs
      } else {
        isKnown ? .made : .noEffect
      }
    forPower = estimate == .made ? max(least, Int(wanted.rounded(.up))) : nil
  }

  /// The least number of pairs whose two-sided signed-rank probability can be below α.
  public static func least(alpha: Double) -> Int {
    precondition(alpha > 0 && alpha < 1, "α is between 0 and 1")
    var count = 1
    var lowest = 1.0
    while lowest >= alpha {
      count += 1
      lowest /= 2
    }
    return count
  }
}
