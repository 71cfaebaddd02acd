import Foundation
import Testing

import Numerics

@Suite("Portable sines")
struct TrigonometryTests {
  private func ulps(_ value: Double, _ reference: Double) -> Double {
    abs(value - reference) / reference.ulp
  }

  @Test(
    "sin and cos agree with the C library to 2 units in the last place", arguments: [1, 40, 1e6])
  func librarysValues(range: Double) {
    var stream = StreamKey(seed: 5, purpose: "test").stream(slot: UInt64(range))
    for _ in 0..<100_000 {
      let x = (2 * stream.uniform() - 1) * range
      #expect(ulps(Portable.sin(x), Foundation.sin(x)) <= 2, "sin(\(x))")
      #expect(ulps(Portable.cos(x), Foundation.cos(x)) <= 2, "cos(\(x))")
    }
  }

  @Test("near the multiples of a quarter turn nothing is lost")
  func nearZeros() {
    for k in stride(from: 1, to: 600_000, by: 997) {
      let x = Double(k) * (Double.pi / 2)
      #expect(ulps(Portable.sin(x), Foundation.sin(x)) <= 2, "sin(\(x))")
      #expect(ulps(Portable.cos(x), Foundation.cos(x)) <= 2, "cos(\(x))")
    }
  }

  @Test("exact and odd values")
  func edges() {
    #expect(Portable.sin(0) == 0 && Portable.cos(0) == 1)
    #expect(Portable.sin(-0.0).sign == .minus)
    #expect(Portable.sin(1e-300) == 1e-300 && Portable.cos(1e-300) == 1)
    #expect(Portable.sin(.nan).isNaN && Portable.cos(.nan).isNaN)
    #expect(Portable.sin(-2) == -Portable.sin(2) && Portable.cos(-2) == Portable.cos(2))
  }
}
