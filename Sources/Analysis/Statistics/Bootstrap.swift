import CGSL
import Numerics

/// Intervals by drawing again, with replacement, from what was observed.
///
/// Draws: resample k takes n `below(n)` from slot k of a stream that the seed names, so an interval
/// is the same wherever it is worked out, and longer ones begin with the same resamples.
public struct Bootstrap: Sendable, Equatable {
  /// How an interval follows from the resamples.
  public enum Method: String, CaseIterable, Codable, Sendable {
    /// The quantiles of the resampled statistics.
    case percentile
    /// Quantiles that are corrected for bias and for a spread that depends on the value.
    ///
    /// Source: Efron (1987), with the acceleration of the jackknife.
    case bca
  }

  /// How an interval follows from the resamples.
  public var method = Method.bca
  /// How many resamples are drawn.
  public var resamples = 9_999
  /// The confidence.
  public var level = 0.95
  /// Names the stream of the draws.
  public var seed: UInt64 = 0

  /// The defaults: BCa of 9,999 resamples at 0.95.
  public init() {}

  /// A bootstrap with these settings.
  public init(
    _ method: Method, resamples: Int = 9_999, level: Double = 0.95, seed: UInt64 = 0
  ) {
    precondition(resamples > 0, "an interval needs resamples")
    precondition(level > 0 && level < 1, "a confidence is between 0 and 1")
    (self.method, self.resamples, self.level, self.seed) = (method, resamples, level, seed)
  }

  /// The interval of a statistic; nil for fewer than two numbers, or where it is not finite.
  ///
  /// NaN is left out first. Where all resamples agree the interval is that one number.
  public func interval(
    of values: [Double], _ statistic: ([Double]) -> Double = Statistics.mean
  ) -> Interval? {
    let known = values.filter { !$0.isNaN }
    guard known.count > 1 else { return nil }
    let drawn = distribution(of: known, statistic)
    guard drawn.allSatisfy(\.isFinite) else { return nil }
    switch method {
    case .percentile:
      return between((1 - level) / 2, (1 + level) / 2, of: drawn)
    case .bca:
      let left = known.indices.map { out in
        statistic(Array(known[..<out] + known[(out + 1)...]))
      }
      return bca(drawn, observed: statistic(known), jackknife: left)
    }
  }

  /// The statistic of each resample, lowest first.
  public func distribution(of values: [Double], _ statistic: ([Double]) -> Double) -> [Double] {
    precondition(!values.isEmpty, "nothing can be drawn from nothing")
    let key = StreamKey(seed: seed, purpose: "bootstrap")
    let count = UInt32(values.count)
    var resample = values
    return (0..<resamples).map { number in
      var stream = key.stream(slot: UInt64(number))
      for place in resample.indices { resample[place] = values[Int(stream.below(count))] }
      return statistic(resample)
    }.sorted()
  }

  /// The BCa interval of resampled statistics, lowest first, the observed one, and those without
  /// one number each.
  public func bca(_ drawn: [Double], observed: Double, jackknife: [Double]) -> Interval? {
    let low = (1 - level) / 2
    if drawn.first == drawn.last { return between(low, 1 - low, of: drawn) }
    let below = drawn.count { $0 < observed }
    let equal = drawn.count { $0 == observed }
    let share = (Double(below) + Double(equal) / 2) / Double(drawn.count)
    // An observed value beyond all resamples leaves the correction undefined.
    guard share > 0, share < 1 else { return nil }
    let bias = gsl_cdf_ugaussian_Pinv(share)
    let acceleration = Self.acceleration(jackknife)
    func corrected(_ level: Double) -> Double {
      let z = bias + gsl_cdf_ugaussian_Pinv(level)
      return gsl_cdf_ugaussian_P(bias + z / (1 - acceleration * z))
    }
    return between(corrected(low), corrected(1 - low), of: drawn)
  }

  /// A sixth of the skewness of the statistic's influence, from the statistics without one number
  /// each.
  static func acceleration(_ jackknife: [Double]) -> Double {
    let mean = Statistics.mean(jackknife)
    var squares = 0.0
    var cubes = 0.0
    for value in jackknife {
      let step = mean - value
      squares += step * step
      cubes += step * step * step
    }
    return squares == 0 ? 0 : cubes / (6 * squares * squares.squareRoot())
  }

  private func between(_ low: Double, _ high: Double, of drawn: [Double]) -> Interval {
    Interval(
      low: Statistics.quantile(low, ofSorted: drawn),
      high: Statistics.quantile(high, ofSorted: drawn), level: level)
  }
}
