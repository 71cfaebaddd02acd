import Learning
import Testing

/// As `fraction` in make_target_numbers.py.
private func targetFraction(_ i: Int) -> Double { Double((i * 37 + 11) % 101) / 101 - 0.5 }

/// Trainings on numbers, and on a token at each position.
@Suite struct TargetTests {
  /// A network of make_target_numbers.py, by its name there.
  enum Case: String, CaseIterable {
    case numbers, tokens, coupled, projected
    case cifg = "cifg-lm"
    case transformer = "transformer-lm"

    private var layers: [Network.Layer] {
      let embedding = Network.Layer.embedding(count: 6, width: 3)
      let scores = Network.Layer.placewiseDense(outputs: 6, activation: .identity)
      switch self {
      case .numbers:
        return [
          .dense(outputs: 4, activation: .tanh), .dense(outputs: 2, activation: .identity),
        ]
      case .tokens: return [embedding, .placewiseDense(outputs: 5, activation: .tanh), scores]
      case .coupled: return [embedding, .coupledLSTM(units: 4, returnsSequence: true), scores]
      case .projected:
        let memory = Network.Layer.projectedLSTM(
          units: 5, projection: 2, isCoupled: false, returnsSequence: true)
        return [embedding, memory, scores]
      case .cifg:
        let memory = Network.Layer.projectedLSTM(
          units: 5, projection: 3, isCoupled: true, returnsSequence: true)
        return [.tiedEmbedding(count: 6, width: 3, layers: [memory])]
      case .transformer:
        let dense: [Network.Layer] = [
          .placewiseDense(outputs: 8, activation: .relu),
          .placewiseDense(outputs: 4, activation: .identity),
        ]
        let block: [Network.Layer] = [
          .positions, .residual(layers: [.attention(heads: 2, isCausal: true)], shortcut: []),
          .layerNormalisation, .residual(layers: dense, shortcut: []), .layerNormalisation,
        ]
        return [.tiedEmbedding(count: 6, width: 4, layers: block)]
      }
    }

    func network() throws -> Network {
      try Network(
        sampleShape: self == .numbers ? [3] : [4], layers: layers,
        loss: self == .numbers ? .squaredDifference : .crossEntropyAtPositions)
    }

    /// Five samples; of tokens 0 is padding and 1 out of vocabulary.
    var data: Dataset {
      if self == .numbers {
        return Dataset(
          features: .floats((0..<15).map { Float(targetFraction($0) * 2) }), sampleShape: [3],
          targets: .values(
            .init((0..<10).map { Float(targetFraction(3 * $0 + 1) * 4) }, width: 2)))
      }
      let tokens: [[Int32]] = [
        [2, 3, 1, 4, 0], [5, 2, 0, 0, 0], [3, 3, 4, 5, 2], [1, 2, 3, 0, 0], [4, 1, 5, 2, 3],
      ]
      let labels = tokens.flatMap { $0.dropFirst().map { $0 == 0 ? -1 : $0 } }
      return Dataset(
        features: .floats(tokens.flatMap { $0.dropLast().map { Float($0) } }), sampleShape: [4],
        targets: .tokens(.init(labels, positions: 4, count: 6, unscored: 1)))
    }

    /// Batches of two, two and one in each epoch.
    func training() throws -> LocalTraining {
      LocalTraining(
        network: try network(), dataset: data, shard: [0, 1, 2, 3, 4],
        plan: TrainingPlan(
          length: .epochs(7), batchSize: 2,
          optimizer: .sgd(learningRate: self == .numbers ? 0.125 : 0.25, momentum: 0.9)),
        order: .explicit(targetOrders))
    }
  }

  private func bits(_ parameters: ParameterBuffer) -> [UInt32] {
    (0..<parameters.count).map { parameters[$0].bitPattern }
  }

  private func begin(_ network: Network) -> ParameterBuffer {
    ParameterBuffer((0..<network.layout.count).map { Float(targetFraction($0)) })
  }

  private func evaluate(
    _ network: Network, _ parameters: ParameterBuffer, _ data: Dataset, _ kernels: Kernels
  ) -> Evaluation {
    Evaluation(
      of: network, parameters: parameters, dataset: data,
      samples: (0..<Int32(data.count)).map { $0 }, kernels: kernels, scratch: Scratch())
  }

  @Test(
    "each of 20 steps is PyTorch's with its loss, and a cut after any changes no bit",
    arguments: Case.allCases, KernelBody.allCases)
  func stepsAreTorchs(network name: Case, body: KernelBody) throws {
    let wanted = try #require(targetNumbers.first { $0.network == name.rawValue })
    let (training, network) = (try name.training(), try name.network())
    let (kernels, scratch) = (try kernels(body), Scratch())
    let start = DeviceMemory(parameters: begin(network))
    var memory = start
    var lossSum = 0.0
    for step in 0..<20 {
      let outcome = training.run(
        step..<step + 1, from: memory, lossSum: lossSum, kernels: kernels, scratch: scratch)
      let rows = step % 3 == 2 ? 1.0 : 2.0
      #expect(abs((outcome.lossSum - lossSum) / rows - wanted.losses[step]) < 1e-5)
      (memory, lossSum) = (outcome.memory, outcome.lossSum)
      let stride = network.layout.count / 10
      for place in 0..<10 {
        let index = (step + 1) % stride + place * stride
        let difference = Double(outcome.parameters[index]) - wanted.entries[step * 10 + place]
        #expect(abs(difference) < 1e-5, "step \(step), parameter \(index)")
      }
    }
    let whole = training.run(0..<20, from: start, kernels: kernels, scratch: scratch)
    #expect(bits(whole.parameters) == bits(memory.parameters) && whole.lossSum == lossSum)
    for cut in 1..<20 {
      let first = training.run(0..<cut, from: start, kernels: kernels, scratch: scratch)
      let rest = training.run(
        cut..<20, from: first.memory, lossSum: first.lossSum, kernels: kernels, scratch: scratch)
      #expect(bits(rest.parameters) == bits(whole.parameters) && rest.lossSum == whole.lossSum)
    }
    guard name == .numbers || name == .tokens else { return }
    let found = evaluate(network, whole.parameters, name.data, kernels)
    if name == .numbers {
      #expect(abs(found.meanLoss - numberErrors.mean) < 1e-5)
      #expect(abs(found.rmse - numberErrors.root) < 1e-5)
      #expect(found.count == 5 && found.answers == 0 && found.accuracy.isNaN)
    } else {
      #expect(abs(found.meanLoss - tokenLoss) < 1e-5)
      #expect(found.count == tokenCounts.learned && found.answers == tokenCounts.scored)
      #expect(found.correct == tokenCounts.right && name.data.answerCount == found.answers)
    }
  }

  @Test("all bodies give the same bits", arguments: Case.allCases)
  func bodies(network name: Case) throws {
    let network = try name.network()
    let outcomes = try KernelBody.allCases.compactMap { Kernels($0) }.map {
      (
        $0,
        try name.training().run(
          0..<20, from: DeviceMemory(parameters: begin(network)), kernels: $0, scratch: Scratch())
      )
    }
    for (kernels, outcome) in outcomes {
      #expect(bits(outcome.parameters) == bits(outcomes[0].1.parameters))
      #expect(outcome.lossSum == outcomes[0].1.lossSum)
      #expect(
        evaluate(network, outcome.parameters, name.data, kernels)
          == evaluate(network, outcome.parameters, name.data, .best))
    }
  }

  @Test("a regression by hand: two numbers a sample")
  func regressionByHand() {
    // The outputs are (x, 0) with targets (1, 2) and (3, 0) for x = 2 and -1: the squares are
    // 1 + 4 and 16 + 0, their means 2.5 and 8, the mean of all elements 5.25.
    let data = Dataset(
      features: .floats([2, -1]), sampleShape: [1], targets: .values(.init([1, 2, 3, 0], width: 2)))
    let network = Network(
      inputCount: 1, layers: [.dense(outputs: 2, activation: .identity)], loss: .squaredDifference)
    let parameters = ParameterBuffer([1, 0, 0, 0])
    let found = Evaluation(
      of: network, parameters: parameters, dataset: data, samples: [0, 1], kernels: .best,
      scratch: Scratch())
    #expect(found.lossSum == 10.5 && found.meanLoss == 5.25)
    #expect(found.rmse == 5.25.squareRoot())
    // ∂/∂w = mean over 4 elements of 2·(y − t)·x: (2·1·2 + 2·(−4)·(−1))/4 = 3 for the first output,
    // (2·(−2)·2 + 0)/4 = −2 for the second; biases (2 − 8)/4 = −1.5 and −4/4 = −1.
    let (gradient, sum) = network.gradient(
      inputs: [2, -1], values: [1, 2, 3, 0], parameters: parameters, scale: 0.5, kernels: .best)
    #expect((0..<4).map { gradient[$0] } == [3, -2, -1.5, -1])
    #expect(sum == 10.5)
  }

  @Test("a batch of padding alone neither moves nor costs anything")
  func padding() throws {
    let network = try Case.tokens.network()
    let data = Dataset(
      features: .floats([1, 2, 3, 4]), sampleShape: [4],
      targets: .tokens(.init([-1, -1, -1, -1], positions: 4, count: 6)))
    let plan = TrainingPlan(epochs: 1, batchSize: 1, learningRate: 0.5)
    let outcome = LocalTraining(
      network: network, dataset: data, shard: [0], plan: plan, order: .explicit([[0]])
    ).run(
      0..<1, from: DeviceMemory(parameters: begin(network)), kernels: .best, scratch: Scratch())
    #expect(bits(outcome.parameters) == bits(begin(network)) && outcome.lossSum == 0)
  }

  @Test("squares of losses are those of each sample's mean")
  func squares() throws {
    let (network, data) = (try Case.tokens.network(), Case.tokens.data)
    let plan = TrainingPlan(epochs: 1, batchSize: 5, learningRate: 0.5)
    let outcome = LocalTraining(
      network: network, dataset: data, shard: [0, 1, 2, 3, 4], plan: plan,
      order: .explicit([[0, 1, 2, 3, 4]]), keepsLossSquares: true
    ).run(
      0..<1, from: DeviceMemory(parameters: begin(network)), kernels: .best, scratch: Scratch())
    let wanted = (0..<5).map { sample in
      Evaluation(
        of: network, parameters: begin(network), dataset: data, samples: [Int32(sample)],
        kernels: .best, scratch: Scratch()
      ).meanLoss
    }.reduce(0) { $0 + $1 * $1 }
    #expect(abs((outcome.memory.lossSquares ?? 0) - wanted) < 1e-12)
  }
}
