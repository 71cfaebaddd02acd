import Schema

/// A value that a table of quantiles may hold.
public protocol QuantileValue: Sendable, Comparable {
  /// How it is written.
  static var quantileForm: Form<Self> { get }
  /// As a number, between which is interpolated.
  var quantile: Double { get }
  /// A value that is where none was given yet.
  static var one: Self { get }
}

extension Double: QuantileValue {
  /// A number above zero.
  public static var quantileForm: Form<Double> { .positive }
  /// Itself.
  public var quantile: Double { self }
  /// 1.
  public static var one: Double { 1 }
}

extension SimDuration: QuantileValue {
  /// A duration.
  public static var quantileForm: Form<SimDuration> { .duration() }
  /// Seconds.
  public var quantile: Double { seconds }
  /// A second.
  public static var one: SimDuration { .seconds(1) }
}

extension Int64: QuantileValue {
  /// A size in bytes.
  public static var quantileForm: Form<Int64> { .bytes }
  /// Bytes.
  public var quantile: Double { Double(self) }
  /// 1.
  public static var one: Int64 { 1 }
}

/// One row of a table of quantiles: this share of all is at most `value`.
public struct QuantilePoint<Value: QuantileValue>: PartSettings {
  /// The share.
  public var at = 0.0
  /// The value.
  public var value: Value

  /// The defaults, which are never used: both keys must be given.
  public init() { value = .one }

  /// A row of a table.
  public init(at share: Double, _ value: Value) {
    at = share
    self.value = value
  }

  public static var fields: [Field<QuantilePoint>] {
    [
      Field("at", \.at, .fraction, required: true, "The share"),
      Field(
        "value", \.value, Value.quantileForm, required: true, "Value at this share"),
    ]
  }
}

/// A table of quantiles, drawn from by one uniform number.
package enum Quantiles {
  /// The value at a share: linear between two rows, and that of the outermost row beyond them.
  package static func value<Value>(_ table: [QuantilePoint<Value>], at share: Double) -> Double {
    guard let first = table.first, share > first.at else { return table[0].value.quantile }
    for (low, high) in zip(table, table.dropFirst()) where share <= high.at {
      let part = (share - low.at) / (high.at - low.at)
      return low.value.quantile + part * (high.value.quantile - low.value.quantile)
    }
    return table[table.count - 1].value.quantile
  }

  /// What is wrong with a table; nil: nothing.
  static func fault<Value>(in table: [QuantilePoint<Value>]?) -> String? {
    guard let table else { return nil }
    if table.isEmpty { return "a table of quantiles has at least one row" }
    for (a, b) in zip(table, table.dropFirst()) where b.at <= a.at || b.value < a.value {
      return "the rows of a table of quantiles ascend in `at`, and never descend in `value`"
    }
    return nil
  }
}
