import Numerics

/// A function of each value.
struct ActivationLayer: PlacedLayer {
  let activation: Network.Activation
  let outputShape: [Int]

  /// Whether the slope follows from the value alone, so that the input need not be kept.
  private var isKnownByOutput: Bool { activation != .gelu && activation != .silu }

  var runsInPlace: Bool { isKnownByOutput }
  var deltaInPlace: Bool { true }
  var readsOutput: Bool { isKnownByOutput }

  func forward(_ pass: Pass) {
    let functions = pass.kernels.functions
    let count = pass.rows * outputCount
    switch activation {
    case .identity:
      if pass.output != pass.input { pass.output.update(from: pass.input, count: count) }
    case .relu: functions.relu(count, pass.input, pass.output)
    case .relu6:
      for index in 0..<count {
        let value = pass.input[index]
        pass.output[index] = value < 0 ? 0 : value > 6 ? 6 : value
      }
    case .leakyReLU(let slope): functions.leaky_relu(count, slope, pass.input, pass.output)
    case .tanh: functions.tanh(count, pass.input, pass.output)
    case .sigmoid: functions.sigmoid(count, pass.input, pass.output)
    case .gelu: functions.gelu(count, pass.input, pass.output)
    case .silu: functions.silu(count, pass.input, pass.output)
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    let functions = pass.kernels.functions
    let count = pass.rows * outputCount
    switch activation {
    case .identity: break
    case .relu: functions.relu_backward(count, pass.output, deltas.output)
    case .relu6:
      for index in 0..<count where !(pass.output[index] > 0 && pass.output[index] < 6) {
        deltas.output[index] = 0
      }
    case .leakyReLU(let slope):
      functions.leaky_relu_backward(count, slope, pass.output, deltas.output)
    case .tanh: functions.tanh_backward(count, pass.output, deltas.output)
    case .sigmoid: functions.sigmoid_backward(count, pass.output, deltas.output)
    case .gelu: functions.gelu_backward(count, pass.input, deltas.output)
    case .silu: functions.silu_backward(count, pass.input, deltas.output)
    }
  }
}

/// Shares that are positive and add up to 1.
struct SoftmaxLayer: PlacedLayer {
  let outputShape: [Int]

  var deltaInPlace: Bool { true }
  var readsOutput: Bool { true }

  func forward(_ pass: Pass) {
    pass.kernels.functions.softmax_rows(pass.rows, outputCount, pass.input, pass.output)
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    pass.kernels.functions.softmax_rows_backward(
      pass.rows, outputCount, pass.output, deltas.output)
  }
}

/// In training, each value is 0 with probability `rate` and else divided by 1 − rate.
///
/// Draws: one 32-bit number a value, sample by sample, from the batch's stream for this layer.
struct DropoutLayer: PlacedLayer {
  let rate: Double
  let outputShape: [Int]

  var deltaInPlace: Bool { true }

  func stateCount(_ rows: Int) -> Int { rows * outputCount }

  func forward(_ pass: Pass) {
    let count = pass.rows * outputCount
    guard let noise = pass.noise else {
      pass.output.update(from: pass.input, count: count)
      return
    }
    var stream = noise.stream(layer: pass.index)
    let limit = UInt32(rate * 0x1p32)
    let factor = Float(1 / (1 - rate))
    for index in 0..<count { pass.state[index] = stream.nextUInt32() < limit ? 0 : factor }
    pass.kernels.functions.multiply(count, pass.input, pass.state, pass.output)
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    guard pass.noise != nil else { return }
    pass.kernels.functions.multiply(
      pass.rows * outputCount, deltas.output, pass.state, deltas.output)
  }
}
