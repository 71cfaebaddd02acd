import Learning
import Numerics
import Testing

/// A kind of layer, optimiser or loss in small networks of random shapes.
///
/// A layer between others, so that gradients go through it.
struct NetworkKind: CustomTestStringConvertible, Sendable {
  let name: String
  private let draw: @Sendable (inout RandomStream) -> Shape

  var testDescription: String { name }

  /// A network that is to be made, and what it is fed with.
  private struct Shape {
    var sampleShape: [Int]
    var layers: [Network.Layer]
    var loss = Network.Loss.crossEntropy
    var tokens: Int?
  }

  private init(_ name: String, _ draw: @escaping @Sendable (inout RandomStream) -> Shape) {
    self.name = name
    self.draw = draw
  }

  /// A flat input, a dense layer, the layers in question, a dense layer.
  private static func flat(
    _ name: String, _ layers: @escaping @Sendable (inout RandomStream) -> [Network.Layer]
  ) -> NetworkKind {
    NetworkKind(name) { stream in
      Shape(
        sampleShape: [stream.size(20)],
        layers: [.dense(outputs: stream.size(36), activation: .identity)] + layers(&stream)
          + [.dense(outputs: 3, activation: .identity)])
    }
  }

  /// Images, a convolution, the layers in question, a dense layer.
  private static func image(
    _ name: String, _ layers: @escaping @Sendable (inout RandomStream) -> [Network.Layer]
  ) -> NetworkKind {
    NetworkKind(name) { stream in
      // At least 4×4, so that what follows fits; channels in sixes, so that groups divide them.
      let before = Network.Convolution(
        filters: 6 * stream.size(2), size: stream.size(2), padding: .same)
      return Shape(
        sampleShape: [3 + stream.size(4), 3 + stream.size(4), stream.size(3)],
        layers: [.convolution(before)] + layers(&stream)
          + [.dense(outputs: 3, activation: .identity)])
    }
  }

  /// Sequences, the layer in question twice, a dense layer.
  private static func sequence(
    _ name: String, _ layer: @escaping @Sendable (_ units: Int, _ isFirst: Bool) -> Network.Layer
  ) -> NetworkKind {
    NetworkKind(name) { stream in
      Shape(
        sampleShape: [stream.size(5), stream.size(5)],
        layers: [
          layer(stream.size(18), true), layer(stream.size(9), false),
          .dense(outputs: 3, activation: .identity),
        ])
    }
  }

  static let all = [
    NetworkKind("softmax regression") {
      Shape(
        sampleShape: [$0.size(60)],
        layers: [.dense(outputs: 2 + $0.size(20), activation: .identity)])
    },
    flat("dense and ReLU") { [.dense(outputs: $0.size(36), activation: .relu)] },
    flat("ReLU6") { _ in [.activation(.relu6)] },
    flat("leaky ReLU") { _ in [.activation(.leakyReLU(slope: 0.1))] },
    flat("tanh") { _ in [.activation(.tanh)] },
    flat("sigmoid") { _ in [.activation(.sigmoid)] },
    flat("GELU") { _ in [.activation(.gelu)] },
    flat("SiLU") { _ in [.activation(.silu)] },
    flat("low rank") {
      [.lowRank(.init(outputs: $0.size(20), rank: $0.size(5), alpha: 2, activation: .relu))]
    },
    flat("softmax inside") { _ in [.softmax] },
    flat("dropout") { [.dropout(rate: 0.9 * $0.uniform())] },
    flat("frozen") { [.frozen(.dense(outputs: $0.size(20), activation: .relu))] },
    NetworkKind("squared error") {
      Shape(
        sampleShape: [$0.size(20)],
        layers: [
          .dense(outputs: $0.size(36), activation: .tanh),
          .dense(outputs: 2 + $0.size(20), activation: .identity),
        ], loss: .meanSquaredError)
    },
    image("convolution") { stream in
      let groups = stream.size(3)
      let size = stream.size(4)
      let padding: Network.Convolution.Padding =
        switch stream.size(3) {
        case 1: .same
        case 2: .valid
        default: .count(stream.size(size) - 1)
        }
      return [
        .convolution(
          .init(
            filters: groups * stream.size(6), size: size, stride: stream.size(3),
            padding: padding, groups: groups, activation: .relu, hasBias: stream.size(2) == 1))
      ]
    },
    // Enough channels and filters for products by values of polynomials.
    NetworkKind("convolution of many channels") { stream in
      let size = [3, 5][stream.size(2) - 1]
      let inner = Network.Convolution(
        filters: 15 + stream.size(19), size: size,
        padding: [.same, .valid, .count(1)][stream.size(3) - 1], activation: .relu)
      let pooling: [Network.Layer] =
        stream.size(2) == 1 ? [.maxPooling(size: 2, stride: 2)] : []
      return Shape(
        sampleShape: [7 + stream.size(4), 7 + stream.size(4), stream.size(2)],
        layers: [
          .convolution(.init(filters: 15 + stream.size(19), size: 2, padding: .same)),
          .convolution(inner),
        ] + pooling + [.dense(outputs: 3, activation: .identity)])
    },
    NetworkKind("convolution over time") { stream in
      let (groups, size) = (stream.size(3), stream.size(4))
      let padding = Network.Convolution.Padding.count(stream.size(size) - 1)
      let pooling: Network.Layer =
        stream.size(2) == 1 ? .maxPooling(size: 2, stride: 1) : .averagePooling(size: 2, stride: 2)
      return Shape(
        sampleShape: [8 + stream.size(12), stream.size(17)],
        layers: [
          .sequenceConvolution(
            .init(filters: groups * stream.size(12), size: stream.size(5), padding: .same)),
          .sequenceConvolution(
            .init(
              filters: groups * stream.size(9), size: size, stride: stream.size(2),
              padding: padding, groups: groups, activation: .relu)),
          pooling, .dense(outputs: 3, activation: .identity),
        ])
    },
    image("max pooling") { [.maxPooling(size: $0.size(3), stride: $0.size(3))] },
    image("average pooling") { [.averagePooling(size: $0.size(3), stride: $0.size(3))] },
    image("group normalisation") { [.groupNormalisation(groups: [1, 2, 3, 6][$0.size(4) - 1])] },
    flat("batch normalisation of numbers") { _ in
      [.batchNormalisation(epsilon: 1e-5, momentum: 0.1), .activation(.relu)]
    },
    image("batch normalisation") { stream in
      let normalisation = Network.Layer.batchNormalisation(
        epsilon: 1e-3, momentum: stream.uniform())
      return [
        stream.size(4) == 1 ? .frozen(normalisation) : normalisation,
        .residual(
          layers: [
            .convolution(.init(filters: 6, size: 3, stride: 2, padding: .count(1))), normalisation,
          ],
          shortcut: [.convolution(.init(filters: 6, size: 1, stride: 2)), normalisation]),
        .activation(.relu),
      ]
    },
    NetworkKind("embedding") { stream in
      let count = stream.size(12)
      return Shape(
        sampleShape: [stream.size(6)],
        layers: [
          .embedding(count: count, width: stream.size(18)), .flatten,
          .dense(outputs: 3, activation: .identity),
        ], tokens: count)
    },
    image("residual") { stream in
      let inner = Network.Convolution(
        filters: 6, size: 3, stride: 2, padding: .count(1), activation: .relu)
      return [
        .residual(
          layers: [
            .convolution(inner), .groupNormalisation(groups: 2), .activation(.gelu),
            .residual(layers: [.dropout(rate: 0.3), .activation(.silu)], shortcut: []),
          ],
          shortcut: [.convolution(.init(filters: 6, size: 1, stride: 2))]), .activation(.relu),
      ]
    },
    image("global average pooling") { _ in [.globalAveragePooling] },
    NetworkKind("transformer") { stream in
      let (count, heads) = (stream.size(12), stream.size(3))
      let width = heads * stream.size(9)
      return Shape(
        sampleShape: [stream.size(9)],
        layers: [
          .embedding(count: count, width: width), .positions,
          .residual(
            layers: [.layerNormalisation, .attention(heads: heads, isCausal: stream.size(2) == 1)],
            shortcut: []),
          .residual(
            layers: [
              .layerNormalisation, .placewiseDense(outputs: stream.size(20), activation: .gelu),
              .placewiseDense(outputs: width, activation: .identity),
            ], shortcut: []),
          .globalAveragePooling, .dense(outputs: 3, activation: .identity),
        ], tokens: count)
    },
    sequence("LSTM") { .lstm(units: $0, returnsSequence: $1) },
    sequence("GRU") { .gru(units: $0, returnsSequence: $1) },
    sequence("GRU that resets first") { .resetFirstGRU(units: $0, returnsSequence: $1) },
  ]

  /// The network of a slot with data, a plan and initial parameters.
  func example(_ slot: UInt64) throws -> Example {
    var stream = StreamKey(seed: 1, purpose: "random networks", group: name).stream(slot: slot)
    let shape = draw(&stream)
    let network = try Network(
      sampleShape: shape.sampleShape, layers: shape.layers, loss: shape.loss)
    let samples = 11
    let features = (0..<samples * network.inputCount).map { _ in
      shape.tokens.map { Float(stream.below(UInt32($0))) } ?? stream.value()
    }
    let labels = (0..<samples).map { _ in Int32(stream.below(UInt32(network.classCount))) }
    let initial = network.initialParameters(testStream(slot))
    return Example(
      network: network,
      dataset: Dataset(
        features: .floats(features), sampleShape: shape.sampleShape, labels: labels,
        classCount: network.classCount),
      plan: .random(&stream),
      start: ParameterBuffer(
        initial.values.map { stream.size(10) == 1 ? stream.value() : $0 }))
  }
}

/// A small network that can be trained.
struct Example {
  let network: Network
  let dataset: Dataset
  let plan: TrainingPlan
  let start: ParameterBuffer

  func training(shard: [Int32], slot: UInt64) -> LocalTraining {
    LocalTraining(
      network: network, dataset: dataset, shard: shard, plan: plan,
      order: .keyed(StreamKey(seed: 2, purpose: "batches"), firstSlot: slot))
  }
}

extension TrainingPlan {
  /// Any optimiser, schedule and clipping, over two epochs of ragged batches.
  fileprivate static func random(_ stream: inout RandomStream) -> TrainingPlan {
    let optimizer: Optimizer =
      switch stream.size(5) {
      case 1: .sgd(learningRate: 0.05)
      case 2: .sgd(learningRate: 0.05, momentum: 0.9)
      case 3: .sgd(learningRate: 0.05, momentum: 0.9, nesterov: true)
      case 4: .sgd(learningRate: 0.05, weightDecay: 0.01)
      default: .adam(learningRate: 0.01, weightDecay: 0.001)
      }
    let clipping: GradientClipping? =
      switch stream.size(4) {
      case 1: .norm(0.5)
      case 2: .value(0.1)
      default: nil
      }
    return TrainingPlan(
      length: .epochs(2), batchSize: 3 + stream.size(4), optimizer: optimizer, clipping: clipping)
  }
}

extension RandomStream {
  /// From 1 to `bound`.
  fileprivate mutating func size(_ bound: Int) -> Int { 1 + Int(below(UInt32(bound))) }

  /// Mostly ordinary, with zeros of both signs and denormals among them.
  fileprivate mutating func value() -> Float {
    switch below(12) {
    case 0: 0
    case 1: -0.0
    case 2: Float(uniform() - 0.5) * 0x1p-130
    case 3: Float(uniform() - 0.5) * 0x1p-70
    default: Float(2 * uniform() - 1)
    }
  }
}
