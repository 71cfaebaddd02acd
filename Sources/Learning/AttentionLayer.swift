import Numerics

/// Multi-head scaled dot-product attention of a sequence to itself.
///
/// Shapes: [time][width] to [time][width]; queries, keys and values are [width][3·width], a head
/// has width/heads of each. Source: Vaswani et al., "Attention is all you need" (2017), equation 1
/// and section 3.2.2. Order: products as `gemm` and `dots` have them; a weight's gradient sample by
/// sample.
struct AttentionLayer: PlacedLayer {
  private let time: Int
  private let width: Int
  private let heads: Int
  private let isCausal: Bool
  private let project: DenseProduct
  private let merge: DenseProduct

  init(heads: Int, isCausal: Bool, inputShape: [Int]) throws(ShapeProblem) {
    guard inputShape.count == 2 else {
      throw ShapeProblem("takes [time, features] and gets \(inputShape)")
    }
    guard heads > 0, inputShape[1] % heads == 0 else {
      throw ShapeProblem("\(heads) heads do not divide \(inputShape[1]) features")
    }
    (time, width) = (inputShape[0], inputShape[1])
    self.heads = heads
    self.isCausal = isCausal
    project = DenseProduct(inputs: width, outputs: 3 * width)
    merge = DenseProduct(inputs: width, outputs: width)
  }

  var outputShape: [Int] { [time, width] }
  var stem: String { "attention" }
  var tensors: [(name: String, shape: [Int])] {
    [
      ("inputWeight", [width, 3 * width]), ("inputBias", [3 * width]),
      ("outputWeight", [width, width]), ("outputBias", [width]),
    ]
  }
  var multiplyAdds: Int { time * width * (4 * width + 2 * time) }
  var writtenCount: Int { time * (5 * width + heads * time) }

  private var depth: Int { width / heads }
  private var factor: Float { 1 / Float(depth).squareRoot() }
  private var mergeOffset: Int { width * 3 * width + 3 * width }

  /// Queries, keys and values; the heads' outputs; the weights of each place for each other one.
  func stateCount(_ rows: Int) -> Int { rows * (time * 4 * width + heads * time * time) }

  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    3 * width * width + rows * time * 4 * width + time * time
  }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    initialiseUniform(target, count: parameterCount, fan: width, &stream)
  }

  /// Where a pass's state is.
  private struct Parts {
    let projected: UnsafeMutablePointer<Float>
    let mixed: UnsafeMutablePointer<Float>
    let weights: UnsafeMutablePointer<Float>
  }

  private func parts(_ pass: Pass) -> Parts {
    let mixed = pass.state + pass.rows * time * 3 * width
    return Parts(
      projected: pass.state, mixed: mixed, weights: mixed + pass.rows * time * width)
  }

  func forward(_ pass: Pass) {
    let (functions, parts) = (pass.kernels.functions, parts(pass))
    project.forward(
      pass.kernels, pass.rows * time, pass.input, pass.parameters, parts.projected)
    for row in 0..<pass.rows {
      for head in 0..<heads {
        let queries = parts.projected + row * time * 3 * width + head * depth
        let weights = parts.weights + (row * heads + head) * time * time
        functions.dots(
          time, time, depth, queries, 3 * width, queries + width, 3 * width, nil, weights, time,
          nil)
        for index in 0..<time * time { weights[index] *= factor }
        normalise(weights, pass.kernels)
        functions.gemm(
          time, depth, time, weights, time, 1, queries + 2 * width, 3 * width, nil, 0,
          parts.mixed + row * time * width + head * depth, width)
      }
    }
    merge.forward(
      pass.kernels, pass.rows * time, parts.mixed, pass.parameters + mergeOffset, pass.output)
  }

  /// Softmax of each row; causal: of what is not behind it, zeros else.
  private func normalise(_ weights: UnsafeMutablePointer<Float>, _ kernels: Kernels) {
    guard isCausal else { return kernels.functions.softmax_rows(time, time, weights, weights) }
    for place in 0..<time {
      let row = weights + place * time
      kernels.functions.softmax_rows(1, place + 1, row, row)
      (row + place + 1).update(repeating: 0, count: time - place - 1)
    }
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    let (functions, parts) = (pass.kernels.functions, parts(pass))
    let turned = pass.scratch
    let mixedDelta = turned + 3 * width * width
    let projectedDelta = mixedDelta + pass.rows * time * width
    let weightDelta = projectedDelta + pass.rows * time * 3 * width
    merge.inputGradient(
      pass.kernels, pass.rows * time, deltas.output, pass.parameters + mergeOffset, turned,
      mixedDelta)
    for row in 0..<pass.rows {
      for head in 0..<heads {
        let queries = parts.projected + row * time * 3 * width + head * depth
        let byQueries = projectedDelta + row * time * 3 * width + head * depth
        let weights = parts.weights + (row * heads + head) * time * time
        let delta = mixedDelta + row * time * width + head * depth
        functions.gemm(
          time, depth, time, weights, 1, time, delta, width, nil, 0, byQueries + 2 * width,
          3 * width)
        functions.dots(
          time, time, depth, delta, width, queries + 2 * width, 3 * width, nil, weightDelta, time,
          nil)
        functions.softmax_rows_backward(time, time, weights, weightDelta)
        for index in 0..<time * time { weightDelta[index] *= factor }
        functions.gemm(
          time, depth, time, weightDelta, time, 1, queries + width, 3 * width, nil, 0, byQueries,
          3 * width)
        functions.gemm(
          time, depth, time, weightDelta, 1, time, queries, 3 * width, nil, 0, byQueries + width,
          3 * width)
      }
    }
    if let target = deltas.target {
      project.addGradient(
        pass.kernels, pass.rows, time, pass.input, projectedDelta, start: deltas.start, target)
      merge.addGradient(
        pass.kernels, pass.rows, time, parts.mixed, deltas.output,
        start: deltas.start.map { $0 + mergeOffset }, target + mergeOffset)
    }
    guard let inputDelta = deltas.input else { return }
    project.inputGradient(
      pass.kernels, pass.rows * time, projectedDelta, pass.parameters, turned, inputDelta)
  }
}
