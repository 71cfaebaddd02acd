import Learning
import Testing

/// As `fraction` in make_target_numbers.py.
private func targetFraction(_ i: Int) -> Double { Double((i * 37 + 11) % 101) / 101 - 0.5 }

/// Trainings on numbers, and on a token at each position.
@Suite struct TargetTests {
  private static let batches: [[Int32]] = [[0, 1], [2, 3], [4], [1, 3], [0, 4], [2]]

  private static let regression = (
    network: Network(
      inputCount: 3,
      layers: [.dense(outputs: 4, activation: .tanh), .dense(outputs: 2, activation: .identity)],
      loss: .squaredDifference),
    data: Dataset(
      features: .floats((0..<15).map { Float(targetFraction($0) * 2) }), sampleShape: [3],
      targets: .values(
        .init((0..<10).map { Float(targetFraction(3 * $0 + 1) * 4) }, width: 2)))
  )

  private static let tokens: [[Int32]] = [
    [2, 3, 1, 4, 0], [5, 2, 0, 0, 0], [3, 3, 4, 5, 2], [1, 2, 3, 0, 0], [4, 1, 5, 2, 3],
  ]

  private static func language() throws -> (network: Network, data: Dataset) {
    let network = try Network(
      sampleShape: [4],
      layers: [
        .embedding(count: 6, width: 3), .placewiseDense(outputs: 5, activation: .tanh),
        .placewiseDense(outputs: 6, activation: .identity),
      ], loss: .crossEntropyAtPositions)
    let labels = tokens.flatMap { $0.dropFirst().map { $0 == 0 ? -1 : $0 } }
    let data = Dataset(
      features: .floats(tokens.flatMap { $0.dropLast().map { Float($0) } }), sampleShape: [4],
      targets: .tokens(.init(labels, positions: 4, count: 6, unscored: 1)))
    return (network, data)
  }

  private func bits(_ parameters: ParameterBuffer) -> [UInt32] {
    (0..<parameters.count).map { parameters[$0].bitPattern }
  }

  private func begin(_ network: Network) -> ParameterBuffer {
    ParameterBuffer((0..<network.layout.count).map { Float(targetFraction($0)) })
  }

  /// The batches of the script: five samples in two epochs of batches of two, two and one.
  private func training(_ network: Network, _ data: Dataset, rate: Double) -> LocalTraining {
    LocalTraining(
      network: network, dataset: data, shard: [0, 1, 2, 3, 4],
      plan: TrainingPlan(
        length: .epochs(2), batchSize: 2, optimizer: .sgd(learningRate: rate, momentum: 0.9)),
      order: .explicit([[0, 1, 2, 3, 4], [1, 3, 0, 4, 2]]))
  }

  private func expectEqual(
    _ outcome: TrainingOutcome, _ parameters: [Double], loss: Double, body: KernelBody
  ) {
    for (index, wanted) in parameters.enumerated() {
      #expect(abs(Double(outcome.parameters[index]) - wanted) < 2e-6, "\(body): \(index)")
    }
    #expect(abs(outcome.lossSum / Double(outcome.samplesProcessed) - loss) < 1e-6)
  }

  @Test("training on numbers is PyTorch's with MSELoss", arguments: KernelBody.allCases)
  func regressionIsTorchs(body: KernelBody) throws {
    let (network, data) = Self.regression
    let training = training(network, data, rate: 0.125)
    let outcome = training.run(
      0..<6, from: DeviceMemory(parameters: begin(network)), kernels: try kernels(body),
      scratch: Scratch())
    expectEqual(outcome, regressionParameters, loss: regressionErrors[0], body: body)
    let found = Evaluation(
      of: network, parameters: outcome.parameters, dataset: data, samples: [0, 1, 2, 3, 4],
      kernels: try kernels(body), scratch: Scratch())
    #expect(abs(found.meanLoss - regressionErrors[1]) < 1e-6)
    #expect(abs(found.rmse - regressionErrors[2]) < 1e-6)
    #expect(found.count == 5 && found.answers == 0 && found.accuracy.isNaN)
  }

  @Test("training on tokens is PyTorch's with ignore_index", arguments: KernelBody.allCases)
  func tokensAreTorchs(body: KernelBody) throws {
    let (network, data) = try Self.language()
    let training = training(network, data, rate: 0.5)
    let outcome = training.run(
      0..<6, from: DeviceMemory(parameters: begin(network)), kernels: try kernels(body),
      scratch: Scratch())
    expectEqual(outcome, tokenParameters, loss: tokenLosses[0], body: body)
    let found = Evaluation(
      of: network, parameters: outcome.parameters, dataset: data, samples: [0, 1, 2, 3, 4],
      kernels: try kernels(body), scratch: Scratch())
    #expect(abs(found.meanLoss - tokenLosses[1]) < 1e-6)
    #expect(found.count == tokenCounts.learned && found.answers == tokenCounts.scored)
    #expect(found.correct == tokenCounts.right)
    #expect(data.answerCount == tokenCounts.scored)
  }

  @Test("a memory with coupled gates trains as it does in PyTorch", arguments: KernelBody.allCases)
  func coupledIsTorchs(body: KernelBody) throws {
    let network = try Network(
      sampleShape: [4],
      layers: [
        .embedding(count: 6, width: 3), .coupledLSTM(units: 4, returnsSequence: true),
        .placewiseDense(outputs: 6, activation: .identity),
      ], loss: .crossEntropyAtPositions)
    let outcome = training(network, try Self.language().data, rate: 0.5).run(
      0..<6, from: DeviceMemory(parameters: begin(network)), kernels: try kernels(body),
      scratch: Scratch())
    expectEqual(outcome, coupledParameters, loss: coupledLoss, body: body)
  }

  @Test("a training that is cut and continued gives the same bits", arguments: [1, 2, 3, 5])
  func cut(at place: Int) throws {
    for (network, data) in [Self.regression, try Self.language()] {
      let training = training(network, data, rate: 0.25)
      let scratch = Scratch()
      let start = DeviceMemory(parameters: begin(network))
      let whole = training.run(0..<6, from: start, kernels: .best, scratch: scratch)
      let first = training.run(0..<place, from: start, kernels: .best, scratch: scratch)
      let rest = training.run(
        place..<6, from: first.memory, lossSum: first.lossSum, kernels: .best, scratch: scratch)
      #expect(bits(rest.parameters) == bits(whole.parameters) && rest.lossSum == whole.lossSum)
    }
  }

  @Test("all bodies give the same bits")
  func bodies() throws {
    for (network, data) in [Self.regression, try Self.language()] {
      let outcomes = KernelBody.allCases.compactMap { Kernels($0) }.map {
        training(network, data, rate: 0.25).run(
          0..<6, from: DeviceMemory(parameters: begin(network)), kernels: $0, scratch: Scratch())
      }
      for outcome in outcomes {
        #expect(bits(outcome.parameters) == bits(outcomes[0].parameters))
        #expect(outcome.lossSum == outcomes[0].lossSum)
      }
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
    let (network, _) = try Self.language()
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
    let (network, data) = try Self.language()
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
