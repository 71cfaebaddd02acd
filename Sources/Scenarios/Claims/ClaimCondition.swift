import FedSim
import Schema

/// What a claim says of a value; durations are in microseconds.
public struct ClaimCondition: Sendable, Equatable {
  /// The value is at least this.
  public var atLeast: Double?
  /// The value is at most this.
  public var atMost: Double?
  /// The value is above this.
  public var above: Double?
  /// The value is below this.
  public var below: Double?
  /// The value is this.
  public var equals: Double?
  /// The value is at least the first and at most the second of these.
  public var between: [Double]?
  /// How far the value may be from `equals`.
  public var tolerance: Double?
  /// The accuracy to reach.
  public var target: Double?
  /// The value is this word, or these digits.
  public var word: String?

  /// A condition without a bound.
  public init() {}

  /// Whether a number is as it says.
  public func holds(_ value: Double) -> Bool {
    if let atLeast, value < atLeast { return false }
    if let atMost, value > atMost { return false }
    if let above, value <= above { return false }
    if let below, value >= below { return false }
    if let equals, abs(value - equals) > tolerance ?? 0 { return false }
    if let between, value < between[0] || value > between[1] { return false }
    return !value.isNaN
  }

  /// In words, such as `at least 0.75`.
  public func words(_ text: (Double) -> String) -> String {
    var words: [String] = []
    if let word { words.append(word) }
    if let equals {
      words.append(text(equals) + (tolerance.map { " ± \(text($0))" } ?? ""))
    }
    if let atLeast { words.append("at least \(text(atLeast))") }
    if let atMost { words.append("at most \(text(atMost))") }
    if let above { words.append("above \(text(above))") }
    if let below { words.append("below \(text(below))") }
    if let between { words.append("between \(text(between[0])) and \(text(between[1]))") }
    return words.joined(separator: ", ")
  }

  /// What is wrong with bounds that are each in range.
  var contradictions: [(key: String, message: String)] {
    let bounds = [atLeast, atMost, above, below, equals, between?.first]
    guard bounds.contains(where: { $0 != nil }) else {
      return [
        ("", "expected a bound: one of atLeast, atMost, above, below, equals, between")
      ]
    }
    if tolerance != nil, equals == nil {
      return [("tolerance", "a tolerance needs `equals`")]
    }
    if let tolerance, tolerance < 0 {
      return [("tolerance", "a tolerance is at least 0")]
    }
    if let between, between.count != 2 || between[0] > between[1] {
      return [("between", "expected two values, the lower one first: [lower, upper]")]
    }
    if let low = atLeast ?? above, let high = atMost ?? below, low > high {
      return [(atLeast == nil ? "above" : "atLeast", "the lower bound is above the upper one")]
    }
    return []
  }
}

/// A kind of value that can be bounded.
protocol BoundedKind: Sendable {
  /// How it is read and written.
  static var form: Form<Double> { get }
  /// Whether the claim gives an accuracy to reach.
  static var hasTarget: Bool { get }
}

/// Numbers.
enum NumberKind: BoundedKind {
  static var form: Form<Double> {
    .number(-.greatestFiniteMagnitude ... .greatestFiniteMagnitude)
  }
  static var hasTarget: Bool { false }
}

/// Whole numbers; their forms are those of whole numbers, up to 2⁵³.
enum CountKind: BoundedKind {
  static var form: Form<Double> {
    Form<Int>.integer(0...(1 << 53)).map(Double.init, back: { Int($0) })
  }
  static var hasTarget: Bool { false }
}

/// Lengths of time, in microseconds.
enum DurationKind: BoundedKind {
  static var form: Form<Double> {
    Form<SimDuration>.duration().map(
      { Double($0.microseconds) }, back: { SimDuration(microseconds: Int64(cut: $0)) })
  }
  static var hasTarget: Bool { false }
}

/// What another kind of value is when an accuracy is reached.
enum ToTarget<Kind: BoundedKind>: BoundedKind {
  static var form: Form<Double> { Kind.form }
  static var hasTarget: Bool { true }
}

/// The bounds of a value of one kind.
struct Bounds<Kind: BoundedKind>: PartSettings {
  var condition = ClaimCondition()

  static var shorthand: String? { Kind.hasTarget ? nil : "equals" }
  static var fields: [Field<Self>] {
    let target: [Field<Self>] =
      Kind.hasTarget
      ? [
        Field(
          "target", \.condition.target, feature: .fraction, "Target accuracy; required")
      ] : []
    return target + [
      Field("atLeast", \.condition.atLeast, feature: Kind.form, "Lower bound of the value"),
      Field("atMost", \.condition.atMost, feature: Kind.form, "Upper bound of the value"),
      Field("above", \.condition.above, feature: Kind.form, "Exclusive lower bound of the value"),
      Field("below", \.condition.below, feature: Kind.form, "Exclusive upper bound of the value"),
      Field("equals", \.condition.equals, feature: Kind.form, "The exact value"),
      Field(
        "between", \.condition.between, feature: .list(of: Kind.form, minimum: 2),
        "Lower and upper bound of the value"),
      Field(
        "tolerance", \.condition.tolerance, feature: Kind.form,
        "Tolerance of `equals`"),
    ]
  }
  func contradictions() -> [(key: String, message: String)] {
    if Kind.hasTarget, condition.target == nil {
      return [("", "expected `target`, the target accuracy")]
    }
    return condition.contradictions
  }

  /// A bare value, or a mapping of bounds.
  static var form: Form<ClaimCondition> {
    let settings = Form<Self>.settings()
    let keys = fields.map(\.key).joined(separator: ", ")
    return Form<ClaimCondition>(
      shape: Kind.hasTarget ? settings.shape : .condition(Kind.form.shape),
      expected: Kind.hasTarget
        ? "a mapping with \(keys)" : "\(Kind.form.expected), or a mapping with \(keys)",
      read: { node, reader in
        let before = reader.faults.count
        let bounds = reader.read(Self.self, from: node)
        return reader.faults.count == before ? bounds.condition : nil
      },
      write: { condition in
        var bounds = Self()
        bounds.condition = condition
        return bounds.resolved
      })
  }
}

/// What a word has to be.
struct Wording<Kind: WordKind>: PartSettings {
  var condition = ClaimCondition()

  static var shorthand: String? { "equals" }
  static var fields: [Field<Self>] {
    [Field("equals", \.condition.word, feature: Kind.form, "The exact value")]
  }
  func contradictions() -> [(key: String, message: String)] {
    condition.word == nil ? [("", "expected `equals`")] : []
  }

  static var form: Form<ClaimCondition> {
    Form<ClaimCondition>(
      shape: .condition(Kind.form.shape), expected: "\(Kind.form.expected), as `equals`",
      read: { node, reader in
        let before = reader.faults.count
        let wording = reader.read(Self.self, from: node)
        return reader.faults.count == before ? wording.condition : nil
      },
      write: { condition in
        var wording = Self()
        wording.condition = condition
        return wording.resolved
      })
  }
}

/// A kind of word.
protocol WordKind: Sendable {
  /// How it is read and written.
  static var form: Form<String> { get }
}

/// How a round ended.
enum OutcomeKind: WordKind {
  static var form: Form<String> {
    Form<RoundOutcome>.choice.map(\.rawValue, back: { RoundOutcome(rawValue: $0)! })
  }
}

/// 16 hexadecimal digits.
enum DigestKind: WordKind {
  static var form: Form<String> {
    Form(
      shape: .text, expected: "16 hexadecimal digits, such as \"0123456789abcdef\"",
      parse: { text, _ in
        let isDigest =
          text.utf8.count == 16
          && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        return isDigest ? text : nil
      }, write: { .quoted($0) })
  }
}

extension Form where Value == ClaimCondition {
  /// One of some words.
  static func word(of words: [String]) -> Form {
    let word = Form<String>(
      shape: .oneOf(words), expected: "one of " + words.joined(separator: ", "),
      parse: { text, _ in words.contains(text) ? text : nil }, write: { .text($0) })
    return word.map(
      { word in
        var condition = ClaimCondition()
        condition.word = word
        return condition
      }, back: { $0.word ?? "" })
  }
}

extension Metric.Kind {
  /// How a condition on such a value is read and written.
  var form: Form<ClaimCondition> {
    switch self {
    case .number: Bounds<NumberKind>.form
    case .count: Bounds<CountKind>.form
    case .duration: Bounds<DurationKind>.form
    case .timeToTarget: Bounds<ToTarget<DurationKind>>.form
    case .countToTarget: Bounds<ToTarget<CountKind>>.form
    case .digest: Wording<DigestKind>.form
    case .outcome: Wording<OutcomeKind>.form
    case .word(let words): .word(of: words)
    }
  }

  /// A value of this kind as a person reads it.
  public func text(_ value: Double) -> String {
    switch self {
    case .duration, .timeToTarget:
      value.isFinite ? SimDuration(microseconds: Int64(cut: value)).description : "never"
    case .countToTarget: value.isFinite ? Text.shortest(value) : "never"
    default: Text.shortest(value)
    }
  }
}
