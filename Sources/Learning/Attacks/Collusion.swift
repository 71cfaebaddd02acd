import Schema

/// What adversaries of one aggregation that collude can know.
public struct Collusion: Sendable {
  /// Whose trainings they know.
  public enum Knowledge: String, CaseIterable, Sendable {
    /// Their own.
    case colluders
    /// Those of all whose updates are aggregated.
    case all

    /// The key of an attack's settings.
    static func field<S>(_ key: WritableKeyPath<S, Knowledge?> & Sendable) -> Field<S> {
      Field(
        "knows", key, feature: .choice,
        "Whose trainings they know: those of the `colluders` (the default), or of `all`")
    }
  }

  /// The differences that the colluders trained, in device order; those that are not finite are
  /// left out.
  public let trained: UpdateValues
  /// Those that the others trained, likewise; nil: there are none.
  public let honest: UpdateValues?
  /// How many updates of the aggregation are the colluders'.
  public let colluders: Int
  /// How many it has in all.
  public let updates: Int

  /// What can be known: one difference at least is the colluders'.
  public init(
    trained: UpdateValues, honest: UpdateValues? = nil, colluders: Int, updates: Int
  ) {
    precondition(trained.updates <= colluders && colluders <= updates, "theirs are among all")
    precondition((honest?.updates ?? 0) <= updates - colluders, "the others are the rest")
    self.trained = trained
    self.honest = honest
    self.colluders = colluders
    self.updates = updates
  }

  /// The differences that are known, as trained: the colluders', then the others'.
  public func known(_ knowledge: Knowledge?) -> UpdateValues {
    guard knowledge == .all, let honest else { return trained }
    return trained.followed(by: honest)
  }
}
