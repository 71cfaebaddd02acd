import CGSL

/// What describes a list of numbers. NaN is a number that is missing and is left out;
/// of no numbers at all, a mean or a quantile is NaN.
///
/// GSL calls the C library, whose last bit differs between processors: print with fixed digits, and
/// keep these numbers out of digests.
public enum Statistics {
  /// The version of GSL in use.
  package static var libraryVersion: String { String(cString: cgsl_version()) }

  /// The numbers that are there, lowest first.
  public static func sorted(_ values: [Double]) -> [Double] {
    values.filter { !$0.isNaN }.sorted()
  }

  /// The mean. Order: as given.
  public static func mean(_ values: [Double]) -> Double {
    let known = values.filter { !$0.isNaN }
    return known.isEmpty ? .nan : gsl_stats_mean(known, 1, known.count)
  }

  /// The variance, with n - 1 as divisor; NaN for fewer than two numbers.
  public static func variance(_ values: [Double]) -> Double {
    let known = values.filter { !$0.isNaN }
    return known.count < 2 ? .nan : gsl_stats_variance(known, 1, known.count)
  }

  /// The square root of `variance`.
  public static func standardDeviation(_ values: [Double]) -> Double {
    variance(values).squareRoot()
  }

  /// The median: the quantile at 0.5.
  public static func median(_ values: [Double]) -> Double { quantile(0.5, of: values) }

  /// A quantile: linear between the order statistics, the lowest at 0 and the highest at 1.
  ///
  /// Between two numbers of which one is infinite it is that one, unless the quantile is exactly at
  /// the other. Source: Hyndman and Fan (1996), type 7.
  public static func quantile(_ share: Double, of values: [Double]) -> Double {
    quantile(share, ofSorted: sorted(values))
  }

  /// The same of numbers that are sorted already, none of them NaN.
  public static func quantile(_ share: Double, ofSorted values: [Double]) -> Double {
    precondition((0...1).contains(share), "a quantile is at a share from 0 to 1")
    guard let last = values.last else { return .nan }
    if values[0].isFinite, last.isFinite {
      return gsl_stats_quantile_from_sorted_data(values, 1, values.count, share)
    }
    let place = share * Double(values.count - 1)
    let below = values[Int(place.rounded(.down))]
    let above = values[Int(place.rounded(.up))]
    if below == above || place == place.rounded(.down) { return below }
    if below.isInfinite { return above.isInfinite ? .nan : below }
    return above.isInfinite ? above : below + (place - place.rounded(.down)) * (above - below)
  }

  /// Several quantiles.
  public static func quantiles(_ shares: [Double], of values: [Double]) -> [Double] {
    let ordered = sorted(values)
    return shares.map { quantile($0, ofSorted: ordered) }
  }

  /// The mean of the ⌈n · share⌉ lowest numbers: with 0.1 the worst decile of accuracies.
  public static func meanOfLowest(_ share: Double, of values: [Double]) -> Double {
    let ordered = sorted(values)
    return mean(Array(ordered.prefix(Self.count(share, of: ordered.count))))
  }

  /// The mean of the ⌈n · share⌉ highest numbers.
  public static func meanOfHighest(_ share: Double, of values: [Double]) -> Double {
    let ordered = sorted(values)
    return mean(Array(ordered.suffix(Self.count(share, of: ordered.count))))
  }

  /// The mean without the lowest and the highest quarter.
  ///
  /// ⌊n/4⌋ numbers are left out on each side, as in `scipy.stats.trim_mean(x, 0.25)`.
  public static func interquartileMean(_ values: [Double]) -> Double {
    let ordered = sorted(values)
    let out = ordered.count / 4
    return mean(Array(ordered.dropFirst(out).dropLast(out)))
  }

  private static func count(_ share: Double, of count: Int) -> Int {
    precondition((0...1).contains(share), "a share is from 0 to 1")
    // 0.1 of 30 is 3, not the 4 that a rounded product may reach.
    return Int((share * Double(count) - 1e-9).rounded(.up))
  }

  /// The empirical distribution function: for each different number, lowest first, which share of
  /// all numbers is at most it.
  public static func distribution(
    _ values: [Double]
  ) -> [(value: Double, share: Double)] {
    let ordered = sorted(values)
    var steps: [(value: Double, share: Double)] = []
    for (index, value) in ordered.enumerated()
    where index + 1 == ordered.count || ordered[index + 1] > value {
      steps.append((value, Double(index + 1) / Double(ordered.count)))
    }
    return steps
  }
}
