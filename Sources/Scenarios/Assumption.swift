import Schema

/// A value of a scenario that says something about the world without a measurement behind it.
public struct Assumption: Sendable {
  /// The path of the key, such as `fleet[0].network.rate`.
  public let path: String
  /// The value, as it would be written.
  public let value: Node
  /// What the value means.
  public let note: String
  /// Whether the value is the default; if not, the scenario's author chose it.
  public let isDefault: Bool
}

/// Finds the assumptions of a resolved tree, distinguished by what was written.
struct AssumptionSearch {
  let merge: Merge
  private(set) var found: [Assumption] = []

  init(catalog: Catalog) { merge = Merge(catalog: catalog) }

  /// Searches a mapping with these fields.
  mutating func search(
    _ fields: [FieldDescription], _ resolved: Node, written: Node?, path: [String]
  ) {
    for field in fields {
      guard let value = resolved[field.key] else { continue }
      let given = written?[field.key]
      let path = path + [field.key]
      if field.isAssumption {
        found.append(
          Assumption(
            path: path.dotted, value: value, note: field.summary, isDefault: given == nil))
      }
      search(field.shape, value, written: given, path: path)
    }
  }

  private mutating func search(_ shape: Shape, _ resolved: Node, written: Node?, path: [String]) {
    switch (shape, resolved.content) {
    case (.mapping(let fields, let shorthand), .mapping):
      search(fields(), resolved, written: written.map { merge.expanded($0, shorthand) }, path: path)
    case (.list(let element), .sequence(let nodes)):
      for (i, node) in nodes.enumerated() {
        search(element, node, written: self.element(i, of: written), path: path + ["[\(i)]"])
      }
    case (.part(let seam, _), .mapping(let entries)):
      for (i, entry) in entries.enumerated() {
        guard let shape = merge.settings(of: entry.key, seam) else { continue }
        let given = written?[entry.key] ?? element(i, of: written)?[entry.key]
        search(shape, entry.value, written: given, path: path + [entry.key])
      }
    default:
      break
    }
  }

  private func element(_ i: Int, of node: Node?) -> Node? {
    guard case .sequence(let nodes) = node?.content, nodes.indices.contains(i) else { return nil }
    return nodes[i]
  }
}
