/// The kernels' functions as they are defined, one number at a time.
enum Reference {
  /// a·b + c, rounded once, from the standard library: slow, and independent of the kernels.
  static func fused(_ a: Float, _ b: Float, _ c: Float) -> Float { c.addingProduct(a, b) }

  /// Σ x·y in 16 lanes, then halves of the lanes added; short of a multiple of 16, zeros follow.
  static func dot(_ x: [Float], _ y: (Int) -> Float) -> Float {
    var lanes = [Float](repeating: 0, count: 16)
    for place in 0..<(x.count + 15) / 16 * 16 {
      let isThere = place < x.count
      lanes[place % 16] = fused(isThere ? x[place] : 0, isThere ? y(place) : 0, lanes[place % 16])
    }
    for width in [8, 4, 2, 1] {
      for lane in 0..<width { lanes[lane] += lanes[lane + width] }
    }
    return lanes[0]
  }

  /// exp(x) for x ≤ 0: 2ⁿ·exp(r) with |r| ≤ ln 2 / 2, by Taylor's polynomial of degree 7.
  static func exponential(_ x: Float) -> Float {
    if x < -0x1.5d589ep+6 { return 0 }
    let t = fused(x, 0x1.715476p+0, 0x1.8p23)
    let n = t - 0x1.8p23
    let r = fused(n, -0x1.7f7d1cp-20, fused(n, -0x1.62e4p-1, x))
    var p: Float = 1 / 5040
    for coefficient: Float in [1 / 720, 1 / 120, 1 / 24, 1 / 6, 0.5, 1, 1] {
      p = fused(p, r, coefficient)
    }
    return p * Float(bitPattern: (t.bitPattern &<< 23) &+ 0x3f80_0000)
  }

  /// tanh(x): an odd polynomial near 0, else 1 − 2e/(1 + e) with e = exp(−2|x|).
  static func tangent(_ x: Float) -> Float {
    if abs(x) < 0.625 {
      let z = x * x
      var p: Float = -5.70498872745e-3
      for coefficient: Float in [
        2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1,
      ] { p = fused(p, z, coefficient) }
      return fused(p * z, x, x)
    }
    let e = exponential(abs(x) * -2)
    let far = 1 - (e + e) / (1 + e)
    return Float(bitPattern: far.bitPattern | (x.bitPattern & 0x8000_0000))
  }

  /// 1/(1 + exp(−x)), by exp(−|x|).
  static func sigmoid(_ x: Float) -> Float {
    let e = exponential(-abs(x))
    return (x < 0 ? e : 1) / (1 + e)
  }

  /// The normal distribution's function: half of erfc(z) = t·exp(−z² + P(t)), z = |x|/√2.
  static func normal(_ x: Float) -> Float {
    let z = abs(x) * 0.70710678118654752
    let t = 1 / fused(0.5, z, 1)
    var p: Float = 0.17087277
    for coefficient: Float in [
      -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196,
      1.00002368, -1.26551223,
    ] { p = fused(p, t, coefficient) }
    let tail = 0.5 * (t * exponential(fused(-z, z, p)))
    return x < 0 ? tail : 1 - tail
  }

  /// The slope of x·Φ(x).
  static func normalSlope(_ x: Float) -> Float {
    fused(x, 0.39894228040143268 * exponential(-0.5 * (x * x)), normal(x))
  }

  /// The slope of x/(1 + exp(−x)).
  static func siluSlope(_ x: Float) -> Float {
    let s = sigmoid(x)
    return s * fused(x, 1 - s, 1)
  }

  /// log(x) for x ≥ 1: x = m·2ᵉ with m in [√½, √2), and log m = 2·artanh((m−1)/(m+1)).
  static func logarithm(_ x: Double) -> Double {
    guard x <= 0x1p1000 else { return x }
    var (mantissa, exponent) = (x, 0.0)
    while mantissa > 0x1.6a09e667f3bcdp+0 {
      mantissa *= 0.5
      exponent += 1
    }
    let t = (mantissa - 1) / (mantissa + 1)
    var sum = 0.0
    for n in stride(from: 25.0, through: 3, by: -2) { sum = (sum + 1 / n) * (t * t) }
    return exponent * 0x1.62e42fefa39efp-1 + (t * sum + t) * 2
  }

  /// The first place of the largest value; NaNs count as smaller than all but the first.
  static func largest(_ values: [Float]) -> Int {
    var best = 0
    for index in values.indices where values[index] > values[best] { best = index }
    return best
  }
}
