import Numerics

/// A long short-term memory whose input gate is what its forget gate leaves: i = 1 − f.
///
/// Gates are forget, cell, output. It is an `LSTMLayer` whose input gate has the forget gate's
/// parameters with the other sign, as σ(−z) = 1 − σ(z): parameters are spread out to four gates,
/// and gradients are folded back. Source: Greff et al., "LSTM: a search space odyssey" (2017).
/// Order: as in `LSTMLayer`; a forget gate's gradient less that of the input gate.
struct CoupledLSTMLayer: PlacedLayer {
  private let inner: LSTMLayer
  private let features: Int
  private let units: Int

  init(units: Int, returnsSequence: Bool, inputShape: [Int]) throws(ShapeProblem) {
    inner = try LSTMLayer(units: units, returnsSequence: returnsSequence, inputShape: inputShape)
    features = inputShape[1]
    self.units = units
  }

  var outputShape: [Int] { inner.outputShape }
  var stem: String { "lstm" }
  var tensors: [(name: String, shape: [Int])] {
    [
      ("inputWeight", [features, 3 * units]), ("recurrentWeight", [units, 3 * units]),
      ("bias", [3 * units]),
    ]
  }
  var multiplyAdds: Int { inner.multiplyAdds }
  var writtenCount: Int { inner.writtenCount }

  /// Rows of gates, one behind the other, in all three tensors.
  private var gateRows: Int { features + units + 1 }
  private var spreadCount: Int { (gateRows * 4 * units + 15) / 16 * 16 }

  func stateCount(_ rows: Int) -> Int { inner.stateCount(rows) }

  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    2 * spreadCount + inner.scratchCount(rows, needsInputDelta: needsInputDelta)
  }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    initialiseUniform(target, count: parameterCount, fan: units, &stream)
  }

  /// The pass of the inner layer, with its parameters at the front of the scratch.
  private func spread(_ pass: Pass) -> Pass {
    let four = pass.scratch
    for row in 0..<gateRows {
      let (from, to) = (pass.parameters + row * 3 * units, four + row * 4 * units)
      for unit in 0..<units { to[unit] = -from[unit] }
      (to + units).update(from: from, count: 3 * units)
    }
    return Pass(
      kernels: pass.kernels, rows: pass.rows, noise: pass.noise, index: pass.index,
      parameters: four, input: pass.input, output: pass.output, state: pass.state,
      scratch: pass.scratch + 2 * spreadCount)
  }

  func forward(_ pass: Pass) { inner.forward(spread(pass)) }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    let sums = pass.scratch + spreadCount
    inner.backward(
      spread(pass),
      Deltas(
        output: deltas.output, input: deltas.input, start: nil,
        target: deltas.target == nil ? nil : sums))
    guard let target = deltas.target else { return }
    for row in 0..<gateRows {
      let (from, to) = (sums + row * 4 * units, target + row * 3 * units)
      let start = deltas.start.map { $0 + row * 3 * units }
      for place in 0..<3 * units {
        let gradient =
          place < units ? from[units + place] - from[place] : from[units + place]
        to[place] = start.map { $0[place] + gradient } ?? gradient
      }
    }
  }
}
