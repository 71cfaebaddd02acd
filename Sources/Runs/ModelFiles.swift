import FedSim
import Foundation
import Learning
import Results
import Schema

/// Writes each published model as the automatic backend stores it: `global_model_v{N}.json` and,
/// with the same content, `global_model_latest.json`.
///
/// Version 0 is no aggregation and has no file. Numbers are the shortest decimals that read back to
/// the same 32-bit floats. A file is written next to its place and renamed. After the first failure
/// nothing more is written.
public final class ModelFiles: Observer {
  /// The folder.
  public let folder: String
  /// What went wrong, if anything.
  public private(set) var fault: ResultFault?
  private let gate: RunGate

  /// Model files in a folder, which is made if it is not there.
  ///
  /// Throws: `ResultFault` where the folder cannot be made or takes no files.
  public init(folder: String, gate: RunGate = RunGate()) throws(ResultFault) {
    self.folder = folder
    self.gate = gate
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw .missingFolder(path: "\(folder)/global_model_latest.json", folder: folder)
    }
    _ = try PlacedFile("\(folder)/global_model_latest.json")
  }

  /// Writes a version.
  public func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    guard record.version > 0, fault == nil else { return }
    let layout = simulation.inputs.task.network.layout
    let bytes = Self.json(
      record, model: simulation.model, layout: layout, civilStart: simulation.inputs.civilStart)
    do throws(ResultFault) {
      for name in ["v\(record.version)", "latest"] {
        try gate.pass { () throws(ResultFault) in
          try PlacedFile.place(bytes, at: "\(folder)/global_model_\(name).json")
        }
      }
    } catch {
      fault = error
    }
  }

  /// A version as JSON; a number that is not finite is null.
  ///
  /// Shapes: each tensor flat, its last axis fastest.
  package static func json(
    _ record: VersionRecord, model: ParameterBuffer, layout: ParameterLayout, civilStart: Int64
  ) -> [UInt8] {
    let accuracy = record.averageAccuracy ?? record.validationAccuracy
    let text = text(
      version: record.version,
      tensors: layout.tensors.map { ($0.name, Array(model.values(of: $0))) },
      timestamp: timestamp(record.publishedAt, civilStart), devices: record.devices,
      accuracy: accuracy)
    return Array(text.utf8)
  }

  /// The same from its parts.
  static func text(
    version: Int, tensors: [(name: String, values: [Float])], timestamp: String, devices: Int,
    accuracy: Double
  ) -> String {
    var text = "{\"version\": \(version), \"weights\": {"
    text.reserveCapacity(14 * tensors.reduce(0) { $0 + $1.values.count } + 256)
    for (index, tensor) in tensors.enumerated() {
      text += "\(index == 0 ? "" : ", ")\"\(tensor.name)\": ["
      var isFirst = true
      for value in tensor.values {
        if !isFirst { text += ", " }
        isFirst = false
        text += value.isFinite ? value.description : "null"
      }
      text += "]"
    }
    text += "}, \"aggregation_timestamp\": \"\(timestamp)\""
    text += ", \"participating_devices\": \(devices)"
    text += ", \"average_accuracy\": \(accuracy.isFinite ? accuracy.description : "null")}\n"
    return text
  }

  /// A virtual time as the civil time that it represents, as Python's `isoformat` writes it.
  package static func timestamp(_ time: SimTime, _ civilStart: Int64) -> String {
    let seconds = time.microseconds / 1_000_000
    let text = CivilTime(secondsSince1970: civilStart + seconds).text.dropLast()
    let fraction = time.microseconds % 1_000_000
    guard fraction > 0 else { return String(text) }
    return text + "." + String(1_000_000 + fraction).dropFirst()
  }
}
