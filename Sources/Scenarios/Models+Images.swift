import Learning
import Schema

/// The small convolutional network of most papers on federated learning.
///
/// Source: LeCun et al., "Gradient-based learning applied to document recognition" (1998), with
/// rectifiers and largest values, as NIID-Bench has it (Li et al. 2022, `SimpleCNN`): 44,426
/// parameters for 28×28 pixels of one channel and 10 classes, 62,006 for 32×32 of three.
public struct LeNet5Model: ModelSource {
  public static let name = "lenet5"
  public static let summary =
    "LeNet-5 as NIID-Bench has it: 6 and 16 filters of 5×5 with pooling, 120, 84."

  public typealias Settings = NoSettings

  public init(_ settings: NoSettings) {}

  /// 5×5×6, pooling, 5×5×16, pooling, 120, 84, classes.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    try Network(
      sampleShape: sampleShape,
      layers: [
        .convolution(.init(filters: 6, size: 5)), .maxPooling(size: 2, stride: 2),
        .activation(.relu), .convolution(.init(filters: 16, size: 5)),
        .maxPooling(size: 2, stride: 2), .activation(.relu),
        .dense(outputs: 120, activation: .relu), .dense(outputs: 84, activation: .relu),
        .dense(outputs: classCount, activation: .identity),
      ], loss: loss)
  }
}

/// How a residual network's blocks are put together.
enum ResidualBlocks {
  /// Convolutions of 3×3 without bias, each with a normalisation, and a projection where the size
  /// changes.
  static func block(
    _ filters: Int, stride: Int, from channels: Int, _ normalisation: Network.Layer
  ) -> [Network.Layer] {
    func convolution(_ size: Int, _ stride: Int) -> [Network.Layer] {
      [
        .convolution(
          .init(
            filters: filters, size: size, stride: stride,
            padding: size == 3 ? .count(1) : .valid, hasBias: false)),
        normalisation,
      ]
    }
    let isSame = stride == 1 && channels == filters
    return [
      .residual(
        layers: convolution(3, stride) + [.activation(.relu)] + convolution(3, 1),
        shortcut: isSame ? [] : convolution(1, stride)), .activation(.relu),
    ]
  }

  /// Stages of blocks behind a convolution of 3×3; each stage but the first halves the image.
  static func layers(
    _ stages: [Int], blocks: Int, _ normalisation: Network.Layer, classCount: Int
  ) -> [Network.Layer] {
    var layers: [Network.Layer] = [
      .convolution(.init(filters: stages[0], size: 3, padding: .count(1), hasBias: false)),
      normalisation, .activation(.relu),
    ]
    var channels = stages[0]
    for (stage, filters) in stages.enumerated() {
      for index in 0..<blocks {
        let stride = stage > 0 && index == 0 ? 2 : 1
        layers += block(filters, stride: stride, from: channels, normalisation)
        channels = filters
      }
    }
    return layers + [
      .globalAveragePooling, .dense(outputs: classCount, activation: .identity),
    ]
  }
}

/// Residual networks for small images, with group normalisation.
///
/// Source: He et al., "Deep residual learning for image recognition" (2016), §4.2; projections
/// where the size changes (option B); group for batch normalisation, as Hsieh et al. (2020) and
/// Reddi et al. (2021) have it for federated learning. 272,474 parameters for 3 channels and 10
/// classes.
public struct ResNet20Model: ModelSource {
  public static let name = "resnet20"
  public static let summary =
    "A residual network of 20 layers for small images, with group normalisation (He et al. 2016)."

  public typealias Settings = ResidualSettings

  private let settings: Settings

  /// A model by its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// Three stages of three blocks, 16, 32 and 64 filters.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    try Network(
      sampleShape: sampleShape,
      layers: ResidualBlocks.layers(
        settings.filters([16, 32, 64]), blocks: 3, .groupNormalisation(groups: settings.groups),
        classCount: classCount),
      loss: loss)
  }
}

/// A residual network of 18 layers for small images, with group normalisation.
///
/// Source: He et al. (2016), with a first convolution of 3×3 without pooling, as is usual for
/// 32×32 pixels; group for batch normalisation, as in Reddi et al., "Adaptive federated
/// optimization" (2021). 11,173,962 parameters for 3 channels and 10 classes.
public struct ResNet18Model: ModelSource {
  public static let name = "resnet18"
  public static let summary =
    "A residual network of 18 layers for small images; group normalisation (Reddi et al. 2021)."

  public typealias Settings = ResidualSettings

  private let settings: Settings

  /// A model by its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// Four stages of two blocks, 64 to 512 filters.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    try Network(
      sampleShape: sampleShape,
      layers: ResidualBlocks.layers(
        settings.filters([64, 128, 256, 512]), blocks: 2,
        .groupNormalisation(groups: settings.groups), classCount: classCount),
      loss: loss)
  }
}

/// The settings of a residual network.
public struct ResidualSettings: PartSettings {
  /// How many groups of channels are normalised together.
  public var groups = 2
  /// What all numbers of filters are multiplied by.
  public var width = 1.0

  public init() {}

  /// The numbers of filters of a network of this width, rounded.
  func filters(_ full: [Int]) -> [Int] {
    full.map { max(1, Int((Double($0) * width).rounded())) }
  }

  /// A bare number is the groups.
  public static var shorthand: String? { "groups" }

  public static var fields: [Field<ResidualSettings>] {
    [
      Field(
        "groups", \.groups, .integer(1...64),
        "Number of channel groups of a normalisation; it divides all numbers of filters."),
      Field(
        "width", \.width, .number(0.01...4),
        "Factor of all numbers of filters, which are rounded."),
    ]
  }
}
