import Results

/// Where two results first part: in hours, rounds, versions, stored events, and anything else.
///
/// Order: of the first document; flags are compared by their words, NaN equals NaN.
public struct DocumentComparison: Sendable, Equatable {
  /// A place that differs, and what is there in each; nil where one has no such place.
  public struct Difference: Codable, Equatable, Sendable {
    /// An attribute's name, a setting's path, or a variable's, such as `devices/aggregated`, with
    /// its cell.
    public var place: String
    /// What the first has there.
    public var a: String?
    /// What the second has there.
    public var b: String?

    /// A difference.
    public init(_ place: String, _ a: String?, _ b: String?) {
      (self.place, self.a, self.b) = (place, a, b)
    }

    /// Whether it is only about the words that describe a variable or a group.
    public var isDescription: Bool { place.hasSuffix("@long_name") || place.hasSuffix("@comment") }
  }

  /// The first row of a table that differs.
  public struct Row: Codable, Equatable, Sendable {
    /// The row's place, from 0.
    public var row: Int
    /// The row's number by the table's own axis, such as the round; its place where there is none.
    public var number: Int
    /// The columns that differ in it; one without a name where only one table has the row.
    public var columns: [Difference]
  }

  /// What only one of the two has.
  public struct Missing: Codable, Equatable, Sendable {
    /// The path of a group, variable or text.
    public var path: String
    /// Whether the first has it.
    public var isInA: Bool

    /// A part that one of two has.
    public init(path: String, isInA: Bool) { (self.path, self.isInA) = (path, isInA) }
  }

  /// Attributes of the root that differ, the digest of the content left out.
  public let attributes: [Difference]
  /// The first hour whose digest of events differs; nil: none, or not stored by both.
  public let hour: Row?
  /// The first round that differs.
  public let round: Row?
  /// The first version that differs.
  public let version: Row?
  /// The first stored event that differs; nil: none, or not stored by both.
  public let event: Row?
  /// The first cell that differs of each variable and text that does.
  public let cells: [Difference]
  /// What only one has.
  public let missing: [Missing]

  /// Compares two results.
  public init(_ a: ResultDocument, _ b: ResultDocument) {
    attributes = Self.attributes(a.root, b.root)
    hour = TablePair(a, b, "hours").flatMap { pair in
      pair.shares("eventDigest") ? pair.firstRow(deciding: ["eventDigest"]) : nil
    }
    round = TablePair(a, b, "rounds")?.firstRow()
    version = TablePair(a, b, "versions")?.firstRow()
    event = TablePair(a, b, "events")?.firstRow()
    var walk = Walk()
    walk.compare(a.root, b.root, at: "")
    cells = walk.cells
    missing = walk.missing
  }

  /// The first row of the stored events that differs; nil: none, or not stored by both.
  public static func firstEvent(_ a: ResultDocument, _ b: ResultDocument) -> Int? {
    TablePair(a, b, "events")?.firstRow()?.row
  }

  /// Whether all that the first holds is the same in the second, the version of the schema and
  /// descriptions aside.
  public var hasAllOfTheFirst: Bool {
    cells.allSatisfy(\.isDescription)
      && attributes.allSatisfy { $0.place == "schemaVersion" || $0.a == nil }
      && !missing.contains(where: \.isInA)
  }

  /// Whether nothing differs.
  public var isSame: Bool { attributes.isEmpty && cells.isEmpty && missing.isEmpty }

  private static func attributes(
    _ a: ResultDocument.Group, _ b: ResultDocument.Group
  ) -> [Difference] {
    var names = a.attributes.map(\.name)
    for attribute in b.attributes where !names.contains(attribute.name) {
      names.append(attribute.name)
    }
    return names.filter {
      $0 != ResultDocument.digestAttribute && a[attribute: $0] != b[attribute: $0]
    }
    .map { Difference($0, a[attribute: $0]?.text, b[attribute: $0]?.text) }
  }
}

/// Walks two trees of groups side by side.
private struct Walk {
  var cells: [DocumentComparison.Difference] = []
  var missing: [DocumentComparison.Missing] = []

  mutating func compare(_ a: ResultDocument.Group, _ b: ResultDocument.Group, at path: String) {
    func name(_ part: String) -> String { path.isEmpty ? part : "\(path)/\(part)" }
    for text in a.texts {
      guard let other = b[text: text.name] else { continue }
      if !text.value.utf8.elementsEqual(other.utf8) {
        cells.append(firstLine(name(text.name), text.value, other))
      }
    }
    for variable in a.variables {
      guard let other = b[variable: variable.name] else { continue }
      if let cell = VariablePair(variable, other, a, b)?.firstCell(name(variable.name)) {
        cells.append(cell)
      } else if let remark = remark(variable, other, at: name(variable.name)) {
        cells.append(remark)
      }
    }
    note(
      a.texts.map(\.name) + a.variables.map(\.name) + a.groups.map(\.name),
      b.texts.map(\.name) + b.variables.map(\.name) + b.groups.map(\.name), name)
    for group in a.groups {
      guard let other = b.groups.first(where: { $0.name == group.name }) else { continue }
      if path.isEmpty || group.attributes != other.attributes {
        compareRemarks(group, other, at: name(group.name))
      }
      compare(group, other, at: name(group.name))
    }
  }

  private mutating func compareRemarks(
    _ a: ResultDocument.Group, _ b: ResultDocument.Group, at path: String
  ) {
    for attribute in a.attributes where b[attribute: attribute.name] != attribute.value {
      cells.append(
        .init(
          "\(path)@\(attribute.name)", attribute.value.text, b[attribute: attribute.name]?.text))
    }
    for attribute in b.attributes where a[attribute: attribute.name] == nil {
      cells.append(.init("\(path)@\(attribute.name)", nil, attribute.value.text))
    }
  }

  /// What is said of a variable, where the numbers themselves are the same.
  private func remark(
    _ a: ResultDocument.Variable, _ b: ResultDocument.Variable, at path: String
  ) -> DocumentComparison.Difference? {
    if a.units != b.units { return .init("\(path)@units", a.units, b.units) }
    if a.values.typeName != b.values.typeName {
      return .init("\(path) (type)", a.values.typeName, b.values.typeName)
    }
    let names = (a.attributes.map(\.name) + b.attributes.map(\.name)).filter {
      a[attribute: $0] != b[attribute: $0]
    }
    // Descriptions come last, so that they hide nothing else.
    guard let name = names.first(where: { $0 != "comment" }) else {
      if a.longName != b.longName { return .init("\(path)@long_name", a.longName, b.longName) }
      return names.first.map {
        .init("\(path)@\($0)", a[attribute: $0]?.text, b[attribute: $0]?.text)
      }
    }
    return .init("\(path)@\(name)", a[attribute: name]?.text, b[attribute: name]?.text)
  }

  private mutating func note(_ a: [String], _ b: [String], _ name: (String) -> String) {
    for part in a where !b.contains(part) {
      missing.append(.init(path: name(part), isInA: true))
    }
    for part in b where !a.contains(part) {
      missing.append(.init(path: name(part), isInA: false))
    }
  }

  /// The first line in which two texts differ.
  private func firstLine(
    _ path: String, _ a: String, _ b: String
  ) -> DocumentComparison.Difference {
    let first = a.split(separator: "\n", omittingEmptySubsequences: false)
    let second = b.split(separator: "\n", omittingEmptySubsequences: false)
    var line = 0
    while line < first.count, line < second.count, first[line] == second[line] { line += 1 }
    return .init(
      "\(path) line \(line + 1)", line < first.count ? String(first[line]) : nil,
      line < second.count ? String(second[line]) : nil)
  }
}

extension ResultDocument.AttributeValue {
  /// The value as it is written.
  public var text: String {
    switch self {
    case .text(let x): x
    case .texts(let x): x.joined(separator: ", ")
    case .integer(let x): "\(x)"
    case .unsigned(let x): "\(x)"
    case .number(let x): "\(x)"
    case .array(let x): (0..<x.count).map { x.text(at: $0) }.joined(separator: " ")
    }
  }
}

extension ResultValues {
  /// One number as it is written: the shortest text that reads back as the same.
  public func text(at index: Int) -> String {
    switch self {
    case .double(let x): "\(x[index])"
    case .float(let x): "\(x[index])"
    case .int64(let x): "\(x[index])"
    case .int32(let x): "\(x[index])"
    case .int8(let x): "\(x[index])"
    case .uint8(let x): "\(x[index])"
    }
  }
}
