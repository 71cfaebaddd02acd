/// How a value is read and written: what is expected, and the two directions.
public struct Form<Value: Sendable>: Sendable {
  /// What kind of value it is.
  public let shape: Shape
  /// What is expected, in words that follow "expected".
  public var expected: String { words() }
  /// These words: they are made where they are needed, since those of settings name all fields.
  let words: @Sendable () -> String
  /// A bare word that represents a value, too.
  public private(set) var word: String?
  let read: @Sendable (Node, inout Reader) -> Value?
  let write: @Sendable (Value) -> Node

  /// A form; `read` reports a fault where it gives nil.
  public init(
    shape: Shape, expected: @autoclosure @escaping @Sendable () -> String,
    read: @escaping @Sendable (Node, inout Reader) -> Value?,
    write: @escaping @Sendable (Value) -> Node
  ) {
    self.shape = shape
    words = expected
    self.read = read
    self.write = write
  }

  /// A form of a scalar: `parse` gets its text.
  ///
  /// Where the shape is a number, a flag or a quantity, the fault says what to write instead.
  public init(
    shape: Shape, expected: @autoclosure @escaping @Sendable () -> String,
    parse: @escaping @Sendable (String, _ isQuoted: Bool) -> Value?,
    write: @escaping @Sendable (Value) -> Node
  ) {
    self.init(
      shape: shape, expected: expected(),
      read: { node, reader in
        guard case .scalar(let text, let isQuoted) = node.content else {
          reader.report(node, expected: expected())
          return nil
        }
        if let value = parse(text, isQuoted) { return value }
        let hint = shape.hint(text, isQuoted: isQuoted)
        reader.report(node, expected: expected() + (hint.map { "; \($0)" } ?? ""))
        return nil
      }, write: write)
  }
}

extension Form {
  /// The same text read as another type.
  public func map<Other: Sendable>(
    _ to: @escaping @Sendable (Value) -> Other, back: @escaping @Sendable (Other) -> Value
  ) -> Form<Other> {
    let form = self
    return Form<Other>(
      shape: shape, expected: expected,
      read: { node, reader in form.read(node, &reader).map(to) },
      write: { form.write(back($0)) })
  }

  /// A list of at least `minimum` values.
  public static func list<Element>(of element: Form<Element>, minimum: Int = 0) -> Form<[Element]>
  where Value == [Element] {
    let expected: @Sendable () -> String = {
      "a list" + (minimum > 0 ? " of at least \(minimum)" : "") + ", each \(element.expected)"
    }
    return Form<[Element]>(
      shape: .list(element.shape), expected: expected(),
      read: { node, reader in
        guard case .sequence(let nodes) = node.content else {
          reader.report(node, expected: expected())
          return nil
        }
        guard nodes.count >= minimum else {
          let found = nodes.isEmpty ? node.found : "a list of \(nodes.count)"
          reader.report(.unexpected(found: found, expected: expected()), at: node.place)
          return nil
        }
        let values = nodes.enumerated().compactMap { index, node in
          reader.within("[\(index)]") { element.read(node, &$0) }
        }
        return values.count == nodes.count ? values : nil
      }, write: { Node(.sequence($0.map(element.write))) })
  }

  /// A whole number, as a list of one, or a list of whole numbers.
  public static func oneOrMore(_ range: ClosedRange<Int>) -> Form where Value == [Int] {
    let one = Form<Int>.integer(range)
    let several = Form.list(of: one, minimum: 1)
    return Form(
      shape: .free, expected: "\(one.expected), or a list of such",
      read: { node, reader in
        guard case .sequence = node.content else { return one.read(node, &reader).map { [$0] } }
        return several.read(node, &reader)
      }, write: { $0.count == 1 ? one.write($0[0]) : several.write($0) })
  }

  /// A mapping read as separate settings, what is missing being the type's default.
  public static func settings(_ type: Value.Type = Value.self) -> Form where Value: PartSettings {
    settings(defaults: Value())
  }

  /// A mapping read as separate settings, what is missing being as in `defaults`.
  public static func settings(defaults: Value) -> Form where Value: PartSettings {
    Form(
      shape: .mapping({ Value.descriptions(of: defaults) }, shorthand: Value.shorthand),
      expected: "a mapping with " + Value.knownFields.map(\.key).brief,
      read: { node, reader in reader.read(Value.self, from: node, defaults: defaults) },
      write: { $0.resolved })
  }

  /// The same, changed by what was written where it was read without a fault.
  public func checked(
    _ check: @escaping @Sendable (Node, inout Value, inout Reader) -> Void
  ) -> Form {
    let form = self
    return Form(
      shape: shape, expected: expected,
      read: { node, reader in
        let before = reader.faults.count
        guard var value = form.read(node, &reader) else { return nil }
        if reader.faults.count == before { check(node, &value, &reader) }
        return value
      }, write: write)
  }

  /// The same, or a bare word that represents a value.
  public func or(_ word: String, meaning value: Value) -> Form {
    let form = self
    var either = Form(
      shape: shape, expected: "\(expected), or `\(word)`",
      read: { node, reader in
        if case .scalar(word, false) = node.content { return value }
        return form.read(node, &reader)
      }, write: write)
    either.word = word
    return either
  }

  /// A part of a seam.
  public static func part<V>(_ seam: Seam<V>) -> Form where Value == Choice<V> {
    Form(
      shape: .part(seam: seam.name, several: false), expected: "one \(seam.name)",
      read: { node, reader in reader.readPart(node, seam) }, write: { $0.resolved })
  }

  /// Several parts of a seam, each by its name, in the order written; as a list where a part is
  /// there twice.
  public static func parts<V>(_ seam: Seam<V>) -> Form where Value == [Choice<V>] {
    Form(
      shape: .part(seam: seam.name, several: true), expected: "one or more of \(seam.name)",
      read: { node, reader in reader.readParts(node, seam) },
      write: { choices in
        let names = choices.map(\.name)
        return names.indices.allSatisfy { !names[..<$0].contains(names[$0]) }
          ? .mapping(choices.map { ($0.name, $0.settings) })
          : Node(.sequence(choices.map(\.resolved)))
      })
  }
}
