/// A place in the simulator where parts can be exchanged; `Value` is what a part is used as.
public struct Seam<Value: Sendable>: Sendable {
  /// The seam's name in messages and lists, such as `aggregator`.
  public let name: String
  /// The question that its parts answer.
  public let summary: String

  /// A seam.
  public init(_ name: String, _ summary: String) {
    self.name = name
    self.summary = summary
  }
}

/// Something that a scenario names: its name, its settings, and how it is made from them.
public protocol Part: Sendable {
  /// What a scenario can set of the part.
  associatedtype Settings: PartSettings
  /// The name in a scenario, in kebab-case.
  static var name: String { get }
  /// One sentence: what it does and when to choose it.
  static var summary: String { get }
  /// What else lists say of it; nil: nothing.
  static var note: String? { get }
  /// Makes the part.
  init(_ settings: Settings)
}

extension Part {
  /// Nothing.
  public static var note: String? { nil }
}

/// A part chosen in a scenario, with the settings it was made from.
public struct Choice<Value: Sendable>: Sendable {
  /// The part's name.
  public let name: String
  /// The part.
  public let value: Value
  /// Its settings, every value explicit.
  public let settings: Node

  /// A part of known type, as the seam's value.
  public init<P: Part>(
    _ type: P.Type, _ settings: P.Settings = P.Settings(), as value: (P) -> Value
  ) {
    name = P.name
    self.value = value(P(settings))
    self.settings = settings.resolved
  }

  init(name: String, value: Value, settings: Node) {
    self.name = name
    self.value = value
    self.settings = settings
  }

  /// The same choice with another value, such as one that has read its file.
  public func with(_ value: Value) -> Choice {
    Choice(name: name, value: value, settings: settings)
  }

  /// `{name: {settings}}`.
  public var resolved: Node { .mapping([(name, settings)]) }
}

/// The parts that exist, by seam, in the order in which they were added.
public struct Catalog: Sendable {
  /// A part in the catalog.
  public struct Entry: Sendable {
    /// The seam it belongs to.
    public let seam: String
    /// The name that a scenario chooses the part by.
    public let name: String
    /// What the part does, in one sentence.
    public let summary: String
    /// What else lists say of it; nil: nothing.
    public let note: String?
    /// Its settings, for documentation: described each time, for a run asks for none of them.
    public var fields: [FieldDescription] { describe() }
    /// The setting that a bare value represents.
    public let shorthand: String?
    fileprivate let describe: @Sendable () -> [FieldDescription]
    let make: @Sendable (Node, inout Reader) -> (value: any Sendable, settings: Node)

    /// Reads settings of this part and gives them resolved, every value explicit.
    public func resolved(_ settings: Node, _ reader: inout Reader) -> Node {
      make(settings, &reader).settings
    }
  }

  /// A seam in the catalog.
  public struct SeamDescription: Sendable {
    /// The seam's name in messages and lists, such as `aggregator`.
    public let name: String
    /// The question that its parts answer.
    public let summary: String
  }

  /// The seams, in the order in which they were first met.
  public private(set) var seams: [SeamDescription] = []
  /// The parts, in the order in which they were added.
  public private(set) var entries: [Entry] = []

  /// An empty catalog.
  public init() {}

  /// Adds a part to a seam; a part of the same name there is replaced.
  public mutating func add<Value, P: Part>(
    _ type: P.Type, to seam: Seam<Value>, as value: @escaping @Sendable (P) -> Value
  ) {
    add(
      Entry(
        seam: seam.name, name: P.name, summary: P.summary, note: P.note,
        shorthand: P.Settings.shorthand, describe: { P.Settings.descriptions }
      ) { node, reader in
        let settings = reader.read(P.Settings.self, from: node)
        return (value(P(settings)), settings.resolved)
      }, to: seam)
  }

  /// Adds a part that is a name and values of settings: what is missing is as in `defaults`.
  public mutating func add<Value, Settings: PartSettings>(
    _ name: String, _ summary: String, _ defaults: Settings, to seam: Seam<Value>,
    as value: @escaping @Sendable (Settings) -> Value
  ) {
    add(
      Entry(
        seam: seam.name, name: name, summary: summary, note: nil, shorthand: Settings.shorthand,
        describe: { Settings.descriptions(of: defaults) }
      ) { node, reader in
        let settings = reader.read(Settings.self, from: node, defaults: defaults)
        return (value(settings), settings.resolved)
      }, to: seam)
  }

  private mutating func add<Value>(_ entry: Entry, to seam: Seam<Value>) {
    if !seams.contains(where: { $0.name == seam.name }) {
      seams.append(SeamDescription(name: seam.name, summary: seam.summary))
    }
    entries.removeAll { $0.seam == entry.seam && $0.name == entry.name }
    entries.append(entry)
  }

  /// The parts of a seam, in the order in which they were added.
  public func parts(of seam: String) -> [Entry] { entries.filter { $0.seam == seam } }
}

extension Reader {
  /// Reads `name`, `{name: settings}` or `{name: value}` as a part of a seam.
  public mutating func readPart<Value>(_ node: Node, _ seam: Seam<Value>) -> Choice<Value>? {
    switch node.content {
    case .scalar(let name, _):
      return make(name, at: node.place, settings: Node(.null, at: node.place), seam)
    case .mapping(let entries) where entries.count == 1:
      return make(entries[0].key, at: entries[0].place, settings: entries[0].value, seam)
    case .mapping(let entries) where entries.count > 1:
      let names = entries.map { "`\($0.key)`" }.joined(separator: " and ")
      let problem = Fault.Problem.unexpected(found: names, expected: "exactly one \(seam.name)")
      report(problem, at: entries[1].place)
      return nil
    case .mapping, .sequence, .null:
      report(node, expected: "exactly one \(seam.name): a name, or {name: settings}")
      return nil
    }
  }

  /// Reads `{name: settings, name: settings…}` (or a name, or a list of names) as parts of a seam.
  public mutating func readParts<Value>(_ node: Node, _ seam: Seam<Value>) -> [Choice<Value>]? {
    switch node.content {
    case .mapping(let entries):
      return entries.compactMap { make($0.key, at: $0.place, settings: $0.value, seam) }
    case .sequence(let nodes):
      return nodes.compactMap { readPart($0, seam) }
    case .scalar:
      return readPart(node, seam).map { [$0] }
    case .null:
      return []
    }
  }

  private mutating func make<Value>(
    _ name: String, at place: Place, settings: Node, _ seam: Seam<Value>
  ) -> Choice<Value>? {
    let parts = catalog.parts(of: seam.name)
    guard let entry = parts.first(where: { $0.name == name }) else {
      let known = parts.map(\.name)
      let near = Spelling.containing(name, among: known)
      if near.count > 1 {
        let lines = parts.filter { near.contains($0.name) }.map { "\n  \($0.name): \($0.summary)" }
        let problem = "there is no \(seam.name) `\(name)`, but:" + lines.joined()
        report(.contradiction(problem), at: place)
        return nil
      }
      let nearest = nearest(to: name, among: known)
      report(.unknownName(name, seam: seam.name, nearest: nearest, known: known), at: place)
      return nil
    }
    let before = faults.count
    let made = within(name) { entry.make(settings, &$0) }
    guard faults.count == before else { return nil }
    guard let value = made.value as? Value else {
      preconditionFailure("the part \(name) was added to the seam \(seam.name) as another type")
    }
    return Choice(name: name, value: value, settings: made.settings)
  }
}
