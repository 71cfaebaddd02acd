import Analysis
import Schema

/// In which settings two resolved scenarios differ.
enum SettingDifferences {
  /// The paths that differ, such as `fleet.phones.count`, with both values as JSON; nil: absent.
  ///
  /// Order: of the first scenario, then what only the second has. Members of a list are
  /// distinguished by their `name` where all have one, else by their place from 0.
  static func between(_ a: Node, _ b: Node) -> [DocumentComparison.Difference] {
    var found: [DocumentComparison.Difference] = []
    compare(a, b, at: "", into: &found)
    return found
  }

  private static func compare(
    _ a: Node, _ b: Node, at path: String,
    into found: inout [DocumentComparison.Difference]
  ) {
    if a.hasSameContent(as: b) { return }
    guard let first = members(a), let second = members(b), first.isList == second.isList else {
      found.append(.init(path, a.json, b.json))
      return
    }
    for (name, value) in first.values {
      let place = path.isEmpty ? name : "\(path).\(name)"
      if let other = second.values.first(where: { $0.name == name }) {
        compare(value, other.value, at: place, into: &found)
      } else {
        found.append(.init(place, value.json, nil))
      }
    }
    for (name, value) in second.values
    where !first.values.contains(where: { $0.name == name }) {
      found.append(.init(path.isEmpty ? name : "\(path).\(name)", nil, value.json))
    }
    // The same members in another order.
    let names = (first.values.map(\.name), second.values.map(\.name))
    if names.0 != names.1, names.0.sorted() == names.1.sorted() {
      found.append(
        .init(
          "\(path) (order)", names.0.joined(separator: ", "), names.1.joined(separator: ", ")))
    }
  }

  /// The parts of a mapping or of a list; nil for a scalar.
  private static func members(
    _ node: Node
  ) -> (values: [(name: String, value: Node)], isList: Bool)? {
    switch node.content {
    case .mapping(let entries): return (entries.map { ($0.key, $0.value) }, false)
    case .sequence(let nodes):
      let names = nodes.compactMap { node -> String? in
        guard case .scalar(let name, _)? = node["name"]?.content else { return nil }
        return name
      }
      if names.count == nodes.count, Set(names).count == names.count {
        return (zip(names, nodes).map { ($0, $1) }, true)
      }
      return (nodes.enumerated().map { ("[\($0)]", $1) }, true)
    case .scalar, .null: return nil
    }
  }
}
