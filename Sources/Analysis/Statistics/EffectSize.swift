/// How large a difference is, whatever the number of seeds.
public enum EffectSize {
  /// The matched-pairs rank-biserial correlation of paired differences: -1 if all are below 0, 1 if
  /// all are above. Source: Kerby (2014).
  public static func rankBiserial(_ differences: [Double]) -> Double {
    SignedRankTest(differences, isExact: false).rankBiserial
  }

  /// Cliff's delta: how much oftener a number of the second list is above one of the first than
  /// below, from -1 to 1. Source: Cliff (1993).
  public static func cliffsDelta(_ first: [Double], _ second: [Double]) -> Double {
    let (a, b) = (first.filter { !$0.isNaN }, second.filter { !$0.isNaN })
    guard !a.isEmpty, !b.isEmpty else { return .nan }
    var balance = 0
    for x in a {
      for y in b { balance += y > x ? 1 : y < x ? -1 : 0 }
    }
    return Double(balance) / (Double(a.count) * Double(b.count))
  }

  /// Vargha and Delaney's A12: the chance that a number of the second list is above one of the
  /// first, equal ones counting half. Source: Vargha and Delaney (2000).
  public static func superiority(_ first: [Double], _ second: [Double]) -> Double {
    (cliffsDelta(first, second) + 1) / 2
  }

  /// Cohen's d for pairs: the mean difference by the standard deviation of the differences.
  public static func cohensD(_ differences: [Double]) -> Double {
    Statistics.mean(differences) / Statistics.standardDeviation(differences)
  }
}
