import Schema

extension Scenario {
  /// What the worlds of a search are held to: the claims of `stress`, else with `stress.vary` those
  /// of the scenario about a single run; nil: nothing.
  public var worldClaims: Node? {
    guard let stress = settings.stress else { return nil }
    if let own = writtenNode["stress"]?["expect"], stress.expect != nil { return own }
    guard stress.vary != nil, case .sequence(let claims)? = writtenNode["expect"]?.content else {
      return nil
    }
    let single = claims.filter { $0["compare"] == nil }
    return single.isEmpty ? nil : Node(.sequence(single))
  }

  /// What was written, without what changes no run, with these claims.
  public func bareNode(claims: Node?) -> Node {
    guard case .mapping(var entries) = writtenNode.content else { return writtenNode }
    let left = ["version", "name", "description", "sweep", "stress", "expect"]
    entries.removeAll { left.contains($0.key) }
    if let claims { entries.append(Node.Entry(key: "expect", value: claims)) }
    return Node(.mapping(entries))
  }

  /// A tree of settings whose relative paths start in another folder than this scenario's.
  public func moved(_ node: Node, from folder: String) -> Node {
    guard !folder.isEmpty else { return node }
    let shape = Shape.mapping({ ScenarioSettings.descriptions }, shorthand: nil)
    return Rebase(folder: folder, catalog: registry.catalog).paths(node, shape)
  }
}

extension Node {
  /// A value as it is written in a scenario; nil where it is none.
  package init?(yaml text: String) {
    guard let node = try? YAMLReader.read(text, file: "") else { return nil }
    self = node
  }
}
