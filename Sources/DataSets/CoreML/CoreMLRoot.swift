import CoreMLFormat

/// The one network of a model, with what comes into it.
struct CoreMLRoot {
  let path: String
  let outline: CoreMLOutline
  let network: CoreMLSpecNetwork
  /// What the network's input and output are called.
  let input: String
  let outputNames: [String]
  let sample: CoreMLSample
  /// Whether the model, and the network in it, are updatable.
  let isUpdatable: Bool
  /// How many classes the model names; nil: it names none.
  let classCount: Int?

  /// The specification versions that are known.
  private static let versions = 1...10

  /// Throws: `unsupported`, `missingName`, `outOfRange` and `countMismatch`.
  init(_ file: CoreMLFile) throws(DataFault) {
    (path, outline) = (file.path, file.outline)
    let model = try Self.single(file.model, file)
    guard Self.versions.contains(Int(model.specificationVersion)) else {
      throw DataFault(
        .unsupported, in: path, found: "specification version \(model.specificationVersion)",
        expected: "\(Self.versions.lowerBound) to \(Self.versions.upperBound)")
    }
    network = try Self.network(of: model, file)
    isUpdatable = file.model.isUpdatable && model.isUpdatable
    let isClassifier = outline.types.last == 403
    classCount =
      !isClassifier
      ? nil
      : network.hasStringClassLabels
        ? network.stringClassLabels.vector.count : network.int64ClassLabels.vector.count
    guard !network.layers.isEmpty else {
      throw DataFault(.missingName, in: path, found: "no layers", expected: "a network")
    }
    guard model.features.input.count == 1 else {
      throw DataFault(
        .unsupported, in: path,
        found: "\(model.features.input.count) inputs"
          + Self.list(model.features.input.map(\.name)), expected: "1 input")
    }
    let feature = model.features.input[0]
    guard !feature.type.isOptional else {
      throw DataFault(
        .unsupported, in: "\(path):input '\(feature.name)'", found: "an optional input",
        expected: "one that is always there")
    }
    input = feature.name
    outputNames = model.features.output.map(\.name)
    sample = try Self.sample(feature, network, path)
  }

  /// The model, or the one of its pipeline.
  private static func single(
    _ model: CoreMLSpecModel, _ file: CoreMLFile
  ) throws(DataFault) -> CoreMLSpecModel {
    let pipeline: CoreMLSpecPipeline
    switch file.outline.types.first {
    case 200: pipeline = model.pipelineClassifier.pipeline
    case 201: pipeline = model.pipelineRegressor.pipeline
    case 202: pipeline = model.pipeline
    default: return model
    }
    guard pipeline.models.count == 1 else {
      throw DataFault(
        .unsupported, in: file.path, found: "a pipeline of \(pipeline.models.count) models",
        expected: "a pipeline of one network")
    }
    return pipeline.models[0]
  }

  private static func network(
    of model: CoreMLSpecModel, _ file: CoreMLFile
  ) throws(DataFault) -> CoreMLSpecNetwork {
    switch file.outline.types.last {
    case 303: return model.neuralNetworkRegressor
    case 403: return model.neuralNetworkClassifier
    case 500: return model.neuralNetwork
    case nil:
      throw DataFault(
        .missingName, in: file.path, found: "no model in it", expected: "a neural network",
        advice: "is it a Core ML model (.mlmodel)?")
    case let type?:
      throw DataFault(
        .unsupported, in: file.path, found: CoreMLWords.model(type), expected: "a neural network",
        advice: type == 502 ? CoreMLWords.howToConvert : nil)
    }
  }

  static func list(_ names: [String]) -> String {
    names.isEmpty ? "" : " (\(names.prefix(6).joined(separator: ", ")))"
  }

  // MARK: What a sample is

  private static func sample(
    _ feature: CoreMLSpecFeature, _ network: CoreMLSpecNetwork, _ path: String
  ) throws(DataFault) -> CoreMLSample {
    let place = "\(path):input '\(feature.name)'"
    if feature.type.hasImage {
      return try image(feature.type.image, network.preprocessing, place)
    }
    guard feature.type.hasArray else {
      throw DataFault(
        .unsupported, in: place, found: "neither an array nor an image",
        expected: "a multi-array or an image")
    }
    guard network.preprocessing.isEmpty else {
      throw DataFault(
        .unsupported, in: place, found: "preprocessing of an array", expected: "none")
    }
    let array = feature.type.array
    guard array.unknownFields.data.isEmpty else {
      throw DataFault(
        .unsupported, in: place, found: "a flexible shape or a default value",
        expected: "one shape")
    }
    var shape = array.shape
    // With exact mapping the first axis is the batch.
    if network.arrayInputShapeMapping == 1, shape.count > 1, shape[0] == 1 { shape.removeFirst() }
    // What a sample has in all: products of extents are taken later.
    let most = Int64(1 << 28)
    guard shape.count == 1 || shape.count == 3, shape.allSatisfy({ (1...most).contains($0) }),
      shape.reduce(1, { min($0, most + 1) * $1 }) <= most
    else {
      throw DataFault(
        .unsupported, in: place, found: "shape \(array.shape)",
        expected: "[features] or [channels, height, width]")
    }
    let extents = shape.map(Int.init)
    if extents.count == 3 {
      return .image(channels: extents[0], height: extents[1], width: extents[2])
    }
    if case .reshape(let reshape) = network.layers.first?.kind,
      let image = CoreMLSample(reshape, of: extents[0])
    {
      return image
    }
    for layer in network.layers {
      switch layer.kind {
      case .embedding, .embeddingNd: return .tokens
      case .uniDirectionalLstm, .gru: return .sequence(extents[0])
      default: break
      }
    }
    return .vector(extents[0])
  }

  private static func image(
    _ image: CoreMLSpecImage, _ preprocessing: [CoreMLSpecPreprocessing], _ place: String
  ) throws(DataFault) -> CoreMLSample {
    func refused(_ found: String, _ expected: String) -> DataFault {
      DataFault(.unsupported, in: place, found: found, expected: expected)
    }
    guard image.unknownFields.data.isEmpty else {
      throw refused("a flexible size", "one size")
    }
    let channels: Int
    switch image.colorSpace {
    case 10: channels = 1
    case 20: channels = 3
    default: throw refused("colour space \(image.colorSpace)", "GRAYSCALE (10) or RGB (20)")
    }
    guard (1...1 << 14).contains(image.width), (1...1 << 14).contains(image.height) else {
      throw refused("\(image.width)×\(image.height) pixels", "1 to 16384 each way")
    }
    // A byte b is b/255 here; Core ML hands over b, times the scale.
    guard preprocessing.count == 1, preprocessing[0].hasScaler,
      preprocessing[0].scaler.isByteToShare(channels)
    else {
      let found =
        preprocessing.isEmpty
        ? "pixels from 0 to 255" : "a scale, biases or a mean image"
      throw refused(found, "pixels from 0 to 1: image_scale=1/255 without biases")
    }
    return .image(channels: channels, height: Int(image.height), width: Int(image.width))
  }
}

extension CoreMLSample {
  /// The image that a first reshape makes of a flat sample; nil: it makes none.
  init?(_ reshape: CoreMLSpecReshape, of count: Int) {
    let shape = reshape.targetShape.suffix(3)
    guard reshape.mode == 0, shape.count == 3, shape.allSatisfy({ (1...1 << 14).contains($0) }),
      reshape.targetShape.dropLast(3).allSatisfy({ $0 == 1 })
    else { return nil }
    let extents = shape.map(Int.init)
    guard extents[1] * extents[2] > 1, extents.reduce(1, *) == count else { return nil }
    self = .image(channels: extents[0], height: extents[1], width: extents[2])
  }
}

extension CoreMLSpecScaler {
  /// Whether it makes shares of 0 to 1 of bytes.
  fileprivate func isByteToShare(_ channels: Int) -> Bool {
    let biases = channels == 1 ? [grayBias] : [blueBias, greenBias, redBias]
    return abs(channelScale * 255 - 1) < 1e-4 && biases.allSatisfy { $0 == 0 }
  }
}
