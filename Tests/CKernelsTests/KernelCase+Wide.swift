import CKernels

extension KernelCase {
  /// Dense layers larger than a cache, by problems that are not.
  static let wide = [
    KernelCase("wide_forward") { numbers in
      let layer = Dense(&numbers)
      return Problem(
        run: { kernels in
          var out = room(layer.rows * layer.outputs)
          kernels.wide_forward(
            layer.rows, layer.inputs, layer.outputs, layer.input, layer.weight, layer.bias, &out)
          return Outcome(floats: [out])
        },
        reference: { Outcome(floats: [layer.forward()]) })
    },
    KernelCase("wide_backward") { numbers in
      let layer = Dense(&numbers)
      return Problem(
        run: { layer.runBackward($0) },
        reference: {
          Outcome(floats: [
            layer.wantsInputDelta ? layer.inputDelta() : room(layer.input.count),
            layer.wantsTarget ? layer.target() : layer.untouched,
          ])
        })
    },
  ]
}

/// A dense layer's operands.
private struct Dense {
  /// What the weights' sums begin with.
  enum Start: CaseIterable { case zeros, weight, itself }

  let rows: Int, inputs: Int, outputs: Int
  let input: [Float], weight: [Float], bias: [Float]?, delta: [Float]
  let start: Start
  let wantsInputDelta: Bool, wantsTarget: Bool

  init(_ numbers: inout TestNumbers) {
    rows = numbers.below(18)
    inputs = numbers.count()
    outputs = numbers.below(8) == 0 ? 120 + numbers.below(20) : numbers.count()
    input = numbers.floats(rows * inputs)
    weight = numbers.floats(inputs * outputs)
    bias = numbers.perhapsFloats(outputs)
    delta = numbers.floats(rows * outputs)
    start = Start.allCases[numbers.below(3)]
    wantsInputDelta = numbers.below(4) > 0
    wantsTarget = numbers.below(4) > 0
  }

  /// The target before: the weights themselves, or room elsewhere.
  var untouched: [Float] { start == .itself ? guarded(weight) : room(weight.count) }

  func forward() -> [Float] {
    var out = room(rows * outputs)
    for r in 0..<rows {
      for j in 0..<outputs {
        var sum = bias?[j] ?? 0
        for i in 0..<inputs {
          sum = Reference.fused(input[r * inputs + i], weight[i * outputs + j], sum)
        }
        out[r * outputs + j] = sum
      }
    }
    return out
  }

  func inputDelta() -> [Float] {
    var out = room(input.count)
    for r in 0..<rows {
      for i in 0..<inputs {
        var sum: Float = 0
        for j in 0..<outputs {
          sum = Reference.fused(delta[r * outputs + j], weight[i * outputs + j], sum)
        }
        out[r * inputs + i] = sum
      }
    }
    return out
  }

  func target() -> [Float] {
    var out = room(weight.count)
    for i in 0..<inputs {
      for j in 0..<outputs {
        var sum: Float = 0
        for r in 0..<rows {
          sum = Reference.fused(input[r * inputs + i], delta[r * outputs + j], sum)
        }
        out[i * outputs + j] = start == .zeros ? sum : weight[i * outputs + j] + sum
      }
    }
    return out
  }

  func runBackward(_ kernels: fs_kernels) -> Outcome {
    var (inputDelta, target) = (room(input.count), untouched)
    inputDelta.withUnsafeMutableBufferPointer { inputDelta in
      target.withUnsafeMutableBufferPointer { target in
        weight.withUnsafeBufferPointer { weight in
          let itself = UnsafePointer(target.baseAddress)
          let weights = start == .itself ? itself : weight.baseAddress
          kernels.wide_backward(
            rows, inputs, outputs, input, delta, weights, start == .zeros ? nil : weights,
            wantsTarget ? target.baseAddress : nil, wantsInputDelta ? inputDelta.baseAddress : nil)
        }
      }
    }
    return Outcome(floats: [inputDelta, target])
  }
}
