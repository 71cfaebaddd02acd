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
}
