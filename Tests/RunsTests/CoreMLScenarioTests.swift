import DataSets
import FedSim
import Foundation
import Results
import Runs
import Scenarios
import Schema
import Testing

@Suite("Scenarios with a Core ML model")
struct CoreMLScenarioTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../DataSetsTests/Fixtures/coreml").standardized.path

  private static func text(_ model: String = "perceptron", training: String = "{}") -> String {
    """
    stop: 12 h
    task:
      data:
        source: {npz: {path: \(model)-data.npz, classes: 4}}
        partition: {iid: {clients: 2}}
      model: {coreml: \(model).mlmodel}
      training: \(training)
    fleet: [{name: a, count: 2, background: {processing: {earliestBegin: 1 h}}}]
    server: {trigger: {threshold: 2}}

    """
  }

  private func scenario(_ model: String = "perceptron", training: String = "{}") throws -> Scenario
  {
    try Scenario(
      text: Self.text(model, training: training), file: "\(Self.folder)/scenario.yaml")
  }

  /// The lines of the resolved training, from `training:` on.
  private func training(_ scenario: Scenario) -> [Substring] {
    Array(
      scenario.resolvedTextWithOrigins.replacing(Self.folder + "/", with: "")
        .split(separator: "\n").drop { $0 != "  training:" }.prefix { !$0.hasPrefix("fleet") })
  }

  @Test("the file's training is the default, and its name is behind each value")
  func defaults() throws {
    let training = try scenario().settings.task.training
    #expect(training.epochs == 3 && training.batchSize == 8 && training.loss == .crossEntropy)
    let lines = try self.training(scenario())
    let origin = "  # from perceptron.mlmodel"
    for line in [
      "    epochs: 3", "    batchSize: 8", "    loss: cross-entropy", "        learningRate: 0.05",
      "        momentum: 0.9",
    ] {
      #expect(lines.contains { $0 == line + origin }, "\(line)")
    }
    #expect(lines.contains("        weightDecay: 0"))
    #expect(lines.contains("    steps: null") && !lines.contains { $0 == "    epochs: 3" })
    let adam = try self.training(scenario("convolutional"))
    for line in ["        beta1: 0.8", "        beta2: 0.99", "        epsilon: 1e-06"] {
      #expect(adam.contains { $0 == "\(line)  # from convolutional.mlmodel" }, "\(adam)")
    }
  }

  @Test("what the scenario says wins, key by key")
  func wins() throws {
    let own = try scenario(training: "{epochs: 1, optimizer: {sgd: {learningRate: 0.5}}}")
    let training = own.settings.task.training
    #expect(training.epochs == 1 && training.batchSize == 8)
    #expect(
      training.plan.optimizer
        == .sgd(learningRate: 0.5, momentum: 0.9, nesterov: false, weightDecay: 0))
    let lines = self.training(own)
    #expect(lines.contains("    epochs: 1") && lines.contains("        learningRate: 0.5"))
    let other = try scenario(training: "{epochs: null, optimizer: {adam: 0.1}}")
    #expect(other.settings.task.training.epochs == 3)
    #expect(
      other.settings.task.training.plan.optimizer
        == .adam(learningRate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0))
  }

  @Test("a resolved scenario has no origins, and reads back without its file")
  func resolved() throws {
    let scenario = try scenario()
    #expect(!scenario.resolvedText.contains("# from"))
    let again = try Scenario(text: scenario.resolvedText, file: "/nowhere/scenario.yaml")
    #expect(again.digest == scenario.digest)
  }

  @Test("a file that is not there, or is none, is named with the key")
  func missing() throws {
    var faults = #expect(throws: Faults.self) {
      try Scenario(
        text: Self.text("none"), file: "\(Self.folder)/scenario.yaml")
    }
    #expect(
      faults?.faults.map(\.path) == ["task.model.coreml.file"]
        && faults?.faults.first?.message.hasSuffix("none.mlmodel: No such file or directory")
          == true
    )
    let text = Self.text().replacing(
      "coreml: perceptron.mlmodel", with: "coreml: perceptron-data.npz")
    faults = #expect(throws: Faults.self) {
      try Scenario(text: text, file: "\(Self.folder)/scenario.yaml")
    }
    #expect(faults?.faults.first?.place.line == 6)
    faults = #expect(throws: Faults.self) {
      try Scenario(
        text: Self.text().replacing("perceptron-data", with: "lstm-data"),
        file: "\(Self.folder)/scenario.yaml"
      ).inputs()
    }
    #expect(
      faults?.faults.first?.message
        == "layer 1 (Core ML input): takes [6], but samples are [7, 3]")
  }

  @Test("the run begins with the file's weights, which are part of its identity")
  func identity() throws {
    let task = try scenario().inputs().task
    let model = try CoreMLNetwork(contentsOf: "\(Self.folder)/perceptron.mlmodel")
    #expect(task.initial.values == model.parameters(of: task.network).values)
    #expect(task.modelDigests == [model.digest] && task.isInitialGiven)
    var other = task
    other.modelDigests = [String(model.digest.reversed())]
    #expect(other.digest != task.digest)
  }

  @Test("an export has the trained weights and nothing else new, and needs the same file")
  func export() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("fedsim-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["convolutional.mlmodel", "convolutional-data.npz"] {
      try FileManager.default.copyItem(
        atPath: "\(Self.folder)/\(name)", toPath: folder.appendingPathComponent(name).path)
    }
    let file = folder.appendingPathComponent("scenario.yaml").path
    let result = folder.appendingPathComponent("r.h5").path
    let target = folder.appendingPathComponent("out.mlmodel").path
    let scenario = try Scenario(text: Self.text("convolutional"), file: file)
    let run = Run(scenario, output: result)
    _ = try run.perform()
    let summary = try Export(result, as: .coreML).write(to: target)
    // Weights and biases of conv2 and out.
    #expect(summary.variables == 4 && summary.files == 1)
    let network = try scenario.inputs().task.network
    let trained = try CoreMLNetwork(contentsOf: target).parameters(of: network)
    var simulation = Simulation(try scenario.inputs())
    simulation.run()
    #expect(simulation.version > 0)
    #expect(trained.values == simulation.model.values)

    let model = folder.appendingPathComponent("convolutional.mlmodel")
    // The specification version again, another one.
    try (Data(contentsOf: model) + [0x08, 0x05]).write(to: model)
    let failure = #expect(throws: RunFailure.self) {
      try Export(result, as: .coreML).write(to: target + "2")
    }
    #expect("\(failure!)".contains("is not the file that the run began with"))
  }

  @Test("a result of another model says how to export it")
  func others() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("fedsim-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let text = Self.text().replacing("{coreml: perceptron.mlmodel}", with: "softmax")
      .replacing("perceptron-data", with: "\(Self.folder)/perceptron-data")
    let scenario = try Scenario(text: text, file: "\(folder)/scenario.yaml")
    _ = try Run(scenario, output: "\(folder)/r.h5").perform()
    let failure = #expect(throws: RunFailure.self) {
      try Export("\(folder)/r.h5", as: .coreML).write(to: "\(folder)/x.mlmodel")
    }
    #expect(
      "\(failure!)".contains(
        "the model is `softmax`, not a Core ML file (`task.model: {coreml: m.mlmodel}`)"))
  }
}
