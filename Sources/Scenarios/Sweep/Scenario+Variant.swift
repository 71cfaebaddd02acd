import Schema

/// A value that a variant has in place of its scenario's.
public struct VariantValue: Sendable {
  /// The path of the key, as after `--set`.
  public let path: String
  /// Where the path is.
  public let place: Place
  /// The value.
  public let value: Node

  /// A value at a path.
  public init(path: String, place: Place = .none, value: Node) {
    self.path = path
    self.place = place
    self.value = value
  }
}

extension Scenario {
  /// This scenario with other values, each laid over it as `--set` would.
  ///
  /// Throws: every fault of a path, or else of the resulting scenario.
  public func variant(_ values: [VariantValue]) throws(Faults) -> Scenario {
    try Scenario(written: laid(values), file: file, registry: registry)
  }

  /// What is written in a variant.
  ///
  /// Throws: every fault of a path.
  package func laid(_ values: [VariantValue]) throws(Faults) -> Node {
    let shape = Shape.mapping({ ScenarioSettings.descriptions }, shorthand: nil)
    var node = writtenNode
    var faults: [Fault] = []
    for value in values {
      do throws(Faults) {
        let override = try Override(path: value.path, at: value.place, value: value.value)
        node = try override.laid(over: node, shape: shape, registry.catalog)
      } catch {
        faults += error.faults
      }
    }
    guard faults.isEmpty else { throw Faults(faults) }
    return node
  }

  /// This scenario with another seed; nothing is read again, since no seed is wrong.
  public func variant(seed: UInt64) -> Scenario {
    var settings = settings
    settings.seed = seed
    let value = Node.text(String(seed))
    return Scenario(
      settings: settings, registry: registry, file: file,
      written: writtenNode.replacing("seed", by: value),
      resolved: resolvedNode.replacing("seed", by: value))
  }

  /// A path with names of list entries as indices, or nil where it is none: equal for two paths
  /// that lead to one place.
  public func canonicalPath(_ path: String) -> [String]? {
    try? Override(path: path, at: .none, value: Node(.null)).canonicalPath(in: resolvedNode)
  }

  /// The value in force at a path, nil where there is none.
  public func resolvedValue(at path: String) -> Node? {
    guard let steps = canonicalPath(path) else { return nil }
    var node = resolvedNode
    for step in steps {
      if step.hasPrefix("["), case .sequence(let nodes) = node.content,
        let index = Int(step.dropFirst().dropLast()), nodes.indices.contains(index)
      {
        node = nodes[index]
      } else if let next = node[step] {
        node = next
      } else {
        return nil
      }
    }
    return node
  }

  /// What a condition compares a value at a path by: a single value as it is; a mapping by the
  /// value that its short form represents, or, where it is a part with its settings, by the part's
  /// name. Nil: there is no such value.
  public func comparedValue(_ node: Node, at path: String) -> SweepScalar? {
    switch node.content {
    case .null, .scalar:
      return SweepScalar(node)
    case .sequence:
      return nil
    case .mapping(let entries):
      switch shape(at: canonicalPath(path) ?? []) {
      case .mapping(_, let shorthand?):
        return node[shorthand].flatMap { comparedValue($0, at: path + "." + shorthand) }
      case .part(_, several: false) where entries.count == 1:
        return .text(entries[0].key)
      default:
        return nil
      }
    }
  }

  /// The shape of what is at a path without names of entries; nil where none is known.
  private func shape(at steps: [String]) -> Shape? {
    let merge = Merge(catalog: registry.catalog)
    var shape: Shape? = .mapping({ ScenarioSettings.descriptions }, shorthand: nil)
    for step in steps {
      switch shape {
      case .mapping(let fields, _): shape = fields().first { $0.key == step }?.shape
      case .list(let element): shape = element
      case .part(let seam, several: true) where step.hasPrefix("["):
        shape = .part(seam: seam, several: false)
      case .part(let seam, _): shape = merge.settings(of: step, seam)
      default: return nil
      }
    }
    return shape
  }
}

extension Node {
  /// A mapping with another value of a key, which is added behind the others where it is new.
  func replacing(_ key: String, by value: Node) -> Node {
    guard case .mapping(var entries) = content else { return self }
    if let index = entries.firstIndex(where: { $0.key == key }) {
      entries[index].value = value
    } else {
      entries.append(Node.Entry(key: key, value: value))
    }
    return Node(.mapping(entries), at: place)
  }
}
