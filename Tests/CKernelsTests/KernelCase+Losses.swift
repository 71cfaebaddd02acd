import CKernels

extension KernelCase {
  /// Losses, and softmax as a layer.
  static let losses = [
    KernelCase("softmax") { numbers in
      let rows = Rows(&numbers)
      let (scale, gap) = (numbers.uniform(), numbers.below(3))
      let isInPlace = numbers.chance()
      let stride = rows.classes + (isInPlace ? 0 : gap)
      return Problem(
        run: { kernels in
          var out = isInPlace ? guarded(rows.values) : room(rows.rows * stride)
          var loss = 0.5
          let correct = out.withUnsafeMutableBufferPointer { out in
            rows.values.withUnsafeBufferPointer {
              kernels.softmax(
                rows.rows, rows.classes,
                isInPlace ? UnsafePointer(out.baseAddress) : $0.baseAddress, rows.classes,
                rows.labels, scale, out.baseAddress, stride, &loss)
            }
          }
          return Outcome(floats: [out], doubles: [loss], integers: [correct])
        },
        reference: { rows.crossEntropy(scale: scale, stride: stride) })
    },
    KernelCase("softmax_rows") { numbers in
      let rows = Rows(&numbers)
      return Problem(
        run: { kernels in
          var out = room(rows.values.count)
          kernels.softmax_rows(rows.rows, rows.classes, rows.values, &out)
          return Outcome(floats: [out])
        },
        reference: {
          Outcome(floats: [guarded((0..<rows.rows).flatMap { rows.shares($0) })])
        })
    },
    KernelCase("softmax_rows_backward") { numbers in
      let rows = Rows(&numbers)
      let delta = numbers.guardedFloats(rows.values.count)
      return Problem(
        run: { kernels in
          var out = delta
          kernels.softmax_rows_backward(rows.rows, rows.classes, rows.values, &out)
          return Outcome(floats: [out])
        },
        reference: {
          var out = delta
          for row in 0..<rows.rows {
            let places = row * rows.classes..<(row + 1) * rows.classes
            var product: Float = 0
            for j in places { product += rows.values[j] * delta[j] }
            for j in places { out[j] = rows.values[j] * (delta[j] - product) }
          }
          return Outcome(floats: [out])
        })
    },
    KernelCase("squares") { numbers in
      let rows = Rows(&numbers)
      let scale = numbers.uniform()
      return Problem(
        run: { kernels in
          var out = room(rows.values.count)
          var loss = 0.5
          let correct = kernels.squares(
            rows.rows, rows.classes, rows.values, rows.labels, scale, &out, &loss)
          return Outcome(floats: [out], doubles: [loss], integers: [correct])
        },
        reference: { rows.squaredError(scale: scale) })
    },
  ]
}

/// Rows of logits with their labels.
private struct Rows {
  let rows: Int, classes: Int
  let values: [Float]
  let labels: [Int32]

  init(_ numbers: inout TestNumbers) {
    rows = numbers.below(6)
    classes = max(1, numbers.count())
    let factor: Float = numbers.chance() ? 1 : 20
    values = numbers.floats(rows * classes).map { $0 * factor }
    labels = numbers.labels(rows, below: classes)
  }

  private func row(_ row: Int) -> [Float] { Array(values[row * classes..<(row + 1) * classes]) }

  private func powers(_ row: Int) -> (powers: [Float], sum: Float, best: Int) {
    let row = self.row(row)
    let best = Reference.largest(row)
    let powers = row.map { Reference.exponential($0 - row[best]) }
    var sum: Float = 0
    for power in powers { sum += power }
    return (powers, sum, best)
  }

  func shares(_ row: Int) -> [Float] {
    let (powers, sum, _) = powers(row)
    return powers.map { $0 / sum }
  }

  func crossEntropy(scale: Float, stride: Int) -> Outcome {
    var outcome = Outcome(doubles: [0.5], integers: [0])
    var out = room(rows * stride)
    for row in 0..<rows {
      let (powers, sum, best) = powers(row)
      let label = Int(labels[row])
      let values = self.row(row)
      outcome.integers[0] += best == label ? 1 : 0
      outcome.doubles[0] += Reference.logarithm(Double(sum)) - Double(values[label] - values[best])
      for j in 0..<classes { out[row * stride + j] = powers[j] / sum * scale }
      out[row * stride + label] = (powers[label] / sum - 1) * scale
    }
    outcome.floats = [out]
    return outcome
  }

  func squaredError(scale: Float) -> Outcome {
    var outcome = Outcome(doubles: [0.5], integers: [0])
    var out: [Float] = []
    for row in 0..<rows {
      let values = self.row(row)
      let label = Int(labels[row])
      outcome.integers[0] += Reference.largest(values) == label ? 1 : 0
      var sum = 0.0
      for (j, value) in values.enumerated() {
        let difference = value - (j == label ? 1 : 0)
        sum += Double(difference) * Double(difference)
        out.append(difference * (2 / Float(classes) * scale))
      }
      outcome.doubles[0] += sum / Double(classes)
    }
    outcome.floats = [guarded(out)]
    return outcome
  }
}
