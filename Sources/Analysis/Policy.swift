import Schema

extension Node {
  /// Of a resolved scenario, what makes a policy: all settings but the seed, the names, and what is
  /// recorded.
  ///
  /// Results whose policies hold the same (`hasSameContent`) are runs of one policy.
  public var policy: Node {
    guard case .mapping(let entries) = content else { return self }
    let free = ["seed", "seeds", "name", "description", "record"]
    return Node(.mapping(entries.filter { !free.contains($0.key) }), at: place)
  }
}
