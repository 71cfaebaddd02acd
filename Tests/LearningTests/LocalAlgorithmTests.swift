import Learning
import Numerics
import Testing

/// FedProx, SCAFFOLD and FedNova's lengths compared with other programs, and their limiting cases.
@Suite struct LocalAlgorithmTests {
  private static let labels: [Int32] = [0, 1, 1, 0, 1, 0]
  private static let features: [Float] = [
    0.5, -1, 2, 1.5, 0.25, -0.75, -0.5, 1, 1, 2, -0.125, 0.5, 0, 0.75, -1.5, 1, 1, 0.25,
  ]
  private static func data(_ labels: [Int32] = labels) -> Dataset {
    Dataset(features: .floats(features), sampleShape: [3], labels: labels, classCount: 2)
  }
  private let start = ParameterBuffer([0.1, -0.2, 0.3, 0.05, -0.15, 0.25, 0.01, -0.02])

  private func training(
    _ shard: [Int32] = [0, 1, 2, 3, 4, 5], optimizer: Optimizer = .sgd(learningRate: 0.5),
    schedule: LearningRateSchedule = .constant, clipping: GradientClipping? = nil,
    labels: [Int32] = labels, relabelling: [Int32]? = nil, epochs: Int = 1
  ) -> LocalTraining {
    LocalTraining(
      network: .softmaxRegression(inputCount: 3, classCount: 2), dataset: Self.data(labels),
      shard: shard,
      plan: TrainingPlan(
        length: .epochs(epochs), batchSize: 2, optimizer: optimizer, schedule: schedule,
        clipping: clipping),
      order: .explicit(
        [[Int32]](repeating: shard.indices.map { Int32($0) }, count: epochs)),
      relabelling: relabelling)
  }

  /// A whole training, or some batches that continue from others.
  private func deferred(
    _ training: LocalTraining, _ algorithm: any LocalAlgorithm, _ batches: Range<Int>? = nil,
    from start: DeferredTraining.Start, isLast: Bool = true
  ) -> DeferredTraining {
    DeferredTraining(
      training, by: algorithm, batches: batches ?? 0..<training.batchCount, from: start,
      validation: [], isLast: isLast, kernels: .best)
  }

  private func prox(_ mu: Double) -> FedProx {
    var settings = FedProx.Settings()
    settings.mu = mu
    return FedProx(settings)
  }

  private func expectClose(
    _ found: [Float], _ expected: [Double], _ name: String, within: Double = 2e-6
  ) {
    #expect(found.count == expected.count, "\(name)")
    for (value, expected) in zip(found, expected) {
      #expect(abs(Double(value) - expected) < within, "\(name)")
    }
  }

  private func numbers(_ name: String) -> [Double] {
    (proximalNumbers + scaffoldNumbers + stepSums).first { $0.name == name }!.values
  }

  private func result(
    _ algorithm: any LocalAlgorithm, _ training: LocalTraining
  ) -> ParameterBuffer {
    deferred(training, algorithm, from: .parameters(start)).value(Scratch()).parameters
  }

  // MARK: FedProx

  @Test("FedProx's steps end in the numbers of PyTorch, with momentum, Adam and clipped, too")
  func proximal() {
    expectClose(result(prox(0), training()).values, numbers("mu 0"), "mu 0")
    expectClose(result(prox(0.3), training()).values, numbers("mu 0.3"), "mu 0.3")
    let momentum = training(optimizer: .sgd(learningRate: 0.5, momentum: 0.9))
    expectClose(result(prox(1), momentum).values, numbers("mu 1, momentum"), "mu 1")
    let clipped = training(clipping: .norm(0.3))
    expectClose(result(prox(0.3), clipped).values, numbers("mu 0.3, clipped"), "clipped")
    let adam = training(optimizer: .adam(learningRate: 0.1))
    expectClose(result(prox(1), adam).values, numbers("mu 1, Adam"), "Adam", within: 5e-6)
  }

  @Test("FedProx without a pull is FedAvg bit for bit; the stronger the pull, the nearer it stays")
  func limits() {
    let plain = result(FedAvgLocal(.init()), training(epochs: 4))
    #expect(firstDifference(plain, result(prox(0), training(epochs: 4))) == nil)
    let distances = [0, 0.1, 0.5, 1.5].map { mu in
      let end = result(prox(mu), training(epochs: 4))
      return (0..<8).reduce(0.0) { sum, i in
        sum + Double(end[i] - start[i]) * Double(end[i] - start[i])
      }
    }
    #expect(zip(distances, distances.dropFirst()).allSatisfy { $0 > $1 }, "\(distances)")
  }

  // MARK: SCAFFOLD

  /// Some rounds of two devices of three samples each.
  private func scaffold(
    _ rounds: Int, _ schedule: LearningRateSchedule = .constant,
    optimizer: Optimizer = .sgd(learningRate: 0.5), behindSteps: Bool = false
  ) -> (models: [Float], variates: [Float], own: [Float]) {
    let scaffold = Self.scaffold(behindSteps: behindSteps)
    let pool = WorkerPool(threads: 1)
    var (model, variates, last) = (start, [ParameterBuffer](), [[DeferredTraining](), []])
    var (models, all) = ([Float](), [Float]())
    for _ in 0..<rounds {
      for (device, shard) in [[Int32]]([[0, 1, 2], [3, 4, 5]]).enumerated() {
        last[device] = [
          deferred(
            training(shard, optimizer: optimizer, schedule: schedule), scaffold,
            from: .continued(model, receiving: variates, keeping: [], after: last[device]))
        ]
      }
      let values = last.map { $0[0].value(Scratch()) }
      variates = scaffold.companions(
        after: variates, sent: values.map(\.auxiliaryOutput.sent), devices: 2, pool: pool)
      model = ParameterBuffer(
        (0..<8).map { (values[0].parameters[$0] + values[1].parameters[$0]) / 2 })
      models += model.values
      all += variates[0].values
    }
    return (models, all, last.flatMap { $0[0].value(Scratch()).auxiliaryOutput.kept[0].values })
  }

  @Test("SCAFFOLD's models and variates of three rounds are those of PyTorch")
  func variates() {
    let found = scaffold(3)
    expectClose(found.models, numbers("models"), "models")
    expectClose(found.variates, numbers("variates"), "variates")
    expectClose(found.own, numbers("own"), "own")
    // Rates of 0.5 and 0.25: K·η is their sum.
    let halved = scaffold(2, .exponential(factor: 0.5))
    expectClose(halved.models, numbers("models, rate halved"), "models, rate halved")
    expectClose(halved.variates, numbers("variates, rate halved"), "variates, rate halved")
  }

  private static func scaffold(behindSteps: Bool) -> Scaffold {
    var settings = Scaffold.Settings()
    if behindSteps { settings.correction = .steps }
    return Scaffold(settings)
  }

  @Test(
    "with its correction behind steps of momentum and of Adam it is PyTorch's, as NIID-Bench has it"
  )
  func behindSteps() {
    let momentum = scaffold(
      3, optimizer: .sgd(learningRate: 0.5, momentum: 0.9), behindSteps: true)
    expectClose(momentum.models, numbers("models, momentum"), "models", within: 5e-6)
    expectClose(momentum.variates, numbers("variates, momentum"), "variates", within: 5e-6)
    let adam = scaffold(3, optimizer: .adam(learningRate: 0.1), behindSteps: true)
    expectClose(adam.models, numbers("models, Adam"), "models", within: 5e-6)
    expectClose(adam.variates, numbers("variates, Adam"), "variates", within: 2e-5)
    // With plain SGD both forms are the same but for rounding.
    let (plain, behind) = (scaffold(3), scaffold(3, behindSteps: true))
    expectClose(behind.models, plain.models.map { Double($0) }, "models")
  }

  @Test("SCAFFOLD with one device is SGD bit for bit: both variates are always the same")
  func alone() {
    let scaffold = Scaffold(.init())
    var (own, sent, last) = (start, [ParameterBuffer](), [DeferredTraining]())
    var plain = start
    for round in 0..<4 {
      last = [
        deferred(
          training(), scaffold,
          from: .continued(own, receiving: sent, keeping: [], after: last))
      ]
      let value = last[0].value(Scratch())
      sent = scaffold.companions(
        after: sent, sent: [value.auxiliaryOutput.sent], devices: 1, pool: WorkerPool(threads: 1))
      own = value.parameters
      plain =
        deferred(training(), FedAvgLocal(.init()), from: .parameters(plain))
        .value(Scratch()).parameters
      #expect(firstDifference(own, plain) == nil, "round \(round)")
      #expect(sent[0].values == value.auxiliaryOutput.kept[0].values)
      #expect(sent[0].values.contains { $0 != 0 })
    }
  }

  @Test("a variate follows the batches that ran, stays where none did and where one went astray")
  func partialWork() throws {
    let scaffold = Scaffold(.init())
    let first = deferred(training(), scaffold, from: .parameters(start))
    let kept = first.value(Scratch()).auxiliaryOutput.kept
    func next(_ batches: Range<Int>, from model: ParameterBuffer) -> DeferredTraining.Value {
      deferred(
        training(), scaffold, batches,
        from: .continued(model, receiving: [], keeping: [], after: [first])
      ).value(Scratch())
    }
    // c = 0, so cᵢ⁺ = cᵢ + (x − y)/(K·η), with one batch of rate 0.5.
    let one = next(0..<1, from: start)
    for i in 0..<8 {
      let slope = (Double(start[i]) - Double(one.parameters[i])) / 0.5
      let sum = Double(kept[0][i]) + slope
      #expect(abs(Double(one.auxiliaryOutput.kept[0][i]) - sum) < 1e-6)
      #expect(abs(Double(one.auxiliaryOutput.sent[0][i]) - slope) < 1e-6)
    }
    #expect(next(0..<0, from: start).auxiliaryOutput.kept.map(\.values) == kept.map(\.values))
    let lost = next(0..<3, from: ParameterBuffer([Float](repeating: .nan, count: 8)))
    #expect(lost.auxiliaryOutput.kept.map(\.values) == kept.map(\.values))
    #expect(lost.auxiliaryOutput.sent.isEmpty)
  }

  @Test(
    "a training cut in two anywhere leaves the bits of the whole",
    arguments: ["prox", "scaffold", "behind steps"])
  func cuts(name: String) {
    let algorithm: any LocalAlgorithm =
      name == "prox" ? prox(0.7) : Self.scaffold(behindSteps: name == "behind steps")
    let earlier = deferred(training(), algorithm, from: .parameters(start))
    let server = ParameterBuffer((0..<8).map { Float($0) / 16 - 0.2 })
    let beginning = DeferredTraining.Start.continued(
      start, receiving: [server], keeping: [], after: [earlier])
    let whole = deferred(training(epochs: 2), algorithm, from: beginning).value(Scratch())
    for cut in 0...6 {
      let first = deferred(
        training(epochs: 2), algorithm, 0..<cut, from: beginning, isLast: false)
      let second = deferred(training(epochs: 2), algorithm, cut..<6, from: .checkpoint(first))
        .value(Scratch())
      #expect(firstDifference(whole.parameters, second.parameters) == nil, "cut at \(cut)")
      #expect(whole.auxiliaryOutput.kept.map(\.values) == second.auxiliaryOutput.kept.map(\.values))
      #expect(whole.auxiliaryOutput.sent.map(\.values) == second.auxiliaryOutput.sent.map(\.values))
    }
  }

  @Test("a checkpoint that moves to another base is pulled towards it and keeps its state")
  func moved() {
    let other = ParameterBuffer(start.values.map { $0 + 0.5 })
    let first = deferred(training(), prox(0.7), 0..<1, from: .parameters(start), isLast: false)
    let moved = deferred(
      training(), prox(0.7), 1..<3, from: .rebased(first, old: start, new: other))
    // The same by hand: the memory as it would be, with the new origin.
    let reached = first.value(Scratch()).parameters
    let memory = DeviceMemory(
      parameters: ParameterBuffer(
        (0..<8).map { Float(Double(reached[$0]) - Double(start[$0]) + Double(other[$0])) }),
      origin: other)
    let expected = training().run(
      1..<3, from: memory, correction: GradientCorrection(pull: 0.7, towards: other),
      kernels: .best, scratch: Scratch())
    #expect(
      firstDifference(moved.value(Scratch()).parameters, expected.parameters) == nil)
  }

  // MARK: Layers and labels that are a device's own

  @Test("ranges that stay are those of the device's training before, and of the version at first")
  func personal() {
    let layers = PersonalLayers(PersonalLayers.Settings())
    let version = ParameterBuffer([Float](repeating: 0.125, count: 8))
    let earlier = deferred(training(), layers, from: .parameters(start))
    func begun(_ after: [DeferredTraining]) -> [Float] {
      deferred(
        training(), layers, 0..<0,
        from: .continued(version, receiving: [], keeping: [6..<8], after: after)
      ).value(Scratch()).parameters.values
    }
    #expect(begun([]) == version.values)
    let biases = earlier.value(Scratch()).parameters.values[6...]
    #expect(begun([earlier]) == Array(version.values[..<6]) + Array(biases))
  }

  @Test("exchanged labels give the bits of data with such labels; whatever the optimiser")
  func relabelled() {
    for optimizer in [Optimizer.sgd(learningRate: 0.5), .adam(learningRate: 0.1)] {
      let flipped = result(
        FedAvgLocal(.init()), training(optimizer: optimizer, relabelling: [1, 0], epochs: 2))
      let expected = result(
        FedAvgLocal(.init()),
        training(optimizer: optimizer, labels: Self.labels.map { 1 - $0 }, epochs: 2))
      let honest = result(FedAvgLocal(.init()), training(optimizer: optimizer, epochs: 2))
      #expect(firstDifference(flipped, expected) == nil)
      #expect(firstDifference(flipped, honest) != nil)
    }
  }

  // MARK: FedNova's lengths

  @Test("steps add up to what the coefficients of their gradients do in NumPy")
  func lengths() {
    func plan(_ momentum: Double = 0) -> TrainingPlan {
      TrainingPlan(
        length: .epochs(1), batchSize: 1,
        optimizer: .sgd(learningRate: 0.5, momentum: momentum))
    }
    // The pull of 0.1 is μ·η.
    for (name, plan, pull) in [
      ("plain", plan(), 0.0), ("momentum 0.9", plan(0.9), 0), ("pull 0.1", plan(), 0.2),
      ("momentum 0.5, pull 0.1", plan(0.5), 0.2),
    ] {
      for (steps, expected) in zip([1, 2, 5, 10], numbers(name)) {
        let found = plan.stepSum(batches: steps, of: 10, pull: pull)!
        #expect(abs(found - expected) < 1e-9, "\(name), \(steps)")
      }
    }
  }

  @Test("a schedule counts each step by its rate; Adam's steps are no sums of gradients")
  func otherPlans() {
    func plan(_ optimizer: Optimizer, _ schedule: LearningRateSchedule) -> TrainingPlan {
      TrainingPlan(length: .epochs(1), batchSize: 1, optimizer: optimizer, schedule: schedule)
    }
    let sgd = Optimizer.sgd(learningRate: 1)
    // 1 + ½ + ¼.
    #expect(plan(sgd, .exponential(factor: 0.5)).stepSum(batches: 3, of: 3) == 1.75)
    // Nesterov with ρ = ½: v = 1, 3/2; steps 1 + ½·1 and 1 + ½·3/2: 3/2 + 7/4.
    let nesterov = Optimizer.sgd(learningRate: 1, momentum: 0.5, nesterov: true)
    #expect(plan(nesterov, .constant).stepSum(batches: 2, of: 2) == 3.25)
    #expect(plan(.adam(learningRate: 1), .constant).stepSum(batches: 2, of: 2) == nil)
    let decaying = Optimizer.sgd(learningRate: 1, weightDecay: 0.1)
    #expect(plan(decaying, .constant).stepSum(batches: 2, of: 2) == nil)
    #expect(Scaffold(.init()).objection(to: plan(sgd, .constant)) == nil)
    #expect(Scaffold(.init()).objection(to: plan(nesterov, .constant)) != nil)
    #expect(Self.scaffold(behindSteps: true).objection(to: plan(nesterov, .constant)) == nil)
  }
}
