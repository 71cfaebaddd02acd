import CKernels
import Testing

/// Fused multiply-add by itself: in the baseline body it is emulated.
@Suite struct FusedMultiplyAddTests {
  private func run(_ kernels: fs_kernels, _ a: [Float], _ b: [Float], _ c: [Float]) -> [Float] {
    var out = [Float](repeating: .nan, count: a.count)
    kernels.fma(a.count, a, b, c, &out)
    return out
  }

  @Test("known hard cases give the values worked out by hand", arguments: Body.allCases)
  func hardCases(body: Body) throws {
    let tiny = Float.leastNonzeroMagnitude  // 2⁻¹⁴⁹
    let ulp = Float.ulpOfOne  // 2⁻²³
    let cases: [(Float, Float, Float, Float)] = [
      // (1+u)² = 1 + 2u + u²: the exact product less 1 + 2u leaves u².
      (1 + ulp, 1 + ulp, -(1 + 2 * ulp), ulp * ulp),
      // (1+u)(1-u) - 1 = -u².
      (1 + ulp, 1 - ulp, -1, -ulp * ulp),
      // 1 + u/2 is a tie and rounds to even, 1; a hair more rounds up, a hair less than a tie down.
      (ulp, 0.5, 1, 1),
      (ulp, 0.5 + 0x1p-24, 1, 1 + ulp),
      (ulp, 0.5, 1 + ulp, 1 + 2 * ulp),
      (ulp, 0.5 - 0x1p-25, 1 + ulp, 1 + ulp),
      // The same with the hair below double's last bit, where rounding twice goes wrong.
      (0x1p-60, 0x1p-60, 1 + ulp, 1 + ulp),
      (0x1.000002p-24, 0x1p0, 1, 1 + ulp),
      (0x1.000002p-40, 0x1.000002p-40, 0x1p23, 0x1p23),
      // 1 + u + ½u(1-u²): below the tie by 2⁻⁷⁰, which double cannot hold; and likewise above it.
      ((1 + ulp) * 0x1p-24, 1 - ulp, 1 + ulp, 1 + ulp),
      ((1 + ulp) * -0x1p-25, 1 - ulp, 1 - ulp / 2, 1 - ulp / 2),
      // Denormals: half of the least one is a tie to zero, a hair more is not.
      (tiny, 0.5, 0, 0),
      (tiny, 0.5, tiny, 2 * tiny),
      (0x1.000002p-75, 0x1p-75, 0, tiny),
      (-0x1.000002p-75, 0x1p-75, 0, -tiny),
      (0x1p-75, 0x1p-75, 0, 0),
      (-0x1p-75, 0x1p-75, 0, -0.0),
      // Half of the least denormal more than the least normal: ties to even.
      (0x1p-75, 0x1p-75, .leastNormalMagnitude, .leastNormalMagnitude),
      (0x1p-75, 0x1p-75, .leastNormalMagnitude.nextDown, .leastNormalMagnitude),
      // Signs of zero.
      (0, 1, -0.0, 0),
      (-0.0, 1, -0.0, -0.0),
      (1, 1, -1, 0),
      // Overflow, and a product that is too large only by itself.
      (.greatestFiniteMagnitude, 2, 0, .infinity),
      (.greatestFiniteMagnitude, 2, -.greatestFiniteMagnitude, .greatestFiniteMagnitude),
      (.greatestFiniteMagnitude, 1, 0x1p102, .greatestFiniteMagnitude),
      (.greatestFiniteMagnitude, 1, 0x1p103, .infinity),
      (.infinity, 2, 1, .infinity),
      (1, 1, -.infinity, -.infinity),
      (.infinity, -1, .infinity, .nan),
      (.infinity, 0, 1, .nan),
      (.nan, 1, 1, .nan),
    ]
    let out = try run(body.kernels(), cases.map(\.0), cases.map(\.1), cases.map(\.2))
    for (result, (a, b, c, expected)) in zip(out, cases) {
      #expect(
        firstDifference([result], [expected]) == nil, "fma(\(a), \(b), \(c)) gave \(result)")
    }
  }

  @Test("random bit patterns agree with the standard library", arguments: Body.allCases)
  func randomBits(body: Body) throws {
    let kernels = try body.kernels()
    var numbers = TestNumbers("fused multiply-add")
    var a: [Float] = []
    var b: [Float] = []
    var c: [Float] = []
    for round in 0..<200_000 {
      a.append(Float(bitPattern: numbers.bits()))
      b.append(Float(bitPattern: numbers.bits()))
      let product = a[round] * b[round]
      switch round % 5 {
      case 0:  // Anything.
        c.append(Float(bitPattern: numbers.bits()))
      case 1:  // Close to cancelling.
        c.append(-Float(bitPattern: product.bitPattern &+ UInt32(numbers.below(3))))
      case 2:
        // Within 60 powers of two, so that rounding decides; few bits set, so that ties occur.
        a[round] = Float(bitPattern: a[round].bitPattern & 0xFFF0_0000)
        b[round] = Float(bitPattern: b[round].bitPattern & 0xFFFF_0000)
        let exponent = Float(sign: .plus, exponent: numbers.below(60) - 30, significand: 1)
        c.append(a[round] * b[round] * exponent)
      case 3:
        // A hair, less than double holds, next to the tie of two neighbours: ½ulp(c)·(1-j²u²).
        let step = Float(1 + numbers.below(50)) * Float.ulpOfOne
        c.append(Float(bitPattern: 0x2000_0000 + UInt32(numbers.below(0x4000_0000))))
        a[round] = (1 + step) * c[round].ulp * (numbers.below(2) == 0 ? 0.5 : -0.5)
        b[round] = 1 - step
      default:  // Results among the denormals.
        a[round] = numbers.uniform() * 0x1p-70
        b[round] = numbers.uniform() * 0x1p-72
        c.append(Float(bitPattern: UInt32(numbers.below(1 << 24)) << UInt32(numbers.below(3))))
      }
    }
    let out = run(kernels, a, b, c)
    let expected = zip(zip(a, b), c).map { Reference.fused($0.0, $0.1, $1) }
    #expect(firstDifference(out, expected) == nil)
  }
}
