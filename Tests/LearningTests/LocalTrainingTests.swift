import Learning
import Numerics
import Testing

@Suite struct LocalTrainingTests {
  private let network = Network.multilayerPerceptron(
    inputCount: 30, hidden: [20, 9], classCount: 5)

  private func training(
    epochs: Int = 3, batchSize: Int = 10, learningRate: Double = 0.05, order: BatchOrder? = nil,
    keepsLossSquares: Bool = false
  ) -> LocalTraining {
    LocalTraining(
      network: network, dataset: byteDataset(count: 200),
      shard: (0..<47).map { Int32($0 * 4) },
      plan: TrainingPlan(epochs: epochs, batchSize: batchSize, learningRate: learningRate),
      order: order ?? .keyed(StreamKey(seed: 1, purpose: "batches"), firstSlot: 0),
      keepsLossSquares: keepsLossSquares)
  }

  private func start() -> DeviceMemory {
    DeviceMemory(parameters: network.initialParameters(testStream(5)))
  }

  @Test(
    "a training cut in two anywhere ends in the bits of the whole", arguments: KernelBody.allCases)
  func split(body: KernelBody) throws {
    let kernels = try kernels(body)
    let training = training()
    #expect(training.batchCount == 15)
    let whole = training.run(0..<15, from: start(), kernels: kernels, scratch: Scratch())
    let scratch = Scratch()
    for cut in 0...15 {
      let first = training.run(0..<cut, from: start(), kernels: kernels, scratch: scratch)
      let second = training.run(
        cut..<15, from: first.memory, lossSum: first.lossSum, kernels: kernels, scratch: scratch)
      #expect(firstDifference(whole.parameters, second.parameters) == nil, "cut at \(cut)")
      #expect(whole.lossSum == second.lossSum)
      #expect(first.samplesProcessed + second.samplesProcessed == whole.samplesProcessed)
    }
    #expect(whole.samplesProcessed == 141)
  }

  /// Layers of which a first step takes some rows before it continues, of sizes that end raggedly.
  @Test(
    "a step into other memory has the bits of one in place, however many inputs there are",
    arguments: KernelBody.allCases, [112, 113, 230])
  func freshMemory(body: KernelBody, size: Int) throws {
    let kernels = try kernels(body)
    let network = Network.multilayerPerceptron(
      inputCount: size, hidden: [117, 20], classCount: 5)
    let training = LocalTraining(
      network: network, dataset: byteDataset(count: 20, size: size),
      shard: (0..<20).map { Int32($0) },
      plan: TrainingPlan(epochs: 1, batchSize: 5, learningRate: 0.05),
      order: .explicit([(0..<20).map { Int32($0) }]))
    var memory = DeviceMemory(parameters: network.initialParameters(testStream(5)))
    let whole = training.run(0..<4, from: memory, kernels: kernels, scratch: Scratch())
    for batch in 0..<4 {
      memory =
        training.run(batch..<batch + 1, from: memory, kernels: kernels, scratch: Scratch()).memory
    }
    #expect(firstDifference(whole.parameters, memory.parameters) == nil)
  }

  @Test(
    "bytes that the first layer makes floats of train and score as those floats do",
    arguments: KernelBody.allCases, [32, 45, 200])
  func bytesInTheFirstLayer(body: KernelBody, size: Int) throws {
    let kernels = try kernels(body)
    let bytes = byteDataset(count: 23, size: size)
    let all = (0..<23).map { Int32($0) }
    let floats = Dataset(
      features: .floats(bytes.gather(all, kernels: kernels)), sampleShape: [size],
      labels: bytes.labels, classCount: bytes.classCount)
    let network = Network.softmaxRegression(inputCount: size, classCount: bytes.classCount)
    let scratch = Scratch()
    let outcomes = [bytes, floats].map { dataset in
      LocalTraining(
        network: network, dataset: dataset, shard: all,
        plan: TrainingPlan(epochs: 2, batchSize: 7, learningRate: 0.05),
        order: .explicit([all, all.reversed()])
      ).run(
        0..<8, from: DeviceMemory(parameters: network.initialParameters(testStream(6))),
        kernels: kernels, scratch: scratch)
    }
    #expect(firstDifference(outcomes[0].parameters, outcomes[1].parameters) == nil)
    #expect(outcomes[0].lossSum == outcomes[1].lossSum)
    let scores = [bytes, floats, bytes].map {
      Evaluation(
        of: network, parameters: outcomes[0].parameters, dataset: $0, samples: all,
        kernels: kernels, scratch: scratch)
    }
    #expect(scores[0].lossSum == scores[1].lossSum && scores[0].correct == scores[1].correct)
    #expect(scores[2].lossSum == scores[0].lossSum)
  }

  @Test(
    "a large batch takes its whole step, however small the part of each sample in it",
    arguments: KernelBody.allCases, [65, 128, 1000])
  func largeBatch(body: KernelBody, rows: Int) throws {
    // One input of 1, weight 1, bias ½: all samples give 1½ for 1, so by the squared error each has
    // the gradient 2·½ = 1 for both. At a rate of 2⁻¹⁹ a step leaves 1 - 2⁻¹⁹ and ½ - 2⁻¹⁹. Below 1
    // floats are 2⁻²⁴ apart: of 65 samples and more each one's part, 2⁻¹⁹/65 < 2⁻²⁵, is less than
    // half of that, and would leave the weight as it is.
    let network = Network(
      inputCount: 1, layers: [.dense(outputs: 1, activation: .identity)], loss: .meanSquaredError)
    let training = LocalTraining(
      network: network,
      dataset: Dataset(
        features: .floats(Array(repeating: 1, count: rows)), sampleShape: [1],
        labels: Array(repeating: 0, count: rows), classCount: 1),
      shard: (0..<Int32(rows)).map { $0 },
      plan: TrainingPlan(epochs: 1, batchSize: 2000, learningRate: 0x1p-19),
      order: .explicit([(0..<Int32(rows)).map { $0 }]))
    let outcome = training.run(
      0..<1, from: DeviceMemory(parameters: ParameterBuffer([1, 0.5])),
      kernels: try kernels(body), scratch: Scratch())
    let expected: [Float] = [1 - 0x1p-19, 0.5 - 0x1p-19]
    #expect(outcome.parameters.values == expected)
    #expect(outcome.lossSum == Double(rows) / 4)
  }

  @Test(
    "squares of losses are kept where they are asked for, and change no bit of anything else",
    arguments: KernelBody.allCases)
  func lossSquares(body: KernelBody) throws {
    let (kernels, scratch) = (try kernels(body), Scratch())
    let plain = training().run(0..<15, from: start(), kernels: kernels, scratch: scratch)
    let asked = training(keepsLossSquares: true)
    let whole = asked.run(0..<15, from: start(), kernels: kernels, scratch: scratch)
    #expect(plain.memory.lossSquares == nil)
    #expect(firstDifference(plain.parameters, whole.parameters) == nil)
    #expect(plain.lossSum == whole.lossSum)
    let squares = try #require(whole.memory.lossSquares)
    // By Cauchy and Schwarz the mean square is no less than the square of the mean; losses differ.
    #expect(squares * 141 > whole.lossSum * whole.lossSum)
    let best = asked.run(0..<15, from: start(), kernels: .best, scratch: scratch)
    #expect(best.memory.lossSquares == squares)
    for cut in 0...15 {
      let first = asked.run(0..<cut, from: start(), kernels: kernels, scratch: scratch)
      let second = asked.run(
        cut..<15, from: first.memory, lossSum: first.lossSum, kernels: kernels, scratch: scratch)
      #expect(second.memory.lossSquares == squares, "cut at \(cut)")
    }
  }

  @Test("the sum of squares is that of each sample's loss when its batch ran")
  func squaresOfEach() throws {
    // Batches of one: what each adds to the sum of losses is the loss of its sample.
    let single = training(epochs: 1, batchSize: 1, keepsLossSquares: true)
    var (memory, squares) = (start(), 0.0)
    for batch in 0..<47 {
      let outcome = single.run(
        batch..<batch + 1, from: memory, kernels: .best, scratch: Scratch())
      memory = outcome.memory
      squares += outcome.lossSum * outcome.lossSum
    }
    #expect(memory.lossSquares == squares)
    // One batch of all: each sample's loss is that of the start, so a training of one batch of one
    // sample that begins there has it, too.
    let all = (0..<47).map { Int32($0) }
    let together = training(
      epochs: 1, batchSize: 47, order: .explicit([all]), keepsLossSquares: true
    )
    .run(0..<1, from: start(), kernels: .best, scratch: Scratch())
    let one = training(epochs: 1, batchSize: 1, order: .explicit([all]))
    var sum = 0.0
    for batch in 0..<47 {
      let outcome = one.run(batch..<batch + 1, from: start(), kernels: .best, scratch: Scratch())
      sum += outcome.lossSum * outcome.lossSum
    }
    let found = try #require(together.memory.lossSquares)
    #expect(abs(found - sum) < 1e-9 * sum)
  }

  @Test("a squared error's squares are kept, too")
  func squaresOfSquares() throws {
    // Outputs 0 at zero weights: of two classes each sample loses (1² + 0²) / 2 = 1/2.
    let network = try Network(
      sampleShape: [1], layers: [.dense(outputs: 2, activation: .identity)],
      loss: .meanSquaredError)
    let dataset = Dataset(
      features: .bytes([0, 255]), sampleShape: [1], labels: [0, 1], classCount: 2)
    let training = LocalTraining(
      network: network, dataset: dataset, shard: [0, 1],
      plan: TrainingPlan(epochs: 1, batchSize: 2, learningRate: 0.1),
      order: .explicit([[0, 1]]), keepsLossSquares: true)
    let memory = DeviceMemory(
      parameters: ParameterBuffer(Array(repeating: 0, count: network.layout.count)))
    let outcome = training.run(0..<1, from: memory, kernels: .best, scratch: Scratch())
    #expect(outcome.lossSum == 1 && outcome.memory.lossSquares == 0.5)
  }

  @Test("all bodies end in the same bits")
  func bodies() {
    let outcomes = KernelBody.allCases.compactMap { Kernels($0) }.map {
      training().run(0..<15, from: start(), kernels: $0, scratch: Scratch())
    }
    for outcome in outcomes {
      #expect(firstDifference(outcome.parameters, outcomes[0].parameters) == nil)
      #expect(outcome.lossSum == outcomes[0].lossSum)
    }
  }

  @Test("training leaves the start alone and lowers the loss")
  func learns() {
    let training = training(epochs: 40, learningRate: 0.2)
    let start = start()
    let before = start.parameters.values
    let pool = WorkerPool(threads: 1)
    func evaluate(_ parameters: ParameterBuffer) -> Evaluation {
      Evaluation(
        of: network, parameters: parameters, dataset: training.dataset, indices: training.shard,
        kernels: .best, pool: pool)
    }
    let outcome = training.run(
      0..<training.batchCount, from: start, kernels: .best, scratch: Scratch())
    #expect(start.parameters.values == before)
    #expect(evaluate(outcome.parameters).meanLoss < 0.5 * evaluate(start.parameters).meanLoss)
    #expect(evaluate(outcome.parameters).accuracy > 0.9)
  }

  @Test("one batch of everything is a step against the mean gradient")
  func fullBatch() {
    let training = training(epochs: 1, batchSize: 100)
    let start = start()
    let outcome = training.run(0..<1, from: start, kernels: .best, scratch: Scratch())
    let (gradient, loss) = network.gradient(
      inputs: training.dataset.gather(training.shard, kernels: .best),
      labels: training.shard.map { training.dataset.labels[Int($0)] },
      parameters: start.parameters, scale: 1 / 47, kernels: .best)
    #expect(abs(outcome.lossSum - loss) < 1e-5)
    for index in 0..<gradient.count {
      let expected = start.parameters[index] - 0.05 * gradient[index]
      #expect(abs(outcome.parameters[index] - expected) < 1e-6)
      #expect(gradient[index] == 0 || outcome.parameters[index] != start.parameters[index])
    }
  }

  @Test("two batches of one sample each give the weights worked out by hand")
  func byHand() {
    // One input, two classes, all zeros. x = 1, label 0, rate 1: δ = (-½, ½), so w = b = (½, -½).
    // Then x = 0, label 1: logits = b = (½, -½), p₁ = 1/(1+e) = 0.26894142.
    let dataset = Dataset(
      features: .floats([0, 1]), sampleShape: [1], labels: [1, 0], classCount: 2)
    let training = LocalTraining(
      network: .softmaxRegression(inputCount: 1, classCount: 2), dataset: dataset, shard: [0, 1],
      plan: TrainingPlan(epochs: 1, batchSize: 1, learningRate: 1), order: .explicit([[1, 0]]))
    let memory = DeviceMemory(parameters: ParameterBuffer([0, 0, 0, 0]))
    let first = training.run(0..<1, from: memory, kernels: .best, scratch: Scratch())
    #expect(first.parameters.values == [0.5, -0.5, 0.5, -0.5])
    let both = training.run(0..<2, from: memory, kernels: .best, scratch: Scratch())
    let expected: [Float] = [0.5, -0.5, 0.5 - 0.73105858, -0.5 + 0.73105858]
    for (value, expected) in zip(both.parameters.values, expected) {
      #expect(abs(value - expected) < 1e-7)
    }
    #expect(abs(both.lossSum - (0.69314718 + 1.31326169)) < 1e-7)
  }

  @Test(
    "a layer of few outputs learns from batches of more samples than it has inputs",
    arguments: [31, 64, 65, 70, 200])
  func largeBatches(batchSize: Int) {
    // 40 inputs. A batch of a training that ends with it has none to ask for on the way.
    let training = LocalTraining(
      network: .softmaxRegression(inputCount: 40, classCount: 5),
      dataset: byteDataset(count: 200, size: 40), shard: (0..<200).map { $0 },
      plan: TrainingPlan(epochs: 3, batchSize: batchSize, learningRate: 0.05),
      order: .keyed(StreamKey(seed: 1, purpose: "batches"), firstSlot: 0))
    let start = DeviceMemory(parameters: training.network.initialParameters(testStream(5)))
    var parts = TrainingOutcome(memory: start, lossSum: 0, samplesProcessed: 0)
    for batch in 0..<training.batchCount {
      parts = training.run(
        batch..<batch + 1, from: parts.memory, lossSum: parts.lossSum, kernels: .best,
        scratch: Scratch())
    }
    let whole = training.run(
      0..<training.batchCount, from: start, kernels: .best, scratch: Scratch())
    #expect(firstDifference(whole.parameters, parts.parameters) == nil)
    #expect(firstDifference(whole.parameters, start.parameters) != nil)
    #expect(whole.lossSum == parts.lossSum)
  }

  @Test("no batches change nothing, and samples are counted as often as they are processed")
  func counts() {
    let training = training()
    let start = start()
    let none = training.run(4..<4, from: start, lossSum: 3, kernels: .best, scratch: Scratch())
    #expect(none.parameters === start.parameters)
    #expect(none.lossSum == 3 && none.samplesProcessed == 0)
    // Batches of 10 10 10 10 7: the last of one epoch and the first of the next may overlap.
    let order = BatchOrder.explicit([
      (0..<47).map { $0 }, (0..<47).map { ($0 + 35) % 47 }, (0..<47).map { $0 },
    ])
    let few = self.training(order: order)
      .run(4..<6, from: start, kernels: .best, scratch: Scratch())
    #expect(few.samplesProcessed == 17)
  }
}
