import Numerics

/// A long short-term memory whose hidden state is seen through a narrower projection, by itself at
/// the next time and by what follows.
///
/// With states h, a projection P and recurrent weights U it adds (h·P)·U to its gates, which is
/// h·(P·U): it is a memory with the recurrent weights P·U, and gives h·P. Source: Sak et al., "Long
/// short-term memory recurrent neural network architectures for large scale acoustic modeling"
/// (2014); with coupled gates as in Hard et al. (2018). Order: P·U over the projection, then as in
/// `LSTMLayer`; P's gradient over gates, then over (sample, time).
struct ProjectedLSTMLayer: PlacedLayer {
  private let inner: any PlacedLayer
  private let time: Int
  private let features: Int
  private let units: Int
  private let width: Int
  private let gates: Int
  private let returnsSequence: Bool

  init(
    units: Int, projection: Int, isCoupled: Bool, returnsSequence: Bool, inputShape: [Int]
  ) throws(ShapeProblem) {
    guard projection > 0 else { throw ShapeProblem("has a projection of at least 1") }
    if isCoupled {
      inner = try CoupledLSTMLayer(units: units, returnsSequence: true, inputShape: inputShape)
    } else {
      inner = try LSTMLayer(units: units, returnsSequence: true, inputShape: inputShape)
    }
    (time, features) = (inputShape[0], inputShape[1])
    (self.units, width, gates) = (units, projection, (isCoupled ? 3 : 4) * units)
    self.returnsSequence = returnsSequence
  }

  var outputShape: [Int] { returnsSequence ? [time, width] : [width] }
  var stem: String { "lstm" }
  var tensors: [(name: String, shape: [Int])] {
    [
      ("inputWeight", [features, gates]), ("recurrentWeight", [width, gates]), ("bias", [gates]),
      ("projection", [units, width]),
    ]
  }
  var multiplyAdds: Int { time * (gates * (features + width) + units * width) }
  var writtenCount: Int { inner.writtenCount + outputCount }

  private func stateRoom(_ rows: Int) -> Int { LayerPath.aligned(rows * time * units) }
  /// The inner layer's parameters, or their gradient.
  private var innerRoom: Int { LayerPath.aligned(inner.parameterCount) }
  private var turnedRoom: Int { LayerPath.aligned(gates * width) }

  func stateCount(_ rows: Int) -> Int { stateRoom(rows) + inner.stateCount(rows) }

  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    2 * innerRoom + stateRoom(rows) + turnedRoom
      + inner.scratchCount(rows, needsInputDelta: needsInputDelta)
  }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    initialiseUniform(target, count: parameterCount, fan: units, &stream)
  }

  // MARK: Places

  private var recurrentStart: Int { features * gates }
  private var biasStart: Int { (features + width) * gates }
  private var projectionStart: Int { biasStart + gates }
  private var innerBias: Int { (features + units) * gates }

  /// The inner layer's pass; its states, which `forward` projects, are at the front of the state.
  private func inside(_ pass: Pass) -> Pass {
    let own = pass.scratch
    let recurrent = pass.parameters + recurrentStart
    own.update(from: pass.parameters, count: recurrentStart)
    pass.kernels.functions.gemm(
      units, gates, width, pass.parameters + projectionStart, width, 1, recurrent, gates, nil, 0,
      own + recurrentStart, gates)
    (own + innerBias).update(from: pass.parameters + biasStart, count: gates)
    return Pass(
      kernels: pass.kernels, rows: pass.rows, noise: pass.noise, index: pass.index,
      parameters: own, input: pass.input, output: pass.state,
      state: pass.state + stateRoom(pass.rows),
      scratch: pass.scratch + 2 * innerRoom + stateRoom(pass.rows) + turnedRoom)
  }

  /// The states that are projected: all, or each sample's last.
  private func projected(
    _ rows: Int, _ states: UnsafeMutablePointer<Float>
  ) -> (first: UnsafeMutablePointer<Float>, count: Int, row: Int) {
    returnsSequence
      ? (states, rows * time, units) : (states + (time - 1) * units, rows, time * units)
  }

  func forward(_ pass: Pass) {
    let inside = inside(pass)
    inner.forward(inside)
    let (states, count, row) = projected(pass.rows, inside.output)
    pass.kernels.functions.gemm(
      count, width, units, states, row, 1, pass.parameters + projectionStart, width, nil, 0,
      pass.output, width)
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    precondition(deltas.start == nil, "a gradient of several products is summed apart")
    let functions = pass.kernels.functions
    let (sums, projection) = (pass.scratch + innerRoom, pass.parameters + projectionStart)
    let stateDelta = sums + innerRoom
    let turned = stateDelta + stateRoom(pass.rows)
    functions.transpose(units, width, projection, width, turned, units)
    if !returnsSequence { stateDelta.update(repeating: 0, count: pass.rows * time * units) }
    let (delta, count, row) = projected(pass.rows, stateDelta)
    functions.gemm(
      count, units, width, deltas.output, width, 1, turned, units, nil, 0, delta, row)
    let inside = inside(pass)
    inner.backward(
      inside,
      Deltas(
        output: stateDelta, input: deltas.input, start: nil,
        target: deltas.target == nil ? nil : sums))
    guard let target = deltas.target else { return }
    target.update(from: sums, count: recurrentStart)
    let products = sums + recurrentStart
    functions.gemm(
      width, gates, units, projection, 1, width, products, gates, nil, 0, target + recurrentStart,
      gates)
    (target + biasStart).update(from: sums + innerBias, count: gates)
    functions.transpose(width, gates, pass.parameters + recurrentStart, gates, turned, width)
    functions.gemm(
      units, width, gates, products, gates, 1, turned, width, nil, 0, target + projectionStart,
      width)
    let states = projected(pass.rows, inside.output).first
    functions.gemm(
      units, width, count, states, 1, row, deltas.output, width, target + projectionStart, width,
      target + projectionStart, width)
  }
}
