import CoreMLFormat
import Learning

/// Makes FedSim's layers of those of a Core ML network, one after the other.
///
/// Shapes: Core ML's, [channels][height][width], go along; the layers are made for FedSim's order.
struct CoreMLTranslation {
  /// What a layer gives.
  enum Shape: Equatable {
    case vector(Int)
    case image(channels: Int, height: Int, width: Int)
    /// Features at each time.
    case sequence(Int)
    case tokens

    var words: String {
      switch self {
      case .vector(let count): "[\(count)]"
      case .image(let channels, let height, let width): "[\(channels), \(height), \(width)]"
      case .sequence(let features): "[time, \(features)]"
      case .tokens: "[time] of whole numbers"
      }
    }
  }

  /// Channels and places of an image that was flattened with its channels first.
  struct Flattened: Equatable {
    var channels: Int
    var places: Int
  }

  private let root: CoreMLRoot
  private(set) var layers: [Network.Layer] = []
  private(set) var places: [String] = []
  private(set) var tensors: [CoreMLTensor] = []
  var shape: Shape
  /// What a vector was before, until a layer mixes its values.
  var flattened: Flattened?
  /// The layer that is translated, from 0.
  private(set) var index = 0

  init(_ root: CoreMLRoot) throws(DataFault) {
    self.root = root
    shape =
      switch root.sample {
      case .vector(let count): .vector(count)
      case .image(let channels, let height, let width):
        .image(channels: channels, height: height, width: width)
      case .sequence(let features): .sequence(features)
      case .tokens: .tokens
      }
  }

  /// The layer that is translated.
  private var layer: CoreMLSpecLayer { root.network.layers[index] }
  /// Where it is: `layer 2 (conv1)`.
  private var place: String { "layer \(index + 1) (\(layer.name))" }

  /// How many outputs the last layer gives.
  private(set) var outputs = 0

  /// Translates all layers.
  ///
  /// Throws: `unsupported`, `countMismatch` and others, with the layer.
  mutating func translate() throws(DataFault) {
    var previous = root.input
    for index in root.network.layers.indices {
      self.index = index
      guard layer.input == [previous] else {
        throw refused(
          "input" + (layer.input.count == 1 ? "" : "s") + CoreMLRoot.list(layer.input),
          "1 input, '\(previous)': each layer takes what the one before it gives",
          kind: .unsupported)
      }
      guard layer.output.count == 1 else {
        throw refused("\(layer.output.count) outputs\(CoreMLRoot.list(layer.output))", "1")
      }
      previous = layer.output[0]
      try add()
    }
    guard case .vector(let count) = shape, flattened == nil else {
      throw refused(
        "an output of \(shape.words)", "one vector of classes, made by a layer with weights")
    }
    outputs = count
    if let classes = root.classCount, classes != count {
      throw refused(
        "\(count) outputs", "one for each of \(classes) class labels", kind: .countMismatch)
    }
    if root.classCount == nil, root.outputNames != [previous] {
      throw DataFault(
        .unsupported, in: root.path, found: "outputs\(CoreMLRoot.list(root.outputNames))",
        expected: "that of the last layer alone, '\(previous)'")
    }
  }

  private mutating func add() throws(DataFault) {
    if layer.isUpdatable, !Self.trainable.contains(root.outline.layerKinds[index]) {
      throw refused("an updatable layer without weights that are trained", "isUpdatable false")
    }
    switch layer.kind {
    case .innerProduct(let dense): try add(dense)
    case .convolution(let convolution): try add(convolution)
    case .pooling(let pooling): try add(pooling)
    case .activation(let activation): append(.activation(try function(activation)))
    case .gelu(let gelu):
      guard gelu.mode == 0 else { throw refused("an approximated GELU", "the exact one") }
      append(.activation(.gelu))
    case .softmax: try addSoftmax()
    case .softmaxNd(let softmax):
      guard softmax.axis == -1 else { throw refused("axis \(softmax.axis)", "axis -1") }
      try addSoftmax()
    case .flatten(let flatten): try flattenImage(channelsFirst: flatten.mode == 0)
    case .flattenTo2D(let axis):
      guard axis.axis == 1 else { throw refused("axis \(axis.axis)", "axis 1") }
      try flattenImage(channelsFirst: true)
    case .reshape(let reshape): try add(reshape)
    case .batchnorm(let norm): try add(norm)
    case .embedding(let embedding):
      try addEmbedding(
        embedding.inputDim, embedding.outputChannels, embedding.hasBias_p, embedding.weights)
    case .embeddingNd(let embedding):
      try addEmbedding(
        embedding.vocabSize, embedding.embeddingSize, embedding.hasBias_p, embedding.weights)
    case .uniDirectionalLstm(let lstm): try add(lstm)
    case .gru(let gru): try add(gru)
    case nil:
      let kind = root.outline.layerKinds[index]
      throw refused(
        kind == 0 ? "a layer of no kind" : "a layer `\(CoreMLWords.layer(kind))`",
        "one that FedSim has (docs/models.md)")
    }
  }

  /// The kinds that have tensors.
  private static let trainable = [100, 140, 150, 410, 420, 1040]

  // MARK: What translations need

  /// Adds a layer of this one, frozen if it is not updatable.
  mutating func append(_ made: Network.Layer, _ added: [CoreMLTensor] = []) {
    layers.append(isTrained || added.isEmpty ? made : .frozen(made))
    places.append(place)
    tensors += added
  }

  /// What kind of layer it is.
  var kind: CoreMLSpecLayer.OneOf_Kind? { layer.kind }

  /// Whether the layer's weights are trained.
  var isTrained: Bool { root.isUpdatable && layer.isUpdatable }

  func refused(
    _ found: String, _ expected: String, kind: DataFault.Kind = .unsupported,
    advice: String? = nil
  ) -> DataFault {
    DataFault(
      kind, in: "\(root.path):\(place)", found: found, expected: expected, advice: advice)
  }

  /// A size out of the file as a number that shapes can be made of.
  func size(_ number: UInt64, _ what: String) throws(DataFault) -> Int {
    guard (1...1 << 28).contains(number) else {
      throw refused("\(number) \(what)", "1 to \(1 << 28)", kind: .outOfRange)
    }
    return Int(number)
  }

  /// A tensor of the file; an updatable one is where it can be written.
  ///
  /// Throws: `unsupported` for weights of other types, `countMismatch`, `outOfRange` for numbers
  /// that are not finite.
  func tensor(
    _ weights: CoreMLSpecWeights, _ name: String, at path: [Int], shape: [Int],
    order: WeightOrder
  ) throws(DataFault) -> CoreMLTensor {
    let count = try product(shape, name)
    try check(weights, name, count: count)
    var tensor = CoreMLTensor(
      shape: shape, isTrained: isTrained, values: [Float](repeating: 0, count: count))
    try fill(&tensor, weights, name, at: path, order: order)
    return tensor
  }

  /// That the file has as many numbers, and of a kind that is read: before memory is taken.
  func check(_ weights: CoreMLSpecWeights, _ name: String, count: Int) throws(DataFault) {
    guard weights.isUpdatable == layer.isUpdatable else {
      throw refused(
        "\(name) that are \(weights.isUpdatable ? "" : "not ")updatable",
        "the same as the layer, which is \(layer.isUpdatable ? "" : "not ")updatable")
    }
    let reader = CoreMLWeightReader(weights)
    if let found = reader.refusal {
      throw refused("\(name) \(found)", "32-bit or 16-bit floats", advice: reader.advice)
    }
    guard reader.bytes % reader.width == 0 else {
      throw refused(
        "\(name) of \(reader.bytes) bytes", "a multiple of \(reader.width)", kind: .countMismatch)
    }
    guard reader.bytes / reader.width == count else {
      throw refused(
        "\(reader.bytes / reader.width) \(name)", "\(count)", kind: .countMismatch)
    }
    guard reader.width == 4 || !isTrained else {
      throw refused(
        "\(name) of 16 bits in an updatable layer", "32-bit floats, as Core ML trains them")
    }
  }

  /// Reads numbers of the file, which were checked, into their places in a tensor.
  func fill(
    _ tensor: inout CoreMLTensor, _ weights: CoreMLSpecWeights, _ name: String, at path: [Int],
    order: WeightOrder
  ) throws(DataFault) {
    let reader = CoreMLWeightReader(weights)
    guard reader.read(into: &tensor.values, order) else {
      throw refused("\(name) that are not all finite", "finite numbers", kind: .outOfRange)
    }
    guard isTrained, let range = root.outline.floats[.init(layer: index, path: path)] else {
      return
    }
    tensor.pieces.append(.init(range: range, count: range.count / 4, order: order))
  }

  /// How many numbers a tensor has; more than a file can have are a fault.
  func product(_ shape: [Int], _ name: String) throws(DataFault) -> Int {
    var count = 1
    for extent in shape {
      let (product, overflow) = count.multipliedReportingOverflow(by: extent)
      guard !overflow, product <= 1 << 29 else {
        throw refused("\(name) of shape \(shape)", "at most \(1 << 29)", kind: .outOfRange)
      }
      count = product
    }
    return count
  }
}
