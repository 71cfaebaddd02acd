import FedSim
import Learning
import Testing

@Suite("The digest of a task's data")
struct TaskDigestTests {
  /// A task of four samples, two test samples and two clients.
  private struct Data {
    var features: [Float] = [1, -1, 1, -1]
    var labels: [Int32] = [1, 0, 1, 0]
    var testFeatures: [Float] = [1, -1]
    var testLabels: [Int32] = [1, 0]
    var shards: [[Int32]] = [[0], [1]]
    var validation: [[Int32]] = [[2], [3]]
    var tests: [[Int32]] = [[0], [1]]
    var initial: [Float] = [0, 1, 0, 0]
    var orders: [[[Int32]]]? = [[[0]], [[0]]]

    var digest: UInt64 {
      func set(_ features: [Float], _ labels: [Int32]) -> Dataset {
        Dataset(features: .floats(features), sampleShape: [1], labels: labels, classCount: 2)
      }
      return LearningTask(
        network: .softmaxRegression(inputCount: 1, classCount: 2),
        initial: ParameterBuffer(initial), train: set(features, labels),
        test: set(testFeatures, testLabels),
        partition: Partition(shards: shards, validation: validation),
        plan: TrainingPlan(epochs: 1, batchSize: 1, learningRate: 0.5), orders: orders,
        clientTests: tests
      ).digest
    }
  }

  @Test("every part of it changes the digest, and equal data have equal ones")
  func everyPart() {
    let changes: [(inout Data) -> Void] = [
      { _ in }, { $0.features[3] = -2 }, { $0.labels[3] = 1 }, { $0.testFeatures[1] = -2 },
      { $0.testLabels[1] = 1 }, { $0.shards = [[1], [0]] }, { $0.validation = [[3], [2]] },
      { $0.tests = [[1], [0]] }, { $0.tests = [] }, { $0.initial[0] = 1 }, { $0.orders = nil },
    ]
    let digests = changes.map { change in
      var data = Data()
      change(&data)
      return data.digest
    }
    #expect(Set(digests).count == changes.count)
    #expect(Data().digest == digests[0])
  }
}
