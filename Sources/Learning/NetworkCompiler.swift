/// Places layers one behind the other: shapes go through, parameters are packed.
struct NetworkCompiler {
  private(set) var shape: [Int]
  private(set) var nodes: [Network.Node] = []
  private(set) var tensors: [TensorSpec] = []
  private var stems: [String] = []
  private var isUpdatable = true
  /// Layers so far, those included that are part of another.
  private var placed = 0
  /// How many layers of layers this is inside of.
  private var depth = 0

  init(sampleShape: [Int]) { shape = sampleShape }

  mutating func add(_ layer: Network.Layer) throws(ShapeProblem) {
    switch layer {
    case .dense(let outputs, let activation):
      guard outputs > 0 else { throw ShapeProblem("has at least 1 output") }
      place(DenseLayer(inputs: shape.reduce(1, *), outputs: outputs))
      activate(activation)
    case .placewiseDense(let outputs, let activation):
      guard outputs > 0 else { throw ShapeProblem("has at least 1 output") }
      place(PlacewiseDenseLayer(outputs: outputs, inputShape: shape))
      activate(activation)
    case .globalAveragePooling:
      place(try GlobalAveragePoolingLayer(inputShape: shape))
    case .convolution(let convolution):
      place(try ConvolutionLayer(convolution, inputShape: imageShape))
      activate(convolution.activation)
    case .sequenceConvolution(let convolution):
      place(try ConvolutionLayer(convolution, inputShape: sequenceShape, isSequence: true))
      activate(convolution.activation)
    case .maxPooling(let size, let stride):
      pool(try PoolingLayer(.largest, size: size, stride: stride, inputShape: imageShape))
    case .averagePooling(let size, let stride):
      pool(try PoolingLayer(.mean, size: size, stride: stride, inputShape: imageShape))
    case .flatten:
      shape = [shape.reduce(1, *)]
    case .activation(let activation):
      activate(activation)
    case .softmax:
      guard shape.count == 1 else { throw ShapeProblem("takes one axis and gets \(shape)") }
      place(SoftmaxLayer(outputShape: shape))
    case .dropout(let rate):
      guard rate >= 0 && rate < 1 else { throw ShapeProblem("a rate is from 0 to below 1") }
      place(DropoutLayer(rate: rate, outputShape: shape))
    case .groupNormalisation(let groups):
      place(try GroupNormalisationLayer(groups: groups, inputShape: shape))
    case .layerNormalisation:
      place(try GroupNormalisationLayer(groups: 1, inputShape: shape, eachPlace: true))
    case .batchNormalisation(let epsilon, let momentum):
      place(
        try BatchNormalisationLayer(
          epsilon: epsilon, momentum: momentum, isFrozen: !isUpdatable, inputShape: shape))
    case .lowRank(let layer):
      guard layer.rank > 0 else { throw ShapeProblem("its rank is at least 1") }
      let base: Network.Layer =
        layer.eachPlace
        ? .placewiseDense(outputs: layer.outputs, activation: .identity)
        : .dense(outputs: layer.outputs, activation: .identity)
      try addSum(of: [.frozen(base)], and: nil, adapter: layer)
      activate(layer.activation)
    case .positions:
      place(try PositionsLayer(inputShape: shape))
    case .attention(let heads, let isCausal):
      place(try AttentionLayer(heads: heads, isCausal: isCausal, inputShape: shape))
    case .residual(let layers, let shortcut):
      try addSum(of: layers, and: shortcut)
    case .embedding(let count, let width):
      guard isFirst else { throw ShapeProblem("can only be the first layer") }
      place(try EmbeddingLayer(count: count, width: width, inputShape: shape))
    case .tiedEmbedding(let count, let width, let layers):
      guard isFirst else { throw ShapeProblem("can only be the first layer") }
      try addTied(EmbeddingLayer(count: count, width: width, inputShape: shape), count, layers)
    case .lstm, .coupledLSTM, .projectedLSTM, .gru, .resetFirstGRU:
      try addRecurrent(layer)
    case .frozen(let inner):
      let before = isUpdatable
      isUpdatable = false
      defer { isUpdatable = before }
      try add(inner)
    }
  }

  /// A layer over time.
  private mutating func addRecurrent(_ layer: Network.Layer) throws(ShapeProblem) {
    switch layer {
    case .lstm(let units, let returnsSequence):
      place(
        try LSTMLayer(units: units, returnsSequence: returnsSequence, inputShape: sequenceShape))
    case .coupledLSTM(let units, let returnsSequence):
      place(
        try CoupledLSTMLayer(
          units: units, returnsSequence: returnsSequence, inputShape: sequenceShape))
    case .projectedLSTM(let units, let projection, let isCoupled, let returnsSequence):
      place(
        try ProjectedLSTMLayer(
          units: units, projection: projection, isCoupled: isCoupled,
          returnsSequence: returnsSequence, inputShape: sequenceShape))
    case .gru(let units, let returnsSequence):
      place(
        try GRULayer(units: units, returnsSequence: returnsSequence, inputShape: sequenceShape))
    case .resetFirstGRU(let units, let returnsSequence):
      place(
        try ResetFirstGRULayer(
          units: units, returnsSequence: returnsSequence, inputShape: sequenceShape))
    default: preconditionFailure("\(layer.kind) is recurrent")
    }
  }

  /// Two paths from here, whose values are added; offsets inside begin at the sum's own.
  private mutating func addSum(
    of layers: [Network.Layer], and shortcut: [Network.Layer]?,
    adapter: Network.LowRank? = nil
  ) throws(ShapeProblem) {
    guard !layers.isEmpty else { throw ShapeProblem("has at least 1 layer") }
    let (outer, input, start) = (nodes, shape, tensors.last?.range.upperBound ?? 0)
    depth += 1
    let main = try path(layers, from: input, start, "layer", nil)
    let output = shape
    let other = try path(shortcut ?? [], from: input, start, "shortcut's layer", adapter)
    depth -= 1
    guard shape == output else {
      throw ShapeProblem("its layers give \(output) and its shortcut gives \(shape)")
    }
    let inputCount = input.reduce(1, *)
    let sum = ResidualLayer(
      main: main, shortcut: other, inputCount: inputCount, outputShape: output)
    nodes =
      outer + [
        Network.Node(
          layer: sum, place: placed, offset: start,
          isUpdatable: sum.leaves.contains { $0.isUpdatable && $0.layer.parameterCount > 0 },
          inputCount: inputCount)
      ]
    placed += 1
  }

  /// An embedding whose vectors score what the layers behind it give.
  private mutating func addTied(
    _ embedding: EmbeddingLayer, _ count: Int, _ layers: [Network.Layer]
  ) throws(ShapeProblem) {
    let input = shape
    place(embedding)
    let (table, vectors) = (nodes[0], shape)
    depth += 1
    let path = try path(layers, from: vectors, 0, "layer", nil)
    depth -= 1
    guard shape == vectors else {
      throw ShapeProblem("its layers give \(shape) and take \(vectors): that must be the same")
    }
    let tied = TiedEmbeddingLayer(embedding: table, path: path, count: count)
    nodes = [
      Network.Node(
        layer: tied, place: placed, offset: 0,
        isUpdatable: tied.leaves.contains { $0.isUpdatable && $0.layer.parameterCount > 0 },
        inputCount: input.reduce(1, *))
    ]
    shape = tied.outputShape
    placed += 1
  }

  private mutating func path(
    _ layers: [Network.Layer], from input: [Int], _ start: Int, _ what: String,
    _ adapter: Network.LowRank?
  ) throws(ShapeProblem) -> LayerPath {
    nodes = []
    shape = input
    if let adapter { place(LowRankLayer(adapter, inputShape: input)) }
    for (index, layer) in layers.enumerated() {
      do {
        try add(layer)
      } catch {
        throw ShapeProblem("its \(what) \(index + 1) (\(layer.kind)): \(error.message)")
      }
    }
    return LayerPath(
      nodes: nodes.map {
        Network.Node(
          layer: $0.layer, place: $0.place, offset: $0.offset - start,
          isUpdatable: $0.isUpdatable, inputCount: $0.inputCount)
      })
  }

  /// Whether the samples themselves are what the next layer gets.
  private var isFirst: Bool { nodes.isEmpty && depth == 0 }

  /// [height][width] has one channel.
  private var imageShape: [Int] { shape.count == 2 && isFirst ? shape + [1] : shape }

  /// [time] has one feature.
  private var sequenceShape: [Int] { shape.count == 1 && isFirst ? shape + [1] : shape }

  private mutating func activate(_ activation: Network.Activation) {
    if activation == .identity { return }
    let layer = ActivationLayer(activation: activation, outputShape: shape)
    if let fused = fusion(of: layer) { return fuse(fused) }
    place(layer)
  }

  private mutating func pool(_ layer: PoolingLayer) {
    if let fused = fusion(of: layer) { return fuse(fused) }
    place(layer)
  }

  /// The last layer and this one as one layer with the same bits, where there is such a layer.
  private func fusion(of layer: some PlacedLayer) -> (any PlacedLayer)? {
    switch (nodes.last?.layer, layer) {
    case (let convolution as ConvolutionLayer, let pooling as PoolingLayer):
      return PooledConvolutionLayer(convolution: convolution, pooling: pooling)
    case (let pooling as PoolingLayer, let activation as ActivationLayer)
    where activation.activation == .relu:
      return pooling.rectified
    case (let pooled as PooledConvolutionLayer, let activation as ActivationLayer)
    where activation.activation == .relu:
      return pooled.pooling.rectified.map {
        PooledConvolutionLayer(convolution: pooled.convolution, pooling: $0)
      }
    default: return nil
    }
  }

  private mutating func fuse(_ layer: any PlacedLayer) {
    let last = nodes.removeLast()
    nodes.append(
      Network.Node(
        layer: layer, place: last.place, offset: last.offset, isUpdatable: last.isUpdatable,
        inputCount: last.inputCount))
    placed += 1
    shape = layer.outputShape
  }

  private mutating func place(_ layer: some PlacedLayer) {
    let start = tensors.last?.range.upperBound ?? 0
    if !layer.tensors.isEmpty {
      stems.append(layer.stem)
      let number = stems.count { $0 == layer.stem }
      for (name, shape) in layer.tensors {
        tensors.append(
          TensorSpec(
            name: "\(layer.stem)\(number).\(name)", shape: shape,
            offset: tensors.last?.range.upperBound ?? 0, isUpdatable: isUpdatable,
            isTransposed: layer.hasTransposedWeight && shape.count == 2,
            isStatistic: layer.statistics.contains(name)))
      }
    }
    nodes.append(
      Network.Node(
        layer: layer, place: placed, offset: start, isUpdatable: isUpdatable,
        inputCount: shape.reduce(1, *)))
    placed += 1
    shape = layer.outputShape
  }
}
