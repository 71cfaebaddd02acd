import Numerics

/// An embedding, layers behind it, and scores for each token by the embedding's own vectors.
///
/// What the layers make of a place is multiplied with the vector of each token; there is no bias.
/// Source: Press and Wolf, "Using the output embedding to improve language models" (2017). Order:
/// scores over the width; a vector's gradient over (sample, time) as an input, then over
/// (sample, time) as an output.
struct TiedEmbeddingLayer: PlacedLayer {
  private let embedding: Network.Node
  /// With offsets behind this layer's start.
  private let path: LayerPath
  private let count: Int
  private let width: Int
  private let time: Int

  init(embedding: Network.Node, path: LayerPath, count: Int) {
    (self.embedding, self.path, self.count) = (embedding, path, count)
    (time, width) = (embedding.layer.outputShape[0], embedding.layer.outputShape[1])
  }

  var outputShape: [Int] { [time, count] }
  var leaves: [Network.Node] { [embedding] + path.nodes.flatMap(\.leaves) }
  var tensors: [(name: String, shape: [Int])] { leaves.flatMap(\.layer.tensors) }
  var multiplyAdds: Int {
    leaves.reduce(time * width * count) { $0 + $1.layer.multiplyAdds }
  }

  /// Vectors at all places of a batch.
  private func room(_ rows: Int) -> Int { LayerPath.aligned(rows * time * width) }
  private var tableRoom: Int { LayerPath.aligned(count * width) }
  private func gradientRoom(_ rows: Int) -> Int {
    LayerPath.aligned(rows * max(time * width, path.widest))
  }

  /// What the layers get, what they give, and what they keep.
  func stateCount(_ rows: Int) -> Int { 2 * room(rows) + path.stateCount(rows) }

  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    let backward = 2 * room(rows) + 2 * gradientRoom(rows) + path.scratchCount(rows)
    return max(tableRoom, backward)
  }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    for node in [embedding] + path.nodes {
      node.layer.initialise(target + node.offset, &stream)
    }
  }

  /// A pass between these two, with this one's parameters.
  private func pass(
    _ outer: Pass, from input: UnsafeMutablePointer<Float>, to output: UnsafeMutablePointer<Float>
  ) -> Pass {
    Pass(
      kernels: outer.kernels, rows: outer.rows, noise: outer.noise, index: outer.index,
      parameters: outer.parameters, input: input, output: output, state: outer.state,
      scratch: outer.scratch, isTraining: outer.isTraining)
  }

  func forward(_ outer: Pass) {
    let functions = outer.kernels.functions
    let (vectors, ends) = (outer.state, outer.state + room(outer.rows))
    embedding.layer.forward(pass(outer, from: outer.input, to: vectors))
    let made = path.forward(
      pass(outer, from: vectors, to: ends), state: ends + room(outer.rows))
    ends.update(from: made, count: outer.rows * time * width)
    let turned = outer.scratch
    functions.transpose(count, width, outer.parameters, width, turned, count)
    functions.gemm(
      outer.rows * time, count, width, ends, width, 1, turned, count, nil, 0, outer.output, count)
  }

  func backward(_ outer: Pass, _ deltas: Deltas) {
    precondition(deltas.start == nil, "a gradient of several products is summed apart")
    let functions = outer.kernels.functions
    let (rows, places) = (outer.rows, outer.rows * time)
    let (vectors, ends) = (outer.state, outer.state + room(rows))
    let endDelta = outer.scratch
    let vectorDelta = endDelta + room(rows)
    let first = vectorDelta + room(rows)
    let second = first + gradientRoom(rows)
    functions.gemm(
      places, width, count, deltas.output, count, 1, outer.parameters, width, nil, 0, endDelta,
      width)
    path.backward(
      pass(outer, from: vectors, to: ends), state: ends + room(rows),
      Deltas(output: endDelta, input: vectorDelta, start: nil, target: deltas.target),
      in: .init(deltas: (first, second), scratch: second + gradientRoom(rows)), time * width,
      isFirst: true)
    guard embedding.isUpdatable, let target = deltas.target else { return }
    embedding.layer.backward(
      pass(outer, from: outer.input, to: vectors),
      Deltas(output: vectorDelta, input: nil, start: nil, target: target))
    functions.gemm(
      count, width, places, deltas.output, 1, count, ends, width, target, width, target, width)
  }

  func moveStatistics(_ outer: Pass, to target: UnsafeMutablePointer<Float>) {
    let (vectors, ends) = (outer.state, outer.state + room(outer.rows))
    path.moveStatistics(
      pass(outer, from: vectors, to: ends), state: ends + room(outer.rows), to: target)
  }
}
