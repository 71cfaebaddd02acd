import Numerics

/// The sum of what layers make of the input and what a shortcut makes of it.
///
/// Source: He et al., "Deep residual learning for image recognition" (2016). Order: the two values
/// of a place are added once; gradients by the input likewise, the layers' first.
struct ResidualLayer: PlacedLayer {
  private let main: LayerPath
  /// Empty: the input itself.
  private let shortcut: LayerPath
  private let inputCount: Int
  let outputShape: [Int]

  init(main: LayerPath, shortcut: LayerPath, inputCount: Int, outputShape: [Int]) {
    self.main = main
    self.shortcut = shortcut
    self.inputCount = inputCount
    self.outputShape = outputShape
  }

  var leaves: [Network.Node] { (main.nodes + shortcut.nodes).flatMap(\.leaves) }
  var tensors: [(name: String, shape: [Int])] { leaves.flatMap(\.layer.tensors) }
  var multiplyAdds: Int { leaves.reduce(0) { $0 + $1.layer.multiplyAdds } }

  func stateCount(_ rows: Int) -> Int { main.stateCount(rows) + shortcut.stateCount(rows) }

  /// Two gradients that a path goes through in turn, and the layers' own.
  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int {
    2 * gradientCount(rows) + max(main.scratchCount(rows), shortcut.scratchCount(rows))
  }

  private func gradientCount(_ rows: Int) -> Int {
    LayerPath.aligned(rows * max(inputCount, main.widest, shortcut.widest))
  }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    for node in main.nodes + shortcut.nodes {
      node.layer.initialise(target + node.offset, &stream)
    }
  }

  func forward(_ pass: Pass) {
    let count = pass.rows * outputCount
    let sum = main.forward(pass, state: pass.state)
    let other = shortcut.forward(pass, state: pass.state + main.stateCount(pass.rows))
    pass.kernels.functions.add_rows(1, count, other, count, sum, pass.output)
  }

  func backward(_ pass: Pass, _ deltas: Deltas) {
    let size = gradientCount(pass.rows)
    let inner = LayerPath.Memory(
      deltas: (pass.scratch, pass.scratch + size), scratch: pass.scratch + 2 * size)
    main.backward(pass, state: pass.state, deltas, in: inner, inputCount, isFirst: true)
    shortcut.backward(
      pass, state: pass.state + main.stateCount(pass.rows), deltas, in: inner, inputCount,
      isFirst: false)
  }

  func moveStatistics(_ pass: Pass, to target: UnsafeMutablePointer<Float>) {
    main.moveStatistics(pass, state: pass.state, to: target)
    shortcut.moveStatistics(
      pass, state: pass.state + main.stateCount(pass.rows), to: target)
  }
}

/// Layers one behind the other inside another one, with offsets behind that one's.
struct LayerPath {
  let nodes: [Network.Node]

  /// What a backward pass uses: two gradients, and memory that the layers use as they like.
  struct Memory {
    let deltas: (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>)
    let scratch: UnsafeMutablePointer<Float>
  }

  /// Every piece of memory begins where a line of a cache does.
  static func aligned(_ count: Int) -> Int { (count + 15) / 16 * 16 }

  /// The most values that a layer gives for a sample.
  var widest: Int { nodes.map(\.layer.outputCount).max() ?? 0 }

  /// The first layer whose parameters are trained.
  private var firstTrained: Int {
    nodes.firstIndex { $0.isUpdatable && $0.layer.parameterCount > 0 } ?? nodes.count
  }

  /// The values behind each layer that has separate room, and what the layers keep.
  func stateCount(_ rows: Int) -> Int {
    nodes.indices.reduce(0) { $0 + outputRoom($1, rows) + innerRoom($1, rows) }
  }

  func scratchCount(_ rows: Int) -> Int {
    nodes.map { $0.layer.scratchCount(rows, needsInputDelta: true) }.max() ?? 0
  }

  private func runsInPlace(_ index: Int) -> Bool {
    index > 0 && nodes[index].layer.runsInPlace && !nodes[index - 1].layer.readsOutput
  }

  private func outputRoom(_ index: Int, _ rows: Int) -> Int {
    runsInPlace(index) ? 0 : Self.aligned(rows * nodes[index].layer.outputCount)
  }

  private func innerRoom(_ index: Int, _ rows: Int) -> Int {
    Self.aligned(nodes[index].layer.stateCount(rows))
  }

  /// Each layer's pass, from the input on; the outer pass says all else.
  private func passes(
    _ pass: Pass, state: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>
  ) -> [Pass] {
    var (next, input) = (state, pass.input)
    var result: [Pass] = []
    for (index, node) in nodes.enumerated() {
      let output = runsInPlace(index) ? input : next
      next += outputRoom(index, pass.rows)
      result.append(
        Pass(
          kernels: pass.kernels, rows: pass.rows, noise: pass.noise, index: node.place,
          parameters: pass.parameters + node.offset, input: input, output: output, state: next,
          scratch: scratch, isTraining: pass.isTraining))
      next += innerRoom(index, pass.rows)
      input = output
    }
    return result
  }

  func moveStatistics(
    _ pass: Pass, state: UnsafeMutablePointer<Float>, to target: UnsafeMutablePointer<Float>
  ) {
    let passes = passes(pass, state: state, scratch: pass.scratch)
    for (node, inner) in zip(nodes, passes) {
      node.layer.moveStatistics(inner, to: target + node.offset)
    }
  }

  /// What the layers make of the input; the input itself where there are none.
  func forward(_ pass: Pass, state: UnsafeMutablePointer<Float>) -> UnsafeMutablePointer<Float> {
    let passes = passes(pass, state: state, scratch: pass.scratch)
    for (node, inner) in zip(nodes, passes) { node.layer.forward(inner) }
    return passes.last?.output ?? pass.input
  }

  /// From the gradient by the sum to the parameters' and the input's, which is set by the first
  /// path and added to by others.
  func backward(
    _ pass: Pass, state: UnsafeMutablePointer<Float>, _ outer: Deltas, in memory: Memory,
    _ inputCount: Int, isFirst: Bool
  ) {
    precondition(outer.start == nil, "a path's gradient is summed apart")
    let passes = passes(pass, state: state, scratch: memory.scratch)
    let lowest = outer.input == nil ? firstTrained : 0
    var (delta, next) = memory.deltas
    let outputCount = nodes.last?.layer.outputCount ?? 0
    delta.update(from: outer.output, count: pass.rows * outputCount)
    for index in (lowest..<max(lowest, nodes.count)).reversed() {
      let node = nodes[index]
      let needsInput = index > lowest || outer.input != nil
      node.layer.backward(
        passes[index],
        Deltas(
          output: delta, input: needsInput ? next : nil, start: nil,
          target: node.isUpdatable ? outer.target.map { $0 + node.offset } : nil))
      if !node.layer.deltaInPlace { swap(&delta, &next) }
    }
    guard let input = outer.input else { return }
    let gradient = nodes.isEmpty ? outer.output : delta
    let count = pass.rows * inputCount
    if isFirst {
      input.update(from: gradient, count: count)
    } else {
      pass.kernels.functions.add_rows(1, count, gradient, count, input, input)
    }
  }
}
