import FedSim
import Learning
import Numerics
import Schema
import Testing

private let start = ParameterBuffer([0.1, -0.2, 0.3, 0.05, -0.15, 0.25, 0.01, -0.02])

/// A training on three features and two classes, the samples in their order.
private func training(
  _ shard: [Int32] = [0, 1, 2, 3, 4, 5], labels: [Int32] = [0, 1, 1, 0, 1, 0],
  batchSize: Int = 2, epochs: Int = 1, optimizer: Optimizer = .sgd(learningRate: 0.5),
  clipping: GradientClipping? = nil
) -> LocalTraining {
  LocalTraining(
    network: .softmaxRegression(inputCount: 3, classCount: 2),
    dataset: Dataset(
      features: .floats([
        0.5, -1, 2, 1.5, 0.25, -0.75, -0.5, 1, 1, 2, -0.125, 0.5, 0, 0.75, -1.5, 1, 1, 0.25,
      ]), sampleShape: [3], labels: labels, classCount: 2),
    shard: shard,
    plan: TrainingPlan(
      length: .epochs(epochs), batchSize: batchSize, optimizer: optimizer, clipping: clipping),
    order: .explicit([[Int32]](repeating: shard.indices.map { Int32($0) }, count: epochs)))
}

/// Some batches of a training, or all.
private func deferred(
  _ training: LocalTraining, _ algorithm: any LocalAlgorithm, _ batches: Range<Int>? = nil,
  from start: DeferredTraining.Start, isLast: Bool = true
) -> DeferredTraining {
  DeferredTraining(
    training, by: algorithm, batches: batches ?? 0..<training.batchCount, from: start,
    validation: [], isLast: isLast, kernels: .best)
}

/// A device's training of a model, after the one before.
private func next(
  _ training: LocalTraining, _ algorithm: any LocalAlgorithm, _ batches: Range<Int>? = nil,
  from model: ParameterBuffer = start, after last: [DeferredTraining] = []
) -> DeferredTraining {
  deferred(
    training, algorithm, batches,
    from: .continued(model, receiving: [], keeping: [], after: last))
}

extension DeferredTraining {
  fileprivate var end: Value { value(Scratch()) }
  /// What the training leaves on the device.
  fileprivate var kept: [Float] { end.auxiliaryOutput.kept[0].values }
}

private func dyn(_ alpha: Double) -> FedDyn {
  var settings = FedDyn.Settings()
  settings.alpha = alpha
  return FedDyn(settings)
}

private func ditto(_ lambda: Double, rate: Double? = nil) -> Ditto {
  var settings = Ditto.Settings()
  (settings.lambda, settings.learningRate) = (lambda, rate)
  return Ditto(settings)
}

private func mean(_ values: [ParameterBuffer]) -> ParameterBuffer {
  ParameterBuffer(
    (0..<8).map { i in
      Float(values.reduce(0.0) { $0 + Double($1[i]) } / Double(values.count))
    })
}

private func distance(_ a: [Float], _ b: [Float]) -> Double {
  zip(a, b).reduce(0.0) { $0 + Double($1.0 - $1.1) * Double($1.0 - $1.1) }.squareRoot()
}

private func expectClose(_ found: [Float], _ name: String) {
  let expected = dynamicNumbers.first { $0.name == name }!.values
  #expect(found.count == expected.count, "\(name)")
  for (place, value) in found.enumerated() {
    #expect(abs(Double(value) - expected[place]) < 3e-6, "\(name), \(place): \(value)")
  }
}

/// What some rounds of two devices give.
private struct Rounds {
  var models: [ParameterBuffer] = []
  var memories: [AnyMemory] = []
  /// What each device keeps after each round; the first model before its first training.
  var kept: [[Float]] = []

  /// Rounds of devices of three samples each; `turns` says who takes part.
  init(
    _ algorithm: any LocalAlgorithm, _ optimizer: any ServerOptimizer,
    turns: [[Int]] = [[0, 1], [0], [0, 1]], _ make: ([Int32]) -> LocalTraining
  ) {
    var (model, memory, last) = (start, optimizer.freshMemory(), [[DeferredTraining](), []])
    for turn in turns {
      for device in turn {
        let shard: [Int32] = device == 0 ? [0, 1, 2] : [3, 4, 5]
        last[device] = [next(make(shard), algorithm, from: model, after: last[device])]
      }
      model = optimizer.step(
        from: model,
        by: CombinedUpdate(
          mean(turn.map { last[$0][0].end.parameters }), .weights, updates: turn.count, devices: 2),
        with: &memory)
      models.append(model)
      memories.append(memory)
      kept += last.map { $0.first?.end.auxiliaryOutput.kept.first?.values ?? start.values }
    }
  }

  var values: [Float] { models.flatMap(\.values) }
  /// What FedDyn's server keeps.
  var sums: [ParameterBuffer] { memories.map { $0.value(ServerDynamics.Memory.self).sum! } }
}

private let server = ServerDynamics(.init())
private let plain = ServerSGD(.init())

@Suite("Trainings that learn from those before: FedDyn and Ditto")
struct DynamicTrainingTests {
  // MARK: FedDyn

  @Test("FedDyn's models, h and terms of three rounds are those of PyTorch")
  func dynamics() {
    let found = Rounds(dyn(0.3), server) { training($0) }
    expectClose(found.values, "models")
    expectClose(found.kept[4...].flatMap { $0 }, "terms")
    // The server keeps s = −h/α.
    let sums = found.sums.flatMap(\.values)
    expectClose(sums.map { Float(-0.3 * Double($0)) }, "server")
    let clipped = Rounds(dyn(0.3), server) {
      training(
        $0, optimizer: .sgd(learningRate: 0.5, momentum: 0.5), clipping: .norm(0.3))
    }
    expectClose(clipped.values, "models, clipped")
    expectClose(clipped.kept[4...].flatMap { $0 }, "terms, clipped")
  }

  @Test("As long as every update arrives h is the mean of the devices' terms")
  func invariant() {
    let turns = [[0], [1], [0, 1], [1], [0, 1]]
    let found = Rounds(dyn(0.3), server, turns: turns) { training($0) }
    // A device that has not trained yet has no term: from the second round on both have one.
    for round in 1..<turns.count {
      for i in 0..<8 {
        let h = -0.3 * Double(found.sums[round][i])
        let terms = Double(found.kept[2 * round][i]) + Double(found.kept[2 * round + 1][i])
        #expect(abs(h - terms / 2) < 1e-6, "round \(round), \(i)")
      }
    }
  }

  @Test("A device's first training is FedProx's bit for bit, and with a small α nearly SGD's")
  func first() {
    for alpha in [0.01, 0.3, 2] {
      var settings = FedProx.Settings()
      settings.mu = alpha
      let pulled = next(training(epochs: 3), FedProx(settings)).end.parameters
      #expect(next(training(epochs: 3), dyn(alpha)).end.parameters.values == pulled.values)
    }
    let free = next(training(epochs: 3), FedAvgLocal(.init())).end.parameters.values
    let distances = [1, 0.1, 0.01, 1e-6].map {
      distance(next(training(epochs: 3), dyn($0)).end.parameters.values, free)
    }
    #expect(zip(distances, distances.dropFirst()).allSatisfy { $0 > $1 }, "\(distances)")
    #expect(distances[3] < 1e-5)
  }

  @Test("Two devices that disagree reach the least mean loss, and FedAvg does not")
  func minimum() {
    let labels: [Int32] = [0, 1, 1, 0, 0, 0]
    func loss(_ algorithm: any LocalAlgorithm, _ optimizer: any ServerOptimizer) -> Double {
      let turns = [[Int]](repeating: [0, 1], count: 60)
      let found = Rounds(algorithm, optimizer, turns: turns) {
        training(
          $0, labels: labels, batchSize: 3, epochs: 10, optimizer: .sgd(learningRate: 0.3))
      }
      return deferred(training(labels: labels), algorithm, 0..<0, from: .parameters(start))
        .loss(of: found.models[59], Scratch()).meanLoss
    }
    let least = dynamicNumbers.first { $0.name == "losses" }!.values[1]
    #expect(abs(loss(dyn(0.3), server) - least) < 1e-6)
    #expect(loss(FedAvgLocal(.init()), plain) > least + 0.005)
  }

  @Test("A term follows the batches that ran, stays where none did and where one went astray")
  func partialWork() {
    let before = next(training(), dyn(0.3))
    let one = next(training(), dyn(0.3), 0..<1, after: [before])
    for i in 0..<8 {
      let way = Double(one.end.parameters[i]) - Double(start[i])
      #expect(abs(Double(one.kept[i]) - (Double(before.kept[i]) - 0.3 * way)) < 1e-7)
    }
    #expect(next(training(), dyn(0.3), 0..<0, after: [before]).kept == before.kept)
    let lost = ParameterBuffer([Float](repeating: .nan, count: 8))
    #expect(next(training(), dyn(0.3), from: lost, after: [before]).kept == before.kept)
  }

  @Test("The server's step by hand: the mean, and the sum of all before by their share")
  func step() {
    var memory = server.makeMemory()
    func step(_ now: Float, _ way: Float, _ updates: Int) -> Float {
      server.step(
        from: ParameterBuffer([now]),
        by: CombinedUpdate(ParameterBuffer([way]), .delta, updates: updates, devices: 4), &memory)[
          0]
    }
    // s: 2/4·2 = 1, then 1 − 4/4·4 = −3, then −3 + 1/4·8 = −1.
    #expect(step(10, 2, 2) == 13)
    #expect(step(13, -4, 4) == 6)
    #expect(step(6, 8, 1) == 13)
    #expect(memory.sum?.values == [-1])
  }

  // MARK: Ditto

  @Test("Ditto's shared models and the devices' own of three rounds are those of PyTorch")
  func personal() {
    let found = Rounds(ditto(0.6, rate: 0.25), plain) { training($0) }
    expectClose(found.values, "shared")
    expectClose(found.kept.flatMap { $0 }, "own")
    let clipped = Rounds(ditto(0.6), plain) {
      training(
        $0, optimizer: .sgd(learningRate: 0.5, momentum: 0.5), clipping: .norm(0.3))
    }
    expectClose(clipped.kept.flatMap { $0 }, "own, clipped")
  }

  @Test("Ditto's shared model is SGD's bit for bit, whatever the optimiser and the pull")
  func shared() {
    for optimizer in [
      Optimizer.sgd(learningRate: 0.5), .sgd(learningRate: 0.5, momentum: 0.9),
      .adam(learningRate: 0.1),
    ] {
      let free = Rounds(FedAvgLocal(.init()), plain) { training($0, optimizer: optimizer) }
      for lambda in [0, 0.7] {
        let found = Rounds(ditto(lambda), plain) { training($0, optimizer: optimizer) }
        #expect(found.values == free.values)
      }
    }
  }

  @Test("Without a pull a device's own model is that of training alone, bit for bit")
  func alone() {
    let found = Rounds(ditto(0), plain) { training($0) }
    var model = start
    for round in 0..<3 {
      model = next(training([0, 1, 2]), FedAvgLocal(.init()), from: model).end.parameters
      #expect(found.kept[2 * round] == model.values, "round \(round)")
    }
    #expect(found.models[2].values != model.values)
  }

  @Test("The stronger the pull, the nearer is a device's own model to the shared one")
  func pulled() {
    // Its own model is far away from the start.
    let before = next(training(epochs: 20), ditto(0))
    func left(_ lambda: Double, rate: Double? = nil) -> Double {
      let own = next(training(epochs: 4), ditto(lambda, rate: rate), after: [before]).kept
      return distance(own, start.values)
    }
    let distances = [0, 0.1, 0.5, 1.5].map { left($0) }
    #expect(zip(distances, distances.dropFirst()).allSatisfy { $0 > $1 }, "\(distances)")
    // With η·λ = 1 a step ends at b − η·g: by 0.001 times a gradient below 10 away.
    #expect(distance(before.kept, start.values) > 0.5)
    #expect(left(1000, rate: 0.001) < 0.01)
  }

  @Test("An own model that goes to infinity is what it was before")
  func astray() {
    let before = next(training(), ditto(0.5))
    let lost = next(training(epochs: 4), ditto(1e6, rate: 1e6), after: [before])
    #expect(lost.kept == before.kept)
    #expect(lost.end.parameters.isFinite)
  }

  // MARK: Both

  @Test("A training cut in two anywhere leaves the bits of the whole", arguments: 0..<4)
  func cuts(index: Int) {
    let algorithm: any LocalAlgorithm = index < 2 ? dyn(0.3) : ditto(0.6, rate: 0.25)
    let optimizer =
      index % 2 == 0 ? Optimizer.sgd(learningRate: 0.5) : .adam(learningRate: 0.1)
    let plan = training(epochs: 2, optimizer: optimizer)
    for earlier in [[], [next(training(), algorithm)]] {
      let beginning = DeferredTraining.Start.continued(
        start, receiving: [], keeping: [], after: earlier)
      let whole = deferred(plan, algorithm, from: beginning)
      for cut in 0...6 {
        let first = deferred(plan, algorithm, 0..<cut, from: beginning, isLast: false)
        let second = deferred(plan, algorithm, cut..<6, from: .checkpoint(first))
        #expect(whole.end.parameters.values == second.end.parameters.values, "cut at \(cut)")
        #expect(whole.kept == second.kept, "cut at \(cut)")
      }
    }
  }
}
