import Schema

/// The parts that a scenario may name, by seam.
///
/// A registry is a value: another package serves its own parts with `Registry.standard.adding(…)`.
public struct Registry: Sendable {
  /// The parts.
  public private(set) var catalog: Catalog

  /// A registry of these parts.
  public init(catalog: Catalog = Catalog()) { self.catalog = catalog }

  /// The parts that come with the simulator; a new one is one line here.
  public static let standard: Registry = {
    let catalog = Catalog()
    return Registry(catalog: catalog)
  }()

  /// This registry with one more part; a part of the same name in the seam is replaced.
  public func adding<Value, P: Part>(
    _ type: P.Type, to seam: Seam<Value>, as value: @escaping @Sendable (P) -> Value
  ) -> Registry {
    var registry = self
    registry.catalog.add(type, to: seam, as: value)
    return registry
  }
}
