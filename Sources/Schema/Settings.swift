/// The settings of a part or of a section of a scenario: a plain value that lists its own fields.
///
/// The list buys decoding, rejection of unknown keys, defaults, documentation, the resolved form
/// and the JSON Schema; nothing else needs to be written for a new setting.
public protocol PartSettings: Sendable {
  /// The settings of a scenario that sets none of them.
  init()
  /// One field for each setting, in the order in which they are documented and written.
  static var fields: [Field<Self>] { get }
  /// The field that a bare value represents, as in `threshold: 3`.
  static var shorthand: String? { get }
  /// Says what is wrong with values that are each in range; the key names the field to point at.
  func contradictions() -> [(key: String, message: String)]
}

extension PartSettings {
  /// No bare value is understood.
  public static var shorthand: String? { nil }
  /// Nothing is wrong.
  public func contradictions() -> [(key: String, message: String)] { [] }
}

/// The settings of a part that has none.
public struct NoSettings: PartSettings {
  public init() {}
  /// No fields.
  public static var fields: [Field<NoSettings>] { [] }
}

/// One setting: key, documentation, how it is read into and written from its owner.
public struct Field<Owner>: Sendable {
  /// The key, equal to the Swift property's name.
  public let key: String
  /// What the setting does, in one sentence.
  public let summary: String
  /// What kind of value is expected.
  public let shape: Shape
  /// What is expected, in words.
  public var expected: String { words() }
  private let words: @Sendable () -> String
  /// A bare word that is taken, too.
  public let word: String?
  /// Whether the key must be there.
  public let isRequired: Bool
  /// Whether the default is an assumption about the world, to be listed in reports.
  public let isAssumption: Bool
  let read: @Sendable (inout Owner, Node, inout Reader) -> Void
  let write: @Sendable (Owner) -> Node?

  /// A field of a given form, stored at a property.
  public init<Value: Sendable>(
    _ key: String, _ path: WritableKeyPath<Owner, Value> & Sendable, _ form: Form<Value>,
    required: Bool = false, assumption: Bool = false, _ summary: String
  ) {
    self.key = key
    self.summary = summary
    shape = form.shape
    words = form.words
    word = form.word
    isRequired = required
    isAssumption = assumption
    read = { owner, node, reader in
      if let value = form.read(node, &reader) { owner[keyPath: path] = value }
    }
    write = { form.write($0[keyPath: path]) }
  }

  /// A field that may be absent, stored at an optional property.
  public init<Value: Sendable>(
    _ key: String, _ path: WritableKeyPath<Owner, Value?> & Sendable, optional form: Form<Value>,
    assumption: Bool = false, _ summary: String
  ) {
    self.init(key, path, maybe: form, assumption: assumption, summary, absence: Node(.null))
  }

  /// A field of a feature that is off unless it is named; the resolved form has it only where it
  /// is.
  public init<Value: Sendable>(
    _ key: String, _ path: WritableKeyPath<Owner, Value?> & Sendable, feature form: Form<Value>,
    assumption: Bool = false, _ summary: String
  ) {
    self.init(key, path, maybe: form, assumption: assumption, summary, absence: nil)
  }

  /// A field that is read and checked like any other, and is no part of the resolved form: what it
  /// says concerns not one run but what is done with the scenario.
  public init<Value: Sendable>(
    _ key: String, _ path: WritableKeyPath<Owner, Value?> & Sendable, aside form: Form<Value>,
    _ summary: String
  ) {
    self.init(
      key, path, maybe: form, assumption: false, summary, absence: nil, isWritten: false)
  }

  /// A field stored at an optional property, written as `absence` where that holds nothing, or
  /// never.
  private init<Value: Sendable>(
    _ key: String, _ path: WritableKeyPath<Owner, Value?> & Sendable, maybe form: Form<Value>,
    assumption: Bool, _ summary: String, absence: Node?, isWritten: Bool = true
  ) {
    self.key = key
    self.summary = summary
    shape = form.shape
    words = form.words
    word = form.word
    isRequired = false
    isAssumption = assumption
    read = { owner, node, reader in
      if case .null = node.content {
        owner[keyPath: path] = nil
      } else if let value = form.read(node, &reader) {
        owner[keyPath: path] = value
      }
    }
    write = { isWritten ? $0[keyPath: path].map(form.write) ?? absence : nil }
  }
}

extension Field {
  /// A key that is used up before settings are read, such as `base`: documented, never stored.
  public init(reserved key: String, _ shape: Shape, expected: String, _ summary: String) {
    self.key = key
    self.summary = summary
    self.shape = shape
    words = { expected }
    word = nil
    isRequired = false
    isAssumption = false
    read = { _, _, _ in }
    write = { _ in nil }
  }
}

/// A field without its owner: what documentation and the JSON Schema need.
public struct FieldDescription: Sendable {
  /// The key.
  public let key: String
  /// What the setting does, in one sentence.
  public let summary: String
  /// What kind of value is expected.
  public let shape: Shape
  /// What is expected, in words.
  public var expected: String { words() }
  /// A bare word that is taken, too.
  public let word: String?
  /// The default as it would be written; nil where the key must be given, or is never stored.
  public var defaultValue: Node? { standard() }
  /// Whether the key must be there.
  public let isRequired: Bool
  /// Whether the default is an assumption about the world.
  public let isAssumption: Bool
  // Both are made where they are needed: they ask for the fields of settings within these.
  let words: @Sendable () -> String
  let standard: @Sendable () -> Node?
}

extension PartSettings {
  /// The fields with their defaults, for documentation.
  public static var descriptions: [FieldDescription] { descriptions(of: Self()) }

  /// The fields with the values of `defaults`, for documentation.
  static func descriptions(of defaults: Self) -> [FieldDescription] {
    knownFields.map { field in
      FieldDescription(
        key: field.key, summary: field.summary, shape: field.shape, word: field.word,
        isRequired: field.isRequired, isAssumption: field.isAssumption,
        words: { field.expected },
        standard: { field.isRequired ? nil : field.write(defaults) })
    }
  }

  /// Every value explicit, as a mapping in the order of the fields.
  public var resolved: Node {
    .mapping(Self.knownFields.compactMap { field in field.write(self).map { (field.key, $0) } })
  }
}

/// The shape of a value, for documentation and the JSON Schema.
public indirect enum Shape: Sendable {
  /// A whole number in a range.
  case integer(minimum: Int64, maximum: Int64)
  /// A number in a range.
  case number(minimum: Double, maximum: Double)
  /// `true` or `false`.
  case boolean
  /// A text that follows a rule given in words.
  case text
  /// A file's path, taken from the folder of the file that it is written in.
  case path
  /// A number with one of these units, or several such in a row.
  case quantity(units: [String], example: String)
  /// One of some words.
  case oneOf([String])
  /// A list.
  case list(Shape)
  /// A mapping with these fields; a bare value represents the one named.
  case mapping(@Sendable () -> [FieldDescription], shorthand: String?)
  /// A part of a seam: its name, or its name with settings; `several` allows more than one.
  case part(seam: String, several: Bool)
  /// Anything that follows a rule given in words, such as a mapping whose keys are paths.
  case free
  /// A value, or a mapping of bounds (`atLeast`, `between`, …) that are such values.
  case condition(Shape)
}
