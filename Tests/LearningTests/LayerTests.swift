import Learning
import Testing

/// Shapes, names and faults of layers.
@Suite struct LayerTests {
  private static let mcMahan: [Network.Layer] = [
    .convolution(.init(filters: 32, size: 5, padding: .same)), .maxPooling(size: 2, stride: 2),
    .activation(.relu), .convolution(.init(filters: 64, size: 5, padding: .same)),
    .maxPooling(size: 2, stride: 2), .activation(.relu), .dense(outputs: 512, activation: .relu),
    .dense(outputs: 10, activation: .identity),
  ]

  @Test("the CNN of McMahan et al. has 1,663,370 parameters and 72,384,512 operations a sample")
  func mcMahan() throws {
    let network = try Network(sampleShape: [28, 28], layers: Self.mcMahan)
    #expect(network.layout.count == 1_663_370)
    #expect(network.trainingOperationsPerSample == 72_384_512)
    #expect(
      network.layout.tensors.map(\.name) == [
        "conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "dense1.weight",
        "dense1.bias", "dense2.weight", "dense2.bias",
      ])
    #expect(network.layout["conv2.weight"]?.shape == [5, 5, 32, 64])
    #expect(network.layout["dense1.weight"]?.shape == [3136, 512])
  }

  @Test("an LSTM's initial weights are uniform within one by the root of its units")
  func recurrentWeights() throws {
    // As PyTorch's `nn.LSTM.reset_parameters`: ±1/√64 = ±0.125 in all tensors, whatever the
    // features are. Of at least 256 numbers the largest is above 0.9 of the bound (0.9²⁵⁶ < 10⁻¹¹).
    for features in [2, 9] {
      let network = try Network(
        sampleShape: [3, features],
        layers: [
          .lstm(units: 64, returnsSequence: false), .dense(outputs: 2, activation: .identity),
        ])
      let start = network.initialParameters(testStream(1))
      for name in ["lstm1.inputWeight", "lstm1.recurrentWeight", "lstm1.bias"] {
        let values = start.values(of: try #require(network.layout[name]))
        let largest = try #require(values.map(\.magnitude).max())
        #expect(largest <= 0.125 && largest > 0.1125, "\(name) of \(features) features")
        let mean = values.reduce(0, +) / Float(values.count)
        #expect(mean.magnitude < 0.02, "\(name) of \(features) features")
      }
    }
  }

  @Test(
    "a layer that does not fit is named",
    arguments: [
      (
        [28, 28], [.maxPooling(size: 2, stride: 2), .maxPooling(size: 20, stride: 1)],
        "layer 2 (max-pooling): windows of 20×20 do not fit into [14, 14, 1]"
      ),
      (
        [28], [.convolution(.init(filters: 3, size: 3))],
        "layer 1 (convolution): takes [height, width, channels] and gets [28]"
      ),
      (
        [8, 8, 3], [.flatten, .convolution(.init(filters: 3, size: 3))],
        "layer 2 (convolution): takes [height, width, channels] and gets [192]"
      ),
      (
        [8, 8, 3], [.convolution(.init(filters: 4, size: 3, groups: 2))],
        "layer 1 (convolution): 2 groups do not divide 3 channels and 4 filters"
      ),
      (
        [8, 8], [.convolution(.init(filters: 4, size: 3, padding: .count(3)))],
        "layer 1 (convolution): the padding 3 is not below the filter's size 3"
      ),
      (
        [2, 2], [.convolution(.init(filters: 4, size: 3))],
        "layer 1 (convolution): filters of 3×3 do not fit into [2, 2, 1]"
      ),
      (
        [8, 8], [.convolution(.init(filters: 4, size: 3))],
        "layer 1 (convolution): the last layer gives [6, 6, 4]; a dense layer or `flatten` gives"
          + " classes"
      ),
      (
        [9], [.dense(outputs: 9, activation: .relu), .groupNormalisation(groups: 2)],
        "layer 2 (group-normalisation): 2 groups do not divide 9 channels"
      ),
      (
        [9], [.dense(outputs: 9, activation: .relu), .embedding(count: 3, width: 2)],
        "layer 2 (embedding): can only be the first layer"
      ),
      (
        [9, 2, 2], [.sequenceConvolution(.init(filters: 4, size: 3))],
        "layer 1 (convolution-1d): takes [time, features] and gets [9, 2, 2]"
      ),
      (
        [9], [.sequenceConvolution(.init(filters: 4, size: 10))],
        "layer 1 (convolution-1d): filters of 10 steps do not fit into [9, 1]"
      ),
      (
        [9, 2, 2], [.lstm(units: 3, returnsSequence: false)],
        "layer 1 (lstm): takes [time, features] and gets [9, 2, 2]"
      ),
      (
        [9, 6], [.attention(heads: 4, isCausal: false)],
        "layer 1 (attention): 4 heads do not divide 6 features"
      ),
      (
        [9], [.residual(layers: [.dense(outputs: 8, activation: .relu)], shortcut: [])],
        "layer 1 (residual): its layers give [8] and its shortcut gives [9]"
      ),
      (
        [9], [.residual(layers: [.activation(.relu), .positions], shortcut: [])],
        "layer 1 (residual): its layer 2 (positions): takes [time, features] and gets [9]"
      ),
      (
        [9],
        [
          .residual(layers: [.activation(.relu)], shortcut: [.dense(outputs: 0, activation: .relu)])
        ],
        "layer 1 (residual): its shortcut's layer 1 (dense): has at least 1 output"
      ),
      (
        [9], [.globalAveragePooling],
        "layer 1 (global-average-pooling): takes [places, channels] or an image and gets [9]"
      ),
      (
        [9], [.frozen(.dense(outputs: 0, activation: .relu))],
        "layer 1 (dense): has at least 1 output"
      ),
    ] as [([Int], [Network.Layer], String)])
  func faults(shape: [Int], layers: [Network.Layer], message: String) {
    let fault = #expect(throws: LayerFault.self) {
      try Network(sampleShape: shape, layers: layers)
    }
    #expect(fault?.description == message)
  }

  @Test("a convolution by hand: an edge filter sees edges, and zeros beyond them")
  func byHand() throws {
    // A 1×3 image 1 2 4 with the filter row (-1, 0, 1) in a 3×3 kernel: neighbours' differences.
    let network = try Network(
      sampleShape: [1, 3],
      layers: [.convolution(.init(filters: 1, size: 3, padding: .same)), .flatten])
    let filter: [Float] = [9, 9, 9, -1, 0, 1, 9, 9, 9]
    #expect(
      network.outputs(inputs: [1, 2, 4], parameters: .init(filter + [0.5]), kernels: .best)
        == [2.5, 3.5, -1.5])
  }

  @Test("whole trainings of all kinds of layers have equal bits on all bodies and after any cut")
  func trainings() throws {
    let network = try Network(
      sampleShape: [6, 5],
      layers: [
        .convolution(
          .init(filters: 6, size: 3, padding: .same, activation: .leakyReLU(slope: 0.1))),
        .groupNormalisation(groups: 2), .maxPooling(size: 2, stride: 1),
        // By minimal filtering, pooled and not.
        .convolution(.init(filters: 18, size: 2, padding: .count(1))),
        .convolution(.init(filters: 16, size: 3, padding: .count(2), activation: .relu)),
        .convolution(.init(filters: 17, size: 5, padding: .same)),
        .convolution(.init(filters: 16, size: 3, padding: .same)), .maxPooling(size: 2, stride: 1),
        .convolution(.init(filters: 4, size: 2, stride: 2, groups: 2, activation: .tanh)),
        .averagePooling(size: 2, stride: 1), .dropout(rate: 0.2), .flatten,
        .dense(outputs: 5, activation: .sigmoid), .dense(outputs: 5, activation: .identity),
      ])
    let bytes = byteDataset(count: 60)
    let data = Dataset(
      features: bytes.features, sampleShape: [6, 5], labels: bytes.labels, classCount: 5)
    let training = LocalTraining(
      network: network, dataset: data, shard: (0..<60).map { $0 },
      plan: TrainingPlan(epochs: 1, batchSize: 9, learningRate: 0.1),
      order: .keyed(.init(seed: 1, purpose: "batches"), firstSlot: 0))
    let start = DeviceMemory(parameters: network.initialParameters(testStream(2)))
    let whole = training.run(0..<7, from: start, kernels: .best, scratch: Scratch())
    for body in KernelBody.allCases.compactMap({ Kernels($0) }) {
      let first = training.run(0..<3, from: start, kernels: body, scratch: Scratch())
      let second = training.run(
        3..<7, from: first.memory, lossSum: first.lossSum, kernels: body, scratch: Scratch())
      #expect(firstDifference(whole.parameters, second.parameters) == nil)
      #expect(whole.lossSum == second.lossSum)
    }
  }
}
