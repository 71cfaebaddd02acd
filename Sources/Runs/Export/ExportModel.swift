import FedSim
import Results
import Schema

/// The tensors of a model in a result.
struct ExportModel {
  /// A tensor: its name in the network, its shape, its numbers with the last axis fastest.
  struct Tensor {
    var name: String
    var shape: [Int]
    var values: [Float]
  }

  private let document: ResultDocument
  let group: ResultDocument.Group
  /// In the order of the network.
  let tensors: [Tensor]

  /// The model in a group.
  ///
  /// Throws: `RunFailure.input` for a group whose tensors are no 32-bit floats.
  init(
    _ document: ResultDocument, group: ResultDocument.Group, path: String
  ) throws(RunFailure) {
    self.document = document
    self.group = group
    var tensors: [Tensor] = []
    for variable in group.variables {
      let name = variable.remark("tensor")
      if name.isEmpty { continue }
      guard case .float(let values) = variable.values else {
        throw StoredRun.refusal(
          path, "/\(group.name)/\(variable.name): found \(variable.values.typeName), expected float"
        )
      }
      let shape = variable.axes.map { axis in
        group.axes.first { $0.name == axis }?.length ?? 0
      }
      tensors.append(Tensor(name: name, shape: shape, values: values))
    }
    self.tensors = tensors
  }

  /// The file of the `safetensors` library: the length of a header in 8 bytes, the header as JSON
  /// with blanks up to a multiple of 8, then the numbers of all tensors.
  ///
  /// Source: safetensors, README, "Format".
  var safetensors: [UInt8] {
    var header = "{\"__metadata__\":{"
    header += metadata.map { "\(Text.jsonString($0)):\(Text.jsonString($1))" }
      .joined(separator: ",")
    header += "}"
    var offset = 0
    for tensor in tensors {
      let end = offset + 4 * tensor.values.count
      let shape = tensor.shape.map { String($0) }.joined(separator: ",")
      header += ",\(Text.jsonString(tensor.name)):{\"dtype\":\"F32\",\"shape\":[\(shape)]"
      header += ",\"data_offsets\":[\(offset),\(end)]}"
      offset = end
    }
    header += "}"
    header += String(repeating: " ", count: (8 - header.utf8.count % 8) % 8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 + header.utf8.count + offset)
    for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: header.utf8.count >> (8 * byte))) }
    bytes.append(contentsOf: header.utf8)
    for tensor in tensors {
      for value in tensor.values {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
      }
    }
    return bytes
  }

  /// What the model is of: the group's own remarks, the run's, and its scenario.
  private var metadata: [(String, String)] {
    var entries = [("format", "np"), ("source", "FedSim"), ("group", group.name)]
    let attributes = group.attributes + document.root.attributes
    for attribute in attributes where !entries.contains(where: { $0.0 == attribute.name }) {
      entries.append((attribute.name, attribute.value.text))
    }
    if let scenario = document.root[text: "scenario"] { entries.append(("scenario", scenario)) }
    return entries
  }

  /// What the automatic backend answers to `GET /api/model/latest`.
  ///
  /// Throws: `RunFailure.input` for a model that no aggregation made.
  func automaticBackendJSON(_ path: String) throws(RunFailure) -> [UInt8] {
    guard group.name == "model" else {
      throw StoredRun.refusal(
        path, "the automatic backend has a single model, `model`; `\(group.name)` is another model")
    }
    guard case .integer(let version)? = group[attribute: "version"], version > 0,
      let row = integers("version")?.firstIndex(of: version),
      let devices = integers("devices"), let published = numbers("publishedAt"),
      let accuracy = numbers("averageAccuracy") ?? numbers("validationAccuracy")
    else {
      throw StoredRun.refusal(
        path, "no version was published, but the backend has a model only after an aggregation")
    }
    guard case .int64(let start)? = document.root[variable: "startTime"]?.values else {
      throw StoredRun.refusal(path, "there is no variable `startTime`")
    }
    let time = SimTime(microseconds: Int64((published[row] * 1e6).rounded()))
    let text = ModelFiles.text(
      version: Int(version), tensors: tensors.map { ($0.name, $0.values) },
      timestamp: ModelFiles.timestamp(time, start[0]), devices: Int(devices[row]),
      accuracy: accuracy[row])
    return Array("{\"model_available\": true, \(text.dropFirst())".utf8)
  }

  private func integers(_ name: String) -> [Int64]? {
    guard case .int64(let values)? = document["versions"]?[variable: name]?.values else {
      return nil
    }
    return values
  }

  private func numbers(_ name: String) -> [Double]? {
    guard case .double(let values)? = document["versions"]?[variable: name]?.values else {
      return nil
    }
    return values
  }
}
