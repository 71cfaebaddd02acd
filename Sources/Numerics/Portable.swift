/// Elementary functions made of + - × ÷ and bit operations only: the same bits on every processor.
///
/// The C library's functions differ in the last bit between processors and versions, so they are
/// on no path to a result.
public enum Portable {
  private static let ln2High = 6.931_471_803_691_238_16e-01  // 33 leading bits of ln 2
  private static let ln2Low = 1.908_214_929_270_587_70e-10
  private static let sqrtHalf = 0.707_106_781_186_547_524

  /// The natural logarithm, to about 1 unit in the last place.
  ///
  /// x = 2ᵉ·m with m in [√½, √2); ln m = 2 artanh s with s = (m−1)/(m+1), by its power series.
  /// Negative or NaN gives NaN, 0 gives −∞.
  public static func log(_ x: Double) -> Double {
    guard x > 0 else { return x == 0 ? -.infinity : .nan }
    guard x < .infinity else { return x }
    return logs(SIMD2(x, x))[0]
  }

  /// The natural logarithms of two finite numbers above 0, each as `log` gives it: where every step
  /// waits for the one before, two at once take no longer than one.
  public static func logs(_ x: SIMD2<Double>) -> SIMD2<Double> {
    let (a, b) = (parts(x[0]), parts(x[1]))
    let exponent = SIMD2(a.exponent, b.exponent)
    let f = SIMD2(a.mantissa, b.mantissa) - 1
    let s = f / (2 + f)
    let z = s * s
    var tail = SIMD2(repeating: 1.0 / 23)
    tail = tail * z + 1.0 / 21
    tail = tail * z + 1.0 / 19
    tail = tail * z + 1.0 / 17
    tail = tail * z + 1.0 / 15
    tail = tail * z + 1.0 / 13
    tail = tail * z + 1.0 / 11
    tail = tail * z + 1.0 / 9
    tail = tail * z + 1.0 / 7
    tail = tail * z + 1.0 / 5
    tail = tail * z + 1.0 / 3
    // f − s·f = 2s, kept apart so that the leading term stays exact.
    let correction = s * (f - 2 * z * tail)
    return exponent * ln2High - ((correction - exponent * ln2Low) - f)
  }

  /// The parts of a finite number above 0: x = 2ᵉ·m with m in [√½, √2).
  @inline(__always)
  private static func parts(_ x: Double) -> (exponent: Double, mantissa: Double) {
    // Below the normal numbers the exponent's bits do not say it all.
    let isNormal = x >= .leastNormalMagnitude
    let bits = (isNormal ? x : x * 0x1p54).bitPattern
    let exponent = Double(Int(bits >> 52) - (isNormal ? 1022 : 1076))
    let mantissa = Double(bitPattern: bits & 0x000F_FFFF_FFFF_FFFF | 0x3FE0_0000_0000_0000)
    return mantissa < sqrtHalf ? (exponent - 1, mantissa * 2) : (exponent, mantissa)
  }

  /// The exponential function, to about 1 unit in the last place.
  ///
  /// x = k·ln 2 + r with |r| ≤ ½ ln 2; exp r by its Taylor polynomial of degree 13.
  public static func exp(_ x: Double) -> Double {
    if x.isNaN { return .nan }
    if x > 709.782_712_893_384 { return .infinity }
    if x < -745.133_219_101_942 { return 0 }
    let k = (x * 1.442_695_040_888_963_4).rounded(.toNearestOrEven)
    let high = x - k * ln2High
    let r = high - k * ln2Low
    var p = 1.0 / 6_227_020_800
    p = p * r + 1.0 / 479_001_600
    p = p * r + 1.0 / 39_916_800
    p = p * r + 1.0 / 3_628_800
    p = p * r + 1.0 / 362_880
    p = p * r + 1.0 / 40_320
    p = p * r + 1.0 / 5_040
    p = p * r + 1.0 / 720
    p = p * r + 1.0 / 120
    p = p * r + 1.0 / 24
    p = p * r + 1.0 / 6
    p = p * r + 0.5
    let value = 1 + (r + r * r * p)
    let whole = Int(k)
    // Two factors, so that the scale itself never leaves the range of normal numbers.
    let half = whole / 2
    return value * power2(half) * power2(whole - half)
  }

  private static func power2(_ exponent: Int) -> Double {
    Double(bitPattern: UInt64(exponent + 1023) << 52)
  }
}
