import Numerics

extension RenyiCurve {
  /// The Gaussian mechanism on a sample of fixed size, a share `rate` of a known population drawn
  /// without replacement; neighbours differ by one member that is another one, and sensitivity is
  /// against that.
  ///
  /// Source: Wang, Balle, Kasiviswanathan, "Subsampled Rényi differential privacy and analytical
  /// moments accountant" (2019), theorem 27 of its long form; between whole orders by corollary 10.
  public static func sampledWithoutReplacement(
    rate: Double, noiseMultiplier: Double
  ) -> RenyiCurve {
    precondition(rate >= 0 && rate <= 1, "a rate is between 0 and 1")
    if rate == 0 { return RenyiCurve() }
    guard rate < 1, noiseMultiplier > 0 else { return gaussian(noiseMultiplier: noiseMultiplier) }
    var terms = FixedSizeTerms(rate: rate, sigma: noiseMultiplier)
    return RenyiCurve(
      orders.map { order in
        let floor = order.rounded(.down)
        let low = terms.logMoment(Int(floor))
        if floor == order { return low / (order - 1) }
        let share = order - floor
        return ((1 - share) * low + share * terms.logMoment(Int(floor) + 1)) / (order - 1)
      })
  }
}

/// The theorem's bound on (α − 1)·ρ(α), for whole orders.
private struct FixedSizeTerms {
  /// Above it differences are bounded by moments alone, as in dp-accounting.
  private static let mostDifferences = 256

  private let sigma: Double
  private let logRate: Double
  /// ln of the even forward differences at 0 of e^(j(j−1)/2σ²).
  private let differences: [Double]
  private var known: [Int: Double] = [:]

  init(rate: Double, sigma: Double) {
    self.sigma = sigma
    logRate = Portable.log(rate)
    differences = Self.differences(sigma, upTo: Self.mostDifferences + 1)
  }

  /// ln M(j), the moment of a likelihood ratio.
  private static func logMoment(_ j: Int, _ sigma: Double) -> Double {
    Double(j) * Double(j - 1) / (2 * sigma * sigma)
  }

  /// ln |Δⁿ M(0)| for n from 0 on, by differences of differences whose signs are kept next to their
  /// logarithms.
  private static func differences(_ sigma: Double, upTo most: Int) -> [Double] {
    var logs = (0...most).map { logMoment($0, sigma) }
    var signs = logs.map { _ in true }
    var found = [logs[0]]
    for n in 1...most {
      for j in 0...(most - n) {
        (signs[j], logs[j]) = difference(signs[j + 1], logs[j + 1], signs[j], logs[j])
      }
      found.append(logs[0])
    }
    return found
  }

  /// a − b, each as a sign and a logarithm.
  private static func difference(
    _ signA: Bool, _ a: Double, _ signB: Bool, _ b: Double
  ) -> (Bool, Double) {
    if signA != signB { return (signA, Portable.logSum(a, b)) }
    if a == b { return (true, -.infinity) }
    let (high, low) = a > b ? (a, b) : (b, a)
    let magnitude = high + Portable.log1p(-Portable.exp(low - high))
    return ((a > b) == signA, magnitude)
  }

  mutating func logMoment(_ order: Int) -> Double {
    if order <= 1 { return 0 }
    if let value = known[order] { return value }
    let value = computed(order)
    known[order] = value
    return value
  }

  private func computed(_ order: Int) -> Double {
    let log2 = Portable.log(2)
    let two = 1 / (sigma * sigma)
    var sum = 0.0
    var choose = Portable.log(Double(order))
    for i in 2...order {
      choose += Portable.log(Double(order - i + 1) / Double(i))
      var term: Double
      if i == 2 {
        term = min(2 * log2 + two + Portable.log1p(-Portable.exp(-two)), two + log2)
      } else {
        term = log2 + Self.logMoment(i, sigma)
        if order <= Self.mostDifferences {
          let (low, high) = (differences[i / 2 * 2], differences[(i + 1) / 2 * 2])
          term = min(term, 2 * log2 + 0.5 * (low + high))
        }
      }
      sum = Portable.logSum(sum, choose + Double(i) * logRate + term)
    }
    return sum
  }
}
