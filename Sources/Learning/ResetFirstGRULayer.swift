import Numerics

/// A gated recurrent unit over [time][features] whose reset gate multiplies the state before the
/// product, as Core ML has it; gates are reset, update, new, with one bias each.
///
/// Source: Cho et al. (2014): n = tanh(W·x + R·(r ⊙ h) + b), h = n + z·(h − n). Order: a gate's sum
/// begins at the bias, over features, then over the units before; weight gradients over time, then
/// samples, as the LSTM's.
struct ResetFirstGRULayer: RecurrentLayer {
  let shape: RecurrentShape

  init(units: Int, returnsSequence: Bool, inputShape: [Int]) throws(ShapeProblem) {
    shape = try RecurrentShape(
      units: units, returnsSequence: returnsSequence, inputShape: inputShape)
  }

  var stem: String { "gru" }
  var tensors: [(name: String, shape: [Int])] {
    [
      ("inputWeight", [features, 3 * units]), ("recurrentWeight", [units, 3 * units]),
      ("bias", [3 * units]),
    ]
  }
  var multiplyAdds: Int { time * 3 * units * (features + units) }

  func stateCount(_ rows: Int) -> Int { rows * time * units * 5 }

  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    rows * time * units * 3 + 3 * rows * units + 3 * units * (features + units)
  }

  func forward(_ pass: Pass) {
    let functions = pass.kernels.functions
    let (rows, wide, row) = (pass.rows, 3 * units, time * units)
    let recurrent = pass.parameters + features * wide
    let parts = parts(pass, gates: 3)
    // What the reset gate leaves of the state before. Shapes: [row][time][units].
    let left = parts.recurrent
    functions.gemm(
      rows * time, wide, features, pass.input, features, 1, pass.parameters, wide,
      recurrent + units * wide, 0, parts.gates, wide)
    for t in 0..<time {
      let gates = parts.gates + t * wide
      let before = parts.hidden + (t - 1) * units
      if t > 0 {
        functions.gemm(
          rows, 2 * units, units, before, row, 1, recurrent, wide, gates, time * wide, gates,
          time * wide)
      }
      for sample in 0..<rows {
        let own = gates + sample * time * wide
        functions.sigmoid(2 * units, own, own)
        let place = left + sample * row + t * units
        if t > 0 {
          functions.multiply(units, own, before + sample * row, place)
        } else {
          place.update(repeating: 0, count: units)
        }
      }
      if t > 0 {
        functions.gemm(
          rows, units, units, left + t * units, row, 1, recurrent + 2 * units, wide,
          gates + 2 * units, time * wide, gates + 2 * units, time * wide)
      }
      for sample in 0..<rows {
        let own = gates + sample * time * wide
        let fresh = own + 2 * units
        functions.tanh(units, fresh, fresh)
        let hidden = parts.hidden + sample * row + t * units
        for unit in 0..<units {
          let old = t > 0 ? hidden[unit - units] : 0
          hidden[unit] = fresh[unit] + own[units + unit] * (old - fresh[unit])
        }
      }
    }
    parts.emit(to: pass.output, returnsSequence: returnsSequence)
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    let functions = pass.kernels.functions
    let (rows, wide, row) = (pass.rows, 3 * units, time * units)
    let parts = parts(pass, gates: 3)
    let sums = pass.scratch
    let hiddenDelta = sums + rows * time * wide
    let beforeDelta = hiddenDelta + rows * units
    let leftDelta = beforeDelta + rows * units
    let turned = leftDelta + rows * units  // [3·units][units], then [3·units][features]
    functions.transpose(units, wide, pass.parameters + features * wide, wide, turned, units)
    for t in (0..<time).reversed() {
      parts.outer(deltas.output, at: t, returnsSequence: returnsSequence, into: hiddenDelta)
      if t < time - 1 { for i in 0..<rows * units { hiddenDelta[i] += beforeDelta[i] } }
      newGate(parts, at: t, hiddenDelta, sums: sums, beforeDelta)
      functions.gemm(
        rows, units, units, sums + t * wide + 2 * units, time * wide, 1,
        turned + 2 * units * units, units, nil, 0, leftDelta, units)
      resetGate(parts, at: t, leftDelta, sums: sums, beforeDelta)
      functions.gemm(
        rows, units, 2 * units, sums + t * wide, time * wide, 1, turned, units, beforeDelta,
        units, beforeDelta, units)
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
    let weight = features * wide
    for sample in 0..<rows {
      let start = sample == 0 ? deltas.start.map { $0 + weight } : UnsafePointer(target + weight)
      let later = sums + (sample * time + 1) * wide
      functions.gemm(
        units, 2 * units, time - 1, parts.hidden + sample * row, 1, units, later, wide, start,
        wide, target + weight, wide)
      functions.gemm(
        units, units, time - 1, parts.recurrent + sample * row + units, 1, units,
        later + 2 * units, wide, start.map { $0 + 2 * units }, wide,
        target + weight + 2 * units, wide)
    }
    let bias = (features + units) * wide
    functions.add_rows(
      rows * time, wide, sums, wide, deltas.start.map { $0 + bias }, target + bias)
  }

  /// The gradients by the sums of the update and the new gate, and the part of that by the state
  /// before that comes around the gates.
  private func newGate(
    _ parts: RecurrentParts, at t: Int, _ hiddenDelta: UnsafePointer<Float>,
    sums: UnsafeMutablePointer<Float>, _ beforeDelta: UnsafeMutablePointer<Float>
  ) {
    for sample in 0..<parts.rows {
      let place = (sample * time + t) * 3 * units
      let hidden = parts.hidden + (sample * time + t) * units
      for unit in 0..<units {
        let delta = hiddenDelta[sample * units + unit]
        let old = t > 0 ? hidden[unit - units] : 0
        let update = parts.gates[place + units + unit]
        let fresh = parts.gates[place + 2 * units + unit]
        sums[place + units + unit] = delta * (old - fresh) * update * (1 - update)
        sums[place + 2 * units + unit] = delta * (1 - update) * (1 - fresh * fresh)
        beforeDelta[sample * units + unit] = delta * update
      }
    }
  }

  /// The gradient by the sum of the reset gate, and the part of that by the state before that comes
  /// through what the gate leaves.
  private func resetGate(
    _ parts: RecurrentParts, at t: Int, _ leftDelta: UnsafePointer<Float>,
    sums: UnsafeMutablePointer<Float>, _ beforeDelta: UnsafeMutablePointer<Float>
  ) {
    for sample in 0..<parts.rows {
      let place = (sample * time + t) * 3 * units
      let hidden = parts.hidden + (sample * time + t) * units
      for unit in 0..<units {
        let delta = leftDelta[sample * units + unit]
        let old = t > 0 ? hidden[unit - units] : 0
        let reset = parts.gates[place + unit]
        sums[place + unit] = delta * old * reset * (1 - reset)
        beforeDelta[sample * units + unit] += delta * reset
      }
    }
  }
}
