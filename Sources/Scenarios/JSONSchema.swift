import FedSim
import Schema

/// The JSON Schema (draft 7) of a scenario, which editors use for completion, hover and checks.
///
/// Source: https://json-schema.org/draft-07/schema.
public struct JSONSchema: Sendable {
  private let catalog: Catalog

  /// A schema over these parts.
  public init(catalog: Catalog) { self.catalog = catalog }

  /// The schema of a document with these fields.
  public func document(title: String, fields: [FieldDescription]) -> Node {
    var entries: [(String, Node)] = [
      ("$schema", .quoted("http://json-schema.org/draft-07/schema#")), ("title", .quoted(title)),
    ]
    // What a scenario must have may be in one that it names as its base.
    entries += object(fields).map { name, value in
      guard name == "required" else { return (name, value) }
      let either = [list([.quoted("base")]), value].map { Node.mapping([("required", $0)]) }
      return ("anyOf", list(either))
    }
    entries.append(("patternProperties", .mapping([("^x-", .mapping([]))])))
    var definitions = catalog.seams.map { (key($0.name), seam($0)) }
    let all = fields + catalog.entries.flatMap(\.fields)
    for seam in catalog.seams where all.contains(where: { takesSeveral($0.shape, seam.name) }) {
      definitions.append((key("several " + seam.name), several(seam.name)))
    }
    entries.append(("definitions", .mapping(definitions)))
    return .mapping(entries)
  }

  /// Whether values of a shape are several parts of a seam, or have such in them; the settings of
  /// parts are not looked into.
  private func takesSeveral(_ shape: Shape, _ seam: String) -> Bool {
    switch shape {
    case .part(seam, several: true): true
    case .list(let element): takesSeveral(element, seam)
    case .condition(let value): takesSeveral(value, seam)
    case .mapping(let fields, _): fields().contains { takesSeveral($0.shape, seam) }
    default: false
    }
  }

  /// Several parts of a seam: by name, one alone, or a list.
  private func several(_ seam: String) -> Node {
    let named = Node.mapping(choices(seam, several: true))
    let array = Node.mapping([("type", .quoted("array")), ("items", reference(seam))])
    return .mapping([("anyOf", list([named, reference(seam), array]))])
  }

  private func key(_ seam: String) -> String {
    String(seam.map { $0 == " " ? "-" : $0 })
  }

  private func seam(_ seam: Catalog.SeamDescription) -> Node {
    let parts = catalog.parts(of: seam.name)
    return .mapping([
      ("description", .quoted(seam.summary)),
      (
        "anyOf",
        list(
          [.mapping([("enum", list(parts.map { .quoted($0.name) }))])]
            + [.mapping(choices(seam.name, several: false))])
      ),
    ])
  }

  /// An object whose keys are parts of a seam.
  private func choices(_ seam: String, several: Bool) -> [(String, Node)] {
    let parts = catalog.parts(of: seam)
    var entries: [(String, Node)] = [("type", .quoted("object"))]
    if !several {
      entries += [("minProperties", .text("1")), ("maxProperties", .text("1"))]
    }
    let settings = parts.map { part in
      (part.name, described(part.summary, nullable(mapping(part.fields, part.shorthand))))
    }
    entries += [("properties", .mapping(settings)), ("additionalProperties", .text("false"))]
    return entries
  }

  private func object(_ fields: [FieldDescription]) -> [(String, Node)] {
    let required = fields.filter { $0.defaultValue == nil && $0.isRequired }
    var entries: [(String, Node)] = [
      ("type", .quoted("object")),
      ("properties", .mapping(fields.map { ($0.key, property($0)) })),
      ("additionalProperties", .text("false")),
    ]
    if !required.isEmpty { entries.append(("required", list(required.map { .quoted($0.key) }))) }
    return entries
  }

  private func property(_ field: FieldDescription) -> Node {
    var schema = schema(field.shape)
    // One base may be without a list.
    let isBase = field.key == "base"
    if isBase, case .list(let element) = field.shape {
      schema = .mapping([("anyOf", list([self.schema(element), schema]))])
    }
    if let word = field.word {
      schema = .mapping([("anyOf", list([.mapping([("enum", list([.quoted(word)]))]), schema]))])
    }
    // An empty value brings the default back, such as below a base.
    if !isBase, field.defaultValue != nil || !field.isRequired { schema = nullable(schema) }
    return described(
      field.summary + (field.isAssumption ? " (an assumption about the world)" : ""), schema,
      default: field.defaultValue)
  }

  /// A schema with a description; a reference is wrapped, since draft 7 ignores what is next to
  /// one.
  private func described(_ text: String, _ schema: Node, default value: Node? = nil) -> Node {
    var entries: [(String, Node)] = [("description", .quoted(text))]
    if let value { entries.append(("default", value)) }
    if schema["$ref"] != nil {
      entries.append(("allOf", list([schema])))
    } else if case .mapping(let own) = schema.content {
      entries += own.map { ($0.key, $0.value) }
    }
    return .mapping(entries)
  }

  private func mapping(_ fields: [FieldDescription], _ shorthand: String?) -> Node {
    let whole = Node.mapping(object(fields))
    guard let field = fields.first(where: { $0.key == shorthand }) else { return whole }
    return .mapping([("anyOf", list([schema(field.shape), whole]))])
  }

  /// The value, or none. A checker blames the first of several that fail alike, so that is the
  /// value.
  private func nullable(_ schema: Node) -> Node {
    .mapping([("anyOf", list([schema, .mapping([("type", .quoted("null"))])]))])
  }

  private func schema(_ shape: Shape) -> Node {
    switch shape {
    case .integer(let minimum, let maximum):
      var entries: [(String, Node)] = [("type", .quoted("integer"))]
      if minimum != .min { entries.append(("minimum", .text(String(minimum)))) }
      if maximum != .max { entries.append(("maximum", .text(String(maximum)))) }
      return .mapping(entries)
    case .number(let minimum, let maximum):
      var entries: [(String, Node)] = [("type", .quoted("number"))]
      let most = Double.greatestFiniteMagnitude
      if minimum != -most { entries.append(("minimum", .text(Text.shortest(minimum)))) }
      if maximum != most { entries.append(("maximum", .text(Text.shortest(maximum)))) }
      return .mapping(entries)
    case .boolean:
      return type("boolean")
    case .text, .path:
      return type("string")
    case .quantity(let units, let example):
      let names = units.joined(separator: "|")
      let pattern = "^-?([0-9]+(\\.[0-9]+)? *(\(names)) *)+$"
      let text = Node.mapping([
        ("type", .quoted("string")), ("pattern", .quoted(pattern)),
        ("examples", list([.quoted(example)])),
      ])
      return .mapping([("anyOf", list([text, .mapping([("const", .text("0"))])]))])
    case .oneOf(let words):
      return .mapping([("enum", list(words.map { .quoted($0) }))])
    case .list(let element):
      return .mapping([("type", .quoted("array")), ("items", schema(element))])
    case .mapping(let fields, let shorthand):
      return mapping(fields(), shorthand)
    case .free:
      return .mapping([])
    case .condition(let value):
      return condition(schema(value))
    case .part(let seam, several: false):
      return reference(seam)
    case .part(let seam, several: true):
      // A part may take several parts of the same seam, so they cannot be here.
      return reference("several " + seam)
    }
  }

  /// A value, or bounds that are such values.
  private func condition(_ value: Node) -> Node {
    let bounds = ["atLeast", "atMost", "above", "below", "equals", "tolerance"].map { ($0, value) }
    let between = Node.mapping([("type", .quoted("array")), ("items", value)])
    return .mapping([
      (
        "anyOf",
        list([
          value,
          .mapping([
            ("type", .quoted("object")), ("properties", .mapping(bounds + [("between", between)])),
            ("additionalProperties", .text("false")),
          ]),
        ])
      )
    ])
  }

  private func type(_ name: String) -> Node { .mapping([("type", .quoted(name))]) }

  private func reference(_ seam: String) -> Node {
    .mapping([("$ref", .quoted("#/definitions/" + key(seam)))])
  }

  private func list(_ nodes: [Node]) -> Node { Node(.sequence(nodes)) }
}
