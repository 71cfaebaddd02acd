import Foundation
import Results
import Scenarios
import Schema

/// A result in another format: tables, arrays, or the model alone.
public struct Export: Sendable {
  /// What is written.
  public enum Format: String, CaseIterable, Sendable {
    /// A folder of tables, and the description of their columns.
    case csv
    /// One archive of all variables, as NumPy reads it.
    case npz
    /// The tensors of a model, by name.
    case safetensors
    /// The last model as the automatic backend answers to `GET /api/model/latest`.
    case automaticBackendJSON = "automatic-backend-json"
    /// The Core ML file of the scenario, with the tensors of the last model.
    case coreML = "coreml"
    /// The requests of the run, one per line, in the order in which they reach the server.
    case requests

    /// The format that a path's ending means.
    public init?(endingOf path: String) {
      let endings: [(String, Format)] = [
        (".npz", .npz), (".safetensors", .safetensors), (".json", .automaticBackendJSON),
        (".jsonl", .requests), (".mlmodel", .coreML),
      ]
      guard let found = endings.first(where: { path.hasSuffix($0.0) }) else { return nil }
      self = found.1
    }
  }

  /// What was written.
  public struct Summary: Equatable, Sendable {
    /// Files.
    public var files = 0
    /// Variables, tensors for a model, requests.
    public var variables = 0
    /// Bytes, all files together.
    public var bytes = 0
    /// What to say of a result that is not as FedSim wrote it.
    public var warning: String?
  }

  /// The result file.
  public let path: String
  /// What is written.
  public let format: Format
  /// The groups that are written, with all that is in them; for a model the one that holds it.
  /// None: all groups, and the group `model`.
  public var groups: [String] = []
  /// Whether a file that is there already is replaced, or a folder that an export made.
  public var replaces = false
  /// Which requests are written, where they are; its folder is that of a Core ML file, too.
  public var requests = RequestChoice()

  /// An export of a result; nothing is read or written yet.
  public init(_ path: String, as format: Format) {
    self.path = path
    self.format = format
  }

  /// Writes it: whole, or not at all.
  ///
  /// `options` and `registry` are for requests: the run is played again. Throws:
  /// `RunFailure.input` for a file that is no result, for groups that are not there, and for a
  /// place that is taken; `.output` for one that takes no file; `.failed` if it cannot be written.
  public func write(
    to target: String, options: RunOptions = RunOptions(), registry: Registry = .standard
  ) throws(RunFailure) -> Summary {
    if let own = Self.real(path), own == Self.real(target) {
      throw refusal("the export cannot be written over its own result")
    }
    if format == .requests {
      guard groups.isEmpty else { throw refusal("--group has no effect on requests") }
      return try RequestExport(path: path, choice: requests, replaces: replaces)
        .write(to: target, options, registry)
    }
    let place = try ExportPlace(target, isFolder: format == .csv, replaces: replaces)
    var summary = Summary()
    let document = try read(&summary)
    let files: [(name: String, bytes: [UInt8])]
    switch format {
    case .csv:
      let tables = ExportTables(try chosen(document))
      summary.variables = tables.variableCount
      files = try tables.files(for: path)
    case .npz:
      let arrays = ExportArrays(try chosen(document))
      summary.variables = arrays.variableCount
      files = [("", try arrays.bytes(for: path))]
    case .safetensors:
      let model = try ExportModel(document, group: try modelGroup(document), path: path)
      summary.variables = model.tensors.count
      files = [("", model.safetensors)]
    case .automaticBackendJSON:
      let model = try ExportModel(document, group: try modelGroup(document), path: path)
      summary.variables = model.tensors.count
      files = [("", try model.automaticBackendJSON(path))]
    case .coreML:
      let model = try ExportModel(document, group: try modelGroup(document), path: path)
      let stored = try StoredRun(path, folder: requests.folder, registry: registry)
      files = [("", try model.coreML(stored, &summary.variables))]
    case .requests: preconditionFailure("requests are written as they are met")
    }
    summary.files = files.count
    summary.bytes = files.reduce(0) { $0 + $1.bytes.count }
    try place.put(files)
    return summary
  }

  /// Where a path leads, links followed; nil where nothing is.
  private static func real(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// The result.
  private func read(_ summary: inout Summary) throws(RunFailure) -> ResultDocument {
    guard FileManager.default.fileExists(atPath: path) else {
      throw refusal(UnfinishedRun.absence(of: path))
    }
    let document: ResultDocument
    do throws(ResultFault) {
      let reading = try ResultFile.reading(path)
      document = reading.document
      if !reading.isAsWritten { summary.warning = StoredResult.alteration(of: document, path) }
    } catch {
      throw refusal("this is not a result of FedSim (\(StoredResult.reason(error)))")
    }
    guard case .text(let conventions)? = document.root[attribute: "Conventions"],
      conventions.contains("FedSim-")
    else { throw refusal("this is an HDF5 file, but not a result of FedSim") }
    return document
  }

  /// The document with the chosen groups alone.
  private func chosen(_ document: ResultDocument) throws(RunFailure) -> ResultDocument {
    guard !groups.isEmpty else { return document }
    for name in groups { _ = try group(name, of: document) }
    var copy = document
    copy.root.groups = document.root.groups.filter { groups.contains($0.name) }
    return copy
  }

  private func group(
    _ name: String, of document: ResultDocument
  ) throws(RunFailure) -> ResultDocument.Group {
    if let group = document.root.groups.first(where: { $0.name == name }) { return group }
    throw .input([
      Fault(
        at: Place(file: path),
        .unknownName(
          name, seam: "group", nearest: Spelling.nearest(to: name, among: names(document)),
          known: names(document)))
    ])
  }

  private func names(_ document: ResultDocument) -> [String] { document.root.groups.map(\.name) }

  /// The group that holds the model.
  private func modelGroup(_ document: ResultDocument) throws(RunFailure) -> ResultDocument.Group {
    guard groups.count <= 1 else {
      throw refusal("--group is given \(groups.count) times; \(format.rawValue) takes one model")
    }
    if let name = groups.first {
      let group = try group(name, of: document)
      guard group.isModel else {
        throw refusal("`\(name)` holds no tensors; \(modelGroups(document))")
      }
      return group
    }
    guard let group = document.root.groups.first(where: { $0.name == "model" }) else {
      throw refusal("there is no group `model`; \(modelGroups(document))")
    }
    return group
  }

  private func modelGroups(_ document: ResultDocument) -> String {
    let names = document.root.groups.filter(\.isModel).map(\.name)
    guard !names.isEmpty else {
      return "the run learned nothing, or was recorded with finalModel: false"
    }
    return "groups with tensors: " + names.joined(separator: ", ")
  }

  private func refusal(_ message: String) -> RunFailure { StoredRun.refusal(path, message) }
}

extension ResultDocument.Group {
  /// Whether its variables are the tensors of a model.
  var isModel: Bool { variables.contains { $0[attribute: "tensor"] != nil } }
}
