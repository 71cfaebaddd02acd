import Schema

/// A condition over the values of axes, such as `threshold <= fleet.phones.count / 2 and not slow`.
///
/// Names are paths of axes or of the scenario, or an axis's last key where only one axis has it.
/// `or`, `and`, `not`; `==`, `!=`, `<`, `<=`, `>`, `>=`; `+`, `-`, `*`, `/`, `%`; parentheses.
/// Numbers may have units (`30 min`), texts are in quotes. It can do nothing else.
public struct SweepExpression: Sendable {
  /// What is wrong with an expression, or with the values that it meets.
  public struct Problem: Error, Equatable, Sendable {
    /// Where in the text, from 1.
    public let column: Int
    /// What.
    public let message: String

    /// Something wrong at a column.
    public init(column: Int, message: String) {
      self.column = column
      self.message = message
    }
  }

  /// A name in the expression.
  public struct Name: Equatable, Sendable {
    /// The path, or the last key of one.
    public let text: String
    /// Where it is in the text, from 1.
    public let column: Int
  }

  /// The longest expression, in characters.
  static let mostCharacters = 2_000
  /// The most operations within each other.
  static let mostLevels = 100

  indirect enum Tree: Sendable {
    case constant(SweepScalar)
    case name(Name)
    case not(Tree, column: Int)
    case minus(Tree, column: Int)
    case operation(SweepToken.Operator, Tree, Tree, column: Int)
  }

  /// The text.
  public let text: String
  /// Where the text begins.
  public let place: Place
  /// The names, in the order in which they are.
  public let names: [Name]
  private let tree: Tree

  /// Parses a text. Throws: the first thing that is wrong with it.
  public init(_ text: String, at place: Place = .none) throws(Problem) {
    var parser = SweepParser(tokens: try SweepToken.all(in: text))
    tree = try parser.parse()
    names = parser.names
    self.text = text
    self.place = place
  }

  /// A fault at a column of the text.
  public func fault(_ problem: Problem, path: String = "") -> Fault {
    var place = place
    if place.line > 0 { place.column += problem.column - 1 }
    return Fault(at: place, path: path, .syntax("`\(text)`: \(problem.message)"))
  }

  /// Whether it holds where names have these values.
  ///
  /// Throws: the first operation that has no meaning, such as a text below a number.
  public func holds(_ lookup: (String) -> SweepScalar?) throws(Problem) -> Bool {
    guard case .flag(let holds) = try value(of: tree, lookup) else {
      throw Problem(column: 1, message: "expected a condition that holds or does not")
    }
    return holds
  }

  private func value(
    of tree: Tree, _ lookup: (String) -> SweepScalar?
  ) throws(Problem) -> SweepScalar {
    switch tree {
    case .constant(let value):
      return value
    case .name(let name):
      guard let value = lookup(name.text) else {
        throw Problem(column: name.column, message: "there is no axis `\(name.text)`")
      }
      return value
    case .not(let inner, let column):
      return .flag(try !flag(inner, column, "not", lookup))
    case .minus(let inner, let column):
      guard case .number(let number, let family) = try value(of: inner, lookup) else {
        throw Problem(column: column, message: "`-` needs a number behind it")
      }
      return .number(-number, family)
    case .operation(.or, let left, let right, let column):
      if try flag(left, column, "or", lookup) { return .flag(true) }
      return .flag(try flag(right, column, "or", lookup))
    case .operation(.and, let left, let right, let column):
      if try !flag(left, column, "and", lookup) { return .flag(false) }
      return .flag(try flag(right, column, "and", lookup))
    case .operation(let sign, let left, let right, let column):
      return try SweepArithmetic.value(
        sign, try value(of: left, lookup), try value(of: right, lookup), column)
    }
  }

  private func flag(
    _ tree: Tree, _ column: Int, _ word: String, _ lookup: (String) -> SweepScalar?
  ) throws(Problem) -> Bool {
    let value = try value(of: tree, lookup)
    guard case .flag(let flag) = value else {
      throw Problem(
        column: column,
        message: "`\(word)` joins conditions, but found \(value.noun)")
    }
    return flag
  }
}

/// The results of operations on values.
enum SweepArithmetic {
  static func value(
    _ sign: SweepToken.Operator, _ left: SweepScalar, _ right: SweepScalar, _ column: Int
  ) throws(SweepExpression.Problem) -> SweepScalar {
    switch sign {
    case .equal, .unequal:
      let isEqual = try areEqual(left, right, sign, column)
      return .flag(isEqual == (sign == .equal))
    case .less, .atMost, .more, .atLeast:
      let (a, b, _) = try alike(left, right, sign, column)
      switch sign {
      case .less: return .flag(a < b)
      case .atMost: return .flag(a <= b)
      case .more: return .flag(a > b)
      default: return .flag(a >= b)
      }
    case .plus:
      let (a, b, family) = try alike(left, right, sign, column)
      return .number(a + b, family)
    case .minus:
      let (a, b, family) = try alike(left, right, sign, column)
      return .number(a - b, family)
    default:
      return try product(sign, left, right, column)
    }
  }

  private static func product(
    _ sign: SweepToken.Operator, _ left: SweepScalar, _ right: SweepScalar, _ column: Int
  ) throws(SweepExpression.Problem) -> SweepScalar {
    guard case .number(let a, let first) = left, case .number(let b, let second) = right else {
      throw mismatch(sign, left, right, column)
    }
    switch sign {
    case .times where first == .number || second == .number:
      return .number(a * b, first == .number ? second : first)
    case .divided where second == .number || first == second:
      guard b != 0 else { throw .init(column: column, message: "this expression divides by zero") }
      return .number(a / b, second == .number ? first : .number)
    case .remainder where first == second:
      guard b != 0 else { throw .init(column: column, message: "this expression divides by zero") }
      return .number(a.truncatingRemainder(dividingBy: b), first)
    default:
      throw mismatch(sign, left, right, column)
    }
  }

  private static func areEqual(
    _ left: SweepScalar, _ right: SweepScalar, _ sign: SweepToken.Operator, _ column: Int
  ) throws(SweepExpression.Problem) -> Bool {
    switch (left, right) {
    case (.text(let a), .text(let b)): return a == b
    case (.flag(let a), .flag(let b)): return a == b
    // An axis may have numbers and words, such as a feature that is `none`.
    case (.number, .text), (.text, .number), (.flag, .text), (.text, .flag): return false
    default:
      let (a, b, _) = try alike(left, right, sign, column)
      return a == b
    }
  }

  private static func alike(
    _ left: SweepScalar, _ right: SweepScalar, _ sign: SweepToken.Operator, _ column: Int
  ) throws(SweepExpression.Problem) -> (Double, Double, SweepFamily) {
    guard case .number(let a, let first) = left, case .number(let b, let second) = right,
      first == second
    else { throw mismatch(sign, left, right, column) }
    return (a, b, first)
  }

  private static func mismatch(
    _ sign: SweepToken.Operator, _ left: SweepScalar, _ right: SweepScalar, _ column: Int
  ) -> SweepExpression.Problem {
    .init(
      column: column,
      message: "`\(sign.rawValue)` cannot be between \(left.noun) and \(right.noun)")
  }
}

extension Form where Value == SweepExpression {
  /// A condition over axes.
  static var sweepExpression: Form {
    let expected = "a condition such as `threshold <= count / 2`"
    return Form(
      shape: .text, expected: expected,
      read: { node, reader in
        guard case .scalar(let text, let isQuoted) = node.content else {
          reader.report(node, expected: expected)
          return nil
        }
        var place = node.place
        if isQuoted, place.line > 0 { place.column += 1 }
        do throws(SweepExpression.Problem) {
          return try SweepExpression(text, at: place)
        } catch {
          if place.line > 0 { place.column += error.column - 1 }
          reader.report(.syntax("`\(text)`: \(error.message)"), at: place)
          return nil
        }
      }, write: { .quoted($0.text) })
  }
}
