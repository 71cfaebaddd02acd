/// Lays one tree of settings over another, knowing what the keys mean.
///
/// Mappings merge key by key and keep the order of the lower tree; lists and scalars are replaced;
/// an empty value replaces what is below it, and so brings back the default. Where one part is
/// chosen, another name replaces the choice, and the same name merges its settings. A bare value
/// counts as the mapping that it represents.
public struct Merge: Sendable {
  private let catalog: Catalog

  /// A merge that knows these parts.
  public init(catalog: Catalog) { self.catalog = catalog }

  /// `upper` laid over `lower`; values keep the places of the tree that they come from.
  public func lay(_ upper: Node, over lower: Node, shape: Shape?) -> Node {
    switch shape {
    case .part(let seam, several: false):
      guard let above = choice(upper), let below = choice(lower), above.key == below.key else {
        return upper
      }
      let settings = lay(above.value, over: below.value, shape: settings(of: above.key, seam))
      return Node(
        .mapping([Node.Entry(key: above.key, place: above.place, value: settings)]),
        at: upper.place)
    case .part(let seam, several: true):
      return entries(upper, over: lower) { settings(of: $0, seam) }
    case .mapping(let fields, let shorthand):
      let described = fields()
      return entries(expanded(upper, shorthand), over: expanded(lower, shorthand)) { key in
        described.first { $0.key == key }?.shape
      }
    case nil:
      return entries(upper, over: lower) { _ in nil }
    default:
      return upper
    }
  }

  private func entries(_ upper: Node, over lower: Node, shape: (String) -> Shape?) -> Node {
    guard case .mapping(let above) = upper.content, case .mapping(var result) = lower.content else {
      return upper
    }
    let keys = Dictionary(result.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { a, _ in a })
    for entry in above {
      if let i = keys[entry.key] {
        let value = lay(entry.value, over: result[i].value, shape: shape(entry.key))
        result[i] = Node.Entry(key: entry.key, place: entry.place, value: value)
      } else {
        result.append(entry)
      }
    }
    return Node(.mapping(result), at: upper.place)
  }

  // MARK: What a bare value represents

  /// A bare value as the mapping that it represents.
  public func expanded(_ node: Node, _ shorthand: String?) -> Node {
    switch node.content {
    case .scalar, .sequence:
      guard let shorthand else { return node }
      return Node(
        .mapping([Node.Entry(key: shorthand, place: node.place, value: node)]), at: node.place)
    case .null, .mapping:
      return node
    }
  }

  /// The one part that a node names, with its settings; a bare name has an empty mapping of them.
  public func choice(_ node: Node) -> Node.Entry? {
    switch node.content {
    case .scalar(let name, _):
      return Node.Entry(key: name, place: node.place, value: Node(.mapping([]), at: node.place))
    case .mapping(let entries):
      return entries.count == 1 ? entries[0] : nil
    case .null, .sequence:
      return nil
    }
  }

  /// The shape of a part's settings.
  public func settings(of name: String, _ seam: String) -> Shape? {
    catalog.parts(of: seam).first { $0.name == name }.map { part in
      .mapping({ part.fields }, shorthand: part.shorthand)
    }
  }
}
