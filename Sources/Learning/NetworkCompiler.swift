/// Places layers one behind the other: shapes go through, parameters are packed.
struct NetworkCompiler {
  private(set) var shape: [Int]
  private(set) var nodes: [Network.Node] = []
  private(set) var tensors: [TensorSpec] = []
  private var stems: [String] = []
  private var isUpdatable = true
  /// Layers so far, those included that are part of another.
  private var placed = 0

  init(sampleShape: [Int]) { shape = sampleShape }

  mutating func add(_ layer: Network.Layer) throws(ShapeProblem) {
    switch layer {
    case .dense(let outputs, let activation):
      guard outputs > 0 else { throw ShapeProblem("has at least 1 output") }
      place(DenseLayer(inputs: shape.reduce(1, *), outputs: outputs))
      activate(activation)
    case .convolution(let convolution):
      place(try ConvolutionLayer(convolution, inputShape: imageShape))
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
    case .embedding(let count, let width):
      guard nodes.isEmpty else { throw ShapeProblem("can only be the first layer") }
      place(try EmbeddingLayer(count: count, width: width, inputShape: shape))
    case .lstm(let units, let returnsSequence):
      place(
        try LSTMLayer(units: units, returnsSequence: returnsSequence, inputShape: sequenceShape))
    case .gru(let units, let returnsSequence):
      place(
        try GRULayer(units: units, returnsSequence: returnsSequence, inputShape: sequenceShape))
    case .frozen(let inner):
      let before = isUpdatable
      isUpdatable = false
      defer { isUpdatable = before }
      try add(inner)
    }
  }

  /// [height][width] has one channel.
  private var imageShape: [Int] { shape.count == 2 && nodes.isEmpty ? shape + [1] : shape }

  /// [time] has one feature.
  private var sequenceShape: [Int] { shape.count == 1 && nodes.isEmpty ? shape + [1] : shape }

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
            isTransposed: layer.hasTransposedWeight && shape.count == 2))
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
