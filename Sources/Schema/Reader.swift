/// Reads settings out of a tree, collects every fault, and never stops at the first.
public struct Reader {
  /// The parts that names may represent.
  public let catalog: Catalog
  /// The folder from which files are named.
  public let folder: String
  /// The faults met so far.
  public private(set) var faults: [Fault] = []
  private var path: [String] = []
  /// How many faults have the nearest word looked for: who has written more has another problem.
  private static let mostAdvised = 100

  /// The known word nearest to one that nobody knows; nil behind many faults.
  func nearest(to word: String, among known: [String]) -> String? {
    faults.count < Self.mostAdvised ? Spelling.nearest(to: word, among: known) : nil
  }

  /// A reader that knows these parts.
  public init(catalog: Catalog, folder: String = ".") {
    self.catalog = catalog
    self.folder = folder
  }

  /// Records a fault at the current path.
  public mutating func report(_ problem: Fault.Problem, at place: Place, key: String? = nil) {
    faults.append(Fault(at: place, path: (path + (key.map { [$0] } ?? [])).dotted, problem))
  }

  /// Records that a node is not what was expected.
  public mutating func report(_ node: Node, expected: String) {
    report(.unexpected(found: node.found, expected: expected), at: node.place)
  }

  /// Does something one key (or `[index]`) further down.
  public mutating func within<Result>(
    _ key: String, _ body: (inout Reader) -> Result
  ) -> Result {
    path.append(key)
    defer { path.removeLast() }
    return body(&self)
  }

  /// Reads settings; what is missing keeps its default, and so does what is wrong, with a fault.
  ///
  /// `defaults` are the values of what is missing, where they are others than the type's own.
  public mutating func read<Settings: PartSettings>(
    _ type: Settings.Type, from node: Node, defaults: Settings = Settings()
  ) -> Settings {
    var settings = defaults
    let fields = Settings.knownFields
    guard let entries = entries(of: node, fields: fields, shorthand: Settings.shorthand) else {
      return settings
    }
    let before = faults.count
    for entry in entries {
      guard let field = fields.first(where: { $0.key == entry.key }) else {
        let known = fields.map(\.key)
        let nearest = nearest(to: entry.key, among: known)
        report(.unknownKey(entry.key, nearest: nearest, known: known), at: entry.place)
        continue
      }
      within(entry.key) { field.read(&settings, entry.value, &$0) }
    }
    for field in fields where field.isRequired && !entries.contains(where: { $0.key == field.key })
    {
      report(.missingKey(field.key, expected: field.expected), at: node.place)
    }
    guard faults.count == before else { return settings }
    for (key, message) in settings.contradictions() {
      let entry = entries.first { $0.key == key }
      report(
        .contradiction(message), at: entry?.value.place ?? node.place,
        key: key.isEmpty ? nil : key)
    }
    return settings
  }

  /// The entries of a mapping, or of the bare value that represents one.
  private mutating func entries<Settings>(
    of node: Node, fields: [Field<Settings>], shorthand: String?
  ) -> [Node.Entry]? {
    switch node.content {
    case .mapping(let entries):
      return entries
    case .null:
      return []
    case .scalar, .sequence:
      if let shorthand { return [Node.Entry(key: shorthand, place: node.place, value: node)] }
      report(
        node,
        expected: fields.isEmpty
          ? "nothing: there are no settings"
          : "a mapping with " + fields.map(\.key).brief + node.hintOfBlank)
      return nil
    }
  }
}

extension [String] {
  /// The first six, with an ellipsis where there are more.
  var brief: String { prefix(6).joined(separator: ", ") + (count > 6 ? ", …" : "") }

  /// Keys joined by dots; an index such as `[2]` needs none.
  package var dotted: String {
    reduce(into: "") { text, key in
      if !text.isEmpty, !key.hasPrefix("[") { text += "." }
      text += key
    }
  }
}
