import Foundation
import Testing

import Numerics

@Suite("Portable functions near 1 and far out")
struct TailTests {
  private func isNear(_ value: Double, _ reference: Double, _ share: Double) -> Bool {
    (value - reference).magnitude <= share * reference.magnitude
  }

  @Test("log1p and expm1 agree with the C library, also where 1 + x is 1")
  func nearOne() {
    var stream = StreamKey(seed: 3, purpose: "test").stream(slot: 0)
    for _ in 0..<20_000 {
      let x = (stream.uniform() - 0.5) * Foundation.pow(10, -20 * stream.uniform())
      #expect(isNear(Portable.log1p(x), Foundation.log1p(x), 1e-14), "log1p(\(x))")
      // Above 10⁻⁵ the difference e^x − 1 loses some digits.
      #expect(isNear(Portable.expm1(x), Foundation.expm1(x), 1e-10), "expm1(\(x))")
    }
    #expect(Portable.log1p(-1) == -.infinity)
    #expect(Portable.log1p(-2).isNaN)
    #expect(Portable.log1p(.infinity) == .infinity)
  }

  @Test("The logarithm of half erfc agrees with the C library as far as that has numbers")
  func tails() {
    for step in -2_600...2_600 {
      let x = Double(step) / 100
      let reference = 0.5 * Foundation.erfc(x)
      #expect((Portable.logHalfErfc(x) - Foundation.log(reference)).magnitude < 1e-10, "\(x)")
    }
    // Far out: −x² − ln(2x√π) and a series in 1/x²; by SciPy −10005.8707...
    #expect((Portable.logHalfErfc(100) + 10_005.870_732_303).magnitude < 1e-6)
    #expect(Portable.logHalfErfc(-100) == 0)
  }

  @Test("Sums of numbers that only their logarithms hold")
  func sums() {
    #expect(Portable.logSum(-.infinity, -.infinity) == -.infinity)
    #expect(Portable.logSum(-.infinity, 3) == 3)
    #expect((Portable.logSum(2000, 2000) - 2000 - 0.693_147_180_559_945).magnitude < 1e-12)
    #expect(Portable.logSum(5000, 1) == 5000)
  }
}
