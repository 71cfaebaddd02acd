import Numerics

/// What a low-rank adapter adds to a dense layer: (alpha/rank)·x·A·B.
///
/// Shapes: A [inputs][rank], B [rank][outputs]. B begins with zeros, so that the layer begins as
/// the one that it adapts; A is uniform on ±1/√inputs, as in PyTorch's `kaiming_uniform_(a: √5)`.
/// Source: Hu et al., "LoRA: low-rank adaptation of large language models" (2021), equation 3.
/// Order: a weight's gradient sample by sample.
struct LowRankLayer: PlacedLayer {
  private let inputs: Int
  private let rank: Int
  private let outputs: Int
  private let places: Int
  private let factor: Float
  let outputShape: [Int]

  init(_ layer: Network.LowRank, inputShape: [Int]) {
    let outer = layer.eachPlace ? Array(inputShape.dropLast()) : []
    inputs = layer.eachPlace ? inputShape[inputShape.count - 1] : inputShape.reduce(1, *)
    (rank, outputs) = (layer.rank, layer.outputs)
    places = outer.reduce(1, *)
    factor = Float(layer.alpha / Double(layer.rank))
    outputShape = outer + [layer.outputs]
  }

  var stem: String { "lora" }
  var tensors: [(name: String, shape: [Int])] {
    [("down", [inputs, rank]), ("up", [rank, outputs])]
  }
  var multiplyAdds: Int { places * rank * (inputs + outputs) }
  var writtenCount: Int { places * (rank + outputs) }

  /// What A makes of the input.
  func stateCount(_ rows: Int) -> Int { rows * places * rank }

  /// The gradient by that, and a turned weight.
  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    rows * places * rank + rank * max(inputs, outputs)
  }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    initialiseUniform(target, count: inputs * rank, fan: inputs, &stream)
  }

  func forward(_ pass: Pass) {
    let (functions, count) = (pass.kernels.functions, pass.rows * places)
    functions.gemm(
      count, rank, inputs, pass.input, inputs, 1, pass.parameters, rank, nil, 0, pass.state, rank)
    for index in 0..<count * rank { pass.state[index] *= factor }
    functions.gemm(
      count, outputs, rank, pass.state, rank, 1, pass.parameters + inputs * rank, outputs, nil, 0,
      pass.output, outputs)
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    let (functions, count) = (pass.kernels.functions, pass.rows * places)
    let (inner, turned) = (pass.scratch, pass.scratch + count * rank)
    let up = pass.parameters + inputs * rank
    functions.transpose(rank, outputs, up, outputs, turned, rank)
    functions.gemm(
      count, rank, outputs, deltas.output, outputs, 1, turned, rank, nil, 0, inner, rank)
    for index in 0..<count * rank { inner[index] *= factor }
    if let target = deltas.target {
      let upTarget = target + inputs * rank
      for row in 0..<pass.rows {
        let first = row * places
        functions.gemm(
          rank, outputs, places, pass.state + first * rank, 1, rank,
          deltas.output + first * outputs, outputs,
          row == 0 ? deltas.start.map { $0 + inputs * rank } : UnsafePointer(upTarget), outputs,
          upTarget, outputs)
        functions.gemm(
          inputs, rank, places, pass.input + first * inputs, 1, inputs, inner + first * rank, rank,
          row == 0 ? deltas.start : UnsafePointer(target), rank, target, rank)
      }
    }
    guard let inputDelta = deltas.input else { return }
    functions.transpose(inputs, rank, pass.parameters, rank, turned, inputs)
    functions.gemm(
      count, inputs, rank, inner, rank, 1, turned, inputs, nil, 0, inputDelta, inputs)
  }
}
