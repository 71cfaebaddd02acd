import Learning
import Scenarios
import Schema
import Testing

/// The presets for text, and coupled gates, by name.
@Suite("Models for text")
struct TextModelTests {
  private func network(
    _ model: String, tokens: Int, positions: Int,
    loss: Network.Loss = .crossEntropyAtPositions
  ) throws -> Network {
    let scenario = try Scenario(
      text: "task: {model: \(model)}\nfleet: [{name: phones, count: 1}]\n", file: "s.yaml")
    return try scenario.settings.task.model.value.network(
      sampleShape: [positions], classCount: tokens, loss: loss)
  }

  @Test("they have as many parameters as in their papers and in PyTorch")
  func sizes() throws {
    // Printed by Tests/Fixtures-scripts/make_target_numbers.py. With StackOverflow's 10,000 words
    // and four special tokens the transformer has 1,962,912 in pfl-research (without learned
    // positions, 20·96): 10,004·96 of the embedding, and 334,176 in each of three blocks.
    let transformer = try network("transformer-lm", tokens: 10_004, positions: 20)
    #expect(transformer.layout.count == 1_962_912 + 20 * 96)
    #expect(transformer.layout.count == 10_004 * 96 + 3 * 334_176 + 20 * 96)
    #expect(transformer.positions == 20 && transformer.classCount == 10_004)
    #expect(transformer.tokenCount == 10_004 && !transformer.isNoisy)
    // Hard et al. name 1.4 million: 10,000·96; 3·670·(96 + 96 + 1) of gates; 670·96.
    let memory = try network("cifg-lm", tokens: 10_000, positions: 20)
    #expect(memory.layout.count == 960_000 + 387_930 + 64_320)
    #expect(memory.layout.count == 1_412_250 && memory.positions == 20)
  }

  @Test("their sizes can be chosen")
  func settings() throws {
    let small = try network(
      "{transformer-lm: {layers: 1, width: 4, heads: 2, feedForward: 8, dropout: 0.1}}", tokens: 5,
      positions: 3)
    // 5·4 and 3·4; attention 4·12 + 12 + 4·4 + 4, scale and shift 8, 4·8 + 8 + 8·4 + 4, 8.
    #expect(small.layout.count == 20 + 12 + 80 + 8 + 76 + 8 && small.isNoisy)
    let memory = try network("{cifg-lm: {units: 3, width: 2}}", tokens: 5, positions: 4)
    // 5·2; 2·9 + 2·9 + 9; 3·2.
    #expect(memory.layout.count == 10 + 45 + 6)
    // The same, layer by layer.
    let layers = "[{lstm: {units: 3, cifg: true, projection: 2, returnsSequence: true}}]"
    let tied = "{layers: [{tied-embedding: {count: 5, width: 2, layers: \(layers)}}]}"
    #expect(try network(tied, tokens: 5, positions: 4) == memory)
    #expect(
      memory.layout.tensors.map(\.name) == [
        "embedding1.weight", "lstm1.inputWeight", "lstm1.recurrentWeight", "lstm1.bias",
        "lstm1.projection",
      ])
  }

  @Test("multiply-adds count the scores, and a projection")
  func operations() throws {
    let memory = try network("{cifg-lm: {units: 3, width: 2}}", tokens: 5, positions: 4)
    // At each of 4 positions 9·(2 + 2) of the gates, 3·2 of the projection and 2·5 of the scores,
    // each three times two operations.
    #expect(memory.trainingOperationsPerSample == 4 * (36 + 6 + 10) * 6)
  }

  @Test("coupled gates are an option of the layer, absent where nobody asks")
  func coupled() throws {
    let layers = "{layers: [{lstm: {units: 3, returnsSequence: true, cifg: true}}, "
    let one = try network(
      layers + "{dense: {units: 2, eachPlace: true}}]}", tokens: 2, positions: 4)
    #expect(one.layers[0] == .coupledLSTM(units: 3, returnsSequence: true))
    #expect(
      one.layout.tensors.map(\.name).prefix(2) == ["lstm1.inputWeight", "lstm1.recurrentWeight"])
    #expect(one.layout.tensors[0].shape == [1, 9])
    let scenario = try Scenario(
      text: "task: {model: {layers: [{lstm: 3}, {dense: 2}]}}\nfleet: [{name: phones, count: 1}]\n",
      file: "s.yaml")
    #expect(!scenario.resolvedText.contains("cifg"))
  }

  /// What is said of a model that does not fit.
  private func message(
    _ model: String, loss: Network.Loss = .crossEntropyAtPositions
  ) -> String {
    do {
      _ = try network(model, tokens: 5, positions: 3, loss: loss)
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test("a network that does not fit is refused, with what to write")
  func refused() {
    #expect(message("{mlp: [4]}").contains("eachPlace"))
    #expect(message("transformer-lm", loss: .crossEntropy).contains("need `targets` of tokens"))
    #expect(message("cifg-lm", loss: .squaredDifference).contains("need `targets` of tokens"))
    let wide = "{layers: [{tied-embedding: {count: 5, width: 2, layers: [{lstm: 3}]}}]}"
    #expect(message(wide).contains("its layers give [3] and take [3, 2]: that must be the same"))
    let second = "{layers: [relu, {tied-embedding: {count: 5, width: 2, layers: [relu]}}]}"
    #expect(message(second).contains("can only be the first layer"))
  }
}
