import DataSets
import Foundation
import Learning
import Runs
import Scenarios
import Testing

/// Tests/Fixtures-scripts/make_torch_steps.py wrote what PyTorch makes of a network with batch
/// normalisation, step by step.
@Suite("Steps of batch normalisation against PyTorch")
struct TorchStepsTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures/torch-steps").path

  private static let optimizers: [(String, Optimizer)] = [
    ("sgd", .sgd(learningRate: 0.05)),
    ("momentum", .sgd(learningRate: 0.01, momentum: 0.9, weightDecay: 0.01)),
    ("adam", .adam(learningRate: 0.01)),
  ]

  @Test(
    "parameters and statistics are PyTorch's to 1e-5 behind each of twenty steps",
    arguments: optimizers)
  func steps(name: String, optimizer: Optimizer) throws {
    let model = try String(contentsOfFile: "\(Self.folder)/steps.yaml", encoding: .utf8)
    let text = """
      stop: 1 d
      fleet: [{name: a, count: 1}]
      task:
        data: {source: {npz: {path: steps-data.npz, classes: 5}}, partition: {iid: {clients: 1}}}
        initialWeights: steps-0.npz
      \(model.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))

      """
    let task = try Scenario(text: text, file: "\(Self.folder)/x.yaml").inputs().task
    let expected = try NPZ(contentsOf: "\(Self.folder)/\(name).npz")
    let shard = (0..<40).map { Int32($0) }
    let training = LocalTraining(
      network: task.network, dataset: task.train, shard: shard,
      plan: TrainingPlan(length: .steps(20), batchSize: 9, optimizer: optimizer),
      order: .explicit(Array(repeating: shard, count: 4)))
    var memory = DeviceMemory(parameters: task.initial)
    var lossSum = 0.0
    let losses = try doubles("loss", of: expected)
    for step in 0..<20 {
      let outcome = training.run(
        step..<step + 1, from: memory, lossSum: lossSum, kernels: .best, scratch: Scratch())
      #expect(abs(outcome.lossSum - lossSum - losses[step]) < 9e-5, "step \(step)")
      (memory, lossSum) = (outcome.memory, outcome.lossSum)
      for tensor in task.network.layout.tensors {
        let wanted = try doubles(tensor.name, of: expected)
        for (place, value) in memory.parameters.values(of: tensor).enumerated() {
          let other = wanted[step * tensor.count + place]
          #expect(
            abs(Double(value) - other) < 1e-5 * max(1, abs(other)),
            "\(tensor.name)[\(place)] behind step \(step)")
        }
      }
    }
    let samples = try #require(
      try NPZ(contentsOf: "\(Self.folder)/steps-data.npz").array(named: "x_test").floats)
    let scores = task.network.outputs(
      inputs: samples, parameters: memory.parameters, kernels: .best)
    for (value, wanted) in zip(scores, try doubles("scores", of: expected)) {
      #expect(abs(Double(value) - wanted) < 1e-4)
    }
  }

  private func doubles(_ name: String, of archive: NPZ) throws -> [Double] {
    guard case .float64(let values) = try archive.array(named: name).values else {
      Issue.record("\(name) is of another type")
      return []
    }
    return values
  }
}
