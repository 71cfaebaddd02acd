import Numerics

/// A gated recurrent unit over [time][features]; gates are reset, update, new.
///
/// Source: Cho et al. (2014), in the form with its own bias for the hidden state, which the
/// reset gate multiplies after the product. Order: as the LSTM's, with two sums apart.
struct GRULayer: RecurrentLayer {
  let shape: RecurrentShape

  init(units: Int, returnsSequence: Bool, inputShape: [Int]) throws(ShapeProblem) {
    shape = try RecurrentShape(
      units: units, returnsSequence: returnsSequence, inputShape: inputShape)
  }

  var stem: String { "gru" }
  var tensors: [(name: String, shape: [Int])] {
    [
      ("inputWeight", [features, 3 * units]), ("recurrentWeight", [units, 3 * units]),
      ("inputBias", [3 * units]), ("recurrentBias", [3 * units]),
    ]
  }
  var multiplyAdds: Int { time * 3 * units * (features + units) }

  func stateCount(_ rows: Int) -> Int { rows * time * units * 7 }

  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    rows * time * units * 6 + 2 * rows * units + 3 * units * (features + units)
  }

  func forward(_ pass: Pass) {
    let functions = pass.kernels.functions
    let (rows, wide, row) = (pass.rows, 3 * units, time * units)
    let weight = pass.parameters + features * wide
    let inputBias = weight + units * wide
    let parts = parts(pass, gates: 3)
    functions.gemm(
      rows * time, wide, features, pass.input, features, 1, pass.parameters, wide, inputBias, 0,
      parts.gates, wide)
    for t in 0..<time {
      let before = t == 0 ? nil : parts.hidden + (t - 1) * units
      let recurrent = parts.recurrent + t * wide
      functions.gemm(
        rows, wide, t == 0 ? 0 : units, before ?? parts.hidden, row, 1, weight, wide,
        inputBias + wide, 0, recurrent, time * wide)
      functions.gru(
        rows, units, parts.gates + t * wide, time * wide, recurrent, time * wide, before,
        parts.hidden + t * units, row)
    }
    parts.emit(to: pass.output, returnsSequence: returnsSequence)
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    let functions = pass.kernels.functions
    let (rows, wide, row) = (pass.rows, 3 * units, time * units)
    let parts = parts(pass, gates: 3)
    let sums = pass.scratch
    let recurrentSums = sums + rows * time * wide
    let hiddenDelta = recurrentSums + rows * time * wide
    let beforeDelta = hiddenDelta + rows * units
    let turned = beforeDelta + rows * units  // [3·units][units], then [3·units][features]
    functions.transpose(
      units, wide, pass.parameters + features * wide, wide, turned, units)
    for t in (0..<time).reversed() {
      parts.outer(deltas.output, at: t, returnsSequence: returnsSequence, into: hiddenDelta)
      if t < time - 1 {
        for i in 0..<rows * units { hiddenDelta[i] += beforeDelta[i] }
        functions.gemm(
          rows, units, wide, recurrentSums + (t + 1) * wide, time * wide, 1, turned, units,
          hiddenDelta, units, hiddenDelta, units)
      }
      functions.gru_backward(
        rows, units, parts.gates + t * wide, time * wide, parts.recurrent + t * wide,
        time * wide, t == 0 ? nil : parts.hidden + (t - 1) * units, row, hiddenDelta,
        sums + t * wide, recurrentSums + t * wide, time * wide, beforeDelta)
    }
    if let inputDelta = deltas.input {
      functions.transpose(features, wide, pass.parameters, wide, turned, features)
      functions.gemm(
        rows * time, features, wide, sums, wide, 1, turned, features, nil, 0, inputDelta,
        features)
    }
    guard let target = deltas.target else { return }
    parts.inputGradient(
      pass.input, features, sums, start: deltas.start, target: target, kernels: pass.kernels)
    parts.recurrentGradient(
      recurrentSums, start: deltas.start.map { $0 + features * wide },
      target: target + features * wide, kernels: pass.kernels)
    let bias = (features + units) * wide
    functions.add_rows(
      rows * time, wide, sums, wide, deltas.start.map { $0 + bias }, target + bias)
    functions.add_rows(
      rows * time, wide, recurrentSums, wide, deltas.start.map { $0 + bias + wide },
      target + bias + wide)
  }
}
