import Schema

/// In which settings resolved scenarios differ.
package enum SettingDifferences {
  /// A setting that is not the same in all scenarios.
  package struct Row: Equatable {
    /// Its path, such as `fleet.phones.count`.
    package var path: String
    /// Its value in each scenario as JSON; nil: absent.
    package var values: [String?]

    package init(_ path: String, _ values: [String?]) {
      (self.path, self.values) = (path, values)
    }
  }

  /// The paths in which two scenarios differ, with both values.
  ///
  /// Order: as in `among`.
  package static func between(_ a: Node, _ b: Node) -> [DocumentComparison.Difference] {
    among([a, b]).map { .init($0.path, $0.values[0], $0.values[1]) }
  }

  /// The paths in which scenarios differ.
  ///
  /// Order: of the first scenario, then what only later ones have. Members of a list are
  /// distinguished by their `name` where all have one, else by their place from 0.
  package static func among(_ scenarios: [Node]) -> [Row] {
    var found: [Row] = []
    compare(scenarios, at: "", into: &found)
    return found
  }

  private static func compare(_ nodes: [Node], at path: String, into found: inout [Row]) {
    guard let first = nodes.first, !nodes.dropFirst().allSatisfy(first.hasSameContent) else {
      return
    }
    let parts = nodes.compactMap(members)
    guard parts.count == nodes.count, parts.allSatisfy({ $0.isList == parts[0].isList }) else {
      found.append(Row(path, nodes.map(\.json)))
      return
    }
    var names: [String] = []
    for name in parts.flatMap({ $0.values.map(\.name) }) where !names.contains(name) {
      names.append(name)
    }
    for name in names {
      let place = path.isEmpty ? name : "\(path).\(name)"
      let values = parts.map { part in part.values.first { $0.name == name }?.value }
      if values.contains(where: { $0 == nil }) {
        found.append(Row(place, values.map { $0?.json }))
      } else {
        compare(values.compactMap { $0 }, at: place, into: &found)
      }
    }
    // The same members in another order.
    let orders = parts.map { $0.values.map(\.name) }
    if orders.contains(where: { $0 != orders[0] }),
      orders.allSatisfy({ $0.sorted() == orders[0].sorted() })
    {
      found.append(Row("\(path) (order)", orders.map { $0.joined(separator: ", ") }))
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
