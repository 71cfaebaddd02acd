import FedSim
import Learning
import Testing

/// Softmax regression on one feature with logits (0, x): class 1 where x > 0, else class 0.
///
/// Sample i of the pool has x = ±1; a label that the sign gets wrong is a wrong answer.
private func task(
  right: [Bool], shards: [[Int32]], validation: [[Int32]]? = nil, tests: [[Int32]] = [],
  testRight: [Bool] = [true]
) -> LearningTask {
  func data(_ right: [Bool]) -> Dataset {
    let signs = right.indices.map { $0 % 2 == 0 ? Float(1) : -1 }
    return Dataset(
      features: .floats(signs), sampleShape: [1],
      labels: zip(signs, right).map { ($0 > 0) == $1 ? 1 : 0 }, classCount: 2)
  }
  return LearningTask(
    network: .softmaxRegression(inputCount: 1, classCount: 2),
    initial: ParameterBuffer([0, 1, 0, 0]), train: data(right), test: data(testRight),
    partition: Partition(shards: shards, validation: validation ?? shards.map { _ in [] }),
    plan: TrainingPlan(epochs: 1, batchSize: 1, learningRate: 0.5), clientTests: tests)
}

private func evaluation(_ correct: Int, of count: Int) -> Evaluation {
  Evaluation(count: count, correct: correct, lossSum: 0)
}

@Suite("Federated evaluation")
struct FederatedEvaluationTests {
  @Test("Mean, weighted mean, tenths and spread of three devices are those worked out by hand")
  func byHand() {
    // Accuracies 1, 1/2 and 0 of 1, 2 and 5 samples; a device without samples does not count.
    let found = FederatedEvaluation([
      evaluation(1, of: 1), evaluation(0, of: 0), evaluation(1, of: 2), evaluation(0, of: 5),
    ])
    #expect(found.accuracies.map { $0.isNaN ? -1 : $0 } == [1, -1, 0.5, 0])
    let summary = found.summary
    #expect(summary.devices == 3)
    #expect(summary.mean == 0.5)
    #expect(summary.weightedMean == 2.0 / 8)
    // ceil(3/10) = 1 device.
    #expect(summary.worstTenth == 0 && summary.bestTenth == 1)
    // The squares of 1/2, 0 and -1/2 sum to 1/2, a third of which is 1/6.
    #expect(abs(summary.standardDeviation * summary.standardDeviation - 1.0 / 6) < 1e-15)
  }

  @Test("A tenth of eleven devices is the mean of two, of ten devices one")
  func tenths() {
    // Accuracies 0/16, 1/16, … 10/16, the order mixed.
    let eleven = [7, 3, 10, 0, 5, 1, 9, 2, 8, 4, 6].map { evaluation($0, of: 16) }
    let summary = FederatedEvaluation(eleven).summary
    #expect(summary.worstTenth == 0.5 / 16 && summary.bestTenth == 9.5 / 16)
    #expect(summary.mean == 5.0 / 16)
    // The mean square of -5 … 5 is 10.
    #expect(abs(summary.standardDeviation - 10.0.squareRoot() / 16) < 1e-15)
    let ten = FederatedEvaluation(eleven.filter { $0.correct < 10 }).summary
    #expect(ten.worstTenth == 0 && ten.bestTenth == 9.0 / 16)
  }

  @Test("Nobody with samples: no number that looks right")
  func nobody() {
    let summary = FederatedEvaluation([evaluation(0, of: 0)]).summary
    #expect(summary.devices == 0)
    #expect(summary.mean.isNaN && summary.worstTenth.isNaN && summary.standardDeviation.isNaN)
    #expect(summary.weightedMean.isNaN && summary.bestTenth.isNaN)
  }

  @Test("A device is evaluated on its test samples, else its validation, else its training samples")
  func samples() {
    // Training pool: client 0 has 0, 1; client 1 has 2 and keeps back 3, 4; client 2 has 5.
    // Test set: sample 1 is client 0's and wrong.
    let task = task(
      right: [true, true, true, true, false, true], shards: [[0, 1], [2], [5]],
      validation: [[], [3, 4], []], tests: [[1], [], []], testRight: [true, false])
    #expect((0..<3).map { task.heldOut(by: $0).samples } == [.test, .validation, .training])
    // Four devices: the fourth has client 0's data again.
    let simulation = Simulation(Scene(task, fleet: [.group(count: 4)]).inputs)
    let found = simulation.serverRecord.federated()
    #expect(found.accuracies == [0, 0.5, 1, 0])
    #expect(found.summary.devices == 4)
    // Samples evaluated: 1, 2, 1, 1; right answers: 0, 1, 1, 0.
    #expect(found.summary.weightedMean == 2.0 / 5)
  }

  @Test("It is done when it is due, for version 0 and the last one, and is the published model's")
  func schedule() {
    var scene = Scene(fleet: [.group(count: 8, windows: [[0, 50_000, 55_000]])])
    scene.inputs.stop.versions = 7
    scene.threshold(1)
    scene.inputs.record.federatedEvaluation = FederatedEvaluationSettings()
    scene.inputs.record.federatedEvaluation?.every.versions = 3
    let played = scene.play()
    #expect(
      played.tape.versions.map { $0.federated != nil } == [
        true, false, false, true, false, false, true, true,
      ])
    // With one update a version and four samples a device, accuracies are fourths.
    for version in [3, 7] {
      var inputs = scene.inputs
      inputs.task = LearningTask.tiny(initial: played.model(version))
      let again = Simulation(inputs).serverRecord.federated()
      #expect(again.summary == played.version(version).federated)
      #expect(again.accuracies.allSatisfy { ($0 * 4).rounded() == $0 * 4 })
    }
    #expect(
      played.simulation.serverRecord.federatedEvaluation?.summary == played.version(7).federated)
    // Nobody asks, nobody evaluates.
    scene.inputs.record.federatedEvaluation = nil
    #expect(scene.play().tape.versions.allSatisfy { $0.federated == nil })
  }
}

@Suite("Evaluation of many lists")
struct ListEvaluationTests {
  @Test("One, two and three threads give the bits of evaluating list after list")
  func threads() {
    let count = 5000
    let features = (0..<2 * count).map { i -> Float in
      let parts = i * 37 % 101 - 50
      return Float(parts) / 32
    }
    let data = Dataset(
      features: .floats(features), sampleShape: [2], labels: (0..<count).map { Int32($0 % 3) },
      classCount: 3)
    let network = Network.softmaxRegression(inputCount: 2, classCount: 3)
    let parameters = ParameterBuffer([0.5, -0.25, 1, 0.75, -1, 0.125, 0, 0.25, -0.5])
    // Lists of 0, 1, 999, 1000, 1001 and 2500 samples.
    var next: Int32 = 0
    let lists = [0, 1, 999, 1000, 1001, 2500].map { size -> [Int32] in
      defer { next = (next + Int32(size)) % 2000 }
      return (0..<Int32(size)).map { (next + $0) % Int32(count) }
    }
    let expected = lists.map {
      Evaluation(
        of: network, parameters: parameters, dataset: data, samples: $0, kernels: .best,
        scratch: Scratch())
    }
    for threads in 1...3 {
      let found = Evaluation.each(
        of: network, parameters: parameters, dataset: data, lists: lists, kernels: .best,
        pool: WorkerPool(threads: threads))
      #expect(found == expected)
    }
    #expect(expected[0].count == 0 && expected[5].correct > 0)
  }
}
