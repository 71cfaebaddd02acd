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

  /// Rows of the weight that a backward pass takes together: its reading for the input's gradient
  /// brings them near for the step.
  private static let panel = 32

  /// Whether the weights are larger than a core's cache; no bit depends on it.
  private var isWide: Bool { inputs * outputs >= 1 << 18 }

  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    needsInputDelta && !isWide ? Self.panel * outputs : 0
  }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    initialiseUniform(target, count: parameterCount, fan: inputs, &stream)
  }

  func forward(_ pass: Pass) {
    let bias = pass.parameters + inputs * outputs
    if isWide {
      pass.kernels.functions.wide_forward(
        pass.rows, inputs, outputs, pass.input, pass.parameters, bias, pass.output)
    } else {
      pass.kernels.functions.gemm(
        pass.rows, outputs, inputs, pass.input, inputs, 1, pass.parameters, outputs, bias, 0,
        pass.output, outputs)
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    let functions = pass.kernels.functions
    if isWide {
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

  private func backwardByPanels(_ pass: Pass, _ deltas: Deltas) {
    let functions = pass.kernels.functions
    let panel = deltas.input == nil ? inputs : Self.panel
    for first in stride(from: 0, to: inputs, by: panel) {
      let (count, place) = (min(panel, inputs - first), first * outputs)
      if let inputDelta = deltas.input {
        // Before the step: the step may overwrite the weight that this needs.
        functions.transpose(
          count, outputs, pass.parameters + place, outputs, pass.scratch, panel)
        functions.gemm(
          pass.rows, count, outputs, deltas.output, outputs, 1, pass.scratch, panel, nil, 0,
          inputDelta + first, inputs)
      }
      guard let target = deltas.target else { continue }
      functions.gemm(
        count, outputs, pass.rows, pass.input + first, 1, inputs, deltas.output, outputs,
        deltas.start.map { $0 + place }, outputs, target + place, outputs)
    }
  }
}
