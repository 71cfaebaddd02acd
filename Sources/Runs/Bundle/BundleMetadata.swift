/// The metadata of a bundle: an RO-Crate 1.1, in JSON-LD.
///
/// Source: Sefton et al., "RO-Crate Metadata Specification 1.1", 2020,
/// doi:10.5281/zenodo.4031327.
struct BundleMetadata {
  /// A value of JSON.
  private enum Value: Encodable {
    case text(String)
    case list([Value])
    case object([String: Value])

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .text(let text): try container.encode(text)
      case .list(let values): try container.encode(values)
      case .object(let values): try container.encode(values)
      }
    }

    /// A reference to another entity.
    static func reference(_ id: String) -> Value { .object(["@id": .text(id)]) }
  }

  private let manifest: BundleManifest
  private let name: String
  private let day: String
  /// The lengths of two members, in bytes.
  var resultBytes = 0
  var scenarioBytes = 0
  /// The names of authors.
  var authors: [String] = []
  /// The address of a licence.
  var licence: String?

  /// The metadata of a bundle whose scenario has this name; the day is YYYY-MM-DD.
  init(_ manifest: BundleManifest, name: String, day: String) {
    (self.manifest, self.name, self.day) = (manifest, name, day)
  }

  /// The bytes of `ro-crate-metadata.json`.
  var bytes: [UInt8] {
    var entities = [descriptor, root, scenario, result, card, run, program]
    entities += dataIDs.indices.map { dataFile($0) }
    for (index, author) in authors.enumerated() {
      entities.append(entity(authorIDs[index], "Person", ["name": .text(author)]))
    }
    if let licence {
      entities.append(entity(licence, "CreativeWork", ["name": .text("Licence of this result")]))
    }
    return BundleManifest.json(
      Value.object([
        "@context": .list([
          .text("https://w3id.org/ro/crate/1.1/context"),
          .object(["sha256": .text("http://schema.org/sha256")]),
        ]),
        "@graph": .list(entities),
      ]))
  }

  private var authorIDs: [String] { authors.indices.map { "#author-\($0 + 1)" } }
  private var dataIDs: [String] { manifest.dataFiles.indices.map { "#data-\($0 + 1)" } }

  private func entity(_ id: String, _ type: String, _ values: [String: Value]) -> Value {
    .object(values.merging(["@id": .text(id), "@type": .text(type)]) { $1 })
  }

  private var descriptor: Value {
    entity(
      ResultBundle.Name.metadata, "CreativeWork",
      [
        "conformsTo": .reference("https://w3id.org/ro/crate/1.1"), "about": .reference("./"),
      ])
  }

  private var root: Value {
    var values: [String: Value] = [
      "name": .text("Result of the FedSim scenario \(name)"),
      "description": .text(
        "A simulated run of federated learning: its scenario, its result, the digests of the data "
          + "that it read, and its claims. `fedsim replay` plays the run again and compares."),
      "datePublished": .text(day),
      "hasPart": .list(
        [
          ResultBundle.Name.scenario, ResultBundle.Name.result, ResultBundle.Name.manifest,
        ].map { .reference($0) }),
      "mentions": .reference("#run"),
    ]
    if !authors.isEmpty { values["author"] = .list(authorIDs.map { .reference($0) }) }
    values["license"] =
      licence.map { .reference($0) }
      ?? .text("The result's authors state no licence in this bundle; ask them.")
    return entity("./", "Dataset", values)
  }

  private var scenario: Value {
    entity(
      ResultBundle.Name.scenario, "File",
      [
        "name": .text("The scenario, with every value explicit"),
        "encodingFormat": .text("application/yaml"), "contentSize": .text("\(scenarioBytes)"),
        "identifier": .text("scenarioDigest:\(manifest.scenarioDigest)"),
      ])
  }

  private var result: Value {
    entity(
      ResultBundle.Name.result, "File",
      [
        "name": .text("The result"), "encodingFormat": .text("application/x-hdf5"),
        "contentSize": .text("\(resultBytes)"),
        "identifier": .text("contentDigest:\(manifest.contentDigest)"),
      ])
  }

  private var card: Value {
    var description = "Digests of members and data files, versions, and the scenario's claims."
    if !manifest.claims.isEmpty {
      description += " Claims: " + manifest.claims.joined(separator: "; ") + "."
    }
    return entity(
      ResultBundle.Name.manifest, "File",
      [
        "name": .text("What the bundle holds"), "description": .text(description),
        "encodingFormat": .text("application/json"),
      ])
  }

  private var run: Value {
    entity(
      "#run", "CreateAction",
      [
        "name": .text("fedsim run"), "instrument": .reference("#fedsim"),
        "object": .list(([ResultBundle.Name.scenario] + dataIDs).map { .reference($0) }),
        "result": .reference(ResultBundle.Name.result),
      ])
  }

  private var program: Value {
    entity(
      "#fedsim", "SoftwareApplication",
      [
        "name": .text("FedSim"),
        "description": .text("A deterministic discrete-event simulator of federated learning"),
        "softwareVersion": .text(manifest.engineVersion),
      ])
  }

  private func dataFile(_ index: Int) -> Value {
    let file = manifest.dataFiles[index]
    return entity(
      dataIDs[index], "CreativeWork",
      [
        "name": .text(file.path), "sha256": .text(file.sha256),
        "contentSize": .text("\(file.bytes)"),
        "description": .text("A data file that the run read; it is not in the bundle."),
      ])
  }
}
