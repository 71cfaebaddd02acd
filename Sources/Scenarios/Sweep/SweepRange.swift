import Foundation
import Numerics
import Schema

/// A range of numbers that an axis takes values from.
public struct SweepRange: PartSettings {
  /// How values are spread between the ends.
  public enum Scale: String, CaseIterable, Sendable {
    /// Equal steps are equal differences.
    case linear
    /// Equal steps are equal ratios.
    case log
  }

  /// The lower end.
  public var from = SweepNumber(0, .number)
  /// The upper end.
  public var to = SweepNumber(1, .number)
  /// How values are spread between them.
  public var scale = Scale.linear
  /// Whether values are whole numbers.
  public var integer = false
  /// What values are whole multiples of; nil: nothing.
  public var multipleOf: SweepNumber?
  /// How many values a grid takes, the ends included; nil: it is sampled.
  public var steps: Int?

  /// From 0 to 1.
  public init() {}

  public static var fields: [Field<SweepRange>] {
    [
      Field("from", \.from, .sweepNumber, required: true, "Lower end, included."),
      Field("to", \.to, .sweepNumber, required: true, "Upper end, included."),
      Field(
        "scale", \.scale, .choice,
        "Equal steps are equal differences (linear) or equal ratios (log)."),
      Field("integer", \.integer, .flag, "Whole numbers only."),
      Field(
        "multipleOf", \.multipleOf, feature: .sweepNumber, "Values are whole multiples of this."),
      Field(
        "steps", \.steps, feature: .integer(2...100_000),
        "Number of values of a grid or a zip, including the ends."),
    ]
  }

  public func contradictions() -> [(key: String, message: String)] {
    if from.family != to.family {
      return [("to", "`from` is \(from.family.noun), but `to` is \(to.family.noun)")]
    }
    if !(from.value < to.value) {
      return [("to", "a range must go from the lower to the higher end")]
    }
    if scale == .log, from.value <= 0 {
      return [("from", "a logarithmic range must be above 0")]
    }
    if integer, from.family != .number {
      return [("integer", "quantities have units: use `multipleOf`")]
    }
    if integer, from.value != from.value.rounded() || to.value != to.value.rounded() {
      return [("integer", "with `integer` both ends must be whole numbers, too")]
    }
    if integer, max(abs(from.value), abs(to.value)) > 9e15 {
      return [("integer", "whole numbers must be between -9e15 and 9e15 here")]
    }
    guard let multipleOf else { return [] }
    if multipleOf.family != from.family || multipleOf.value <= 0 {
      return [("multipleOf", "`multipleOf` must be a number above 0 of the kind of `from`")]
    }
    if (to.value / multipleOf.value).rounded(.down) < (from.value / multipleOf.value).rounded(.up) {
      return [("multipleOf", "the range contains no multiple of this")]
    }
    return []
  }

  /// The value at a point in [0, 1), as a sampling plan asks for it.
  public func value(at point: Double) -> Node {
    if integer, scale == .linear, multipleOf == nil {
      // Each whole number has an equal share of [0, 1).
      let count = to.value - from.value + 1
      return SweepNumber(min(from.value + (point * count).rounded(.down), to.value), .number).node
    }
    return rounded(between(point))
  }

  /// The values of a grid of this many steps.
  func values(steps: Int) -> [Node] {
    (0..<steps).map { step in
      if step == 0, multipleOf == nil { return from.node }
      if step == steps - 1, multipleOf == nil { return to.node }
      return rounded(between(Double(step) / Double(steps - 1)))
    }
  }

  private func between(_ share: Double) -> Double {
    switch scale {
    case .linear:
      return from.value + share * (to.value - from.value)
    case .log:
      let low = Portable.log(from.value)
      return Portable.exp(low + share * (Portable.log(to.value) - low))
    }
  }

  /// A value within the ends: a whole number, a multiple, or one of six significant digits.
  private func rounded(_ value: Double) -> Node {
    if let multiple = multipleOf?.value {
      let low = (from.value / multiple).rounded(.up)
      let high = (to.value / multiple).rounded(.down)
      let count = min(max((value / multiple).rounded(), low), high)
      return SweepNumber(Self.significant(count * multiple, 15), from.family).node
    }
    var result = integer ? value.rounded() : Self.significant(value, 6)
    result = min(max(result, from.value), to.value)
    if from.family != .number { result = result.rounded() }
    return SweepNumber(result, from.family).node
  }

  private static func significant(_ value: Double, _ digits: Int) -> Double {
    Double(String(format: "%.\(digits - 1)e", value)) ?? value
  }
}
