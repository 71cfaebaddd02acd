import Learning
import Numerics
import Testing

/// Optimisers, schedules and clipping through whole trainings.
@Suite struct OptimizerTests {
  private let dataset = Dataset(
    features: .floats([
      0.5, -1, 2, 1.5, 0.25, -0.75, -0.5, 1, 1, 2, -0.125, 0.5, 0, 0.75, -1.5, 1, 1, 0.25,
    ]), sampleShape: [3], labels: [0, 1, 1, 0, 1, 0], classCount: 2)

  private func plan(_ name: String) -> TrainingPlan {
    var optimizer = Optimizer.sgd(learningRate: 0.5)
    var schedule = LearningRateSchedule.constant
    var clipping: GradientClipping?
    switch name {
    case "weight decay": optimizer.weightDecay = 0.1
    case "momentum": optimizer = .sgd(learningRate: 0.5, momentum: 0.9, weightDecay: 0.01)
    case "nesterov": optimizer = .sgd(learningRate: 0.5, momentum: 0.9, nesterov: true)
    case "adam": optimizer = .adam(learningRate: 0.1, weightDecay: 0.01)
    case "clipped norm": clipping = .norm(0.3)
    case "clipped value": clipping = .value(0.1)
    case "cosine": schedule = .cosine(minimum: 0)
    case "exponential": schedule = .exponential(factor: 0.8)
    case "step": schedule = .step(every: 2, factor: 0.1)
    default: break
    }
    return TrainingPlan(
      length: .epochs(1), batchSize: 2, optimizer: optimizer, schedule: schedule,
      clipping: clipping)
  }

  private func training(_ plan: TrainingPlan) -> LocalTraining {
    LocalTraining(
      network: .softmaxRegression(inputCount: 3, classCount: 2), dataset: dataset,
      shard: [0, 1, 2, 3, 4, 5], plan: plan,
      order: .explicit([[Int32]](repeating: [0, 1, 2, 3, 4, 5], count: 4)))
  }

  private let start = DeviceMemory(
    parameters: ParameterBuffer([0.1, -0.2, 0.3, 0.05, -0.15, 0.25, 0.01, -0.02]))

  @Test("three steps end in the numbers of NumPy", arguments: optimizerNumbers.indices)
  func numPy(index: Int) {
    let (name, expected) = optimizerNumbers[index]
    let outcome = training(plan(name)).run(
      0..<3, from: start, kernels: .best, scratch: Scratch())
    for (value, expected) in zip(outcome.parameters.values, expected) {
      #expect(abs(Double(value) - expected) < 1e-6, "\(name)")
    }
  }

  @Test("a training cut in two anywhere ends in the bits of the whole, on all bodies")
  func cuts() {
    for (name, _) in optimizerNumbers {
      var plan = plan(name)
      plan = TrainingPlan(
        length: .steps(8), batchSize: 2, optimizer: plan.optimizer, schedule: plan.schedule,
        clipping: plan.clipping)
      let training = training(plan)
      let whole = training.run(0..<8, from: start, kernels: .best, scratch: Scratch())
      for body in KernelBody.allCases.compactMap({ Kernels($0) }) {
        for cut in 0...8 {
          let first = training.run(0..<cut, from: start, kernels: body, scratch: Scratch())
          let second = training.run(
            cut..<8, from: first.memory, lossSum: first.lossSum, kernels: body,
            scratch: Scratch())
          #expect(firstDifference(whole.parameters, second.parameters) == nil, "\(name), \(cut)")
          #expect(whole.lossSum == second.lossSum)
        }
      }
    }
  }

  @Test("steps run over as many epochs as they need")
  func steps() {
    let plan = TrainingPlan(length: .steps(7), batchSize: 10, optimizer: .sgd(learningRate: 1))
    #expect(plan.batchCount(shardCount: 25) == 7)
    #expect(plan.batchCount(shardCount: 0) == 0)
    #expect(plan.epochs(shardCount: 25) == 3)  // 3 batches an epoch: 3 + 3 + 1.
    #expect(plan.epochs(shardCount: 70) == 1)
    #expect(plan.epochs(shardCount: 0) == 0)
    #expect(plan.samples(inBatches: 0..<7, shardCount: 25) == 60)
  }

  @Test("schedules have the factors worked out by hand")
  func schedules() {
    #expect(LearningRateSchedule.constant.factor(step: 5, of: 9) == 1)
    #expect(LearningRateSchedule.step(every: 3, factor: 0.5).factor(step: 7, of: 9) == 0.25)
    #expect(LearningRateSchedule.exponential(factor: 0.5).factor(step: 3, of: 9) == 0.125)
    let cosine = LearningRateSchedule.cosine(minimum: 0.2)
    let expected = [1.0, 0.8828427124746191, 0.6, 0.3171572875253810, 0.2]
    for (step, expected) in expected.enumerated() {
      #expect(abs(cosine.factor(step: step, of: 4) - expected) < 1e-15)
    }
  }

  @Test("dropout draws by device, epoch and batch, and not in evaluation")
  func dropout() throws {
    let network = try Network(
      sampleShape: [30],
      layers: [
        .dense(outputs: 40, activation: .relu), .dropout(rate: 0.25),
        .dense(outputs: 5, activation: .identity),
      ])
    let data = byteDataset(count: 40)
    func run(
      firstSlot: UInt64, ordinal: UInt32 = 0, _ batches: Range<Int> = 0..<4, epochs: Int = 1,
      from memory: DeviceMemory? = nil, kernels: Kernels = .best
    ) -> TrainingOutcome {
      LocalTraining(
        network: network, dataset: data, shard: (0..<40).map { $0 },
        plan: TrainingPlan(epochs: epochs, batchSize: 10, learningRate: 0.1),
        order: .explicit((0..<epochs).map { _ in (0..<40).map { $0 } }),
        noise: .init(
          key: StreamKey(seed: 1, purpose: "batches", ordinal: ordinal), firstSlot: firstSlot)
      ).run(
        batches, from: memory ?? .init(parameters: network.initialParameters(testStream(1))),
        kernels: kernels, scratch: Scratch())
    }
    let first = run(firstSlot: 3)
    #expect(firstDifference(first.parameters, run(firstSlot: 3).parameters) == nil)
    let half = run(firstSlot: 3, 0..<2)
    let rest = run(firstSlot: 3, 2..<4, from: half.memory)
    #expect(firstDifference(first.parameters, rest.parameters) == nil)
    for body in KernelBody.allCases.compactMap({ Kernels($0) }) {
      #expect(
        firstDifference(first.parameters, run(firstSlot: 3, kernels: body).parameters) == nil)
    }
    // The second of two epochs has the masks of the slot behind, and not those of the first.
    let two = run(firstSlot: 3, 0..<8, epochs: 2).parameters
    #expect(firstDifference(two, run(firstSlot: 4, from: first.memory).parameters) == nil)
    #expect(firstDifference(two, run(firstSlot: 3, from: first.memory).parameters) != nil)
    #expect(firstDifference(first.parameters, run(firstSlot: 4).parameters) != nil)
    #expect(firstDifference(first.parameters, run(firstSlot: 3, ordinal: 1).parameters) != nil)

    // With no dropout the outputs are the same as without the layer.
    let plain = Network(
      inputCount: 30,
      layers: [.dense(outputs: 40, activation: .relu), .dense(outputs: 5, activation: .identity)])
    let inputs = data.gather((0..<5).map { $0 }, kernels: .best)
    #expect(
      network.outputs(inputs: inputs, parameters: first.parameters, kernels: .best)
        == plain.outputs(inputs: inputs, parameters: first.parameters, kernels: .best))
  }

  @Test("about the rate's share is dropped, and the rest makes up for it")
  func dropoutShare() throws {
    // One input of 1, 4,000 weights of 1 through dropout, summed: 4,000 on average.
    let network = try Network(
      sampleShape: [1],
      layers: [
        .dense(outputs: 4000, activation: .identity), .dropout(rate: 0.25),
        .dense(outputs: 2, activation: .identity),
      ], loss: .meanSquaredError)
    var values = [Float](repeating: 0, count: network.layout.count)
    for index in 0..<4000 { values[index] = 1 }
    let data = Dataset(features: .floats([1]), sampleShape: [1], labels: [0], classCount: 2)
    let outcome = LocalTraining(
      network: network, dataset: data, shard: [0],
      plan: TrainingPlan(epochs: 1, batchSize: 1, learningRate: 1),
      order: .keyed(StreamKey(seed: 4, purpose: "batches"), firstSlot: 0)
    ).run(
      0..<1, from: .init(parameters: ParameterBuffer(values)), kernels: .best, scratch: Scratch())
    // Outputs are 0: δ = (-1, 0); a weight of the last layer moves by the unit's value, 0 or 4/3.
    let weight = try #require(network.layout["dense2.weight"])
    let last = outcome.parameters.values(of: weight)
    let moved = (0..<4000).map { last[2 * $0] }
    #expect(moved.allSatisfy { $0 == 0 || abs($0 - 4 / 3) < 1e-6 })
    let dropped = moved.count { $0 == 0 }
    #expect((880...1120).contains(dropped))  // 1,000 ± 4.4 standard deviations of 27.
  }

  @Test("frozen layers keep their bits, whatever the optimiser")
  func frozen() throws {
    let network = try Network(
      sampleShape: [30],
      layers: [
        .frozen(.dense(outputs: 8, activation: .relu)), .dense(outputs: 6, activation: .relu),
        .frozen(.dense(outputs: 5, activation: .identity)),
      ])
    #expect(network.layout.updatableRanges == [248..<302])
    let start = DeviceMemory(parameters: network.initialParameters(testStream(1)))
    for optimizer in [Optimizer.sgd(learningRate: 0.1), .adam(learningRate: 0.1)] {
      let outcome = LocalTraining(
        network: network, dataset: byteDataset(count: 40), shard: (0..<40).map { $0 },
        plan: TrainingPlan(length: .epochs(2), batchSize: 7, optimizer: optimizer),
        order: .keyed(StreamKey(seed: 1, purpose: "batches"), firstSlot: 0)
      ).run(0..<12, from: start, kernels: .best, scratch: Scratch())
      for index in 0..<network.layout.count where !(248..<302).contains(index) {
        #expect(outcome.parameters[index] == start.parameters[index])
      }
      #expect((248..<302).contains { outcome.parameters[$0] != start.parameters[$0] })
    }
  }
}
