import CKernels
import Foundation
import Testing

/// Activations, losses and optimisers against their definitions, one number at a time.
@Suite struct ActivationTests {
  private func exponential(_ x: Float) -> Float {
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

  private func tangent(_ x: Float) -> Float {
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

  private func sigmoid(_ x: Float) -> Float {
    let e = exponential(-abs(x))
    return (x < 0 ? e : 1) / (1 + e)
  }

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
      (kernels.tanh!, tangent, { Foundation.tanh($0) }, 2.0),
      (kernels.sigmoid!, sigmoid, { 1 / (1 + Foundation.exp(-$0)) }, 3.0),
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
      for count in 0...40 {  // Ragged ends, and nothing behind them.
        var some = [Float](repeating: 9, count: 41)
        run(count, x, &some)
        #expect(
          firstDifference(
            some, x[0..<count].map(definition) + [Float](repeating: 9, count: 41 - count)) == nil)
      }
    }
  }

  @Test("elementwise layers equal their definitions", arguments: Body.allCases)
  func elements(body: Body) throws {
    let kernels = try body.kernels()
    for seed in 0..<300 as Range<UInt64> {
      var numbers = TestNumbers(seed: seed)
      let count = numbers.below(70)
      let (a, d) = (numbers.floats(count), numbers.floats(count))
      func check(
        _ name: String, _ expected: (Float, Float) -> Float, _ run: (inout [Float]) -> Void
      ) {
        var out = d
        run(&out)
        #expect(
          firstDifference(out, zip(a, d).map(expected)) == nil, "\(name), seed \(seed)")
      }
      check("leaky", { a, _ in a > 0 ? a : 0.1 * a }) { kernels.leaky_relu(count, 0.1, a, &$0) }
      check("leaky'", { a, d in a > 0 ? d : 0.1 * d }) {
        kernels.leaky_relu_backward(count, 0.1, a, &$0)
      }
      check("tanh'", { a, d in d * (1 - a * a) }) { kernels.tanh_backward(count, a, &$0) }
      check("sigmoid'", { a, d in d * (a * (1 - a)) }) {
        kernels.sigmoid_backward(count, a, &$0)
      }
      check("product", { a, d in a * d }) { kernels.multiply(count, a, d, &$0) }
    }
  }

  @Test("softmax as a layer and squared error equal plain loops", arguments: Body.allCases)
  func rows(body: Body) throws {
    let kernels = try body.kernels()
    for seed in 0..<300 as Range<UInt64> {
      var numbers = TestNumbers(seed: seed)
      let (rows, classes) = (1 + numbers.below(4), 1 + numbers.below(40))
      let (x, d) = (
        numbers.ordinaryFloats(rows * classes), numbers.ordinaryFloats(rows * classes)
      )
      let labels = (0..<rows).map { _ in Int32(numbers.below(classes)) }
      var shares: [Float] = []
      var gradient: [Float] = []
      var squares: [Float] = []
      var loss = 0.5
      var correct = 0
      for row in 0..<rows {
        let range = row * classes..<(row + 1) * classes
        let largest = x[range].max()!
        let powers = x[range].map { exponential($0 - largest) }
        let sum = powers.reduce(0, +)
        let y = powers.map { $0 / sum }
        shares += y
        let product = zip(y, d[range]).reduce(0) { $0 + $1.0 * $1.1 }
        gradient += zip(y, d[range]).map { $0 * ($1 - product) }
        let label = Int(labels[row])
        let errors = (0..<classes).map { x[range][range.lowerBound + $0] - ($0 == label ? 1 : 0) }
        squares += errors.map { $0 * (2 / Float(classes) * 0.3) }
        loss += errors.reduce(0) { $0 + Double($1) * Double($1) } / Double(classes)
        correct += x[range].firstIndex(of: largest)! - range.lowerBound == label ? 1 : 0
      }
      var out = x
      kernels.softmax_rows(rows, classes, x, &out)
      #expect(firstDifference(out, shares) == nil, "seed \(seed)")
      var back = d
      kernels.softmax_rows_backward(rows, classes, shares, &back)
      #expect(firstDifference(back, gradient) == nil, "seed \(seed)")
      var sum = 0.5
      #expect(kernels.squares(rows, classes, x, labels, 0.3, &out, &sum) == correct)
      #expect(firstDifference(out, squares) == nil && sum == loss, "seed \(seed)")
    }
  }

  @Test("optimisers equal their formulas in floats", arguments: Body.allCases)
  func optimisers(body: Body) throws {
    let kernels = try body.kernels()
    for seed in 0..<300 as Range<UInt64> {
      var numbers = TestNumbers(seed: seed)
      let count = numbers.below(70)
      let (w, g) = (numbers.floats(count), numbers.floats(count))
      let (m, v) = (numbers.floats(count), numbers.floats(count).map(abs))
      var step = fs_step(
        rate: 0.1, momentum: 0.9, decay: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-8,
        rest1: 0.1, rest2: 0.01,
        correction1: 2.5, correction2: 7, nesterov: seed % 2 == 0 ? 1 : 0)
      var (weights, velocity) = (w, m)
      kernels.sgd(count, &step, g, &velocity, w, &weights)
      let gradient = zip(g, w).map { $0 + 0.01 * $1 }
      let speed = zip(m, gradient).map { 0.9 * $0 + $1 }
      #expect(firstDifference(velocity, speed) == nil)
      let directions = zip(speed, gradient).map { step.nesterov == 1 ? $1 + 0.9 * $0 : $0 }
      #expect(firstDifference(weights, zip(w, directions).map { $0 - 0.1 * $1 }) == nil)

      var (first, second) = (m, v)
      kernels.adam(count, &step, g, &first, &second, w, &weights)
      let (rest1, rest2) = (step.rest1, step.rest2)
      let mean: [Float] = zip(m, gradient).map { 0.9 * $0 + rest1 * $1 }
      let square: [Float] = zip(v, gradient).map { 0.99 * $0 + rest2 * ($1 * $1) }
      #expect(firstDifference(first, mean) == nil)
      #expect(firstDifference(second, square) == nil)
      var expected = w
      for index in 0..<count {
        let root = (square[index] * 7).squareRoot()
        let upper: Float = 0.1 * (mean[index] * 2.5)
        let lower: Float = root + 1e-8
        expected[index] = w[index] - upper / lower
      }
      #expect(firstDifference(weights, expected) == nil, "seed \(seed)")

      var sums = [Double](repeating: 1, count: 16)
      kernels.sum_of_squares(count, g, &sums)
      var plain = [Double](repeating: 1, count: 16)
      for (index, value) in g.enumerated() { plain[index % 16] += Double(value) * Double(value) }
      #expect(firstDifference(sums, plain) == nil)
    }
  }
}
