/// A result file as a plain value: what will be written, can be digested, and was read back.
public struct ResultDocument: Equatable, Sendable, Codable {
  /// The root group; its attributes are those of the file.
  public var root: Group

  /// A document with a root group of the name "".
  public init(
    attributes: [Attribute] = [], axes: [Axis] = [], variables: [Variable] = [],
    texts: [Text] = [], groups: [Group] = []
  ) {
    root = Group(
      "", attributes: attributes, axes: axes, variables: variables, texts: texts, groups: groups)
  }

  /// The group at a path such as `ledger/updates`, the root for "".
  public subscript(path: String) -> Group? {
    var group = root
    for name in path.split(separator: "/") {
      guard let next = group.groups.first(where: { $0.name == name }) else { return nil }
      group = next
    }
    return group
  }

  /// A set of variables over common axes, which its subgroups can use too.
  public struct Group: Equatable, Sendable, Codable {
    /// Letters, digits and underscores, a letter first; as for every name in a document.
    public var name: String
    /// Remarks on the group.
    public var attributes: [Attribute]
    /// The axes that variables here and in subgroups may name.
    public var axes: [Axis]
    /// The variables, in the order in which readers will list them.
    public var variables: [Variable]
    /// Long texts, each a data set of one string.
    public var texts: [Text]
    /// The subgroups.
    public var groups: [Group]

    /// A group with the given parts.
    public init(
      _ name: String, attributes: [Attribute] = [], axes: [Axis] = [],
      variables: [Variable] = [], texts: [Text] = [], groups: [Group] = []
    ) {
      self.name = name
      self.attributes = attributes
      self.axes = axes
      self.variables = variables
      self.texts = texts
      self.groups = groups
    }

    /// The variable of a name, if there is one.
    public subscript(variable name: String) -> Variable? {
      variables.first { $0.name == name }
    }

    /// The value of an attribute, if there is one.
    public subscript(attribute name: String) -> AttributeValue? {
      attributes.first { $0.name == name }?.value
    }

    /// The text of a name, if there is one.
    public subscript(text name: String) -> String? {
      texts.first { $0.name == name }?.value
    }
  }

  /// A named dimension. A variable with the axis's name and only this axis holds its coordinates.
  public struct Axis: Equatable, Sendable, Codable {
    /// The dimension's name.
    public var name: String
    /// How many places it has; may be zero.
    public var length: Int
    /// Whether a later program may append along it; then it must come first in every variable.
    public var isUnlimited: Bool

    /// An axis of the given length.
    public init(_ name: String, length: Int, isUnlimited: Bool = false) {
      self.name = name
      self.length = length
      self.isUnlimited = isUnlimited
    }
  }

  /// An array of numbers over 0 to 24 named axes.
  public struct Variable: Equatable, Sendable, Codable {
    /// The name, in camel case.
    public var name: String
    /// The names of its axes, the slowest first; none for a single number.
    public var axes: [String]
    /// The numbers, as many as the axes' lengths multiply to.
    public var values: ResultValues
    /// The unit in UDUNITS' spelling: "s", "J", "byte", "1".
    public var units: String
    /// What the numbers are, in a few words.
    public var longName: String
    /// Further remarks: `flag_meanings`, `coordinates`, `comment`.
    public var attributes: [Attribute]

    /// A variable with the given parts.
    public init(
      _ name: String, _ axes: [String], _ values: ResultValues, units: String, longName: String,
      attributes: [Attribute] = []
    ) {
      self.name = name
      self.axes = axes
      self.values = values
      self.units = units
      self.longName = longName
      self.attributes = attributes
    }

    /// A variable of categories: code i means `meanings[i]`, listed by `flag_values` and
    /// `flag_meanings`.
    public init(
      _ name: String, _ axes: [String], codes: [Int8], meanings: [String], longName: String,
      attributes: [Attribute] = []
    ) {
      precondition(meanings.count <= 128, "a category has at most 128 meanings")
      let flags = [
        Attribute("flag_values", .array(.int8(meanings.indices.map { Int8($0) }))),
        Attribute("flag_meanings", .text(meanings.joined(separator: " "))),
      ]
      self.init(
        name, axes, .int8(codes), units: "1", longName: longName, attributes: flags + attributes)
    }

    /// The value of an attribute, if there is one.
    public subscript(attribute name: String) -> AttributeValue? {
      attributes.first { $0.name == name }?.value
    }

    /// The words of `flag_meanings`, none for a variable that holds no categories.
    public var flagMeanings: [String] {
      guard case .text(let words)? = self[attribute: "flag_meanings"] else { return [] }
      return words.split(separator: " ").map(String.init)
    }
  }

  /// A long text, such as the resolved scenario.
  public struct Text: Equatable, Sendable, Codable {
    /// The data set's name.
    public var name: String
    /// The text.
    public var value: String

    /// A text with a name.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A named remark on a group or a variable.
  public struct Attribute: Equatable, Sendable, Codable {
    /// The remark's name.
    public var name: String
    /// What it says.
    public var value: AttributeValue

    /// A remark with a name.
    public init(_ name: String, _ value: AttributeValue) {
      self.name = name
      self.value = value
    }
  }

  /// What an attribute may hold.
  public enum AttributeValue: Equatable, Sendable, Codable {
    /// One string.
    case text(String)
    /// Several strings, at least one.
    case texts([String])
    /// One whole number.
    case integer(Int64)
    /// One whole number without sign, such as a seed.
    case unsigned(UInt64)
    /// One number.
    case number(Double)
    /// Several numbers of one type, at least one.
    case array(ResultValues)

    /// Whether the bits agree, any NaN being equal to any other.
    public static func == (a: AttributeValue, b: AttributeValue) -> Bool {
      switch (a, b) {
      case (.text(let x), .text(let y)): x.utf8.elementsEqual(y.utf8)
      case (.texts(let x), .texts(let y)):
        x.count == y.count && zip(x, y).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
      case (.integer(let x), .integer(let y)): x == y
      case (.unsigned(let x), .unsigned(let y)): x == y
      case (.number(let x), .number(let y)): ResultValues.double([x]) == .double([y])
      case (.array(let x), .array(let y)): x == y
      default: false
      }
    }
  }
}
