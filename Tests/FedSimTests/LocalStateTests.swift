import FedSim
import Learning
import Numerics
import Schema
import Testing

/// Two phones a/0 and a/1 that train in each of two windows; both updates make a version.
private func pair(
  _ task: LearningTask, _ change: (inout SimulationInputs) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    task,
    fleet: [.group("a", count: 2, windows: [[0, 50_000, 55_000], [100_000, 150_000, 155_000]])])
  scene.threshold(2)
  change(&scene.inputs)
  return scene
}

extension LearningTask {
  /// The same with another way to train, and perhaps another network.
  fileprivate func with(
    _ algorithm: any LocalAlgorithm, network: Network? = nil, initial: [Float]? = nil
  ) -> LearningTask {
    LearningTask(
      network: network ?? self.network,
      initial: initial.map { ParameterBuffer($0) } ?? self.initial,
      train: train, test: test, partition: partition, plan: plan, algorithm: algorithm)
  }
}

private let start: [Float] = [0.25, -0.125, 0.5, 0.75, 0.0625, -0.5]

@Suite("What local algorithms keep on devices")
struct LocalStateTests {
  // MARK: SCAFFOLD

  /// Two rounds of SCAFFOLD on both devices, without the engine.
  private func byHand(
    _ task: LearningTask
  ) -> (model: [Double], server: [Float], own: [[Float]]) {
    var (model, variates, last) = (task.initial, [ParameterBuffer](), [[DeferredTraining](), []])
    for epoch in 0..<2 {
      for device in 0..<2 {
        let key = StreamKey(
          seed: 1, purpose: "batches", group: "a", ordinal: UInt32(device))
        let training = LocalTraining(
          network: task.network, dataset: task.train, shard: task.partition.shards[device],
          plan: task.plan, order: .keyed(key, firstSlot: UInt64(epoch)))
        last[device] = [
          DeferredTraining(
            training, by: Scaffold(.init()), batches: 0..<4,
            from: .continued(model, receiving: variates, keeping: [], after: last[device]),
            validation: [], isLast: true, kernels: .best)
        ]
      }
      let values = last.map { $0[0].value(Scratch()) }
      variates = Scaffold(.init()).companions(
        after: variates, sent: values.map(\.auxiliaryOutput.sent), devices: 2,
        pool: WorkerPool(threads: 1))
      let now = model
      model = ParameterBuffer(
        (0..<6).map { i in
          let changes = values.map { Double($0.parameters[i]) - Double(now[i]) }
          return Float(Double(now[i]) + Double(Float(0.5 * changes[0] + 0.5 * changes[1])))
        })
    }
    return (
      model.values.map { Double($0) }, variates[0].values,
      last.map { $0[0].value(Scratch()).auxiliaryOutput.kept[0].values }
    )
  }

  @Test("Variates go through the engine as through the algorithm, in any mode of computing")
  func scaffold() {
    let task = LearningTask.tiny(initial: start).with(Scaffold(.init()))
    let expected = byHand(task)
    for (threads, mode) in [(1, ComputeMode.lazy), (3, .lazy), (1, .eager)] {
      let played = pair(task) {
        $0.server.payload = .delta
        $0.server.aggregator = Choice(UniformMean.self) { $0 }
        $0.pool = WorkerPool(threads: threads)
        $0.compute = mode
      }.play()
      #expect(played.simulation.version == 2)
      let close = zip(played.model(2), expected.model).allSatisfy { abs(Double($0) - $1) < 1e-6 }
      #expect(close, "\(played.model(2)), expected \(expected.model)")
      #expect(played.simulation.serverRecord.companions.map(\.values) == [expected.server])
      for device in 0..<2 {
        #expect(
          played.simulation.deviceRecords.trainingState(of: device).map(\.values) == [
            expected.own[device]
          ])
      }
    }
  }

  @Test("A variate takes as many bytes again each way as the model")
  func wire() {
    func bytes(_ algorithm: any LocalAlgorithm) -> (up: Int64, down: Int64) {
      let ledgers = pair(.tiny().with(algorithm)).play().simulation.books.ledgers
      return (ledgers.bytesUp, ledgers.bytesDown)
    }
    let (plain, scaffold) = (bytes(FedAvgLocal(.init())), bytes(Scaffold(.init())))
    // Two devices, two rounds, 6 parameters of 50 bytes.
    #expect(scaffold.up - plain.up == 4 * 300)
    #expect(scaffold.down - plain.down == 4 * 300)
  }

  @Test(
    "A device's variate is its training's, whatever becomes of the update; an app removed loses it")
  func commit() {
    var scene = pair(.tiny(initial: start).with(Scaffold(.init()))) {
      $0.fleet[0].outbox.capacity = 0
    }
    // With a variate the upload of a/0 runs from 8.640 to 10.240; without an outbox it is dropped.
    scene.inject(.dropLink, "a/0", at: 9_000, lasting: .seconds(60))
    scene.inputs.stop.after = .seconds(90)
    let lost = scene.play().simulation
    #expect(lost.version == 0)
    #expect(lost.serverRecord.companions.isEmpty)
    #expect(lost.deviceRecords.trainingState(of: 0).count == 1)
    // From variates of zero the training is SGD, and cᵢ = (x - y)/(K·η) = (x - y)/(4·0.5).
    let trained = directTraining(.tiny(initial: start), 0..<4, from: start, group: "a", client: 0)
    let own = lost.deviceRecords.trainingState(of: 0)[0].values
    #expect(own.contains { $0 != 0 })
    for i in 0..<6 {
      let expected = (Double(start[i]) - Double(trained[i])) / 2
      #expect(abs(Double(own[i]) - expected) < 1e-6)
    }
    scene.inject(.reinstall, "a/0", at: 80_000)
    let removed = scene.play().simulation
    #expect(removed.deviceRecords.trainingState(of: 0).isEmpty)
    #expect(
      removed.deviceRecords.trainingState(of: 1).map(\.values)
        == lost.deviceRecords.trainingState(of: 1).map(\.values))
  }

  // MARK: Batch normalisation

  /// 4 parameters of a dense layer of 2 to 2, and its bias; 8 of a normalisation.
  private func batchTask(_ algorithm: any LocalAlgorithm) throws -> LearningTask {
    LearningTask.tiny(samples: Array(repeating: 8, count: 8), batchSize: 2).with(
      algorithm,
      network: try Network(
        sampleShape: [2],
        layers: [
          .dense(outputs: 2, activation: .identity),
          .batchNormalisation(epsilon: 0.1, momentum: 0.5),
        ]),
      initial: [0.5, -0.25, 0.125, 1, 0, 0.25, 1, 1, 0, 0.5, 0.25, 0, 1, 2])
  }

  /// What both devices train in an epoch.
  private func trained(_ task: LearningTask, _ starts: [[Float]], epoch: UInt64) -> [[Float]] {
    (0..<2).map { device in
      directTraining(
        task, 0..<4, from: starts[device], group: "a", client: device, ordinal: UInt32(device),
        firstEpoch: epoch)
    }
  }

  @Test(
    "Batch normalisation, or its statistics alone, is each device's own; the rest is averaged",
    arguments: [(LocalNeeds.Normalisation.layers, 6), (.statistics, 10), (nil, 14)])
  func batchNormalisation(keeps: LocalNeeds.Normalisation?, shared: Int) throws {
    var settings = FedBN.Settings()
    settings.keeps = keeps ?? .layers
    let task = try batchTask(
      keeps == nil ? FedAvgLocal(NoSettings()) : FedBN(settings))
    let initial = task.initial.values
    let played = pair(task) { _ in }.play()
    func averaged(_ models: [[Float]]) -> [Float] {
      (0..<shared).map { Float(0.5 * Double(models[0][$0]) + 0.5 * Double(models[1][$0])) }
        + initial[shared...]
    }
    let first = trained(task, [initial, initial], epoch: 0)
    #expect(zip(first[0][10...], initial[10...]).allSatisfy { $0 != $1 })
    let model = averaged(first)
    #expect(played.model(1) == model)
    let second = trained(
      task, first.map { Array(model[..<shared]) + Array($0[shared...]) }, epoch: 1)
    #expect(played.model(2) == averaged(second))
  }

  @Test(
    "A server optimizer moves parameters; statistics become the mean, unless the step is a mean",
    arguments: [Payload.weights, .delta])
  func statisticsAtTheServer(payload: Payload) throws {
    let task = try batchTask(FedAvgLocal(NoSettings()))
    let initial = task.initial.values
    let models = trained(task, [initial, initial], epoch: 0)
    let mean = initial.indices.map { 0.5 * Double(models[0][$0]) + 0.5 * Double(models[1][$0]) }
    func version(_ optimizer: Choice<any ServerOptimizer>) -> [Float] {
      pair(task) {
        $0.server.payload = payload
        $0.server.optimizer = optimizer
      }.play().model(1)
    }
    var half = ServerSGD.Settings()
    half.learningRate = 0.5
    let stepped = version(Choice(ServerSGD.self, half) { $0 })
    var mixing = Mixing.Settings()
    mixing.alpha = 0.5
    let mixed = version(Choice(Mixing.self, mixing) { $0 })
    for (place, start) in initial.enumerated() {
      let middle = (Double(start) + mean[place]) / 2
      #expect(abs(Double(mixed[place]) - middle) < 1e-6)
      #expect(abs(Double(stepped[place]) - (place < 10 ? middle : mean[place])) < 1e-6)
    }
  }

  // MARK: Personal layers

  private let network = try! Network(
    sampleShape: [2],
    layers: [.dense(outputs: 3, activation: .relu), .dense(outputs: 2, activation: .identity)])

  /// 2·3 + 3 parameters that travel, 3·2 + 2 that stay.
  private var personalTask: LearningTask {
    var settings = PersonalLayers.Settings()
    settings.layers = ["dense2"]
    return LearningTask.tiny().with(
      PersonalLayers(settings), network: network,
      initial: (0..<17).map { Float($0 * 7 % 11 - 5) / 8 })
  }

  /// What both devices train in an epoch.
  private func trained(_ starts: [[Float]], epoch: UInt64) -> [[Float]] {
    (0..<2).map { device in
      directTraining(
        personalTask, 0..<4, from: starts[device], group: "a", client: device,
        ordinal: UInt32(device), firstEpoch: epoch)
    }
  }

  private func mean(_ models: [[Float]], _ initial: [Float]) -> [Float] {
    (0..<9).map { Float(0.5 * Double(models[0][$0]) + 0.5 * Double(models[1][$0])) }
      + initial[9...]
  }

  @Test("Layers that stay are each device's own; the others are averaged, and the server's stay")
  func personal() {
    let initial = personalTask.initial.values
    let played = pair(personalTask) {
      $0.record.federatedEvaluation = FederatedEvaluationSettings()
    }.play()
    let first = trained([initial, initial], epoch: 0)
    let model = mean(first, initial)
    #expect(played.model(1) == model)
    let second = trained(first.map { Array(model[..<9]) + Array($0[9...]) }, epoch: 1)
    let last = mean(second, initial)
    #expect(played.model(2) == last)
    // Each device is evaluated with its own layers, on its training samples for lack of others.
    let accuracies = (0..<2).map { device in
      Evaluation(
        of: network, parameters: ParameterBuffer(Array(last[..<9]) + Array(second[device][9...])),
        dataset: personalTask.train, samples: personalTask.partition.shards[device],
        kernels: .best, scratch: Scratch()
      ).accuracy
    }
    #expect(played.simulation.serverRecord.federated().accuracies == accuracies)
    // 9 of 17 parameters of 50 bytes travel.
    let whole = pair(personalTask.with(FedAvgLocal(.init()))).play().simulation
    #expect(whole.books.ledgers.bytesUp - played.simulation.books.ledgers.bytesUp == 4 * 8 * 50)
  }

  @Test("A device that is evaluated after some steps has taken them on its own samples")
  func fineTuning() {
    let task = LearningTask.tiny(initial: start, validation: 2)
    let played = pair(task) {
      $0.record.federatedEvaluation = FederatedEvaluationSettings()
      $0.record.federatedEvaluation!.fineTuning = FineTuningSettings()
      $0.record.federatedEvaluation!.fineTuning!.steps = 3
      $0.record.federatedEvaluation!.fineTuning!.learningRate = 0.25
    }.play()
    let plan = TrainingPlan(
      length: .steps(3), batchSize: 1, optimizer: .sgd(learningRate: 0.25))
    let expected = (0..<2).map { device in
      let key = StreamKey(seed: 1, purpose: "fine-tuning", group: "a", ordinal: UInt32(device))
      let tuned = LocalTraining(
        network: task.network, dataset: task.train, shard: task.partition.shards[device],
        plan: plan, order: .keyed(key, firstSlot: 0)
      ).run(
        0..<3, from: DeviceMemory(parameters: ParameterBuffer(played.model(2))), kernels: .best,
        scratch: Scratch())
      return Evaluation(
        of: task.network, parameters: tuned.parameters, dataset: task.train,
        samples: task.partition.validation[device], kernels: .best, scratch: Scratch()
      ).accuracy
    }
    #expect(played.simulation.serverRecord.federated().accuracies == expected)
    #expect(played.version(2).federated!.mean == (expected[0] + expected[1]) / 2)
    // The model itself is what it would be.
    #expect(pair(task).play().model(2) == played.model(2))
  }

  // MARK: FedNova

  @Test("FedNova: equal steps are FedAvg bit for bit; others count by the length of their training")
  func normalised() {
    let mean = NormalisedMean(NormalisedMean.Settings())
    func facts(_ steps: [Double], _ samples: [Int] = [1, 3]) -> [UpdateFacts] {
      zip(steps, samples).map { UpdateFacts(samples: $1, staleness: 0, stepSum: $0) }
    }
    #expect(
      mean.weights(of: facts([5, 5])) == SampleWeightedMean(.init()).weights(of: facts([5, 5])))
    // p = 1/4 and 3/4, 2 and 4 steps: τ_eff = 2/4 + 12/4 = 3.5; 3.5/4/2 and 3.5·3/4/4.
    #expect(mean.weights(of: facts([2, 4]))! == [0.4375, 0.65625])
    // With a pull the steps themselves are the length: 2/4 + 12/4 over sums of 1.5 and 2.5.
    let pulled = [
      UpdateFacts(samples: 1, staleness: 0, stepSum: 1.5, effectiveSteps: 2),
      UpdateFacts(samples: 3, staleness: 0, stepSum: 2.5, effectiveSteps: 4),
    ]
    let weights = mean.weights(of: pulled)!
    #expect(abs(weights[0] - 3.5 / 4 / 1.5) < 1e-15 && abs(weights[1] - 3.5 * 0.75 / 2.5) < 1e-15)
    // In the engine: 4 and 8 samples in batches of one.
    let task = LearningTask.tiny(samples: [4, 8, 4, 4, 4, 4, 4, 4], initial: start)
    let played = pair(task) {
      $0.server.payload = .delta
      $0.server.aggregator = Choice(NormalisedMean.self) { $0 }
    }.play()
    let trained = (0..<2).map { device in
      directTraining(
        task, 0..<(device == 0 ? 4 : 8), from: start, group: "a", client: device,
        ordinal: UInt32(device))
    }
    // p = 1/3 and 2/3: τ_eff = 4/3 + 16/3 = 20/3; weights 20/36 each.
    let expected = (0..<6).map { i in
      Double(start[i]) + 5.0 / 9 * trained.reduce(0) { $0 + Double($1[i]) - Double(start[i]) }
    }
    #expect(played.model(1).count == 6)
    #expect(zip(played.model(1), expected).allSatisfy { abs(Double($0) - $1) < 1e-6 })
  }
}
