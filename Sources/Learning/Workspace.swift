import CKernels

/// The memory of forward and backward passes over batches of up to `rows` samples, used again and
/// again.
final class Workspace {
  let network: Network
  let rows: Int
  /// Shapes: [rows][positions], where the loss is of classes.
  let labels: UnsafeMutablePointer<Int32>
  /// Shapes: [rows][outputs], where the loss is of numbers; else nothing is there.
  let values: UnsafeMutablePointer<Float>
  /// The label that is learned and not scored; nil: there is none.
  var unscored: Int32?
  /// Which samples a batch takes, and which the next.
  let samples: (UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>)
  /// The batch. Shapes: [rows][sample size].
  let batch: UnsafeMutablePointer<Float>
  /// What the last layer makes of it. Shapes: [rows][positions][classes].
  let outputs: UnsafeMutablePointer<Float>
  /// Where the batch's samples are as bytes, which the first layer makes the batch of; nil: the
  /// batch is there.
  private(set) var bytes: UnsafePointer<UnsafePointer<UInt8>?>?
  /// The memory of the batch behind this one, where the first layer asks for it.
  let ahead: UnsafeMutablePointer<fs_ahead>
  private let pieces: UnsafeMutablePointer<UnsafePointer<UInt8>?>
  private let places: UnsafeMutablePointer<UnsafePointer<UInt8>?>
  /// The network's layers with their memory.
  let steps: [Step]
  /// Two buffers that the gradient of the loss by activations goes through in turn. Shapes:
  /// [rows][width].
  let deltas: (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>)
  /// What a layer may use as it likes while it is at work.
  let scratch: UnsafeMutablePointer<Float>
  /// A layer, and where it reads and writes; a separate object, so that a call copies no layer,
  /// and threads that count references to one do not wait for one another.
  final class Step {
    let layer: any PlacedLayer
    let place: Int
    let offset: Int
    let isUpdatable: Bool
    let input: UnsafeMutablePointer<Float>
    /// Perhaps the input.
    let output: UnsafeMutablePointer<Float>
    /// What the layer keeps from its forward to its backward pass.
    let state: UnsafeMutablePointer<Float>

    init(
      _ node: Network.Node, input: UnsafeMutablePointer<Float>,
      output: UnsafeMutablePointer<Float>, state: UnsafeMutablePointer<Float>
    ) {
      (layer, place, offset) = (node.layer, node.place, node.offset)
      isUpdatable = node.isUpdatable
      (self.input, self.output, self.state) = (input, output, state)
    }
  }

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
    let labelCount = rows * network.positions
    let integerStart = reserve(labelCount + 2 * rows)
    let valueStart = reserve(network.loss == .squaredDifference ? rows * network.classCount : 0)
    memory = .allocate(byteCount: max(64, end * 4), alignment: 64)
    fs_prefer_large_pages(memory, end * 4)
    memory.initializeMemory(as: Float.self, repeating: 0, count: end)
    let memory = memory
    func floats(_ start: Int) -> UnsafeMutablePointer<Float> {
      (memory + start * 4).assumingMemoryBound(to: Float.self)
    }
    batch = floats(activationStarts[0])
    outputs = floats(activationStarts[nodes.count])
    steps = nodes.enumerated().map { index, node in
      Step(
        node, input: floats(activationStarts[index]),
        output: floats(activationStarts[index + 1]), state: floats(stateStarts[index]))
    }
    deltas = (floats(deltaStarts[0]), floats(deltaStarts[1]))
    scratch = floats(scratchStart)
    labels = (memory + integerStart * 4)
      .bindMemory(to: Int32.self, capacity: labelCount + 2 * rows)
    samples = (labels + labelCount, labels + labelCount + rows)
    values = floats(valueStart)
    pieces = .allocate(capacity: rows)
    places = .allocate(capacity: rows)
    ahead = .allocate(capacity: 1)
    ahead.initialize(to: fs_ahead())
  }

  /// Takes the samples of a batch and their labels. Their floats are made at once, or by the first
  /// layer as it works; nothing is asked for behind it yet.
  func gather(_ samples: UnsafeBufferPointer<Int32>, of dataset: Dataset, kernels: Kernels) {
    ahead.pointee.count = 0
    if steps[0].layer.takesBytes, dataset.bytePlaces(of: samples, into: places) {
      bytes = UnsafePointer(places)
    } else {
      bytes = nil
      dataset.gather(samples, into: batch, kernels: kernels)
    }
    switch dataset.targets {
    case .classes: dataset.gatherLabels(samples, into: labels)
    case .values: dataset.gatherValues(samples, into: values)
    case .tokens(let tokens):
      dataset.gatherTokens(samples, into: labels)
      unscored = tokens.unscored
    }
  }

  /// Asks for the memory of the samples of the next batch, or has the first layer ask for it as it
  /// works: as many lines at once as a batch has would wait for one another. No samples: nothing.
  func fetchAhead(_ next: UnsafeBufferPointer<Int32>, of dataset: Dataset) {
    guard steps[0].layer.fetchesAhead else { return dataset.prefetch(next) }
    dataset.prefetchLabels(next)
    let bytes = dataset.places(of: next, into: pieces)
    ahead.pointee = fs_ahead(pieces: pieces, count: next.count, bytes: bytes)
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
    ahead.deallocate()
    pieces.deallocate()
    places.deallocate()
    if let gradientMemory { UnsafeMutableRawPointer(gradientMemory).deallocate() }
  }
}
