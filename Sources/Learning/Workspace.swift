/// The memory of forward and backward passes over batches of up to `rows` samples, used again and
/// again.
final class Workspace {
  let network: Network
  let rows: Int
  let labels: UnsafeMutablePointer<Int32>
  /// Which samples a batch takes, and which the next.
  let samples: (UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>)
  /// Element 0 is the batch, element i + 1 what layer i makes of it, perhaps in place. Shapes:
  /// [rows][width].
  let activations: [UnsafeMutablePointer<Float>]
  /// What each layer keeps from its forward to its backward pass.
  let states: [UnsafeMutablePointer<Float>]
  /// Two buffers that the gradient of the loss by activations goes through in turn. Shapes:
  /// [rows][width].
  let deltas: [UnsafeMutablePointer<Float>]
  /// What a layer may use as it likes while it is at work.
  let scratch: UnsafeMutablePointer<Float>
  private let memory: UnsafeMutableRawPointer
  private var gradientMemory: UnsafeMutablePointer<Float>?

  init(network: Network, rows: Int) {
    precondition(rows > 0, "a workspace holds a sample at least")
    self.network = network
    self.rows = rows
    let nodes = network.nodes
    let widest = nodes.map(\.layer.outputCount).max() ?? 0
    let scratchCount = nodes.enumerated().map { index, node in
      node.layer.scratchCount(rows, needsInputDelta: index > network.firstTrained)
    }
    var end = 0
    func reserve(_ count: Int) -> Int {
      defer { end += (count + 15) / 16 * 16 }
      return end
    }
    var activationStarts = [reserve(network.inputCount * rows)]
    for (index, node) in nodes.enumerated() {
      let isInPlace =
        node.layer.runsInPlace && index > 0 && !nodes[index - 1].layer.readsOutput
      activationStarts.append(
        isInPlace ? activationStarts[index] : reserve(node.layer.outputCount * rows))
    }
    let stateStarts = nodes.map { reserve($0.layer.stateCount(rows)) }
    let deltaStarts = [reserve(widest * rows), reserve(widest * rows)]
    let scratchStart = reserve(scratchCount.max() ?? 0)
    let integerStart = reserve(3 * rows)
    memory = .allocate(byteCount: max(64, end * 4), alignment: 64)
    memory.initializeMemory(as: Float.self, repeating: 0, count: end)
    let memory = memory
    func floats(_ start: Int) -> UnsafeMutablePointer<Float> {
      (memory + start * 4).assumingMemoryBound(to: Float.self)
    }
    activations = activationStarts.map(floats)
    states = stateStarts.map(floats)
    deltas = deltaStarts.map(floats)
    scratch = floats(scratchStart)
    labels = (memory + integerStart * 4).bindMemory(to: Int32.self, capacity: 3 * rows)
    samples = (labels + rows, labels + 2 * rows)
  }

  /// Room for a gradient by all parameters, made when first asked for.
  var gradient: UnsafeMutablePointer<Float> {
    if let gradientMemory { return gradientMemory }
    let count = network.layout.count
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: max(64, count * 4), alignment: 64)
      .bindMemory(to: Float.self, capacity: max(1, count))
    fresh.initialize(repeating: 0, count: count)
    gradientMemory = fresh
    return fresh
  }

  deinit {
    memory.deallocate()
    if let gradientMemory { UnsafeMutableRawPointer(gradientMemory).deallocate() }
  }
}
