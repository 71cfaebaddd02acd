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
        "Keys and the values that they may have: lists, or ranges {from, to}."),
      Field(
        "builtIn", \.builtIn, feature: .flag,
        "Whether links, windows, limits and sizes are varied too, in ways that are right for any"
          + " scenario, and faults scripted; absent: where `vary` is."),
      Field(
        "expect", \.expect, feature: .list(of: .settings()),
        "Claims that hold in every world; absent: with `vary` those of the scenario, else none."),
    ]
  }

  public func contradictions() -> [(key: String, message: String)] {
    if expect?.contains(where: { $0.compare != nil }) == true {
      return [("expect", "`compare` is about many seeds, and a world has one")]
    }
    return []
  }

  /// Whether the built-in changes are made.
  public var makesBuiltInChanges: Bool { builtIn ?? (vary == nil) }
}
