import DataSets
import Foundation
import Learning
import Testing

/// Tests/Fixtures-scripts/make_coreml_models.py wrote the models with coremltools, and what NumPy
/// makes of samples in Core ML's order.
@Suite("Core ML models")
struct CoreMLNetworkTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures/coreml").path

  static func read(_ name: String) throws -> CoreMLNetwork {
    try CoreMLNetwork(contentsOf: "\(folder)/\(name).mlmodel")
  }

  @Test(
    "outputs are NumPy's",
    arguments: [
      ("perceptron", [6]), ("convolutional", [8, 7, 2]), ("strided", [6, 6, 4]),
      ("pooled", [6, 6]), ("lstm", [7, 3]), ("gated", [7, 3]), ("words", [5]),
    ])
  func outputs(name: String, shape: [Int]) throws {
    let model = try Self.read(name)
    let network = try model.network(
      sampleShape: shape, classCount: 4, loss: model.training.loss ?? .crossEntropy)
    let data = try NPZ(contentsOf: "\(Self.folder)/\(name)-data.npz")
    let samples = try #require(try data.array(named: "x_test").floats)
    guard case .float64(let expected) = try data.array(named: "logits").values else {
      Issue.record("logits are of another type")
      return
    }
    let outputs = network.outputs(
      inputs: samples, parameters: model.parameters(of: network), kernels: .best)
    #expect(outputs.count == expected.count)
    for (value, wanted) in zip(outputs, expected) {
      #expect(abs(Double(value) - wanted) < 1e-5 * max(1, abs(wanted)), "\(value) for \(wanted)")
    }
  }

  @Test("what a file says of training is read")
  func training() throws {
    var wanted = try Self.read("perceptron").training
    #expect(wanted.epochs == 3 && wanted.batchSize == 8 && wanted.loss == .crossEntropy)
    #expect(wanted.optimizer == .sgd(learningRate: 0.05, momentum: 0.9))
    wanted = try Self.read("convolutional").training
    #expect(wanted.epochs == 2 && wanted.batchSize == 4)
    #expect(
      wanted.optimizer == .adam(learningRate: 0.002, beta1: 0.8, beta2: 0.99, epsilon: 1e-6))
    wanted = try Self.read("strided").training
    #expect(wanted.epochs == nil && wanted.loss == .meanSquaredError)
  }

  @Test("layers that are not updatable are frozen, a normalisation is a frozen filter")
  func frozen() throws {
    let model = try Self.read("convolutional")
    let network = try model.network(sampleShape: [8, 7, 2], classCount: 4, loss: .crossEntropy)
    let tensors = network.layout.tensors
    #expect(
      tensors.map(\.name) == [
        "conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "conv3.weight", "conv3.bias",
        "dense1.weight", "dense1.bias",
      ])
    #expect(tensors.map(\.isUpdatable) == [false, false, false, false, true, true, true, true])
    // 6 filters of 2×2×4, then 36·4.
    #expect(network.layout.updatableCount == 6 * 16 + 6 + 36 * 4 + 4)
  }

  @Test("a network of one channel takes its images with and without the channel")
  func shapes() throws {
    let model = try Self.read("pooled")
    for shape in [[6, 6], [6, 6, 1]] {
      _ = try model.network(sampleShape: shape, classCount: 4, loss: .crossEntropy)
    }
    let fault = #expect(throws: LayerFault.self) {
      try model.network(sampleShape: [6, 5], classCount: 4, loss: .crossEntropy)
    }
    #expect(
      fault?.description
        == "layer 1 (Core ML input): takes an image of [6, 6, 1], but samples are [6, 5]")
    let few = #expect(throws: LayerFault.self) {
      try model.network(sampleShape: [6, 6], classCount: 5, loss: .crossEntropy)
    }
    #expect(
      few?.description
        == "layer 6 (Core ML layer 6 (softmax)): gives 4 outputs for 5 classes")
  }

  @Test(
    "its own weights written back give the same bytes, others change the trained ones alone",
    arguments: ["perceptron", "convolutional", "strided", "pooled", "lstm", "gated", "words"])
  func writing(name: String) throws {
    let path = "\(Self.folder)/\(name).mlmodel"
    let before = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    let model = try Self.read(name)
    let shapes = [
      "perceptron": [6], "convolutional": [8, 7, 2], "strided": [6, 6, 4], "pooled": [6, 6],
      "lstm": [7, 3], "gated": [7, 3], "words": [5],
    ]
    let network = try model.network(
      sampleShape: try #require(shapes[name]), classCount: 4, loss: .crossEntropy)
    let own = model.parameters(of: network)
    let tensors = network.layout.tensors.map { own.values(of: $0).map { $0 } }
    #expect(try model.bytes(with: tensors) == before)

    let others = zip(network.layout.tensors, tensors).map { tensor, values in
      tensor.isUpdatable ? values.map { $0 + 1 } : values.map { _ in Float(7) }
    }
    let written = try model.bytes(with: others)
    #expect(written.count == before.count)
    let changed = zip(written, before).count { $0 != $1 }
    let trained = network.layout.updatableCount
    #expect(changed > trained && changed <= 4 * trained)
    let copy = FileManager.default.temporaryDirectory.appendingPathComponent(
      "fedsim-\(UUID().uuidString).mlmodel")
    try Data(written).write(to: copy)
    defer { try? FileManager.default.removeItem(at: copy) }
    let again = try CoreMLNetwork(contentsOf: copy.path).parameters(of: network)
    for (tensor, values) in zip(network.layout.tensors, tensors) {
      #expect(
        again.values(of: tensor).map { $0 } == (tensor.isUpdatable ? values.map { $0 + 1 } : values)
      )
    }
  }
}
