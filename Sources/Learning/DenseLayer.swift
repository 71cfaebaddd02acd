import CKernels
import Numerics

/// Every output sees every input.
struct DenseLayer: PlacedLayer {
  let inputs: Int
  let outputs: Int

  var outputShape: [Int] { [outputs] }
  var stem: String { "dense" }
  var tensors: [(name: String, shape: [Int])] {
    [("weight", [inputs, outputs]), ("bias", [outputs])]
  }
  var multiplyAdds: Int { inputs * outputs }

  /// Few outputs of many inputs: a vector of outputs would be partly empty, so vectors run along
  /// the inputs, in a weight that is stored as [outputs][inputs].
  private var isNarrow: Bool { outputs <= 16 && inputs >= 32 }
  var hasTransposedWeight: Bool { isNarrow }

  /// Every product of the step, and the bias's sum, is added to the weights as a whole.
  var roundsOnce: Bool { true }

  /// Whether the forward pass fetches memory ahead.
  var fetchesAhead: Bool { isNarrow }

  /// Whether the forward pass makes its input of bytes.
  var takesBytes: Bool { isNarrow }

  /// Rows of the weight that are turned at a time, for the gradient of the input.
  private static let panel = 32

  /// Rows of the weight that a step takes from end to end before it continues, where it writes to
  /// memory that is not near: that comes faster in the order in which it is stored.
  private static let freshPanel = 112

  /// Whether the weights are larger than a core's cache; no bit depends on it.
  private var isWide: Bool { inputs * outputs >= 1 << 18 && !isNarrow }

  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    needsInputDelta && !isWide && !isNarrow ? Self.panel * outputs : 0
  }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    initialiseUniform(target, count: parameterCount, fan: inputs, &stream)
    guard isNarrow else { return }
    let drawn = Array(UnsafeBufferPointer(start: target, count: inputs * outputs))
    for (place, value) in drawn.enumerated() {
      target[place % outputs * inputs + place / outputs] = value
    }
  }

  func forward(_ pass: Pass) {
    let (functions, bias) = (pass.kernels.functions, pass.parameters + inputs * outputs)
    if isNarrow {
      var ahead = pass.ahead?.pointee ?? fs_ahead()
      ahead.count -= Self.leftAhead(ahead)
      if let bytes = pass.bytes {
        functions.dots_of_bytes(
          pass.rows, outputs, inputs, bytes, pass.input, inputs, pass.parameters, inputs, bias,
          pass.output, outputs, &ahead)
      } else {
        functions.dots(
          pass.rows, outputs, inputs, pass.input, inputs, pass.parameters, inputs, bias,
          pass.output, outputs, &ahead)
      }
    } else if isWide {
      functions.wide_forward(
        pass.rows, inputs, outputs, pass.input, pass.parameters, bias, pass.output)
    } else {
      functions.gemm(
        pass.rows, outputs, inputs, pass.input, inputs, 1, pass.parameters, outputs, bias, 0,
        pass.output, outputs)
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    let functions = pass.kernels.functions
    if isNarrow {
      backwardOfNarrow(pass, deltas)
    } else if isWide {
      functions.wide_backward(
        pass.rows, inputs, outputs, pass.input, deltas.output, pass.parameters, deltas.start,
        deltas.target, deltas.input)
    } else {
      backwardByPanels(pass, deltas)
    }
    guard let target = deltas.target else { return }
    functions.add_rows(
      pass.rows, outputs, deltas.output, outputs, deltas.start.map { $0 + inputs * outputs },
      target + inputs * outputs)
  }

  private func backwardOfNarrow(_ pass: Pass, _ deltas: Deltas) {
    let functions = pass.kernels.functions
    if let inputDelta = deltas.input {
      functions.gemm(
        pass.rows, inputs, outputs, deltas.output, outputs, 1, pass.parameters, inputs, nil, 0,
        inputDelta, inputs)
    }
    guard let target = deltas.target else { return }
    let ahead = pass.ahead?.pointee ?? fs_ahead()
    let left = Self.leftAhead(ahead)
    // There may be more pieces than inputs: a part asks for its share of them.
    let width = max(32, (inputs / max(1, left) + 31) / 32 * 32)
    let parts = (inputs + width - 1) / width
    for part in 0..<parts {
      for piece in left * part / parts..<left * (part + 1) / parts {
        fs_prefetch(ahead.pieces[ahead.count - left + piece], ahead.bytes)
      }
      let first = width * part
      functions.gemm(
        outputs, min(width, inputs - first), pass.rows, deltas.output, 1, outputs,
        pass.input + first, inputs, deltas.start.map { $0 + first }, inputs, target + first, inputs)
    }
  }

  /// How many pieces of the data ahead the forward pass leaves to the backward pass: memory far
  /// away gives only a few lines in the time of one.
  private static func leftAhead(_ ahead: fs_ahead) -> Int { ahead.count / 5 }

  /// First the gradient of the input, a panel of the weight at a time: the step may overwrite what
  /// that needs. Then the step, as one product where memory is near: together with the gradient it
  /// would be slower, as a panel, its transpose and the deltas fill a first-level cache.
  private func backwardByPanels(_ pass: Pass, _ deltas: Deltas) {
    let functions = pass.kernels.functions
    if let inputDelta = deltas.input {
      for first in stride(from: 0, to: inputs, by: Self.panel) {
        let count = min(Self.panel, inputs - first)
        functions.transpose(
          count, outputs, pass.parameters + first * outputs, outputs, pass.scratch, Self.panel)
        functions.gemm(
          pass.rows, count, outputs, deltas.output, outputs, 1, pass.scratch, Self.panel, nil, 0,
          inputDelta + first, inputs)
      }
    }
    guard let target = deltas.target else { return }
    let isFresh = deltas.start.map { $0 != UnsafePointer(target) } ?? false
    let panel = isFresh ? Self.freshPanel : inputs
    for first in stride(from: 0, to: inputs, by: panel) {
      let (count, place) = (min(panel, inputs - first), first * outputs)
      functions.gemm(
        count, outputs, pass.rows, pass.input + first, 1, inputs, deltas.output, outputs,
        deltas.start.map { $0 + place }, outputs, target + place, outputs)
    }
  }
}
