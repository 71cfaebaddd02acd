import Results

/// The variables of one group of a result, by name and as the type that a caller wants.
///
/// A variable that is not there, or of another kind, is nil: files of other scenarios and of older
/// versions lack some.
public struct ResultTable: Sendable {
  /// The group's path, such as `timeline/work`.
  public let path: String
  /// The group.
  public let group: ResultDocument.Group

  /// The group at a path of a document, the root for "".
  public init?(_ document: ResultDocument, _ path: String) {
    guard let group = document[path] else { return nil }
    self.path = path
    self.group = group
  }

  /// The names of the variables, in the file's order.
  public var names: [String] { group.variables.map(\.name) }

  /// Whether there is a variable of this name.
  public func has(_ name: String) -> Bool { group[variable: name] != nil }

  /// How long an axis of the group is.
  public func length(of axis: String) -> Int? { group.axes.first { $0.name == axis }?.length }

  /// A variable's numbers, row-major; exact for all types but 64-bit integers beyond 2⁵³.
  public func numbers(_ name: String) -> [Double]? { group[variable: name]?.values.asDoubles }

  /// A variable's whole numbers, row-major; nil where it holds fractions.
  public func integers(_ name: String) -> [Int64]? {
    switch group[variable: name]?.values {
    case .int64(let x)?: x
    case .int32(let x)?: x.map(Int64.init)
    case .int8(let x)?: x.map(Int64.init)
    case .uint8(let x)?: x.map(Int64.init)
    default: nil
    }
  }

  /// A single number, of a variable without axes.
  public func number(_ name: String) -> Double? {
    guard let variable = group[variable: name], variable.axes.isEmpty else { return nil }
    return variable.values.asDoubles.first
  }

  /// A single whole number, of a variable without axes.
  public func integer(_ name: String) -> Int64? {
    guard let variable = group[variable: name], variable.axes.isEmpty else { return nil }
    return integers(name)?.first
  }

  /// A variable of categories as words; nil where it has no `flag_meanings`.
  public func words(_ name: String) -> [String]? {
    guard let variable = group[variable: name], case .int8(let codes) = variable.values else {
      return nil
    }
    let meanings = variable.flagMeanings
    guard !meanings.isEmpty else { return nil }
    return codes.map { meanings.indices.contains(Int($0)) ? meanings[Int($0)] : "" }
  }

  /// A variable over two axes, a row for each place of the first.
  public func rows(_ name: String) -> [[Double]]? {
    guard let variable = group[variable: name], variable.axes.count == 2 else { return nil }
    let values = variable.values.asDoubles
    guard let first = length(of: variable.axes[0]), first > 0, values.count % first == 0 else {
      return nil
    }
    let width = values.count / first
    return (0..<first).map { Array(values[($0 * width)..<(($0 + 1) * width)]) }
  }

  /// A variable's unit in UDUNITS' spelling.
  public func units(_ name: String) -> String? { group[variable: name]?.units }

  /// What a variable's numbers are, in a few words.
  public func longName(_ name: String) -> String? { group[variable: name]?.longName }

  /// A remark on the group, if it is a text.
  public func text(_ attribute: String) -> String? {
    if case .text(let text)? = group[attribute: attribute] { return text }
    return group[text: attribute]
  }

  /// A remark on the group, if it is a whole number.
  public func whole(_ attribute: String) -> Int64? {
    switch group[attribute: attribute] {
    case .integer(let x)?: x
    case .unsigned(let x)?: Int64(exactly: x)
    default: nil
    }
  }
}

extension ResultDocument {
  /// The variables of a group, if there is one at this path; the root's for "".
  public func table(_ path: String) -> ResultTable? { ResultTable(self, path) }

  /// The name of the scenario that was run; empty where the root has none.
  public var title: String { table("")?.text("title") ?? "" }

  /// The scenario's seed.
  public var seed: UInt64? {
    switch root[attribute: "seed"] {
    case .unsigned(let x)?: x
    case .integer(let x)?: UInt64(exactly: x)
    default: nil
    }
  }

  /// The resolved scenario, as it is in the file.
  public var scenarioText: String? { table("")?.text("scenario") }
}
