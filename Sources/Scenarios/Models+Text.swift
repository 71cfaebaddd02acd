import Learning
import Schema

/// A transformer that gives scores for the next token at each position.
public struct TransformerLanguageModel: ModelSource {
  public static let name = "transformer-lm"
  public static let summary =
    "A causal transformer over tokens: 3 blocks of width 96, as for StackOverflow."

  public struct Settings: PartSettings {
    /// How many blocks of attention and dense layers there are.
    public var layers = 3
    /// How wide a token's vector is.
    public var width = 96
    /// How many heads each attention has.
    public var heads = 8
    /// How wide the dense layer inside a block is.
    public var feedForward = 1536
    /// The rate of dropout behind each sublayer.
    public var dropout = 0.0

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("layers", \.layers, .integer(1...24), "Number of blocks."),
        Field("width", \.width, .integer(1...100_000), "Width of a token's vector."),
        Field("heads", \.heads, .integer(1...1000), "Heads of each attention."),
        Field(
          "feedForward", \.feedForward, .integer(1...1_000_000),
          "Width of the dense layer inside a block."),
        Field("dropout", \.dropout, .number(0...0.99), "Rate of dropout behind each sublayer."),
      ]
    }
  }

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// Embedding, positions, blocks with normalisation behind each sum; scores by the embedding.
  ///
  /// Source: Wang et al., "A field guide to federated optimization" (2021), and pfl-research.
  /// Differs: positions are learned, not waves, and vectors are not scaled before they are added.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    try requirePositions(loss)
    let dropout: [Network.Layer] =
      settings.dropout > 0 ? [.dropout(rate: settings.dropout)] : []
    let block: [Network.Layer] = [
      .residual(
        layers: [.attention(heads: settings.heads, isCausal: true)] + dropout, shortcut: []),
      .layerNormalisation,
      .residual(
        layers: [
          .placewiseDense(outputs: settings.feedForward, activation: .relu),
          .placewiseDense(outputs: settings.width, activation: .identity),
        ] + dropout, shortcut: []),
      .layerNormalisation,
    ]
    return try Network(
      sampleShape: sampleShape,
      layers: [
        .tiedEmbedding(
          count: classCount, width: settings.width,
          layers: [.positions] + dropout + (0..<settings.layers).flatMap { _ in block })
      ], loss: loss)
  }
}

/// A recurrent network that gives scores for the next token at each position.
public struct CIFGLanguageModel: ModelSource {
  public static let name = "cifg-lm"
  public static let summary =
    "A long short-term memory with coupled gates and a projection, as Gboard's next-word model."

  public struct Settings: PartSettings {
    /// How many units the memory has.
    public var units = 670
    /// How wide a token's vector is.
    public var width = 96

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("units", \.units, .integer(1...100_000), "Number of units."),
        Field(
          "width", \.width, .integer(1...100_000),
          "Width of a token's vector, and of the memory's projection."),
      ]
    }
  }

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// Embedding, memory with a projection to the embedding's width; scores by the embedding.
  ///
  /// Source: Hard et al., "Federated learning for mobile keyboard prediction" (2018).
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    try requirePositions(loss)
    return try Network(
      sampleShape: sampleShape,
      layers: [
        .tiedEmbedding(
          count: classCount, width: settings.width,
          layers: [
            .projectedLSTM(
              units: settings.units, projection: settings.width, isCoupled: true,
              returnsSequence: true)
          ])
      ], loss: loss)
  }
}

extension ModelSource {
  /// Throws: a fault for a loss with one answer a sample.
  fileprivate func requirePositions(_ loss: Network.Loss) throws(LayerFault) {
    guard loss != .crossEntropyAtPositions else { return }
    throw LayerFault(
      layer: 1, kind: "tied-embedding",
      message: "gives scores at each position: the samples need `targets` of tokens")
  }
}
