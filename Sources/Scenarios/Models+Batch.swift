import Learning
import Schema

extension Network.Layer {
  /// Batch normalisation with PyTorch's defaults.
  static let batchNormalised = batchNormalisation(epsilon: 1e-5, momentum: 0.1)
}

/// The settings of a network whose filters can be fewer.
public struct WidthSettings: PartSettings {
  /// What all numbers of filters are multiplied by.
  public var width = 1.0

  public init() {}

  /// A bare number is the width.
  public static var shorthand: String? { "width" }

  public static var fields: [Field<WidthSettings>] {
    [
      Field(
        "width", \.width, .number(0.01...4),
        "Factor of all numbers of filters, which are rounded.")
    ]
  }

  /// The numbers of filters of a network of this width, rounded.
  func filters(_ full: [Int]) -> [Int] {
    full.map { max(1, Int((Double($0) * width).rounded())) }
  }
}

/// Residual networks for small images, with batch normalisation.
///
/// Source: He et al., "Deep residual learning for image recognition" (2016), §4.2, with projections
/// where the size changes (option B). For 3 channels and 10 classes 272,474 parameters that are
/// trained and 1,568 running statistics.
public struct ResNet20BatchModel: ModelSource {
  public static let name = "resnet20-bn"
  public static let summary =
    "A residual network of 20 layers for small images, with batch normalisation (He et al. 2016)."

  public typealias Settings = WidthSettings

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// Three stages of three blocks, 16, 32 and 64 filters.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    try Network(
      sampleShape: sampleShape,
      layers: ResidualBlocks.layers(
        settings.filters([16, 32, 64]), blocks: 3, .batchNormalised, classCount: classCount),
      loss: loss)
  }
}

/// A residual network of 18 layers for small images, with batch normalisation.
///
/// Source: He et al. (2016), with a first convolution of 3×3 without pooling, as is usual for
/// 32×32 pixels. For 3 channels and 10 classes 11,173,962 parameters that are trained and 9,600
/// running statistics.
public struct ResNet18BatchModel: ModelSource {
  public static let name = "resnet18-bn"
  public static let summary =
    "A residual network of 18 layers for small images, with batch normalisation (He et al. 2016)."

  public typealias Settings = WidthSettings

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// Four stages of two blocks, 64 to 512 filters.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    try Network(
      sampleShape: sampleShape,
      layers: ResidualBlocks.layers(
        settings.filters([64, 128, 256, 512]), blocks: 2, .batchNormalised,
        classCount: classCount),
      loss: loss)
  }
}

/// MobileNetV2 for small images: inverted residuals with depthwise convolutions.
///
/// Source: Sandler et al., "MobileNetV2: Inverted residuals and linear bottlenecks" (2018), table
/// 2, with strides of 1 in the first convolution and in the second stage, as is usual for 32×32
/// pixels. Numbers of filters are rounded to multiples of 8, and never down by more than a tenth,
/// as torchvision rounds them; the last convolution has at least 1,280. For width 1, 3 channels and
/// 10 classes 2,236,682 parameters that are trained and 34,112 running statistics.
public struct MobileNetV2Model: ModelSource {
  public static let name = "mobilenet-v2-small"
  public static let summary =
    "MobileNetV2 for small images: depthwise convolutions, batch normalisation (Sandler 2018)."

  public typealias Settings = WidthSettings

  /// A stage: the factor inside of its blocks, filters, blocks, and the first block's stride.
  private static let stages: [(expansion: Int, filters: Int, blocks: Int, stride: Int)] = [
    (1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
  ]

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  private static func rounded(_ filters: Double) -> Int {
    let nearest = max(8, Int((filters + 4) / 8) * 8)
    return Double(nearest) < 0.9 * filters ? nearest + 8 : nearest
  }

  private static func convolution(
    _ filters: Int, size: Int, stride: Int = 1, groups: Int = 1, isLinear: Bool = false
  ) -> [Network.Layer] {
    [
      .convolution(
        .init(
          filters: filters, size: size, stride: stride,
          padding: size == 1 ? .valid : .count(1), groups: groups, hasBias: false)),
      .batchNormalised,
    ] + (isLinear ? [] : [.activation(.relu6)])
  }

  /// A convolution, seven stages of blocks, a convolution, the mean, a dense layer.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    var channels = Self.rounded(32 * settings.width)
    var layers = Self.convolution(channels, size: 3)
    for stage in Self.stages {
      let filters = Self.rounded(Double(stage.filters) * settings.width)
      for block in 0..<stage.blocks {
        let (inner, stride) = (stage.expansion * channels, block == 0 ? stage.stride : 1)
        let inverted =
          (stage.expansion == 1 ? [] : Self.convolution(inner, size: 1))
          + Self.convolution(inner, size: 3, stride: stride, groups: inner)
          + Self.convolution(filters, size: 1, isLinear: true)
        layers +=
          stride == 1 && channels == filters
          ? [.residual(layers: inverted, shortcut: [])] : inverted
        channels = filters
      }
    }
    layers += Self.convolution(Self.rounded(1280 * max(1, settings.width)), size: 1)
    layers += [.globalAveragePooling, .dense(outputs: classCount, activation: .identity)]
    return try Network(sampleShape: sampleShape, layers: layers, loss: loss)
  }
}
