import CoreMLFormat
import Foundation
import Learning

/// A network out of a Core ML model: its layers, their weights, and what is said of training.
public struct CoreMLNetwork: Sendable {
  /// The file's path.
  public let path: String
  /// SHA-256 of the file.
  public let digest: String
  /// The layers from input to output, those without updates frozen.
  public let layers: [Network.Layer]
  /// Where each layer is in the file: `layer 2 (conv1)`.
  let places: [String]
  /// What a sample is.
  let sample: CoreMLSample
  /// How many outputs there are.
  let outputs: Int
  /// What the file says of training.
  public let training: CoreMLTraining
  let tensors: [CoreMLTensor]

  /// Reads a file.
  ///
  /// Throws: what is wrong with the file, and what it has that FedSim has no layer for, by the
  /// layer's name and number.
  public init(contentsOf path: String) throws(DataFault) {
    let file = try CoreMLFile(contentsOf: path)
    let root = try CoreMLRoot(file)
    var translation = try CoreMLTranslation(root)
    try translation.translate()
    self.path = path
    digest = file.digest
    layers = translation.layers
    places = translation.places
    sample = root.sample
    outputs = translation.outputs
    tensors = translation.tensors
    training = try CoreMLTraining(root)
    guard tensors.contains(where: \.isTrained) else {
      throw DataFault(
        .unsupported, in: path, found: "no updatable layer",
        expected: "at least one: nothing would be trained",
        advice: "mark layers with NeuralNetworkBuilder.make_updatable of coremltools")
    }
  }

  /// The network for samples of a shape.
  ///
  /// Throws: `LayerFault` for samples that the file's input does not take, and for fewer outputs
  /// than classes.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    guard sample.takes(sampleShape) else {
      throw LayerFault(
        layer: 1, kind: "Core ML input",
        message: "takes \(sample.words), but samples are \(sampleShape)")
    }
    let network: Network
    do throws(LayerFault) {
      network = try Network(sampleShape: sampleShape, layers: layers, loss: loss)
    } catch {
      throw LayerFault(
        layer: error.layer, kind: "Core ML \(places[error.layer - 1])", message: error.message)
    }
    guard network.classCount >= classCount else {
      throw LayerFault(
        layer: layers.count, kind: "Core ML \(places[layers.count - 1])",
        message: "gives \(network.classCount) outputs for \(classCount) classes")
    }
    precondition(
      network.layout.tensors.map(\.shape) == tensors.map(\.shape), "tensors are the layers'")
    return network
  }

  /// How many tensors are trained.
  public var trainedCount: Int { tensors.count(where: \.isTrained) }

  /// The file's weights, in a network's order.
  public func parameters(of network: Network) -> ParameterBuffer {
    ParameterBuffer(tensors.flatMap(\.values), layout: network.layout)
  }

  /// The file with other weights in the tensors that are trained; all else is byte for byte as it
  /// is.
  ///
  /// Shapes: FedSim's, in the network's order. Throws: what reading throws; `countMismatch` for
  /// tensors of other sizes.
  public func bytes(with trained: [[Float]]) throws(DataFault) -> [UInt8] {
    let mismatch = zip(trained, tensors).contains { $0.count != $1.values.count }
    guard trained.count == tensors.count, !mismatch else {
      throw DataFault(
        .countMismatch, in: path, found: "tensors of \(tensors.map(\.values.count)) numbers",
        expected: "those of the result, \(trained.map(\.count))")
    }
    var bytes = [UInt8](try CoreMLFile.bytes(of: path))
    for (tensor, values) in zip(tensors, trained) where tensor.isTrained {
      for piece in tensor.pieces {
        for index in 0..<piece.count {
          let bits = values[piece.order.place(of: index)].bitPattern
          for byte in 0..<4 {
            bytes[piece.range.lowerBound + 4 * index + byte] = UInt8(
              truncatingIfNeeded: bits >> UInt32(8 * byte))
          }
        }
      }
    }
    return bytes
  }
}

/// What a sample of a Core ML network is.
enum CoreMLSample: Equatable {
  case vector(Int)
  case image(channels: Int, height: Int, width: Int)
  /// Features at each time.
  case sequence(Int)
  /// A whole number at each time.
  case tokens

  /// Whether samples of a shape are of this kind; the channels of an image are last.
  func takes(_ shape: [Int]) -> Bool {
    switch self {
    case .vector(let count):
      // Pixels of one channel have one order only.
      shape == [count]
        || [2, 3].contains(shape.count) && shape.reduce(1, *) == count
          && (shape.count == 2 || shape[2] == 1)
    case .image(let channels, let height, let width):
      shape == [height, width, channels] || channels == 1 && shape == [height, width]
    case .sequence(let features):
      shape.count == 2 && shape[1] == features || shape.count == 1 && features == 1
    case .tokens: shape.count == 1
    }
  }

  var words: String {
    switch self {
    case .vector(let count): "[\(count)]"
    case .image(let channels, let height, let width):
      "an image of [\(height), \(width), \(channels)]"
    case .sequence(let features): "[time, \(features)]"
    case .tokens: "[time] of whole numbers"
    }
  }
}

/// One tensor of a network with its numbers, and where these are in the file.
struct CoreMLTensor: Sendable {
  /// Numbers one behind the other in the file, that belong to one tensor.
  struct Piece: Sendable {
    var range: Range<Int>
    var count: Int
    var order: WeightOrder
  }

  var shape: [Int]
  var isTrained: Bool
  var values: [Float]
  var pieces: [Piece] = []
}

/// Where a number of the file is in FedSim's tensor.
enum WeightOrder: Equatable {
  case same
  /// [out][in] for [in][out].
  case turned(inputs: Int, outputs: Int)
  /// [out][in][height][width] for [height][width][in][out].
  case image(inputs: Int, outputs: Int, places: Int)
  /// [out][channel][place] for [place][channel][out]: a dense layer behind an image.
  case flattened(outputs: Int, channels: Int, places: Int)
  /// A gate's [units][in], or [units], for its columns of [in][gates × units].
  case gate(Int, of: Int, inputs: Int, units: Int)

  func place(of index: Int) -> Int {
    switch self {
    case .same: return index
    case .turned(let inputs, let outputs):
      return index % inputs * outputs + index / inputs
    case .image(let inputs, let outputs, let places):
      let (filter, place) = (index / places, index % places)
      return (place * inputs + filter % inputs) * outputs + filter / inputs
    case .flattened(let outputs, let channels, let places):
      let (output, input) = (index / (channels * places), index % (channels * places))
      return (input % places * channels + input / places) * outputs + output
    case .gate(let gate, let gates, let inputs, let units):
      return index % inputs * gates * units + gate * units + index / inputs
    }
  }
}
