import Schema

/// In which worlds `fedsim stress` searches for one in which a claim or an invariant breaks.
///
/// It concerns no single run, and is no part of a resolved scenario.
public struct StressSettings: PartSettings {
  /// What the scenario's author varies; nil: nothing.
  public var vary: [SweepAxis]?
  /// Whether the changes that are right for any scenario are made; nil: where nothing else varies.
  public var builtIn: Bool?
  /// Claims that hold in every world; nil: those of the scenario, where `vary` is given.
  public var expect: [ClaimSettings]?

  /// The built-in changes.
  public init() {}

  public static var fields: [Field<StressSettings>] {
    [
      Field(
        "vary", \.vary, feature: .sampledAxes,
        "Keys and their possible values: lists, or ranges {from, to}."),
      Field(
        "builtIn", \.builtIn, feature: .flag,
        "Also vary links, windows, limits and sizes in ways that are valid for any"
          + " scenario, and script faults; absent: unless `vary` is given."),
      Field(
        "expect", \.expect, feature: .list(of: .settings()),
        "Assertions that hold in every world; absent: the scenario's with `vary`, else none."),
    ]
  }

  public func contradictions() -> [(key: String, message: String)] {
    if expect?.contains(where: { $0.compare != nil }) == true {
      return [("expect", "`compare` needs many seeds, but a world has one")]
    }
    return []
  }

  /// Whether the built-in changes are made.
  public var makesBuiltInChanges: Bool { builtIn ?? (vary == nil) }
}
