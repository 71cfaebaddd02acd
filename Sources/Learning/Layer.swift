extension Network {
  /// A layer as it is asked for, before its place in a network is known.
  public indirect enum Layer: Equatable, Sendable {
    /// Every output sees every input; an input of several axes counts as flat.
    case dense(outputs: Int, activation: Activation)
    /// A dense layer over the last axis, the same at each place.
    case placewiseDense(outputs: Int, activation: Activation)
    /// Filters over a channels-last image [height][width][channels].
    case convolution(Convolution)
    /// Filters over the steps of a sequence [time][features].
    case sequenceConvolution(Convolution)
    /// The largest value of each window of size×size, or of `size` steps of a sequence that another
    /// layer gives; a ragged rest at the far edges is left out.
    case maxPooling(size: Int, stride: Int)
    /// The mean of each such window; a ragged rest at the far edges is left out.
    case averagePooling(size: Int, stride: Int)
    /// The mean of each channel over all places.
    case globalAveragePooling
    /// One axis instead of several, in the order in which they are.
    case flatten
    /// A function of each value.
    case activation(Activation)
    /// Shares that are positive and add up to 1.
    case softmax
    /// In training, each value is 0 with probability `rate` and else divided by 1 − rate.
    case dropout(rate: Double)
    /// Each sample's channels in groups, each group brought to mean 0 and variance 1, then scaled
    /// and shifted channel by channel.
    case groupNormalisation(groups: Int)
    /// The channels of each place, brought to mean 0 and variance 1, then scaled and shifted
    /// channel by channel.
    case layerNormalisation
    /// Each channel over a whole batch brought to mean 0 and variance 1, then scaled and shifted;
    /// outside of training by running statistics, which move by `momentum` with each batch.
    case batchNormalisation(epsilon: Double, momentum: Double)
    /// Whole numbers below `count` become vectors of `width` values.
    case embedding(count: Int, width: Int)
    /// An embedding, layers that keep its shape, and scores for each token by the same vectors.
    case tiedEmbedding(count: Int, width: Int, layers: [Layer])
    /// A long short-term memory over [time][features].
    case lstm(units: Int, returnsSequence: Bool)
    /// The same with coupled input and forget gates.
    case coupledLSTM(units: Int, returnsSequence: Bool)
    /// Either, whose states are seen through a narrower projection.
    case projectedLSTM(units: Int, projection: Int, isCoupled: Bool, returnsSequence: Bool)
    /// A gated recurrent unit over [time][features].
    case gru(units: Int, returnsSequence: Bool)
    /// The same with a reset gate that multiplies the state before the product: Core ML's.
    case resetFirstGRU(units: Int, returnsSequence: Bool)
    /// A dense layer that is frozen, and a trained one of low rank that is added: LoRA.
    case lowRank(LowRank)
    /// A learned vector for each time, added to [time][features].
    case positions
    /// Multi-head attention of [time][features] to itself; causal: to what is not behind it.
    case attention(heads: Int, isCausal: Bool)
    /// The sum of what layers make of the input and what a shortcut makes of it; a shortcut without
    /// layers is the input.
    case residual(layers: [Layer], shortcut: [Layer])
    /// The layer with parameters that are neither trained nor exchanged.
    case frozen(Layer)
  }

  /// A function of each value.
  public enum Activation: Equatable, Sendable {
    /// The value as it is.
    case identity
    /// The positive part.
    case relu
    /// The positive part, at most 6.
    case relu6
    /// The positive part, and `slope` times the negative one.
    case leakyReLU(slope: Float)
    /// The hyperbolic tangent.
    case tanh
    /// 1/(1 + e⁻ˣ).
    case sigmoid
    /// x·Φ(x), with the normal distribution's function: Hendrycks and Gimpel (2016), exact form.
    case gelu
    /// x/(1 + e⁻ˣ): Ramachandran et al. (2017).
    case silu
  }

  /// What a convolution is made of.
  public struct Convolution: Equatable, Sendable {
    /// The zeros around an image.
    public enum Padding: Equatable, Sendable {
      /// As many as make an output for every `stride`-th input; an odd one goes to the far edge.
      case same
      /// None.
      case valid
      /// As many at each edge.
      case count(Int)
    }

    /// How many filters there are.
    public var filters: Int
    /// Height and width of a filter, or its steps.
    public var size: Int
    /// How far a filter moves.
    public var stride: Int
    /// The zeros around the image.
    public var padding: Padding
    /// Parts of the channels that are filtered apart, with as many parts of the filters.
    public var groups: Int
    /// What follows the sums.
    public var activation: Activation
    /// Whether a bias is added for each filter.
    public var hasBias: Bool

    /// A convolution.
    public init(
      filters: Int, size: Int, stride: Int = 1, padding: Padding = .valid, groups: Int = 1,
      activation: Activation = .identity, hasBias: Bool = true
    ) {
      self.filters = filters
      self.size = size
      self.stride = stride
      self.padding = padding
      self.groups = groups
      self.activation = activation
      self.hasBias = hasBias
    }
  }

  /// A frozen dense layer with an adapter: x·W + b + (alpha/rank)·x·A·B.
  public struct LowRank: Equatable, Sendable {
    /// How many outputs there are.
    public var outputs: Int
    /// The inner size of the adapter.
    public var rank: Int
    /// The factor of the adapter, times its rank.
    public var alpha: Double
    /// Whether it sees the last axis alone, the same at each place.
    public var eachPlace: Bool
    /// What follows the sums.
    public var activation: Activation

    /// A dense layer with an adapter.
    public init(
      outputs: Int, rank: Int, alpha: Double, eachPlace: Bool = false,
      activation: Activation = .identity
    ) {
      self.outputs = outputs
      self.rank = rank
      self.alpha = alpha
      self.eachPlace = eachPlace
      self.activation = activation
    }
  }

  /// What training lowers.
  public enum Loss: CaseIterable, Sendable {
    /// −log of the softmax at the label. A softmax layer at the end is part of it.
    case crossEntropy
    /// The mean over the outputs of the squared difference from the label's unit vector.
    case meanSquaredError
    /// The mean over the outputs of the squared difference from a sample's numbers.
    case squaredDifference
    /// Cross-entropy at each position that has a label; a batch's loss is the mean over these.
    case crossEntropyAtPositions

    /// What samples must have to be learned by it.
    public var targets: Dataset.TargetKind {
      switch self {
      case .crossEntropy, .meanSquaredError: .classes
      case .squaredDifference: .values
      case .crossEntropyAtPositions: .tokens
      }
    }

    /// Whether a softmax layer at the end is part of it.
    var containsSoftmax: Bool { self == .crossEntropy || self == .crossEntropyAtPositions }
  }
}

/// A layer that does not fit what comes before it.
public struct LayerFault: Error, Equatable, CustomStringConvertible {
  /// Which layer, from 1.
  public let layer: Int
  /// What kind of layer, such as `convolution`.
  public let kind: String
  /// What is wrong.
  public let message: String

  /// A fault of one layer.
  public init(layer: Int, kind: String, message: String) {
    self.layer = layer
    self.kind = kind
    self.message = message
  }

  /// `layer 2 (convolution): …`.
  public var description: String { "layer \(layer) (\(kind)): \(message)" }
}
