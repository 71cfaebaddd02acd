import Schema

/// What kind of number a value of an axis is: bare, or with units that can be compared.
public enum SweepFamily: String, CaseIterable, Sendable {
  /// A bare number.
  case number
  /// A duration such as `30 min`.
  case duration
  /// A data rate such as `20 Mbit/s`.
  case rate
  /// A size such as `64 MB`.
  case size

  /// The units, each with its size in the smallest one, as in `Text.quantity`.
  var units: [(name: String, size: Int64)] {
    switch self {
    case .number: []
    case .duration:
      [
        ("s", 1_000_000), ("us", 1), ("ms", 1_000), ("min", 60_000_000), ("h", 3_600_000_000),
        ("d", 86_400_000_000),
      ]
    case .rate:
      [("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)]
    case .size: [("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)]
    }
  }

  /// How many of the smallest unit are one of `baseUnit`.
  var perBaseUnit: Double { self == .duration ? 1e6 : 1 }

  /// The unit in which numbers of the family are reported, in UDUNITS' spelling.
  public var baseUnit: String {
    switch self {
    case .number: "1"
    case .duration: "s"
    case .rate: "bit/s"
    case .size: "byte"
    }
  }

  /// With its article, for messages.
  var noun: String { "a \(rawValue)" }
}

/// What a value of an axis is to an expression or a table.
public enum SweepScalar: Equatable, Sendable {
  /// A number, in the family's base unit.
  case number(Double, SweepFamily)
  /// `true` or `false`.
  case flag(Bool)
  /// Anything else, as it would be written on one line.
  case text(String)

  /// What a value represents.
  public init(_ node: Node) {
    guard case .scalar(let text, let isQuoted) = node.content else {
      self = .text(node.json)
      return
    }
    if !isQuoted, let number = SweepNumber(text) {
      self = .number(number.inBaseUnit, number.family)
    } else if !isQuoted, text == "true" || text == "false" {
      self = .flag(text == "true")
    } else {
      self = .text(text)
    }
  }

  /// What a message calls it.
  var noun: String {
    switch self {
    case .number(_, let family): family.noun
    case .flag: "a flag"
    case .text: "a text"
    }
  }
}

/// A number as it is in a scenario, with or without a unit.
public struct SweepNumber: Equatable, Sendable {
  /// Whole smallest units, or the bare number.
  package let value: Double
  /// What it is a number of.
  public let family: SweepFamily

  package init(_ value: Double, _ family: SweepFamily) {
    self.value = value
    self.family = family
  }

  /// Reads a number or a quantity; nil for anything else.
  package init?(_ text: String) {
    if let number = Text.number(text) {
      self.init(number, .number)
      return
    }
    for family in SweepFamily.allCases where family != .number {
      if let quantity = Text.quantity(text, units: family.units) {
        self.init(Double(quantity), family)
        return
      }
    }
    return nil
  }

  /// The number in the family's base unit.
  var inBaseUnit: Double { value / family.perBaseUnit }

  /// The number as it is written in a scenario.
  package var node: Node {
    family == .number
      ? .text(Text.shortest(value)) : .text(Text.quantity(Int64(cut: value), units: family.units))
  }
}

extension Form where Value == SweepNumber {
  /// A number, or a quantity with its unit.
  static var sweepNumber: Form {
    Form(
      shape: .free, expected: "a number, or a quantity with its unit such as `30 min`",
      parse: { text, isQuoted in isQuoted ? nil : SweepNumber(text) }, write: { $0.node })
  }
}

extension Int64 {
  /// The whole part of a number; of one beyond all whole numbers, such as the `Double` that is
  /// nearest to the largest of them, the last.
  init(cut value: Double) {
    self = Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
  }
}
