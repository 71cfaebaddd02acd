import Learning
import Scenarios
import Schema

/// What there is to choose from: parts by seam, and the forms of the arithmetic.
public struct Listing {
  private let registry: Registry

  /// A listing of the parts of a registry.
  public init(_ registry: Registry) { self.registry = registry }

  private var list: PartListing {
    PartListing(fields: ScenarioSettings.descriptions, catalog: registry.catalog)
  }

  /// The names of the seams, then `policy`, `profile` and `kernels`.
  public var seams: [String] {
    registry.catalog.seams.map(\.name) + PartListing.presets + ["kernels"]
  }

  /// The seam of a name in which blanks may be written as hyphens, or of a word of its name that no
  /// other seam has.
  public func seam(named name: String) -> String? {
    let wanted = name.replacing("-", with: " ")
    if let seam = seams.first(where: { $0 == wanted }) { return seam }
    let others = seams(withWord: name)
    return others.count == 1 ? others[0] : nil
  }

  /// The seams that have a word in their names.
  public func seams(withWord word: String) -> [String] {
    seams.filter { $0.split(separator: " ").contains { $0 == word } }
  }

  /// All that has a name and is listed: the parts of the seams, the presets.
  public var parts: [(name: String, seam: String)] {
    registry.catalog.seams.flatMap { seam in
      registry.catalog.parts(of: seam.name).map { ($0.name, seam.name) }
    } + PartListing.presetNames
  }

  /// The seams that list something of this name; none for a key of scenarios alone.
  public func sections(of name: String) -> [String] {
    parts.filter { $0.name == name }.map(\.seam)
  }

  /// A page of text, limited to one seam where one is given.
  public func text(_ seam: String? = nil) -> String {
    var text = seam == "kernels" ? "" : list.text(seam: seam)
    if seam == nil { text += "\n" }
    if seam == nil || seam == "kernels" {
      text +=
        "kernels: Which compiled form of the arithmetic? (`--kernels`; all give the same bits)\n\n"
      for body in KernelBody.allCases {
        let note = body == .best ? "the default here" : body.isSupported ? "supported" : "not here"
        text += "  \(body.rawValue): \(note)\n"
      }
    }
    return text
  }

  /// All of it as JSON; limited to one seam where one is given: then one key, with that seam alone.
  public func json(_ seam: String? = nil) -> String {
    let kernels = KernelBody.allCases.map { body in
      Node.mapping([
        ("name", .quoted(body.rawValue)),
        ("isSupported", .text(body.isSupported ? "true" : "false")),
      ])
    }
    guard case .mapping(var entries) = list.node(seam: seam).content else {
      preconditionFailure("a listing is a mapping")
    }
    entries.append(Node.Entry(key: "kernels", value: Node(.sequence(kernels))))
    if let seam {
      let keys = ["policy": "policies", "profile": "profiles", "kernels": "kernels"]
      entries.removeAll { $0.key != keys[seam, default: "seams"] }
    }
    return Node(.mapping(entries)).json
  }

  /// The JSON Schema of a scenario.
  public var schema: String {
    JSONSchema(catalog: registry.catalog).document(
      title: "A FedSim scenario", fields: ScenarioSettings.descriptions
    ).json
  }
}
