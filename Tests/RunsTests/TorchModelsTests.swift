import DataSets
import Foundation
import Learning
import Runs
import Scenarios
import Testing

/// Tests/Fixtures-scripts/make_torch_models.py wrote networks of the field as
/// `python -m pyfedsim.from_torch` turns them into layers and weights, with PyTorch's logits.
@Suite("Networks brought from PyTorch")
struct TorchModelsTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures/torch-models").path

  @Test(
    "logits are PyTorch's",
    arguments: [
      ("lenet", 44_426), ("vgg11", 37_322), ("resnet20", 68_786), ("char-lstm", 8_442),
      ("transformer", 6_174), ("mobilenet", 250_922 + 10_656), ("dense-batch", 980 + 80 + 210),
      ("time-cnn", 128 + 32 + 96 + 32 + 102 + 372 + 48 + 130), ("time-mean", 49 + 80),
    ])
  func logits(name: String, parameters: Int) throws {
    let model = try String(contentsOfFile: "\(Self.folder)/\(name).yaml", encoding: .utf8)
    let text = """
      stop: 1 d
      fleet: [{name: a, count: 1}]
      task:
        data:
          source: {npz: {path: \(name)-data.npz, classes: 10}}
          partition: {iid: {clients: 1}}
        initialWeights: \(name).npz
      \(model.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))

      """
    let task = try Scenario(text: text, file: "\(Self.folder)/\(name)-scenario.yaml").inputs().task
    #expect(task.network.layout.count == parameters)
    let data = try NPZ(contentsOf: "\(Self.folder)/\(name)-data.npz")
    let samples = try #require(try data.array(named: "x_test").floats)
    guard case .float64(let expected) = try data.array(named: "logits").values else {
      Issue.record("logits are of another type")
      return
    }
    let logits = task.network.outputs(
      inputs: samples, parameters: task.initial, kernels: .best)
    #expect(logits.count == expected.count)
    for (value, wanted) in zip(logits, expected) {
      #expect(abs(Double(value) - wanted) < 1e-5 * max(1, abs(wanted)))
    }
  }
}
