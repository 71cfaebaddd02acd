import Numerics

/// A model: layers one behind the other, trained on a loss.
///
/// Shapes: a dense layer's weight is [in][out], a convolution's [height][width][in][out], a
/// recurrent layer's [in][gates × units].
public struct Network: Equatable, Sendable {
  /// A layer with its place in the parameters.
  struct Node: Sendable {
    let layer: any PlacedLayer
    /// Its number among the layers, those counted that are part of another.
    let place: Int
    let offset: Int
    let isUpdatable: Bool
    let inputCount: Int

    /// The layers that it is made of; itself where it is one.
    var leaves: [Node] {
      let inner = layer.leaves
      return inner.isEmpty ? [self] : inner
    }
  }

  /// All of it in one place, so that a copy of a network is one reference more.
  private final class Content: Sendable {
    let sampleShape: [Int]
    let layers: [Layer]
    let loss: Loss
    let layout: ParameterLayout
    let nodes: [Node]
    let hasFrozen: Bool
    let hasStatistics: Bool
    let firstTrained: Int
    let classCount: Int
    let positions: Int
    let isNoisy: Bool
    let foreign: (any ForeignModel)?

    /// A model without layers, which other code computes.
    init(_ model: any ForeignModel) {
      foreign = model
      (sampleShape, layers, loss, nodes) = ([1], [], .crossEntropy, [])
      layout = model.layout
      hasFrozen = layout.updatableCount < layout.count
      hasStatistics = !layout.statisticRanges.isEmpty
      (firstTrained, classCount, positions, isNoisy) = (0, model.classCount, 1, true)
    }

    init(sampleShape: [Int], layers: [Layer], loss: Loss, _ compiler: NetworkCompiler) {
      self.sampleShape = sampleShape
      self.layers = layers
      self.loss = loss
      foreign = nil
      layout = ParameterLayout(compiler.tensors)
      nodes = compiler.nodes
      hasFrozen = layout.updatableCount < layout.count
      hasStatistics = !layout.statisticRanges.isEmpty
      firstTrained =
        nodes.firstIndex { $0.isUpdatable && $0.layer.parameterCount > 0 } ?? nodes.count
      classCount = compiler.shape[compiler.shape.count - 1]
      positions = compiler.shape.count == 2 ? compiler.shape[0] : 1
      isNoisy = nodes.contains { $0.leaves.contains { $0.layer is DropoutLayer } }
    }
  }

  private let content: Content

  /// Extents of one sample; two of them count as [height][width][1] for a convolution.
  public var sampleShape: [Int] { content.sampleShape }
  /// The layers from input to output; the last gives the logits.
  public var layers: [Layer] { content.layers }
  /// What training lowers.
  public var loss: Loss { content.loss }
  /// Which tensor is where in the parameters.
  public var layout: ParameterLayout { content.layout }
  var nodes: [Node] { content.nodes }
  /// Whether some parameters are neither trained nor exchanged.
  var hasFrozen: Bool { content.hasFrozen }
  /// Whether layers keep running statistics of batches.
  public var hasStatistics: Bool { content.hasStatistics }
  /// The first node whose parameters are trained: no gradient goes further down.
  var firstTrained: Int { content.firstTrained }
  /// How many classes the network tells apart, or how many numbers it gives.
  public var classCount: Int { content.classCount }
  /// At how many positions it does so; 1 where there is one answer for a sample.
  public var positions: Int { content.positions }
  /// Whether training draws numbers: there is a dropout layer.
  public var isNoisy: Bool { content.isNoisy }

  /// What computes trainings and evaluations, where the network has no layers; else nil.
  public var foreign: (any ForeignModel)? { content.foreign }

  /// How many values one sample has.
  public var inputCount: Int { sampleShape.reduce(1, *) }

  /// A model that other code computes, over samples without content.
  public init(_ foreign: any ForeignModel) { content = Content(foreign) }

  /// A network of these layers over samples of the given shape.
  ///
  /// Its tensors are `dense1.weight`, `dense1.bias`, `conv1.weight` and so on, numbered by kind.
  /// Throws: `LayerFault` for the first layer that does not fit what comes before it.
  public init(sampleShape: [Int], layers: [Layer], loss: Loss = .crossEntropy)
    throws(LayerFault)
  {
    precondition(sampleShape.allSatisfy { $0 > 0 } && !layers.isEmpty, "has inputs and layers")
    var compiler = NetworkCompiler(sampleShape: sampleShape)
    for (index, layer) in layers.enumerated() {
      let isLast = index == layers.count - 1
      if isLast, loss.containsSoftmax, layer == .softmax { continue }  // Part of the loss.
      do {
        try compiler.add(layer)
      } catch {
        throw LayerFault(layer: index + 1, kind: layer.kind, message: error.message)
      }
    }
    let axes = loss == .crossEntropyAtPositions ? 2 : 1
    guard !compiler.nodes.isEmpty, compiler.shape.count == axes else {
      let advice =
        axes == 2
        ? "labels at each position need [positions, classes], such as from `dense` with"
          + " `eachPlace`" : "a dense layer or `flatten` gives classes"
      throw LayerFault(
        layer: layers.count, kind: layers[layers.count - 1].kind,
        message: "the last layer gives \(compiler.shape); \(advice)")
    }
    content = Content(sampleShape: sampleShape, layers: layers, loss: loss, compiler)
  }

  /// A network of dense layers or others that fit for sure, over `inputCount` values a sample.
  public init(inputCount: Int, layers: [Layer], loss: Loss = .crossEntropy) {
    do {
      try self.init(sampleShape: [inputCount], layers: layers, loss: loss)
    } catch {
      preconditionFailure(error.description)
    }
  }

  /// Softmax regression: one dense layer from the inputs to the classes.
  public static func softmaxRegression(inputCount: Int, classCount: Int) -> Network {
    multilayerPerceptron(inputCount: inputCount, hidden: [], classCount: classCount)
  }

  /// Dense layers of the `hidden` sizes, each with ReLU, and a dense layer to the classes.
  public static func multilayerPerceptron(
    inputCount: Int, hidden: [Int], classCount: Int
  ) -> Network {
    Network(
      inputCount: inputCount,
      layers: hidden.map { .dense(outputs: $0, activation: .relu) }
        + [.dense(outputs: classCount, activation: .identity)])
  }

  /// How many tokens the first layer knows, where it is an embedding: samples must be such tokens.
  public var tokenCount: Int? {
    guard var layer = layers.first else { return nil }
    while case .frozen(let inner) = layer { layer = inner }
    switch layer {
    case .embedding(let count, _), .tiedEmbedding(let count, _, _): return count
    default: return nil
    }
  }

  /// Samples in a pass without gradients, so that its memory stays near the caches; no bit depends
  /// on it.
  var evaluationRows: Int {
    let widest =
      nodes.flatMap(\.leaves).map(\.layer.outputCount).reduce(positions * classCount, max)
    return max(8, min(112, (1 << 18) / widest))
  }

  /// Multiply-adds, counted as two operations, of one sample's forward and backward pass.
  ///
  /// Forward, weight gradient, and input gradient of all layers but the first; biases,
  /// activations and pooling are not counted. The first of a tied embedding is its table.
  public var trainingOperationsPerSample: Int {
    var operations = 0
    for (index, node) in nodes.enumerated() {
      let isFirst = index == 0 && !(node.layer is TiedEmbeddingLayer)
      operations += node.layer.multiplyAdds * (isFirst ? 4 : 6)
    }
    return operations
  }

  /// Fresh parameters, tensor by tensor in order of the layout.
  ///
  /// Dense layers and convolutions are uniform on ±1/√(the inputs of one output), recurrent ones
  /// and embeddings on ±1/√(their units or width), scales and running variances are 1, shifts and
  /// running means 0. Draws: one `uniform()` a parameter, none for those four.
  public func initialParameters(_ stream: RandomStream) -> ParameterBuffer {
    var stream = stream
    return ParameterBuffer(count: layout.count) { target in
      guard let base = target.baseAddress else { return }
      for node in nodes { node.layer.initialise(base + node.offset, &stream) }
    }
  }

  /// Equal networks train to equal bits.
  public static func == (a: Network, b: Network) -> Bool {
    a.content === b.content
      || a.foreign == nil && b.foreign == nil && a.sampleShape == b.sampleShape
        && a.layers == b.layers && a.loss == b.loss
  }
}

extension Network.Layer {
  /// The layer's name in a message and in a scenario.
  public var kind: String {
    switch self {
    case .dense, .placewiseDense: "dense"
    case .convolution: "convolution"
    case .sequenceConvolution: "convolution-1d"
    case .maxPooling: "max-pooling"
    case .averagePooling: "average-pooling"
    case .globalAveragePooling: "global-average-pooling"
    case .flatten: "flatten"
    case .activation(.identity): "identity"
    case .activation(.relu): "relu"
    case .activation(.relu6): "relu6"
    case .activation(.leakyReLU): "leaky-relu"
    case .activation(.tanh): "tanh"
    case .activation(.sigmoid): "sigmoid"
    case .activation(.gelu): "gelu"
    case .activation(.silu): "silu"
    case .softmax: "softmax"
    case .dropout: "dropout"
    case .groupNormalisation: "group-normalisation"
    case .layerNormalisation: "layer-normalisation"
    case .batchNormalisation: "batch-normalisation"
    case .embedding: "embedding"
    case .tiedEmbedding: "tied-embedding"
    case .lowRank: "lora"
    case .positions: "positions"
    case .attention: "attention"
    case .residual: "residual"
    case .lstm, .coupledLSTM, .projectedLSTM: "lstm"
    case .gru, .resetFirstGRU: "gru"
    case .frozen(let layer): layer.kind
    }
  }
}
