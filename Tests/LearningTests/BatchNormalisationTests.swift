import Learning
import Testing

/// Running statistics of batch normalisation: who moves them, and what they are for.
@Suite struct BatchNormalisationTests {
  private static let layer = Network.Layer.batchNormalisation(epsilon: 0.75, momentum: 0.25)

  /// Two samples of one channel, 1 and 3, and one output a class; the loss never moves scale and
  /// shift here, as the rate is 0.
  private func trained(
    _ features: [Float], batchSize: Int, optimizer: Optimizer = .sgd(learningRate: 0),
    start: [Float] = [2, 1, 10, 5], clipping: GradientClipping? = nil,
    layer: Network.Layer = Self.layer, correction: GradientCorrection? = nil
  ) throws -> [Float] {
    let network = try Network(sampleShape: [1], layers: [layer], loss: .meanSquaredError)
    let dataset = Dataset(
      features: .floats(features), sampleShape: [1], labels: features.map { _ in 0 },
      classCount: 1)
    let shard = features.indices.map { Int32($0) }
    let training = LocalTraining(
      network: network, dataset: dataset, shard: shard,
      plan: TrainingPlan(
        length: .epochs(1), batchSize: batchSize, optimizer: optimizer, clipping: clipping),
      order: .explicit([shard]))
    return training.run(
      0..<training.batchCount, from: DeviceMemory(parameters: .init(start)),
      correction: correction, kernels: .best, scratch: Scratch()
    ).parameters.values
  }

  @Test("outside of training it normalises by running statistics")
  func evaluation() throws {
    let network = try Network(sampleShape: [1], layers: [Self.layer], loss: .meanSquaredError)
    // (x − 10)/√(8.25 + 0.75) · 2 + 1, for x = 4 and 13.
    let outputs = network.outputs(
      inputs: [4, 13], parameters: .init([2, 1, 10, 8.25]), kernels: .best)
    #expect(outputs == [-3, 3])
    // A variance below 0 counts as 0: (x − 10)/√0.25 · 2 + 1.
    let small = try Network(
      sampleShape: [1], layers: [.batchNormalisation(epsilon: 0.25, momentum: 0.1)],
      loss: .meanSquaredError)
    #expect(
      small.outputs(inputs: [11], parameters: .init([2, 1, 10, -3]), kernels: .best) == [5])
  }

  @Test("a batch moves the mean by its mean and the variance by its unbiased variance")
  func moves() throws {
    // Samples 1 and 3: mean 2, unbiased variance 2. Three quarters of 10 and 5, a quarter of these.
    #expect(try trained([1, 3], batchSize: 2) == [2, 1, 8, 4.25])
    // Again with 5 and 9: mean 7, unbiased variance 8.
    #expect(try trained([1, 3, 5, 9], batchSize: 2) == [2, 1, 7.75, 5.1875])
  }

  @Test("in training the batch's own statistics count, with the biased variance")
  func training() throws {
    // Samples 1 and 5 have mean 3 and variance 4; with epsilon 5 the root is 3. So normalised they
    // are ∓2/3, and outputs 2·(∓2/3) + 1 = −1/3 and 7/3. They are to be 1: errors ∓4/3, gradients
    // by outputs twice that. By scale 2·(4/3)·(2/3) for each sample, 16/9; by shift 0.
    let layer = Network.Layer.batchNormalisation(epsilon: 5, momentum: 0)
    let after = try trained(
      [1, 5], batchSize: 2, optimizer: .sgd(learningRate: 0.9), layer: layer)
    #expect(abs(after[0] - (2 - 0.9 * 16 / 9)) < 1e-6)
    #expect(abs(after[1] - 1) < 1e-6)
    #expect(after[2...] == [10, 5])
  }

  @Test(
    "neither weight decay nor momentum nor clipping nor Adam touches statistics",
    arguments: [
      Optimizer.sgd(learningRate: 0.1, momentum: 0.9, nesterov: true, weightDecay: 0.5),
      .adam(learningRate: 0.1, weightDecay: 0.5), .sgd(learningRate: 0.1),
    ])
  func optimizers(optimizer: Optimizer) throws {
    for clipping in [nil, GradientClipping.norm(1e-3), .value(1e-3)] {
      let after = try trained(
        [1, 3, 5, 9], batchSize: 2, optimizer: optimizer, clipping: clipping)
      #expect(after[2...] == [7.75, 5.1875])
      #expect(after[0] != 2)
    }
  }

  @Test("no term of a local algorithm touches statistics")
  func corrections() throws {
    let far = ParameterBuffer([30, -20, 500, 700])
    for correction in [
      GradientCorrection(pull: 2, towards: far), .init(pull: 0.5, towards: far, linear: far),
      .init(shift: far), .init(shift: far, behindSteps: true),
    ] {
      for optimizer in [Optimizer.sgd(learningRate: 0.1), .adam(learningRate: 0.1)] {
        let after = try trained(
          [1, 3, 5, 9], batchSize: 2, optimizer: optimizer, correction: correction)
        #expect(after[2...] == [7.75, 5.1875])
        #expect(after[0] != 2)
      }
    }
  }

  @Test("one value a channel is what a single sample has behind a dense layer, and not in an image")
  func singleValues() throws {
    func normalises(_ shape: [Int], _ layers: [Network.Layer]) throws -> Bool {
      try Network(sampleShape: shape, layers: layers).normalisesSingleValues
    }
    let dense = Network.Layer.dense(outputs: 3, activation: .identity)
    #expect(try normalises([2], [dense, Self.layer]))
    #expect(try normalises([2], [.residual(layers: [Self.layer], shortcut: []), dense]))
    #expect(try !normalises([4, 2], [Self.layer, dense]))
    #expect(try !normalises([2], [dense, .frozen(Self.layer)]))
    #expect(try !normalises([2], [dense]))
  }

  @Test("a batch of one place gives the shift, moves no statistic and passes no gradient back")
  func single() throws {
    // The output is the shift, 1, and the label's output is to be 1: nothing moves at all.
    #expect(try trained([7], batchSize: 1, optimizer: .sgd(learningRate: 1)) == [2, 1, 10, 5])
    // A shift of 3 has the error 2, so the gradient 4: 3 − 0.5·4 = 1.
    #expect(
      try trained(
        [7], batchSize: 1, optimizer: .sgd(learningRate: 0.5), start: [2, 3, 10, 5])
        == [2, 1, 10, 5])
  }

  @Test("a frozen one normalises by running statistics in training, and keeps them")
  func frozen() throws {
    #expect(try trained([1, 3], batchSize: 2, layer: .frozen(Self.layer)) == [2, 1, 10, 5])
    let network = try Network(
      sampleShape: [1],
      layers: [.dense(outputs: 1, activation: .identity), .frozen(Self.layer)],
      loss: .meanSquaredError)
    // 4 times 1 is 4; (4 − 10)/3·2 + 1 = −3, the error −4, its gradient −8, by the weight
    // −8·(2/3)·4.
    let (gradient, loss) = network.gradient(
      inputs: [4], labels: [0], parameters: .init([1, 0, 2, 1, 10, 8.25]), scale: 1,
      kernels: .best)
    #expect(loss == 16)
    #expect(abs(gradient[0] + 64 / 3) < 1e-5)
    #expect(gradient.values[2...] == [0, 0, 0, 0])
  }

  @Test("trainings have equal bits on all bodies and after a cut at any batch")
  func cuts() throws {
    let normalisation = Network.Layer.batchNormalisation(epsilon: 1e-5, momentum: 0.1)
    let network = try Network(
      sampleShape: [6, 5],
      layers: [
        .convolution(.init(filters: 6, size: 3, padding: .same, hasBias: false)), normalisation,
        .activation(.relu),
        .residual(
          layers: [.convolution(.init(filters: 6, size: 3, padding: .same)), normalisation],
          shortcut: []),
        .globalAveragePooling, .dense(outputs: 7, activation: .identity), normalisation,
        .activation(.tanh), .dense(outputs: 5, activation: .identity),
      ])
    let bytes = byteDataset(count: 60)
    let data = Dataset(
      features: bytes.features, sampleShape: [6, 5], labels: bytes.labels, classCount: 5)
    for optimizer in [Optimizer.sgd(learningRate: 0.1), .adam(learningRate: 0.01)] {
      let training = LocalTraining(
        network: network, dataset: data, shard: (0..<60).map { $0 },
        plan: TrainingPlan(length: .epochs(1), batchSize: 9, optimizer: optimizer),
        order: .keyed(.init(seed: 1, purpose: "batches"), firstSlot: 0))
      let start = DeviceMemory(parameters: network.initialParameters(testStream(2)))
      let whole = training.run(0..<7, from: start, kernels: .best, scratch: Scratch())
      #expect(whole.parameters.isFinite)
      for body in KernelBody.allCases.compactMap({ Kernels($0) }) {
        for cut in 1..<7 {
          let first = training.run(0..<cut, from: start, kernels: body, scratch: Scratch())
          let second = training.run(
            cut..<7, from: first.memory, lossSum: first.lossSum, kernels: body,
            scratch: Scratch())
          #expect(firstDifference(whole.parameters, second.parameters) == nil)
          #expect(whole.lossSum == second.lossSum)
        }
      }
    }
  }

  @Test("statistics are exchanged and are no part of what gradients move")
  func layout() throws {
    let layout = try Network(
      sampleShape: [2],
      layers: [
        Self.layer, .dense(outputs: 3, activation: .identity), .frozen(Self.layer), Self.layer,
      ]
    ).layout
    #expect(
      layout.tensors.map(\.name) == [
        "norm1.scale", "norm1.shift", "norm1.mean", "norm1.variance", "dense1.weight",
        "dense1.bias", "norm2.scale", "norm2.shift", "norm2.mean", "norm2.variance", "norm3.scale",
        "norm3.shift", "norm3.mean", "norm3.variance",
      ])
    // 4 tensors of 2, a weight of 6, a bias of 3, 4 tensors of 3 that are frozen, 4 of 3.
    #expect(layout.trainedRanges == [0..<4, 8..<17, 29..<35])
    #expect(layout.statisticRanges == [4..<8, 35..<41])
    #expect(layout.updatableRanges == [0..<17, 29..<41])
    var needs = LocalNeeds()
    needs.personalNormalisation = .statistics
    #expect(layout.personalRanges(needs) == [4..<8, 35..<41])
    needs.personalNormalisation = .layers
    #expect(
      layout.personalRanges(needs)
        == [0..<2, 2..<4, 4..<6, 6..<8, 29..<32, 32..<35, 35..<38, 38..<41])
  }
}
