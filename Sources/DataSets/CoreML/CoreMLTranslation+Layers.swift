import CoreMLFormat
import Learning

extension CoreMLTranslation {
  /// A dense layer; behind an image that was flattened with its channels first, its inputs are
  /// brought into FedSim's order.
  mutating func add(_ dense: CoreMLSpecInnerProduct) throws(DataFault) {
    let inputs = try size(dense.inputChannels, "input channels")
    let outputs = try size(dense.outputChannels, "output channels")
    guard !dense.int8DynamicQuantize else {
      throw refused("products of 8 bits (int8DynamicQuantize)", "products of floats")
    }
    var order = WeightOrder.turned(inputs: inputs, outputs: outputs)
    var made = Network.Layer.dense(outputs: outputs, activation: .identity)
    switch shape {
    case .vector(inputs):
      if let flattened {
        order = .flattened(
          outputs: outputs, channels: flattened.channels, places: flattened.places)
      }
      shape = .vector(outputs)
    case .image(channels: inputs, height: 1, width: 1): shape = .vector(outputs)
    case .sequence(inputs):
      made = .placewiseDense(outputs: outputs, activation: .identity)
      shape = .sequence(outputs)
    default:
      throw refused("\(inputs) input channels behind \(shape.words)", "as many inputs as come")
    }
    flattened = nil
    let weight = try tensor(
      dense.weights, "weights", at: [140, 20], shape: [inputs, outputs], order: order)
    let bias = try bias(dense.hasBias_p, dense.bias, at: [140, 21], outputs)
    append(made, [weight, bias])
  }

  /// A layer's bias; zeros where a frozen one has none.
  private func bias(
    _ isThere: Bool, _ weights: CoreMLSpecWeights, at path: [Int], _ count: Int
  ) throws(DataFault) -> CoreMLTensor {
    if isThere {
      return try tensor(weights, "biases", at: path, shape: [count], order: .same)
    }
    guard !isTrained else {
      throw refused(
        "an updatable layer without biases", "biases: FedSim trains them, and writes them back",
        advice: "give has_bias=True and zeros")
    }
    return CoreMLTensor(
      shape: [count], isTrained: false, values: [Float](repeating: 0, count: count))
  }

  mutating func add(_ convolution: CoreMLSpecConvolution) throws(DataFault) {
    guard case .image(let channels, let height, let width) = shape else {
      throw refused("a convolution behind \(shape.words)", "one behind an image")
    }
    guard !convolution.isDeconvolution else { throw refused("a deconvolution", "a convolution") }
    let filters = try size(convolution.outputChannels, "output channels")
    let kernel = try size(convolution.kernelChannels, "kernel channels")
    let groups = convolution.nGroups == 0 ? 1 : try size(convolution.nGroups, "groups")
    guard kernel.multipliedReportingOverflow(by: groups) == (channels, false) else {
      throw refused(
        "\(kernel) kernel channels in \(groups) groups", "\(channels) input channels",
        kind: .countMismatch)
    }
    let size = try square(convolution.kernelSize, "kernel", or: 3)
    let stride = try square(convolution.stride, "stride", or: 1)
    guard try square(convolution.dilationFactor, "dilation", or: 1) == 1 else {
      throw refused("dilation \(convolution.dilationFactor)", "1")
    }
    let padding = try padding(
      convolution.hasSame ? convolution.same : nil,
      convolution.valid.paddingAmounts.borderAmounts)
    let places = size * size
    let hasBias = convolution.hasBias_p
    var added = [
      try tensor(
        convolution.weights, "weights", at: [100, 90], shape: [size, size, kernel, filters],
        order: .image(inputs: kernel, outputs: filters, places: places))
    ]
    if hasBias { added.append(try bias(true, convolution.bias, at: [100, 91], filters)) }
    append(
      .convolution(
        .init(
          filters: filters, size: size, stride: stride, padding: padding, groups: groups,
          hasBias: hasBias)), added)
    shape = .image(
      channels: filters,
      height: try extent(height, size, stride, padding),
      width: try extent(width, size, stride, padding))
  }

  mutating func add(_ pooling: CoreMLSpecPooling) throws(DataFault) {
    guard case .image(let channels, let height, let width) = shape else {
      throw refused("pooling behind \(shape.words)", "pooling behind an image")
    }
    guard pooling.type == 0 || pooling.type == 1 else {
      throw refused("L2 pooling", "largest values or means")
    }
    if pooling.globalPooling {
      guard pooling.type == 1 else { throw refused("global largest values", "global means") }
      append(.globalAveragePooling)
      shape = .vector(channels)
      return
    }
    let size = try square(pooling.kernelSize, "window", or: 3)
    let stride = try square(pooling.stride, "stride", or: 1)
    // Windows that pad nothing are the same with either word.
    let isExact = size == stride && height % stride == 0 && width % stride == 0
    guard !pooling.hasIncludeLastPixel || isExact, !pooling.hasSame || isExact,
      pooling.valid.paddingAmounts.borderAmounts.allSatisfy({
        $0.startEdgeSize == 0 && $0.endEdgeSize == 0
      })
    else { throw refused("pooling with padding", "windows inside the image") }
    append(
      pooling.type == 0
        ? .maxPooling(size: size, stride: stride) : .averagePooling(size: size, stride: stride))
    shape = .image(
      channels: channels,
      height: try extent(height, size, stride, .valid),
      width: try extent(width, size, stride, .valid))
  }

  /// The one number of an extent along both axes.
  private func square(
    _ numbers: [UInt64], _ what: String, or standard: Int
  ) throws(DataFault) -> Int {
    if numbers.isEmpty { return standard }
    guard numbers.count == 2, numbers[0] == numbers[1], (1...1000).contains(numbers[0]) else {
      throw refused("\(what) \(numbers)", "the same along both axes, from 1 to 1000")
    }
    return Int(numbers[0])
  }

  private func padding(
    _ same: CoreMLSpecSamePadding?, _ edges: [CoreMLSpecEdge]
  ) throws(DataFault) -> Network.Convolution.Padding {
    if let same {
      guard same.asymmetryMode == 0 else {
        throw refused(
          "same padding with more at the near edge", "more at the far edge (BOTTOM_RIGHT_HEAVY)")
      }
      return .same
    }
    let counts = edges.flatMap { [$0.startEdgeSize, $0.endEdgeSize] }
    guard let first = counts.first else { return .valid }
    guard counts.count == 4, counts.allSatisfy({ $0 == first }), first <= 1000 else {
      throw refused("padding \(counts)", "the same at all four edges")
    }
    return first == 0 ? .valid : .count(Int(first))
  }

  /// How long an axis is behind windows.
  private func extent(
    _ length: Int, _ size: Int, _ stride: Int, _ padding: Network.Convolution.Padding
  ) throws(DataFault) -> Int {
    if padding == .same { return (length + stride - 1) / stride }
    var padded = length
    if case .count(let count) = padding { padded += 2 * count }
    guard padded >= size else {
      throw refused(
        "windows of \(size) over \(padded) pixels", "smaller ones", kind: .countMismatch)
    }
    return (padded - size) / stride + 1
  }

  /// The function of an activation.
  func function(_ activation: CoreMLSpecActivation) throws(DataFault) -> Network.Activation {
    switch activation.kind {
    case .linear(let linear):
      guard linear.alpha == 1, linear.beta == 0 else {
        throw refused("a linear activation \(linear.alpha)·x + \(linear.beta)", "x itself")
      }
      return .identity
    case .relu: return .relu
    case .leakyReLu(let leaky):
      guard leaky.alpha >= 0, leaky.alpha <= 1 else {
        throw refused("a slope of \(leaky.alpha)", "0 to 1", kind: .outOfRange)
      }
      return .leakyReLU(slope: leaky.alpha)
    case .tanh: return .tanh
    case .sigmoid: return .sigmoid
    case nil:
      throw refused("another activation", "linear, ReLU, leaky ReLU, tanh or sigmoid")
    }
  }

  mutating func addSoftmax() throws(DataFault) {
    guard case .vector = shape else {
      throw refused("a softmax behind \(shape.words)", "one behind a vector")
    }
    append(.softmax)
  }

  /// One axis instead of three, with the channels first or last.
  mutating func flattenImage(channelsFirst: Bool) throws(DataFault) {
    switch shape {
    case .vector: break
    case .image(let channels, let height, let width):
      shape = .vector(channels * height * width)
      // With one channel, or one place, both orders are one.
      if channelsFirst, channels > 1, height * width > 1 {
        flattened = Flattened(channels: channels, places: height * width)
      }
    default: throw refused("a layer that flattens \(shape.words)", "one that flattens an image")
    }
    append(.flatten)
  }

  mutating func add(_ reshape: CoreMLSpecReshape) throws(DataFault) {
    // The first one makes an image of a flat sample, which FedSim has as an image.
    if layers.isEmpty, case .image(let channels, let height, let width) = shape,
      reshape.targetShape.suffix(3) == [Int64(channels), Int64(height), Int64(width)]
    {
      return
    }
    let count: Int
    switch shape {
    case .vector(let length): count = length
    case .image(let channels, let height, let width): count = channels * height * width
    default: throw refused("a reshape of \(shape.words)", "one of an image")
    }
    guard reshape.targetShape.filter({ $0 != 1 }) == [Int64(count)] else {
      throw refused(
        "a reshape of \(shape.words) to \(reshape.targetShape)", "one to a vector of \(count)")
    }
    try flattenImage(channelsFirst: reshape.mode == 0)
  }

  /// A normalisation by stored means and variances: a frozen filter of 1×1 for each channel.
  mutating func add(_ norm: CoreMLSpecBatchNormalisation) throws(DataFault) {
    let channels = try size(norm.channels, "channels")
    guard case .image(channels: channels, height: _, width: _) = shape else {
      throw refused(
        "\(channels) channels normalised behind \(shape.words)", "those of an image")
    }
    guard !norm.instanceNormalization, !norm.computeMeanVar || norm.hasMean else {
      throw refused("means and variances of each sample", "stored ones")
    }
    func numbers(_ weights: CoreMLSpecWeights, _ name: String, _ field: Int) throws(DataFault)
      -> [Float]
    {
      try tensor(weights, name, at: [160, field], shape: [channels], order: .same).values
    }
    let gamma = try numbers(norm.gamma, "gamma", 15)
    let beta = try numbers(norm.beta, "beta", 16)
    let mean = try numbers(norm.mean, "means", 17)
    let variance = try numbers(norm.variance, "variances", 18)
    guard variance.allSatisfy({ $0 >= 0 }), norm.epsilon >= 0,
      variance.allSatisfy({ $0 + norm.epsilon > 0 })
    else { throw refused("a variance below 0, or 0 without epsilon", "above 0", kind: .outOfRange) }
    let scale = (0..<channels).map {
      Double(gamma[$0]) / (Double(variance[$0]) + Double(norm.epsilon)).squareRoot()
    }
    let shift = (0..<channels).map { Double(beta[$0]) - scale[$0] * Double(mean[$0]) }
    append(
      .convolution(.init(filters: channels, size: 1, groups: channels)),
      [
        CoreMLTensor(
          shape: [1, 1, 1, channels], isTrained: false, values: scale.map { Float($0) }),
        CoreMLTensor(shape: [channels], isTrained: false, values: shift.map { Float($0) }),
      ])
  }
}
