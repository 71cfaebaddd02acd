import Learning
import Testing

/// Layers that work together as one against the same layers apart.
@Suite struct FusedLayerTests {
  /// Dropout of nothing keeps layers apart and changes no bit.
  private static let apart = Network.Layer.dropout(rate: 0)

  /// `tiled`: the size of filters by minimal filtering; 0: none.
  private static func layers(
    _ pooling: Network.Layer, _ activation: Network.Activation, tiled: Int,
    between: [Network.Layer]
  ) -> [Network.Layer] {
    [
      .convolution(
        .init(filters: tiled > 0 ? 17 : 5, size: tiled > 0 ? tiled : 3, padding: .same)),
      pooling,
      .activation(activation),
      .convolution(.init(filters: 6, size: 2, stride: 2, padding: .count(1))),
      .maxPooling(size: 2, stride: 1), .activation(.relu),
      .dense(outputs: 3, activation: .identity),
    ].flatMap { [$0] + between }.dropLast(between.count)
  }

  @Test(
    "a convolution with its pooling and ReLU has the gradients of the three one after the other",
    arguments: [
      Network.Layer.maxPooling(size: 2, stride: 2), .maxPooling(size: 3, stride: 2),
      .maxPooling(size: 2, stride: 3), .averagePooling(size: 2, stride: 2),
    ],
    [
      (Network.Activation.relu, 0), (.tanh, 0), (.identity, 0), (.relu, 3), (.identity, 3),
      (.relu, 5),
    ])
  func pooledConvolutions(
    pooling: Network.Layer, behind: (activation: Network.Activation, tiled: Int)
  ) throws {
    let (activation, tiled) = behind
    let channels = tiled > 0 ? 16 : 2
    func network(between: [Network.Layer]) throws -> Network {
      try Network(
        sampleShape: [9, 8, channels],
        layers: Self.layers(pooling, activation, tiled: tiled, between: between))
    }
    let (together, apart) = (try network(between: []), try network(between: [Self.apart]))
    let parameters = together.initialParameters(testStream(3))
    var stream = testStream(4)
    let inputs = (0..<7 * 72 * channels).map { _ in Float(2 * stream.uniform() - 1) }
    let labels: [Int32] = [0, 1, 2, 0, 1, 2, 0]
    func gradient(_ network: Network) -> (gradient: ParameterBuffer, lossSum: Double) {
      network.gradient(
        inputs: inputs, labels: labels, parameters: parameters, scale: 0.1, kernels: .best)
    }
    let (one, other) = (gradient(together), gradient(apart))
    #expect(firstDifference(one.gradient, other.gradient) == nil)
    #expect(one.gradient.values.contains { $0 != 0 } && one.lossSum == other.lossSum)
  }

  @Test("numbers of dropout behind a pooled convolution are those of its place in the list")
  func places() throws {
    // The same network, its ReLU apart from the pooling or not: dropout is the fourth layer.
    func trained(_ activation: Network.Activation) throws -> ParameterBuffer {
      let network = try Network(
        sampleShape: [6, 5],
        layers: [
          .convolution(.init(filters: 3, size: 2)), .averagePooling(size: 2, stride: 1),
          .activation(activation), .dropout(rate: 0.5), .dense(outputs: 5, activation: .identity),
        ])
      let bytes = byteDataset(count: 20)
      let training = LocalTraining(
        network: network,
        dataset: Dataset(
          features: bytes.features, sampleShape: [6, 5], labels: bytes.labels, classCount: 5),
        shard: (0..<20).map { $0 }, plan: TrainingPlan(epochs: 1, batchSize: 5, learningRate: 0.1),
        order: .keyed(.init(seed: 1, purpose: "batches"), firstSlot: 0))
      let start = DeviceMemory(parameters: network.initialParameters(testStream(5)))
      return training.run(0..<4, from: start, kernels: .best, scratch: Scratch()).memory.parameters
    }
    // A leaky ReLU with slope 0 differs from a ReLU in nothing but that it is never fused.
    #expect(try firstDifference(trained(.relu), trained(.leakyReLU(slope: 0))) == nil)
  }
}
