import Testing

import Learning
import Scenarios
import Schema

/// Models as lists of layers, and the training section.
@Suite struct LayersTests {
  private func scenario(_ model: String, training: String = "{}") throws -> Scenario {
    try Scenario(
      text: """
        stop: 1 d
        fleet: [{name: a, count: 1}]
        task: {model: \(model), training: \(training)}

        """, file: "x.yaml")
  }

  private func network(_ model: String, shape: [Int]) throws -> Network {
    let task = try scenario(model).settings.task
    return try task.model.value.network(
      sampleShape: shape, classCount: 10, loss: task.training.loss.loss(for: .classes)!)
  }

  @Test("blocks of layers are the networks that they say")
  func blocks() throws {
    let network = try network(
      """
      {layers: [{embedding: {count: 9, width: 6}}, positions, \
      {residual: {layers: [layer-normalisation, {attention: {heads: 2, causal: true}}]}}, \
      {residual: {layers: [{dense: {units: 6, activation: gelu, eachPlace: true}}], \
      shortcut: [{dense: {units: 6, eachPlace: true, isUpdatable: false}}, silu]}}, \
      {lora: {units: 5, rank: 2, alpha: 3, eachPlace: true}}, global-average-pooling, \
      {lora: {units: 10, rank: 3, activation: tanh}}]}
      """, shape: [7])
    #expect(
      network.layers == [
        .embedding(count: 9, width: 6), .positions,
        .residual(
          layers: [.layerNormalisation, .attention(heads: 2, isCausal: true)], shortcut: []),
        .residual(
          layers: [.placewiseDense(outputs: 6, activation: .gelu)],
          shortcut: [
            .frozen(.placewiseDense(outputs: 6, activation: .identity)), .activation(.silu),
          ]), .lowRank(.init(outputs: 5, rank: 2, alpha: 3, eachPlace: true)),
        .globalAveragePooling,
        .lowRank(.init(outputs: 10, rank: 3, alpha: 3, activation: .tanh)),
      ])
    let trained = network.layout.tensors.filter(\.isUpdatable).map(\.name)
    #expect(
      trained == [
        "embedding1.weight", "positions1.weight", "norm1.scale", "norm1.shift",
        "attention1.inputWeight", "attention1.inputBias", "attention1.outputWeight",
        "attention1.outputBias", "dense1.weight", "dense1.bias", "lora1.down", "lora1.up",
        "lora2.down", "lora2.up",
      ])
    #expect(network.layout.tensors.count == trained.count + 6)
  }

  @Test("a list of layers is the network that it says")
  func layers() throws {
    let network = try network(
      """
      {layers: [{convolution: {filters: 4, size: 3, padding: same, activation: relu}}, \
      max-pooling, {convolution: {filters: 6, size: 2, stride: 2, padding: 1, groups: 2, \
      isUpdatable: false}}, \
      {leaky-relu: 0.2}, {dropout: 0.3}, {batch-normalisation: {epsilon: 0.001, momentum: 0.2}}, \
      relu6, {batch-normalisation: {isUpdatable: false}}, flatten, \
      {dense: {units: 8, activation: tanh}}, {dense: 10}]}
      """, shape: [28, 28])
    #expect(
      network.layers == [
        .convolution(.init(filters: 4, size: 3, padding: .same, activation: .relu)),
        .maxPooling(size: 2, stride: 2),
        .frozen(.convolution(.init(filters: 6, size: 2, stride: 2, padding: .count(1), groups: 2))),
        .activation(.leakyReLU(slope: 0.2)), .dropout(rate: 0.3),
        .batchNormalisation(epsilon: 0.001, momentum: 0.2), .activation(.relu6),
        .frozen(.batchNormalisation(epsilon: 1e-5, momentum: 0.1)), .flatten,
        .dense(outputs: 8, activation: .tanh), .dense(outputs: 10, activation: .identity),
      ])
    // 3·3·1·4 + 4 and, frozen, 2·2·2·6 + 6 parameters; 8·8·6 inputs to the first dense layer.
    // Two normalisations of 6 channels, one of them frozen.
    #expect(network.layout.updatableCount == 40 + 24 + (384 * 8 + 8) + (8 * 10 + 10))
    #expect(network.layout.count == network.layout.updatableCount + 54 + 24)
  }

  @Test("the presets have as many parameters as worked out by hand")
  func presets() throws {
    #expect(try network("cnn-mcmahan", shape: [28, 28]).layout.count == 1_663_370)
    // Li et al. 2022 (NIID-Bench), and the same for three channels of 32×32: 456 + 2,416 + 48,120 +
    // 10,164 + 850.
    #expect(try network("lenet5", shape: [28, 28]).layout.count == 44_426)
    #expect(try network("lenet5", shape: [32, 32, 3]).layout.count == 62_006)
    // 464 of the first convolution, stages of 14,016, 51,648 and 205,696, and 650; PyTorch counts
    // the same, with batch normalisation's scales and shifts.
    #expect(try network("resnet20", shape: [32, 32, 3]).layout.count == 272_474)
    #expect(try network("resnet18", shape: [32, 32, 3]).layout.count == 11_173_962)
    // 32 to 256 filters: 928 of the first convolution, and so on as with 64.
    #expect(try network("{resnet18: {width: 0.5}}", shape: [32, 32, 3]).layout.count == 2_797_610)
    #expect(try network("{resnet20: 4}", shape: [28, 28]).layout.count == 272_474 - 2 * 16 * 9)
    // PyTorch's parameters and buffers. Channels of normalisations: 16 + 6·16 + 7·32 + 7·64 = 784,
    // each with two statistics; 64 + 4·64 + 5·(128 + 256 + 512) = 4,800.
    #expect(try network("resnet20-bn", shape: [32, 32, 3]).layout.count == 272_474 + 2 * 784)
    #expect(try network("resnet18-bn", shape: [32, 32, 3]).layout.count == 11_173_962 + 2 * 4_800)
    // torchvision's `mobilenet_v2(num_classes=10)`, and with `width_mult=0.25`.
    for (width, trained, statistics) in [(1.0, 2_236_682, 34_112), (0.25, 250_922, 10_656)] {
      let layout = try network("{mobilenet-v2-small: \(width)}", shape: [32, 32, 3]).layout
      #expect(layout.count == trained + statistics)
      #expect(layout.statisticRanges.reduce(0) { $0 + $1.count } == statistics)
    }
    // 4·32·(3 + 32) + 4·32, and 32·10 + 10.
    #expect(try network("{lstm: 32}", shape: [9, 3]).layout.count == 4608 + 330)
  }

  @Test("a layer that does not fit is reported by its place in the list")
  func misfits() {
    let fault = #expect(throws: LayerFault.self) {
      try network("{layers: [flatten, max-pooling]}", shape: [28, 28])
    }
    #expect(
      fault?.description
        == "layer 2 (max-pooling): takes [height, width, channels] or [time, features] and gets "
        + "[784]")
    let few = #expect(throws: LayerFault.self) {
      try network("{layers: [flatten, {dense: 3}]}", shape: [28, 28])
    }
    #expect(few?.description == "layer 2 (dense): gives 3 outputs for 10 classes")
  }

  @Test("training settings arrive in the plan")
  func training() throws {
    let plan = try scenario(
      "softmax",
      training: "{steps: 7, batchSize: 4, optimizer: {adam: 0.01}, schedule: {cosine: 0.1}, "
        + "clipNorm: 2, loss: mean-squared-error}"
    ).settings.task.training.plan
    #expect(
      plan
        == TrainingPlan(
          length: .steps(7), batchSize: 4, optimizer: .adam(learningRate: 0.01),
          schedule: .cosine(minimum: 0.1), clipping: .norm(2)))
    #expect(throws: Faults.self) { try scenario("mlp", training: "{clipNorm: 1, clipValue: 1}") }
    #expect(throws: Faults.self) {
      try scenario("mlp", training: "{optimizer: {sgd: {nesterov: true}}}")
    }
  }
}
