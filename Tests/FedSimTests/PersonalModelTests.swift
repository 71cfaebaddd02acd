import FedSim
import Learning
import Numerics
import Schema
import Testing

private let start: [Float] = [0.25, -0.125, 0.5, 0.75, 0.0625, -0.5]

private func task(_ algorithm: any LocalAlgorithm = FedAvgLocal(.init())) -> LearningTask {
  let tiny = LearningTask.tiny(initial: start)
  return LearningTask(
    network: tiny.network, initial: tiny.initial, train: tiny.train, test: tiny.test,
    partition: tiny.partition, plan: tiny.plan, algorithm: algorithm)
}

/// Two phones a/0 and a/1 that train in each of two windows; both updates make a version.
private func pair(
  _ algorithm: any LocalAlgorithm, _ change: (inout SimulationInputs) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    task(algorithm),
    fleet: [.group("a", count: 2, windows: [[0, 50_000, 55_000], [100_000, 150_000, 155_000]])])
  scene.threshold(2)
  scene.inputs.server.payload = .delta
  scene.inputs.server.aggregator = Choice(UniformMean.self) { $0 }
  change(&scene.inputs)
  return scene
}

/// The same with FedDyn's part at the server.
private func dynamicPair(_ change: (inout SimulationInputs) -> Void = { _ in }) -> Scene {
  pair(FedDyn(.init())) {
    $0.server.optimizer = Choice(ServerDynamics.self) { $0 }
    change(&$0)
  }
}

private func ditto(_ lambda: Double = 0.5) -> Ditto {
  var settings = Ditto.Settings()
  settings.lambda = lambda
  return Ditto(settings)
}

/// Each device's training of a model in an epoch, after the one before.
private func trained(
  _ algorithm: any LocalAlgorithm, from model: ParameterBuffer, epoch: UInt64,
  after last: [DeferredTraining] = []
) -> [DeferredTraining] {
  let task = task(algorithm)
  return (0..<2).map { device in
    let key = StreamKey(seed: 1, purpose: "batches", group: "a", ordinal: UInt32(device))
    let training = LocalTraining(
      network: task.network, dataset: task.train, shard: task.partition.shards[device],
      plan: task.plan, order: .keyed(key, firstSlot: epoch))
    return DeferredTraining(
      training, by: algorithm, batches: 0..<4,
      from: .continued(
        model, receiving: [], keeping: [], after: last.isEmpty ? [] : [last[device]]),
      validation: [], isLast: true, kernels: .best)
  }
}

extension DeferredTraining {
  fileprivate var end: Value { value(Scratch()) }
}

private func accuracy(_ model: ParameterBuffer, of device: Int) -> Double {
  let task = task()
  return Evaluation(
    of: task.network, parameters: model, dataset: task.train,
    samples: task.partition.shards[device], kernels: .best, scratch: Scratch()
  ).accuracy
}

@Suite("Models and terms that devices keep: FedDyn and Ditto in the engine")
struct PersonalModelTests {
  @Test("FedDyn's terms and sum go through the engine as by hand, in any mode of computing")
  func dynamics() {
    let algorithm = FedDyn(.init())
    let first = trained(algorithm, from: ParameterBuffer(start), epoch: 0)
    // Both of two devices: s = Δ, so that the first step is twice the mean difference.
    func mean(_ trainings: [DeferredTraining], _ now: [Double]) -> [Double] {
      (0..<6).map { i -> Double in
        let sum = trainings.reduce(0.0) { sum, training -> Double in
          sum + Double(training.end.parameters[i]) - now[i]
        }
        return sum / 2
      }
    }
    let begun = start.map { Double($0) }
    let way = mean(first, begun)
    let model = (0..<6).map { i -> Double in begun[i] + 2 * way[i] }
    for (threads, mode) in [(1, ComputeMode.lazy), (3, .lazy), (1, .eager)] {
      let played = dynamicPair {
        $0.pool = WorkerPool(threads: threads)
        $0.compute = mode
      }.play()
      #expect(played.simulation.version == 2)
      #expect(zip(played.model(1), model).allSatisfy { abs(Double($0) - $1) < 1e-6 })
      let second = trained(
        algorithm, from: ParameterBuffer(played.model(1)), epoch: 1, after: first)
      let now = played.model(1).map { Double($0) }
      let last = mean(second, now)
      let expected = (0..<6).map { i -> Double in now[i] + last[i] + way[i] + last[i] }
      #expect(zip(played.model(2), expected).allSatisfy { abs(Double($0) - $1) < 2e-6 })
      for device in 0..<2 {
        #expect(
          played.simulation.deviceRecords.trainingState(of: device).map(\.values)
            == second[device].end.auxiliaryOutput.kept.map(\.values))
      }
    }
  }

  @Test("Ditto is FedAvg on phones that take twice as long for a batch, bit for bit")
  func shared() {
    for mode in ComputeMode.allCases {
      let played = pair(ditto()) { $0.compute = mode }.play()
      let slow = pair(FedAvgLocal(.init())) {
        $0.compute = mode
        $0.fleet[0].compute.perBatch = $0.fleet[0].compute.perBatch * 2
      }.play()
      #expect(played.simulation.version == 2)
      #expect(played.model(1) == slow.model(1) && played.model(2) == slow.model(2))
      #expect(played.version(2).publishedAt == slow.version(2).publishedAt)
      #expect(played.version(2).trainingLoss == slow.version(2).trainingLoss)
      #expect("\(played.simulation.eventDigest)" == "\(slow.simulation.eventDigest)")
      #expect(played.simulation.books.ledgers.bytesUp == slow.simulation.books.ledgers.bytesUp)
      // On phones as fast as they are it would have been 4 s earlier in each window.
      let fast = pair(FedAvgLocal(.init())).play()
      #expect(played.version(1).publishedAt == fast.version(1).publishedAt + .seconds(4))
    }
  }

  @Test("Each device is evaluated with its own model, which goes with the app")
  func own() {
    let first = trained(ditto(), from: ParameterBuffer(start), epoch: 0)
    func play(_ change: (inout Scene) -> Void = { _ in }) -> Played {
      var scene = pair(ditto()) {
        $0.record.federatedEvaluation = FederatedEvaluationSettings()
      }
      change(&scene)
      return scene.play()
    }
    let played = play()
    let second = trained(
      ditto(), from: ParameterBuffer(played.model(1)), epoch: 1, after: first)
    let own = second.map { $0.end.auxiliaryOutput.kept[0] }
    for device in 0..<2 {
      #expect(
        played.simulation.deviceRecords.trainingState(of: device).map(\.values) == [
          own[device].values
        ])
    }
    #expect(own[0].values != played.model(2))
    let expected = (0..<2).map { accuracy(own[$0], of: $0) }
    #expect(played.simulation.serverRecord.federated().accuracies == expected)
    #expect(played.version(2).federated!.mean == (expected[0] + expected[1]) / 2)
    // Before anybody has trained it is the shared model.
    #expect(
      played.version(0).federated!.mean
        == (0..<2).reduce(0) { $0 + accuracy(ParameterBuffer(start), of: $1) } / 2)
    // An app that is removed takes its model along: the shared one is all that there is.
    let removed = play {
      $0.inject(.reinstall, "a/0", at: 300_000)
    }
    #expect(removed.simulation.deviceRecords.trainingState(of: 0).isEmpty)
    #expect(removed.simulation.deviceRecords.trainingState(of: 1).map(\.values) == [own[1].values])
    #expect(
      removed.simulation.serverRecord.federated().accuracies == [
        accuracy(ParameterBuffer(removed.model(2)), of: 0), expected[1],
      ])
  }

  @Test("An update that is lost moves what the device keeps, and not the server")
  func lost() {
    func play(_ scene: Scene) -> Simulation {
      var scene = scene
      scene.inputs.fleet[0].outbox.capacity = 0
      // The upload of a/0 breaks off; without an outbox it is dropped.
      scene.inject(.dropLink, "a/0", at: 9_000, lasting: .seconds(60))
      scene.inputs.stop.after = .seconds(90)
      return scene.play().simulation
    }
    let dynamic = play(dynamicPair())
    #expect(dynamic.version == 0)
    let terms = trained(FedDyn(.init()), from: ParameterBuffer(start), epoch: 0)
    #expect(
      dynamic.deviceRecords.trainingState(of: 0).map(\.values)
        == terms[0].end.auxiliaryOutput.kept.map(\.values))
    let personal = play(
      pair(ditto()) { $0.fleet[0].compute.perBatch = .milliseconds(500) })
    #expect(personal.version == 0)
    let own = trained(ditto(), from: ParameterBuffer(start), epoch: 0)
    #expect(
      personal.deviceRecords.trainingState(of: 0).map(\.values)
        == own[0].end.auxiliaryOutput.kept.map(\.values))
  }

  @Test("A device without memory or storage for a personal model declines")
  func unfit() {
    // Of 6 parameters SGD needs 2 buffers and 6 floats of one sample; Ditto what the training began
    // with and v more: 4·6 + 6 = 30 floats, in half of the memory. Stored are the model, a
    // checkpoint with v, 10 updates and v: 14·24 bytes.
    func reason(_ algorithm: any LocalAlgorithm, memory: Int64, storage: Int64) -> Unfitness? {
      pair(algorithm) {
        $0.fleet[0].hardware = .lab([
          Lab.choice {
            $0.memory = memory
            $0.freeStorage = storage
          }
        ])
      }.play().simulation.deviceRecords[0].hardware?.unfitness
    }
    #expect(reason(ditto(), memory: 240, storage: 336) == nil)
    #expect(reason(ditto(), memory: 239, storage: 336) == .memory)
    #expect(reason(ditto(), memory: 240, storage: 335) == .storage)
    #expect(reason(FedAvgLocal(.init()), memory: 144, storage: 288) == nil)
    #expect(reason(FedAvgLocal(.init()), memory: 143, storage: 288) == .memory)
  }

  @Test("Fine-tuning continues from a device's own model")
  func tuned() {
    func accuracies(_ algorithm: any LocalAlgorithm) -> [Double] {
      pair(algorithm) {
        $0.record.federatedEvaluation = FederatedEvaluationSettings()
        $0.record.federatedEvaluation!.fineTuning = FineTuningSettings()
        $0.record.federatedEvaluation!.fineTuning!.steps = 1
        $0.record.federatedEvaluation!.fineTuning!.learningRate = 1e-9
      }.play().simulation.serverRecord.federated().accuracies
    }
    // A step that changes nothing leaves each device its own model.
    let played = pair(ditto()) {
      $0.record.federatedEvaluation = FederatedEvaluationSettings()
    }.play()
    #expect(accuracies(ditto()) == played.simulation.serverRecord.federated().accuracies)
  }

  @Test("Runs that are saved on the way and resumed are the same", arguments: [0, 1])
  func saved(index: Int) throws {
    var inputs = (index == 0 ? dynamicPair() : pair(ditto())).inputs
    inputs.record.federatedEvaluation = FederatedEvaluationSettings()
    // A checkpoint is on its way, too.
    inputs.fleet[0].interruption.onExpiry = .checkpoint
    inputs.fleet[0].background.windows = .fixed(
      [[0, 6_000, 7_500], [20_000, 50_000, 55_000], [100_000, 150_000, 155_000]].map {
        (from: $0[0], soft: Optional($0[1]), to: $0[2], state: nil)
      })
    let whole = try Stretches(inputs, stops: [])
    let parts = try Stretches(inputs, stops: Array(1..<whole.turns))
    #expect(parts.archives.count > 5)
    Stretches.expectSame(whole.found, parts.found)
  }
}
