extension Portable {
  // π/2 in three parts of 33 leading bits each and what is left behind the third: a product of one
  // part with a whole number below 2²⁰ is exact.
  private static let quarter1 = 1.570_796_326_734_125_614_17e+00
  private static let quarter2 = 6.077_100_506_303_965_976_60e-11
  private static let quarter3 = 2.022_266_248_711_166_455_80e-21
  private static let quarter3Rest = 8.478_427_660_368_899_569_97e-32
  private static let inverseQuarter = 6.366_197_723_675_813_824_33e-01

  /// The sine of an angle in radians, to about 1 unit in the last place; |x| ≤ 10⁶.
  ///
  /// x = k·π/2 + r with |r| ≤ π/4, r kept in two doubles; then sine or cosine of r by Taylor's
  /// polynomial. NaN gives NaN.
  public static func sin(_ x: Double) -> Double {
    let (quadrant, high, low) = reduced(x)
    switch quadrant {
    case 0: return sinOfReduced(high, low)
    case 1: return cosOfReduced(high, low)
    case 2: return -sinOfReduced(high, low)
    default: return -cosOfReduced(high, low)
    }
  }

  /// The cosine of an angle in radians, to about 1 unit in the last place; |x| ≤ 10⁶.
  ///
  /// As `sin`, a quarter turn on.
  public static func cos(_ x: Double) -> Double {
    let (quadrant, high, low) = reduced(x)
    switch quadrant {
    case 0: return cosOfReduced(high, low)
    case 1: return -sinOfReduced(high, low)
    case 2: return -cosOfReduced(high, low)
    default: return sinOfReduced(high, low)
    }
  }

  /// The quarter turn in which an angle is, and what it is away from the quarter's middle.
  private static func reduced(_ x: Double) -> (quadrant: Int, high: Double, low: Double) {
    if x.isNaN { return (0, .nan, 0) }
    precondition(x.magnitude <= 1e6, "an angle of at most a million radians")
    if x.magnitude < 0.785 { return (0, x, 0) }
    let k = (x * inverseQuarter).rounded(.toNearestOrEven)
    let first = x - k * quarter1
    let second = first - k * quarter2
    // What the rounding of each difference lost is taken along.
    let lost2 = k * quarter2 - (first - second)
    let third = second - k * quarter3
    let lost3 = k * quarter3 - (second - third)
    let rest = k * quarter3Rest + lost2 + lost3
    let high = third - rest
    let low = (third - high) - rest
    return (Int(k) & 3, high, low)
  }

  private static func sinOfReduced(_ x: Double, _ low: Double) -> Double {
    if x == 0 { return x }  // its sign is kept
    let z = x * x
    var p = 1.0 / 355_687_428_096_000
    p = p * z - 1.0 / 1_307_674_368_000
    p = p * z + 1.0 / 6_227_020_800
    p = p * z - 1.0 / 39_916_800
    p = p * z + 1.0 / 362_880
    p = p * z - 1.0 / 5_040
    p = p * z + 1.0 / 120
    p = p * z - 1.0 / 6
    return x + (x * z * p + low * (1 - 0.5 * z))
  }

  private static func cosOfReduced(_ x: Double, _ low: Double) -> Double {
    let z = x * x
    var p = 1.0 / 6_402_373_705_728_000
    p = 1.0 / 20_922_789_888_000 - p * z
    p = p * z - 1.0 / 87_178_291_200
    p = p * z + 1.0 / 479_001_600
    p = p * z - 1.0 / 3_628_800
    p = p * z + 1.0 / 40_320
    p = p * z - 1.0 / 720
    p = p * z + 1.0 / 24
    let half = 0.5 * z
    let head = 1 - half
    return head + (((1 - head) - half) + (z * z * p - x * low))
  }
}
