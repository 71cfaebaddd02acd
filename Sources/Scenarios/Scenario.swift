import FedSim
import Numerics
import Schema

/// A scenario that was read and found valid: every value is known, and where it was written.
public struct Scenario: Sendable {
  /// The values.
  public let settings: ScenarioSettings
  /// The parts that the scenario could name.
  public let registry: Registry
  /// The file it was read from, as the user named it.
  public let file: String
  /// What was written, files and overrides laid over each other.
  public let writtenNode: Node
  /// Every value explicit, in the order of the documentation; the place of a value out of the file
  /// of a model is that file.
  public let resolvedNode: Node

  /// Reads a file.
  ///
  /// Throws: every fault found in the files and overrides, in order.
  public init(
    contentsOf path: String, overrides: [String] = [], registry: Registry = .standard,
    files: ScenarioFiles = .disk
  ) throws(Faults) {
    let composition = Composition(
      fields: ScenarioSettings.descriptions, catalog: registry.catalog, files: files)
    try self.init(
      written: composition.tree(file: path, overrides: overrides), file: path, registry: registry)
  }

  /// Reads a text; `file` names it in messages, and relative paths start in its folder.
  ///
  /// Throws: every fault found in the text, its bases and the overrides, in order.
  public init(
    text: String, file: String = "scenario.yaml", overrides: [String] = [],
    registry: Registry = .standard, files: ScenarioFiles = .disk
  ) throws(Faults) {
    let composition = Composition(
      fields: ScenarioSettings.descriptions, catalog: registry.catalog, files: files)
    try self.init(
      written: composition.tree(text: text, file: file, overrides: overrides), file: file,
      registry: registry)
  }

  init(written: Node, file: String, registry: Registry) throws(Faults) {
    let laid = try CoreMLDefaults(file: file, catalog: registry.catalog).laid(below: written)
    var reader = Reader(catalog: registry.catalog, folder: FilePath.folder(of: file))
    var settings = reader.read(ScenarioSettings.self, from: laid)
    guard reader.faults.isEmpty else { throw Faults(reader.faults) }
    let checks = CrossChecks(settings, written: written)
    guard checks.faults.isEmpty else { throw Faults(checks.faults) }
    settings.name = settings.name ?? FilePath.stem(of: file)
    self.settings = settings
    self.registry = registry
    self.file = file
    writtenNode = written
    resolvedNode = settings.resolved.withOrigins(of: laid)
  }

  /// A scenario whose parts are known to belong together.
  init(
    settings: ScenarioSettings, registry: Registry, file: String, written: Node, resolved: Node
  ) {
    self.settings = settings
    self.registry = registry
    self.file = file
    writtenNode = written
    resolvedNode = resolved
  }

  /// The resolved scenario as YAML, which is itself a scenario file.
  public var resolvedText: String { resolvedNode.yaml }

  /// The same with a comment behind each value that the file of a model gave.
  public var resolvedTextWithOrigins: String { resolvedNode.yamlWithOrigins }

  /// SHA-256 of the resolved scenario as one line of JSON, in 64 hexadecimal digits.
  public var digest: String {
    var digest = SHA256()
    digest.update(resolvedNode.json.utf8)
    return digest.hexDigest()
  }

  /// The seeds of the run.
  public var seeds: Seeds { settings.seeds.seeds(of: settings.seed) }

  /// The values that are assumptions about the world, in the order of the resolved scenario.
  public var assumptions: [Assumption] {
    var search = AssumptionSearch(catalog: registry.catalog)
    search.search(ScenarioSettings.descriptions, resolvedNode, written: writtenNode, path: [])
    return search.found
  }

  /// A file that the scenario names, as a path from where the program runs.
  public func path(of file: String) -> String {
    FilePath.joined(FilePath.folder(of: self.file), file)
  }
}

extension FilePath {
  /// A file's name without folder and ending.
  static func stem(of path: String) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
    return String(name[..<dot])
  }
}

extension Registry {
  /// What may be written in a scenario that can name these parts.
  public var listing: PartListing {
    PartListing(fields: ScenarioSettings.descriptions, catalog: catalog)
  }

  /// The JSON Schema (draft 7) of a scenario that can name these parts.
  public var jsonSchema: Node {
    JSONSchema(catalog: catalog)
      .document(title: "FedSim scenario", fields: ScenarioSettings.descriptions)
  }
}
