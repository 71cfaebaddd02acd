import Numerics

/// A long short-term memory over [time][features]; gates are input, forget, cell, output.
///
/// Source: Hochreiter and Schmidhuber (1997), with forget gates (Gers et al., 2000). Order: a
/// gate's sum begins at the bias, over features, then over the units before; weight gradients over
/// time, then samples.
struct LSTMLayer: RecurrentLayer {
  let shape: RecurrentShape

  init(units: Int, returnsSequence: Bool, inputShape: [Int]) throws(ShapeProblem) {
    shape = try RecurrentShape(
      units: units, returnsSequence: returnsSequence, inputShape: inputShape)
  }

  var stem: String { "lstm" }
  var tensors: [(name: String, shape: [Int])] {
    [
      ("inputWeight", [features, 4 * units]), ("recurrentWeight", [units, 4 * units]),
      ("bias", [4 * units]),
    ]
  }
  var multiplyAdds: Int { time * 4 * units * (features + units) }

  func stateCount(_ rows: Int) -> Int { rows * time * units * 7 }

  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    rows * time * units * 4 + 2 * rows * units
      + max(ahead.count, back.count, 4 * units * features)
  }

  /// The recurrent weight as every step of time reads it, forwards and backwards.
  private var ahead: WeightPanels { WeightPanels(inputs: units, outputs: 4 * units) }
  private var back: WeightPanels { WeightPanels(inputs: 4 * units, outputs: units) }

  func forward(_ pass: Pass) {
    let functions = pass.kernels.functions
    let (rows, wide, row) = (pass.rows, 4 * units, time * units)
    let recurrent = pass.parameters + features * wide
    let parts = parts(pass, gates: 4)
    functions.gemm(
      rows * time, wide, features, pass.input, features, 1, pass.parameters, wide,
      recurrent + units * wide, 0, parts.gates, wide)
    ahead.fill(pass.scratch, from: recurrent)
    for t in 0..<time {
      let gates = parts.gates + t * wide
      let before = t == 0 ? nil : parts.cells + (t - 1) * units
      if t > 0 {
        ahead.multiply(
          rows, parts.hidden + (t - 1) * units, row, pass.scratch, start: gates, gates,
          time * wide, kernels: pass.kernels)
      }
      functions.lstm(
        rows, units, gates, time * wide, before, parts.cells + t * units,
        parts.squashed + t * units, row, parts.hidden + t * units, row)
    }
    parts.emit(to: pass.output, returnsSequence: returnsSequence)
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    let functions = pass.kernels.functions
    let (rows, wide, row) = (pass.rows, 4 * units, time * units)
    let parts = parts(pass, gates: 4)
    let sums = pass.scratch
    let hiddenDelta = sums + rows * time * wide
    let cellDelta = hiddenDelta + rows * units
    let turned = cellDelta + rows * units  // The recurrent weight, then [4·units][features]
    back.fill(turned, turning: pass.parameters + features * wide, kernels: pass.kernels)
    cellDelta.update(repeating: 0, count: rows * units)
    for t in (0..<time).reversed() {
      parts.outer(deltas.output, at: t, returnsSequence: returnsSequence, into: hiddenDelta)
      if t < time - 1 {
        back.multiply(
          rows, sums + (t + 1) * wide, time * wide, turned, start: hiddenDelta, hiddenDelta, units,
          kernels: pass.kernels)
      }
      functions.lstm_backward(
        rows, units, parts.gates + t * wide, time * wide,
        t == 0 ? nil : parts.cells + (t - 1) * units, parts.squashed + t * units, row,
        hiddenDelta, cellDelta, sums + t * wide, time * wide)
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
      sums, start: deltas.start.map { $0 + features * wide }, target: target + features * wide,
      kernels: pass.kernels)
    let bias = (features + units) * wide
    functions.add_rows(
      rows * time, wide, sums, wide, deltas.start.map { $0 + bias }, target + bias)
  }
}

/// Where a recurrent layer's state is, and what its kinds have in common.
struct RecurrentParts {
  let rows: Int
  private let time: Int
  private let units: Int
  private let width: Int
  /// Shapes: [row][time][gates · units].
  let gates: UnsafeMutablePointer<Float>
  /// Shapes: [row][time][units].
  let hidden: UnsafeMutablePointer<Float>
  /// An LSTM's cells, and their tanh. Shapes: [row][time][units].
  let cells: UnsafeMutablePointer<Float>
  let squashed: UnsafeMutablePointer<Float>
  /// A GRU's sums from the hidden state before. Shapes: [row][time][gates · units].
  var recurrent: UnsafeMutablePointer<Float> { cells }

  init(_ pass: Pass, rows: Int, time: Int, units: Int, gates count: Int) {
    self.rows = rows
    self.time = time
    self.units = units
    width = count * units
    gates = pass.state
    hidden = gates + rows * time * count * units
    cells = hidden + rows * time * units
    squashed = cells + rows * time * units
  }

  /// The last hidden state, or all of them.
  func emit(to output: UnsafeMutablePointer<Float>, returnsSequence: Bool) {
    if returnsSequence {
      output.update(from: hidden, count: rows * time * units)
      return
    }
    for row in 0..<rows {
      (output + row * units).update(from: hidden + (row * time + time - 1) * units, count: units)
    }
  }

  /// The gradient by the hidden state at t that comes from outside.
  func outer(
    _ delta: UnsafePointer<Float>, at t: Int, returnsSequence: Bool,
    into target: UnsafeMutablePointer<Float>
  ) {
    if returnsSequence {
      for row in 0..<rows {
        (target + row * units).update(from: delta + (row * time + t) * units, count: units)
      }
    } else if t == time - 1 {
      target.update(from: delta, count: rows * units)
    } else {
      target.update(repeating: 0, count: rows * units)
    }
  }

  /// Columns of a weight's gradient that all samples pass over before the next ones: they stay in
  /// a cache.
  private static let panel = 128

  /// The gradient by the weights between inputs and sums, over (row, time): the sums of rows are
  /// added to the start one after the other.
  func inputGradient(
    _ input: UnsafePointer<Float>, _ features: Int, _ sums: UnsafePointer<Float>,
    start: UnsafePointer<Float>?, target: UnsafeMutablePointer<Float>, kernels: Kernels
  ) {
    addProducts(
      input, features, sums, terms: time, start: start, target: target, kernels: kernels)
  }

  /// The gradient by the weights between hidden states and sums, likewise.
  func recurrentGradient(
    _ sums: UnsafePointer<Float>, start: UnsafePointer<Float>?,
    target: UnsafeMutablePointer<Float>, kernels: Kernels
  ) {
    addProducts(
      hidden, units, sums + width, terms: time - 1, start: start, target: target,
      kernels: kernels)
  }

  private func addProducts(
    _ left: UnsafePointer<Float>, _ leftWidth: Int, _ sums: UnsafePointer<Float>, terms: Int,
    start: UnsafePointer<Float>?, target: UnsafeMutablePointer<Float>, kernels: Kernels
  ) {
    for first in stride(from: 0, to: width, by: Self.panel) {
      let columns = min(Self.panel, width - first)
      for row in 0..<rows {
        kernels.functions.gemm(
          leftWidth, columns, terms, left + row * time * leftWidth, 1, leftWidth,
          sums + row * time * width + first, width,
          row == 0 ? start.map { $0 + first } : UnsafePointer(target + first), width,
          target + first, width)
      }
    }
  }
}
