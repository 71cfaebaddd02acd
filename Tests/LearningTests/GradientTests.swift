import Learning
import Testing

/// A small network, and what it is fed with.
struct GradientCase: CustomTestStringConvertible, Sendable {
  var name: String
  var sampleShape: [Int]
  var layers: [Network.Layer]
  var loss = Network.Loss.crossEntropy
  /// Inputs are whole numbers below this; nil: any numbers.
  var tokens: Int?
  /// Every how many-th parameter of a large tensor is looked at.
  var stride = 1

  var testDescription: String { name }

  private static let head = Network.Layer.dense(outputs: 3, activation: .identity)

  private static func convolution(
    _ name: String, _ shape: [Int], _ convolution: Network.Convolution
  ) -> GradientCase {
    let plain = Network.Layer.convolution(.init(filters: 4, size: 3, padding: .same))
    return GradientCase(
      name: name, sampleShape: shape, layers: [plain, .convolution(convolution), head])
  }

  /// Channels and filters enough for products by values of polynomials.
  private static func winograd(
    _ name: String, _ shape: [Int], _ convolution: Network.Convolution
  ) -> GradientCase {
    let first = Network.Layer.convolution(
      .init(filters: 17, size: 2, padding: .same, activation: .tanh))
    return GradientCase(
      name: name, sampleShape: shape, layers: [first, .convolution(convolution), head],
      stride: 61)
  }

  static let all = [
    winograd("3×3 by values", [6, 7], .init(filters: 18, size: 3, padding: .same)),
    winograd("5×5 by values", [7, 8], .init(filters: 16, size: 5, activation: .tanh)),
    winograd(
      "5×5 by values of larger tiles", [9, 7], .init(filters: 18, size: 5, padding: .same)),
    GradientCase(
      name: "by values, first, pooled and frozen", sampleShape: [8, 7, 16],
      layers: [
        .convolution(.init(filters: 16, size: 3, padding: .same)), .maxPooling(size: 2, stride: 1),
        .activation(.relu), .frozen(.convolution(.init(filters: 17, size: 3, padding: .same))),
        .averagePooling(size: 2, stride: 2), head,
      ], stride: 61),
    convolution("same", [5, 6, 2], .init(filters: 3, size: 3, padding: .same)),
    convolution("even and same", [4, 5], .init(filters: 3, size: 2, padding: .same)),
    convolution("valid", [5, 4, 1], .init(filters: 2, size: 3, activation: .tanh)),
    convolution("stride", [7, 6, 1], .init(filters: 3, size: 3, stride: 2, padding: .count(1))),
    convolution("same stride 3", [8, 7], .init(filters: 2, size: 2, stride: 3, padding: .same)),
    convolution("groups", [5, 5, 2], .init(filters: 6, size: 3, padding: .count(2), groups: 2)),
    convolution("depthwise", [4, 5, 3], .init(filters: 8, size: 3, stride: 2, groups: 4)),
    GradientCase(
      name: "max pooling", sampleShape: [6, 7],
      layers: [
        .convolution(.init(filters: 3, size: 3, padding: .same)), .maxPooling(size: 2, stride: 2),
        .activation(.relu), .convolution(.init(filters: 5, size: 3, padding: .same)),
        .maxPooling(size: 2, stride: 1), .activation(.leakyReLU(slope: 0.1)), .flatten,
        .dense(outputs: 4, activation: .sigmoid), head,
      ]),
    GradientCase(
      name: "convolutions over time", sampleShape: [9, 3],
      layers: [
        .sequenceConvolution(.init(filters: 4, size: 3, padding: .same, activation: .tanh)),
        .maxPooling(size: 2, stride: 2),
        .sequenceConvolution(
          .init(filters: 6, size: 2, stride: 2, padding: .count(1), groups: 2, hasBias: false)),
        .averagePooling(size: 2, stride: 1), head,
      ]),
    GradientCase(
      name: "a convolution over time of one feature", sampleShape: [8],
      layers: [.sequenceConvolution(.init(filters: 3, size: 4, stride: 3)), head]),
    GradientCase(
      name: "average pooling", sampleShape: [6, 5, 2],
      layers: [
        .convolution(.init(filters: 3, size: 2)), .averagePooling(size: 3, stride: 1), .flatten,
        head,
      ]),
    GradientCase(
      name: "activations one behind the other", sampleShape: [5],
      layers: [
        .dense(outputs: 6, activation: .tanh), .activation(.sigmoid),
        .activation(.leakyReLU(slope: 0.5)), .dense(outputs: 5, activation: .leakyReLU(slope: 0.2)),
        .activation(.tanh), head,
      ]),
    GradientCase(
      name: "softmax and cross-entropy", sampleShape: [4],
      layers: [.dense(outputs: 5, activation: .relu), head, .softmax]),
    GradientCase(
      name: "softmax inside", sampleShape: [4],
      layers: [.dense(outputs: 5, activation: .identity), .softmax, head]),
    GradientCase(
      name: "squared error", sampleShape: [4],
      layers: [.dense(outputs: 5, activation: .tanh), head], loss: .meanSquaredError),
    GradientCase(
      name: "softmax and squared error", sampleShape: [4],
      layers: [.dense(outputs: 5, activation: .tanh), head, .softmax], loss: .meanSquaredError),
    GradientCase(
      name: "squared difference from numbers", sampleShape: [4],
      layers: [.dense(outputs: 5, activation: .tanh), head], loss: .squaredDifference),
    GradientCase(
      name: "a class at each position", sampleShape: [5],
      layers: [
        .embedding(count: 6, width: 4), .lstm(units: 3, returnsSequence: true),
        .placewiseDense(outputs: 3, activation: .identity), .softmax,
      ], loss: .crossEntropyAtPositions, tokens: 6),
    GradientCase(
      name: "one of many classes at each position", sampleShape: [3, 2],
      layers: [
        .placewiseDense(outputs: 70, activation: .tanh),
        .placewiseDense(outputs: 67, activation: .identity),
      ], loss: .crossEntropyAtPositions, stride: 7),
    GradientCase(
      name: "group normalisation", sampleShape: [4, 4, 2],
      layers: [
        .convolution(.init(filters: 6, size: 3, padding: .same)), .groupNormalisation(groups: 3),
        .activation(.relu), .convolution(.init(filters: 2, size: 3)),
        .groupNormalisation(groups: 1), head,
      ]),
    GradientCase(
      name: "batch normalisation", sampleShape: [4, 4, 2],
      layers: [
        .convolution(.init(filters: 5, size: 3, padding: .same, hasBias: false)),
        .batchNormalisation(epsilon: 1e-5, momentum: 0.1), .activation(.tanh),
        .convolution(.init(filters: 2, size: 3)),
        .frozen(.batchNormalisation(epsilon: 1e-3, momentum: 0.1)), .activation(.tanh),
        .dense(outputs: 5, activation: .identity),
        .batchNormalisation(epsilon: 0.1, momentum: 1), .activation(.tanh), head,
      ]),
    GradientCase(
      name: "batch normalisation of sequences, in residual blocks", sampleShape: [4, 3],
      layers: [
        .batchNormalisation(epsilon: 1e-2, momentum: 0.5),
        .residual(
          layers: [
            .placewiseDense(outputs: 5, activation: .tanh),
            .batchNormalisation(epsilon: 1e-5, momentum: 0.1), .activation(.tanh),
            .placewiseDense(outputs: 4, activation: .tanh),
          ],
          shortcut: [
            .placewiseDense(outputs: 4, activation: .tanh),
            .batchNormalisation(epsilon: 1e-5, momentum: 0.1),
          ]), head,
      ]),
    GradientCase(
      name: "GELU and SiLU", sampleShape: [5],
      layers: [
        .dense(outputs: 6, activation: .gelu), .activation(.silu),
        .dense(outputs: 5, activation: .silu), .activation(.gelu), head,
      ]),
    GradientCase(
      name: "ReLU6", sampleShape: [5],
      layers: [
        .lowRank(.init(outputs: 30, rank: 30, alpha: 900)), .activation(.relu6), .activation(.tanh),
        .dense(outputs: 30, activation: .relu6), head,
      ]),
    GradientCase(
      name: "global pooling of an image", sampleShape: [5, 4, 2],
      layers: [
        .convolution(.init(filters: 6, size: 3, activation: .tanh)), .globalAveragePooling, head,
      ]),
    GradientCase(
      name: "each place and layer normalisation", sampleShape: [4, 3],
      layers: [
        .placewiseDense(outputs: 5, activation: .tanh), .layerNormalisation,
        .placewiseDense(outputs: 4, activation: .gelu), .layerNormalisation, head,
      ]),
    GradientCase(
      name: "a transformer", sampleShape: [5],
      layers: [
        .embedding(count: 6, width: 4), .positions,
        .residual(
          layers: [.layerNormalisation, .attention(heads: 2, isCausal: true)], shortcut: []),
        .residual(
          layers: [
            .layerNormalisation, .placewiseDense(outputs: 7, activation: .gelu),
            .placewiseDense(outputs: 4, activation: .identity),
          ], shortcut: []),
        .attention(heads: 1, isCausal: false), .globalAveragePooling, head,
      ], tokens: 6),
    GradientCase(
      name: "residual blocks", sampleShape: [6, 6, 2],
      layers: [
        .convolution(.init(filters: 4, size: 3, padding: .same)),
        .residual(
          layers: [
            .convolution(.init(filters: 4, size: 3, padding: .same)),
            .groupNormalisation(groups: 2), .activation(.tanh),
            .convolution(.init(filters: 4, size: 3, padding: .same)),
          ], shortcut: []), .activation(.tanh),
        .residual(
          layers: [
            .convolution(.init(filters: 6, size: 3, stride: 2, padding: .count(1))),
            .groupNormalisation(groups: 3), .activation(.gelu),
            .residual(layers: [.activation(.silu)], shortcut: []),
          ],
          shortcut: [
            .convolution(.init(filters: 6, size: 1, stride: 2)), .groupNormalisation(groups: 2),
          ]),
        .globalAveragePooling, head,
      ]),
    GradientCase(
      name: "convolutions without bias", sampleShape: [7, 7, 2],
      layers: [
        .convolution(.init(filters: 17, size: 3, activation: .tanh, hasBias: false)),
        .convolution(.init(filters: 18, size: 3, padding: .same, hasBias: false)),
        .maxPooling(size: 2, stride: 2),
        .convolution(.init(filters: 3, size: 2, activation: .tanh, hasBias: false)), head,
      ], stride: 61),
    GradientCase(
      name: "low rank", sampleShape: [4, 3],
      layers: [
        .placewiseDense(outputs: 5, activation: .tanh),
        .lowRank(.init(outputs: 6, rank: 2, alpha: 3, eachPlace: true, activation: .tanh)),
        .lowRank(.init(outputs: 5, rank: 1, alpha: 0.5, activation: .gelu)), head,
      ]),
    GradientCase(
      name: "residual blocks first, frozen in parts", sampleShape: [6],
      layers: [
        .residual(
          layers: [
            .frozen(.dense(outputs: 5, activation: .tanh)), .dense(outputs: 6, activation: .tanh),
          ],
          shortcut: []),
        .frozen(.residual(layers: [.dense(outputs: 6, activation: .tanh)], shortcut: [])),
        .residual(
          layers: [.activation(.tanh), .activation(.sigmoid)],
          shortcut: [.frozen(.dense(outputs: 6, activation: .identity))]), head,
      ]),
    GradientCase(
      name: "embedding and LSTM", sampleShape: [5],
      layers: [
        .embedding(count: 4, width: 3), .lstm(units: 4, returnsSequence: true),
        .lstm(units: 3, returnsSequence: false), head,
      ], tokens: 4),
    GradientCase(
      name: "coupled LSTM", sampleShape: [5, 3],
      layers: [
        .coupledLSTM(units: 4, returnsSequence: true),
        .residual(layers: [.coupledLSTM(units: 4, returnsSequence: true)], shortcut: []),
        .coupledLSTM(units: 3, returnsSequence: false), head,
      ]),
    GradientCase(
      name: "LSTM with a projection, coupled and not", sampleShape: [4, 3],
      layers: [
        .projectedLSTM(units: 5, projection: 3, isCoupled: true, returnsSequence: true),
        .residual(
          layers: [
            .projectedLSTM(units: 4, projection: 3, isCoupled: false, returnsSequence: true)
          ], shortcut: []),
        .projectedLSTM(units: 3, projection: 2, isCoupled: true, returnsSequence: false), head,
      ]),
    GradientCase(
      name: "tied embedding", sampleShape: [5],
      layers: [
        .tiedEmbedding(
          count: 6, width: 4,
          layers: [
            .positions, .residual(layers: [.attention(heads: 2, isCausal: true)], shortcut: []),
            .layerNormalisation, .frozen(.placewiseDense(outputs: 4, activation: .tanh)),
            .batchNormalisation(epsilon: 1e-3, momentum: 0.1),
          ])
      ], loss: .crossEntropyAtPositions, tokens: 6),
    GradientCase(
      name: "tied embedding around a memory", sampleShape: [4],
      layers: [
        .tiedEmbedding(
          count: 5, width: 3,
          layers: [
            .projectedLSTM(units: 5, projection: 3, isCoupled: true, returnsSequence: true)
          ])
      ], loss: .crossEntropyAtPositions, tokens: 5),
    GradientCase(
      name: "GRU", sampleShape: [4, 2],
      layers: [
        .gru(units: 5, returnsSequence: true), .gru(units: 3, returnsSequence: false), head,
      ]),
    GradientCase(
      name: "GRU that resets first", sampleShape: [4, 2],
      layers: [
        .resetFirstGRU(units: 5, returnsSequence: true),
        .resetFirstGRU(units: 3, returnsSequence: false), head,
      ]),
    GradientCase(
      name: "one step of time", sampleShape: [1, 3],
      layers: [
        .gru(units: 3, returnsSequence: true), .lstm(units: 2, returnsSequence: false), head,
      ]
    ),
    GradientCase(
      name: "frozen", sampleShape: [5, 5],
      layers: [
        .frozen(.convolution(.init(filters: 2, size: 2))),
        .convolution(.init(filters: 3, size: 2, activation: .tanh)),
        .frozen(.dense(outputs: 4, activation: .tanh)), head,
      ]),
  ]
}

/// Gradients of every layer and loss against central differences in `Double`.
@Suite struct GradientTests {
  @Test(
    "gradients equal central differences", arguments: KernelBody.allCases, GradientCase.all)
  func centralDifferences(body: KernelBody, problem: GradientCase) throws {
    let network = try Network(
      sampleShape: problem.sampleShape, layers: problem.layers, loss: problem.loss)
    var stream = testStream(4)
    var values = network.initialParameters(testStream(3)).values(layout: network.layout)
    for index in values.indices { values[index] += Float(0.2 * (stream.uniform() - 0.5)) }
    let parameters = ParameterBuffer(values, layout: network.layout)
    let rows = 4
    let inputs = (0..<rows * network.inputCount).map { _ in
      problem.tokens.map { Float(stream.below(UInt32($0))) } ?? Float(2 * stream.uniform() - 1)
    }
    let isOfNumbers = problem.loss == .squaredDifference
    // A third of the positions have no label.
    let labels: [Int32] = (0..<rows * network.positions).map { place in
      network.positions > 1 && place % 3 == 1 ? -1 : Int32(stream.below(3))
    }
    let numbers: [Float] = isOfNumbers ? labels.flatMap { [Float($0) - 0.5, 0.25, 2] } : []
    let losses = labels.count { $0 >= 0 }
    let (flat, lossSum) =
      try isOfNumbers
      ? network.gradient(
        inputs: inputs, values: numbers, parameters: parameters, scale: 1 / Float(losses),
        kernels: kernels(body))
      : network.gradient(
        inputs: inputs, labels: labels, parameters: parameters, scale: 1 / Float(losses),
        kernels: kernels(body))
    let gradient = flat.values(layout: network.layout)
    let reference = DoubleNetwork(
      sampleShape: problem.sampleShape, layers: problem.layers, loss: problem.loss)
    var point = values.map { Double($0) }
    func loss() -> Double {
      reference.meanLoss(parameters: point, inputs: inputs, labels: labels, numbers: numbers)
    }
    #expect(abs(lossSum / Double(losses) - loss()) < 1e-6)
    for tensor in network.layout.tensors {
      var (largest, worst) = (0.0, 0.0)
      for index in stride(
        from: tensor.range.lowerBound, to: tensor.range.upperBound,
        by: tensor.range.count > 300 ? problem.stride : 1)
      {
        guard tensor.isUpdatable else {
          #expect(gradient[index] == 0)
          continue
        }
        let (step, kept) = (1e-5, point[index])
        point[index] = kept + step
        let above = loss()
        point[index] = kept - step
        let below = loss()
        point[index] = kept
        let difference = (above - below) / (2 * step)
        largest = max(largest, abs(difference))
        worst = max(worst, abs(difference - Double(gradient[index])))
      }
      #expect(worst < 2e-6, "\(tensor.name)")
      // A bias before a normalisation of one channel apiece may have no effect, and weights between
      // hidden states have none in one step of time; all others have one.
      let mayBeNothing =
        problem.name == "group normalisation" || tensor.isStatistic
        || problem.name == "batch normalisation" && tensor.name == "dense1.bias"
        || problem.name == "one step of time" && tensor.name.hasSuffix("recurrentWeight")
      if tensor.isUpdatable && !mayBeNothing {
        #expect(largest > 1e-5, "\(tensor.name)")
      }
    }
  }
}
