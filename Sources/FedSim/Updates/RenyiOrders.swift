import Numerics

/// The Rényi divergence of a mechanism, or of several one after the other, at many orders: what
/// they may tell of one member, as a curve.
///
/// Curves of mechanisms that see one another's results add up (Mironov 2017, proposition 1).
public struct RenyiCurve: Sendable, Equatable {
  /// The orders α: those of Google's dp-accounting.
  public static let orders: [Double] =
    (1..<100).map { 1 + Double($0) / 10 } + (11..<64).map { Double($0) } + [128, 256, 512, 1024]

  /// The divergence at each order; infinite: nothing is promised.
  public internal(set) var values: [Double]

  /// A curve with these values, one per order.
  public init(_ values: [Double]) {
    precondition(values.count == Self.orders.count, "one value per order")
    self.values = values
  }

  /// Of a mechanism that tells nothing.
  public init() { values = Array(repeating: 0, count: Self.orders.count) }

  /// This curve and then another, the latter this many times.
  public mutating func compose(_ other: RenyiCurve, times: Int = 1) {
    for place in values.indices { values[place] += Double(times) * other.values[place] }
  }

  /// The least ε for which the curve promises (ε, δ)-differential privacy.
  ///
  /// Source: Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy" (2020),
  /// proposition 12: ε = ρ + ln(1 − 1/α) − ln(δ·α)/(α − 1), the least over the orders; 0 where δ ≥
  /// √(1 − e^−ρ), which bounds the total variation.
  public func epsilon(delta: Double) -> Double {
    var least = Double.infinity
    for (order, value) in zip(Self.orders, values) {
      if delta * delta + Portable.expm1(-value) > 0 { return 0 }
      let found =
        value + Portable.log1p(-1 / order) - Portable.log(delta * order) / (order - 1)
      least = min(least, found)
    }
    return max(0, least)
  }
}

extension RenyiCurve {
  /// The Gaussian mechanism: α / 2σ², with σ the noise's deviation over the sensitivity.
  ///
  /// Source: Mironov, "Rényi differential privacy" (2017), proposition 7.
  public static func gaussian(noiseMultiplier: Double) -> RenyiCurve {
    guard noiseMultiplier > 0 else { return unlimited }
    return RenyiCurve(orders.map { $0 / (2 * noiseMultiplier * noiseMultiplier) })
  }

  /// Nothing is promised.
  static let unlimited = RenyiCurve(orders.map { _ in .infinity })
}
