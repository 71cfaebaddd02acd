import CKernels
import Foundation
import Testing

/// tanh and sigmoid against the truth, at all sorts of values.
@Suite struct ActivationTests {
  /// Ordinary values, and all sorts at the front.
  private var values: [Float] {
    [
      0, -0.0, 0x1p-133, -0x1p-133, 1e-20, 88, -88, 200, -200, .infinity, -.infinity, .nan, 0.625,
      -0.625,
    ] + stride(from: Float(-12), through: 12, by: 0.00071)
  }

  @Test("tanh and sigmoid are their definitions and near the truth", arguments: Body.allCases)
  func curves(body: Body) throws {
    let kernels = try body.kernels()
    let x = values
    for (run, definition, truth, bound) in [
      (kernels.tanh!, Reference.tangent, { Foundation.tanh($0) }, 2.0),
      (kernels.sigmoid!, Reference.sigmoid, { 1 / (1 + Foundation.exp(-$0)) }, 3.0),
    ]
      as [(
        @convention(c) (Int, UnsafePointer<Float>?, UnsafeMutablePointer<Float>?) -> Void,
        (Float) -> Float, (Double) -> Double, Double
      )]
    {
      var out = x
      run(x.count, x, &out)
      #expect(firstDifference(out, x.map(definition)) == nil)
      var worst = 0.0
      for (x, result) in zip(x, out).dropFirst(14) {
        let expected = truth(Double(x))
        worst = max(worst, abs(Double(result) - expected) / Double(Float(expected).ulp))
      }
      #expect(worst < bound)
    }
  }

  @Test("GELU and SiLU and their slopes are near the truth", arguments: Body.allCases)
  func smoothRectifiers(body: Body) throws {
    let kernels = try body.kernels()
    // Φ by the complementary error function of the C library, in double.
    let normal: (Double) -> Double = { 0.5 * Foundation.erfc(-$0 / 2.0.squareRoot()) }
    let density: (Double) -> Double = {
      Foundation.exp(-$0 * $0 / 2) / (2 * Double.pi).squareRoot()
    }
    let logistic: (Double) -> Double = { 1 / (1 + Foundation.exp(-$0)) }
    let x = Array(values.dropFirst(14))
    for (run, slope, truth, slopeTruth) in [
      (
        kernels.gelu!, kernels.gelu_backward!, { $0 * normal($0) },
        { normal($0) + $0 * density($0) }
      ),
      (
        kernels.silu!, kernels.silu_backward!, { $0 * logistic($0) },
        { logistic($0) * (1 + $0 * (1 - logistic($0))) }
      ),
    ]
      as [(
        @convention(c) (Int, UnsafePointer<Float>?, UnsafeMutablePointer<Float>?) -> Void,
        @convention(c) (Int, UnsafePointer<Float>?, UnsafeMutablePointer<Float>?) -> Void,
        (Double) -> Double, (Double) -> Double
      )]
    {
      var (out, slopes) = (x, [Float](repeating: 1, count: x.count))
      run(x.count, x, &out)
      slope(x.count, x, &slopes)
      for (index, x) in x.enumerated() {
        let size = max(1, abs(Double(x)))
        #expect(abs(Double(out[index]) - truth(Double(x))) < 3e-7 * size)
        #expect(abs(Double(slopes[index]) - slopeTruth(Double(x))) < 5e-7 * size)
      }
    }
  }
}
