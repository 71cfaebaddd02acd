import Foundation
import Testing

import Learning
import Scenarios

/// What makes the shipped comparisons fair, without running them.
@Suite struct LearningScenariosTests {
  private static let folder =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path + "/scenarios/"

  private func scenario(_ name: String, overrides: [String] = []) throws -> Scenario {
    try Scenario(contentsOf: Self.folder + name + ".yaml", overrides: overrides)
  }

  private func network(_ scenario: Scenario, shape: [Int], classes: Int) throws -> Network {
    let task = scenario.settings.task
    return try task.model.value.network(
      sampleShape: shape, classCount: classes, loss: task.training.loss.loss(for: .classes)!)
  }

  @Test("the two sensor scenarios differ in name, description and model, and in nothing else")
  func pair() throws {
    let sequence = try scenario("sensors")
    let feedforward = try scenario("sensors-feedforward")
    #expect(
      try network(sequence, shape: [40, 3], classes: 6).layers
        != network(feedforward, shape: [40, 3], classes: 6).layers)
    let neutral = ["name=either", "description=either", "task.model=softmax"]
    #expect(
      try scenario("sensors", overrides: neutral).resolvedText
        == scenario("sensors-feedforward", overrides: neutral).resolvedText)
  }

  @Test("the feed-forward model has at least the sequence model's parameters")
  func parameters() throws {
    // 3·24 gates see 3 channels and 24 units, with two biases each; then 24·6 + 6.
    let sequence = try network(scenario("sensors"), shape: [40, 3], classes: 6).layout.count
    #expect(sequence == 72 * (3 + 24 + 2) + 150)
    // 40·3 inputs to 18 units with a bias each; then 18·6 + 6.
    let feedforward = try network(scenario("sensors-feedforward"), shape: [40, 3], classes: 6)
      .layout.count
    #expect(feedforward == 18 * 121 + 114)
    #expect(sequence...(sequence + sequence / 20) ~= feedforward)
  }

  @Test("the network for images is convolutional, and of the size worked out by hand")
  func images() throws {
    let network = try network(scenario("cnn-fashion"), shape: [28, 28], classes: 10)
    // 5·5·1·16 + 16, 3·3·16·32 + 32; 28 → 14 → 12 → 6 a side; 6·6·32·64 + 64, 64·10 + 10.
    #expect(network.layout.count == 416 + 4640 + 73_792 + 650)
    let filters = network.layers.compactMap { layer -> Int? in
      guard case .convolution(let convolution) = layer else { return nil }
      return convolution.filters
    }
    #expect(filters == [16, 32])
  }
}
