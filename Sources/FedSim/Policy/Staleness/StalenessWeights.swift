import Numerics
import Schema

/// Every update counts in full.
public struct ConstantStaleness: StalenessWeight {
  public static let name = "constant"
  /// What it does, in one sentence.
  public static let summary = "A stale update has the weight of a fresh one: s(τ) = 1"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// 1.
  public func weight(staleness: Int) -> Double { 1 }
}

/// How old a fresh update is.
public enum StalenessClock: String, CaseIterable, Sendable {
  /// 0: no version was published since its base.
  case published
  /// 1, as in FedAsync's paper: the version that it makes is one more than its base.
  case paper

  /// The age that a weight is computed with.
  func age(_ staleness: Int) -> Int { self == .paper ? staleness + 1 : staleness }

  /// The field of it, a feature that is off unless it is named.
  static func field<Root>(_ key: WritableKeyPath<Root, StalenessClock?> & Sendable) -> Field<Root> {
    Field(
      "clock", key, feature: .choice,
      "Staleness of a fresh update: 0 (published), or 1 (paper: FedAsync's t − τ); absent: 0")
  }
}

/// A power of the age.
///
/// Source: Xie, Koyejo, Gupta, "Asynchronous federated optimization" (2020), §5.2; with the
/// exponent ½ Nguyen et al., "Federated learning with buffered asynchronous aggregation" (2022),
/// §5.
public struct PolynomialStaleness: StalenessWeight {
  public static let name = "polynomial"
  /// What it does, in one sentence.
  public static let summary = "s(τ) = (1 + τ)^−a; FedBuff's with a = 0.5"

  public struct Settings: PartSettings {
    /// The exponent.
    public var exponent = 0.5
    /// How old a fresh update is; nil: 0.
    public var clock: StalenessClock?
    public init() {}
    public static var shorthand: String? { "exponent" }
    public static var fields: [Field<Settings>] {
      [
        Field("exponent", \.exponent, .number(0...1000), "The exponent a"),
        StalenessClock.field(\.clock),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// (1 + τ)^−a; exactly 1 for an update of age 0.
  public func weight(staleness: Int) -> Double {
    let age = 1 + Double((settings.clock ?? .published).age(staleness))
    if settings.exponent == 0.5 { return 1 / age.squareRoot() }
    return Portable.exp(-settings.exponent * Portable.log(age))
  }
}

/// In full up to an age, then less and less.
///
/// Source: Xie, Koyejo, Gupta (2020), §5.2.
public struct HingeStaleness: StalenessWeight {
  public static let name = "hinge"
  public static let summary = "s(τ) = 1 up to τ = b, then 1 / (a·(τ − b) + 1)"

  public struct Settings: PartSettings {
    /// How fast it falls.
    public var slope = 10.0
    /// Up to where it counts in full.
    public var from = 4
    /// How old a fresh update is; nil: 0.
    public var clock: StalenessClock?
    public init() {}
    public static var shorthand: String? { "from" }
    public static var fields: [Field<Settings>] {
      [
        Field("slope", \.slope, .number(0...1e9), "Rate of decay, a"),
        Field(
          "from", \.from, .integer(0...1_000_000),
          "Maximum staleness of an update with full weight, b"),
        StalenessClock.field(\.clock),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// 1 or 1 / (a·(τ − b) + 1).
  public func weight(staleness: Int) -> Double {
    let age = (settings.clock ?? .published).age(staleness)
    guard age > settings.from else { return 1 }
    return 1 / (settings.slope * Double(age - settings.from) + 1)
  }
}

/// A power of e.
///
/// Source: Xie, Koyejo, Gupta, "Asynchronous federated optimization", first version (2019), §5.2.
public struct ExponentialStaleness: StalenessWeight {
  public static let name = "exponential"
  public static let summary = "s(τ) = e^(−a·τ)"

  public struct Settings: PartSettings {
    /// How fast it falls.
    public var rate = 0.5
    /// How old a fresh update is; nil: 0.
    public var clock: StalenessClock?
    public init() {}
    public static var shorthand: String? { "rate" }
    public static var fields: [Field<Settings>] {
      [
        Field("rate", \.rate, .number(0...1000), "Rate of decay, a"),
        StalenessClock.field(\.clock),
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// e^(−a·τ).
  public func weight(staleness: Int) -> Double {
    Portable.exp(-settings.rate * Double((settings.clock ?? .published).age(staleness)))
  }
}
