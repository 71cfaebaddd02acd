import CoreMLFormat
import Foundation
import Numerics
import SwiftProtobuf

/// The bytes of a Core ML model and what they say, before any of it is understood.
struct CoreMLFile {
  let path: String
  let model: CoreMLSpecModel
  let outline: CoreMLOutline
  /// SHA-256 of the bytes.
  let digest: String

  /// Protobuf's own limit.
  private static let mostBytes = 2 << 30

  /// Reads a file.
  ///
  /// Throws: `missingFile`, `inputOutput`, `unsupported` for a folder, `truncated`, `corrupt`,
  /// `duplicate` and `tooLarge`.
  init(contentsOf path: String) throws(DataFault) {
    self.path = path
    let data = try Self.bytes(of: path)
    let parts: Result<(CoreMLOutline, String), DataFault> = data.withUnsafeBytes { bytes in
      var sum = SHA256()
      sum.update(bytes)
      let digest = sum.hexDigest()
      do throws(DataFault) {
        return .success((try CoreMLOutline(bytes, file: path), digest))
      } catch {
        return .failure(error)
      }
    }
    (outline, digest) = try parts.get()
    do {
      model = try CoreMLSpecModel(serializedBytes: data)
    } catch {
      throw DataFault(
        .corrupt, in: path, found: "bytes that are no Core ML model",
        expected: "a `.mlmodel` file")
    }
  }

  /// The bytes, each checked to be there.
  static func bytes(of path: String) throws(DataFault) -> Data {
    FileWitness.opened(path)
    var status = stat()
    guard stat(path, &status) == 0 else {
      let isMissing = errno == ENOENT || errno == ENOTDIR
      throw DataFault(
        isMissing ? .missingFile : .inputOutput, in: path,
        found: String(cString: strerror(errno)), expected: "a readable file")
    }
    if status.st_mode & S_IFMT == S_IFDIR { throw folder(path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw DataFault(
        .unsupported, in: path, found: "no regular file", expected: "a `.mlmodel` file")
    }
    guard status.st_size <= mostBytes else {
      throw DataFault(
        .tooLarge, in: path, found: "\(status.st_size) bytes",
        expected: "at most \(mostBytes), as protobuf allows")
    }
    guard status.st_size > 0 else {
      throw DataFault(
        .truncated, in: path, found: "an empty file", expected: "a Core ML model")
    }
    do {
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw DataFault(
        .inputOutput, in: path, found: "a file that cannot be read", expected: "a readable file")
    }
  }

  /// Core ML's folders are other formats.
  private static func folder(_ path: String) -> DataFault {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    if path.hasSuffix(".mlmodelc") || names.contains("coremldata.bin") {
      return DataFault(
        .unsupported, in: path, found: "a compiled model (.mlmodelc)",
        expected: "a `.mlmodel` file",
        advice: "give the `.mlmodel` that it was compiled from")
    }
    if path.hasSuffix(".mlpackage") || names.contains("Manifest.json") {
      return DataFault(
        .unsupported, in: path, found: "a package (.mlpackage)", expected: "a `.mlmodel` file",
        advice: CoreMLWords.howToConvert)
    }
    return DataFault(.unsupported, in: path, found: "a folder", expected: "a `.mlmodel` file")
  }
}

/// Words of refusals.
enum CoreMLWords {
  /// How to get a network out of an ML program.
  static let howToConvert =
    "make one of the original network with NeuralNetworkBuilder of coremltools, or with "
    + "coremltools.convert(…, convert_to=\"neuralnetwork\") and save(\"m.mlmodel\")"

  /// What a model is, by its field.
  static func model(_ field: Int) -> String {
    switch field {
    case 300, 400: "a generalised linear model"
    case 301, 401: "a support vector machine"
    case 302, 402: "a tree ensemble"
    case 404: "a nearest-neighbour classifier"
    case 502: "an ML program"
    case 555: "a custom model"
    default: "a model of another kind (field \(field))"
    }
  }

  /// The names of the layers in the public format, by their fields.
  static func layer(_ field: Int) -> String { layers[field] ?? "field \(field)" }

  private static let layers: [Int: String] = {
    let words = names.split(whereSeparator: \.isWhitespace)
    var layers: [Int: String] = [:]
    for place in stride(from: 0, to: words.count, by: 2) {
      if let field = Int(words[place]) { layers[field] = String(words[place + 1]) }
    }
    return layers
  }()

  private static let names = """
    100 convolution 120 pooling 130 activation 140 innerProduct 150 embedding 160 batchnorm
    165 mvn 170 l2normalize 175 softmax 180 lrn 190 crop 200 padding 210 upsample
    211 resizeBilinear 212 cropResize 220 unary 230 add 231 multiply 240 average 245 scale
    250 bias 260 max 261 min 270 dot 280 reduce 290 loadConstant 300 reshape 301 flatten
    310 permute 320 concat 330 split 340 sequenceRepeat 345 reorganizeData 350 slice
    400 simpleRecurrent 410 gru 420 uniDirectionalLSTM 430 biDirectionalLSTM 500 custom
    600 copy 605 branch 615 loop 660 clip 795 gelu 880 addBroadcastable
    900 multiplyBroadcastable 950 softmaxND 980 concatND 985 transpose 1040 embeddingND
    1045 batchedMatmul 1070 loadConstantND 1120 squeeze 1125 expandDims 1130 flattenTo2D
    1140 reshapeStatic 1150 rankPreservingReshape 1155 constantPad 1280 reduceMean
    1350 layerNormalization 1460 clampedReLU 1465 pooling3d 1471 convolution3d
    """
}
