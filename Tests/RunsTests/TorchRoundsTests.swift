import DataSets
import Foundation
import Results
import Runs
import Scenarios
import Testing

/// Tests/Fixtures-scripts/make_torch_rounds.py wrote the scenarios in Fixtures/torch, their files,
/// and what PyTorch ends with in float64.
@Suite("Federated rounds against PyTorch")
struct TorchRoundsTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures/torch").path

  /// Every kind of layer, loss, optimiser, schedule and clipping is in one of them, ragged batches
  /// and a client of a single sample in each.
  @Test(
    "three rounds end with PyTorch's weights, losses and accuracies",
    arguments: [
      "dense", "narrow", "frozen", "convolution", "image", "minimal", "lstm", "gru", "text",
      "residual", "lora", "transformer", "time", "batch", "batch-plain", "language", "keyboard",
      "regression",
    ])
  func equalsPyTorch(name: String) throws {
    let scenario = try Scenario(contentsOf: "\(Self.folder)/\(name).yaml")
    var simulation = try scenario.makeSimulation()
    let initial = simulation.inputs.task.initial
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    #expect(simulation.version == 3)
    let expected = try NPZ(contentsOf: "\(Self.folder)/\(name)-final.npz")
    let layout = simulation.inputs.task.network.layout
    let score = name == "regression" ? "centralRMSE" : "centralAccuracy"
    #expect(
      Set(expected.names)
        == Set(layout.tensors.map(\.name) + ["trainingLoss", "centralLoss", score]))
    for tensor in layout.tensors {
      let values = simulation.model.values(of: tensor)
      let wanted = try doubles(tensor.name, of: expected)
      #expect(values.count == wanted.count)
      for (value, other) in zip(values, wanted) {
        // Weights of the order of 1, sums of some tens of terms in 32 bits, some forty steps.
        #expect(abs(Double(value) - other) < 3e-5, "\(tensor.name)")
      }
      // What is trained moves, far more than that.
      let moved = zip(values, initial.values(of: tensor)).map { abs($0 - $1) }.max() ?? 0
      #expect(tensor.isUpdatable ? moved > 1e-3 : moved == 0, "\(tensor.name) moved \(moved)")
    }
    let document = recorder.document(simulation, of: scenario)
    for (measure, tolerance) in [
      ("trainingLoss", 3e-6), ("centralLoss", 3e-6),
      (score, name == "regression" ? 3e-6 : 1e-12),
    ] {
      let values = try #require(document.numbers("versions/\(measure)"))
      let wanted = try doubles(measure, of: expected)
      #expect(values.count == 4 && wanted.count == 4)
      for (value, other) in zip(values, wanted) where !(value.isNaN && other.isNaN) {
        #expect(abs(value - other) < tolerance, "\(measure): \(values), \(wanted)")
      }
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
