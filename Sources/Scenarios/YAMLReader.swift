import Schema
import Yams

/// Reads YAML text into a tree that knows where everything is.
///
/// Plain scalars keep their text: `12:30`, `010`, `1_000`, `.inf` and `yes` are never converted.
/// Only an empty value, `~` and `null` are null. Anchors, aliases and merge keys (`<<`) work; tags
/// do not.
///
/// Source: YAML 1.2.2, https://yaml.org/spec/1.2.2.
public struct YAMLReader: Sendable {
  /// The most values that a text may have after its aliases are expanded, unless it has as many
  /// bytes.
  public static let mostNodes = 100_000
  /// The deepest nesting of lists and mappings.
  public static let mostLevels = 100
  /// The longest text, in bytes.
  public static let mostBytes = 4 << 20

  /// The tag that the parser gives to plain scalars without one when it compares keys.
  private static let untagged = Tag.Name(rawValue: "untagged")
  private static let resolver = (try? Resolver.basic.appending(untagged, "^")) ?? .basic

  private let locate: @Sendable (_ line: Int, _ column: Int) -> Place
  private var faults: [Fault] = []
  private var nodes = 0
  /// How many of them there may be; more than a text without aliases can have.
  private var most = Self.mostNodes
  private var path: [String] = []
  private var originals: [SourceText.Position: String] = [:]

  private init(locate: @escaping @Sendable (Int, Int) -> Place) {
    self.locate = locate
  }

  /// Reads the bytes of a file.
  ///
  /// Throws: every fault found, in order.
  public static func read(_ bytes: some Collection<UInt8>, file: String) throws(Faults)
    -> Schema.Node
  {
    try read(bytes) { Place(file: file, line: $0, column: $1) }
  }

  /// Reads a text.
  ///
  /// Throws: every fault found, in order.
  public static func read(_ text: String, file: String) throws(Faults) -> Schema.Node {
    try read(Array(text.utf8), file: file)
  }

  /// Reads bytes whose lines and columns are translated to places elsewhere, as in an argument.
  static func read(
    _ bytes: some Collection<UInt8>,
    locate: @escaping @Sendable (_ line: Int, _ column: Int) -> Place
  ) throws(Faults) -> Schema.Node {
    var reader = YAMLReader(locate: locate)
    guard let node = reader.root(of: Array(bytes)), reader.faults.isEmpty else {
      throw Faults(reader.faults)
    }
    return node
  }

  private mutating func root(of bytes: [UInt8]) -> Schema.Node? {
    guard bytes.count <= Self.mostBytes else {
      let problem = "the text is longer than \(Self.mostBytes >> 20) MiB"
      faults.append(Fault(at: locate(1, 1), .file(problem)))
      return nil
    }
    // What HDF5 begins with.
    if bytes.starts(with: [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]) {
      let problem =
        "this is a result, not a scenario: `fedsim report` shows it, `fedsim replay` plays its"
        + " scenario again"
      faults.append(Fault(at: locate(1, 1), .file(problem)))
      return nil
    }
    most = max(Self.mostNodes, bytes.count + 1)
    var source: SourceText
    switch SourceText.decoding(bytes) {
    case .success(let text): source = text
    case .failure(let problem):
      faults.append(
        Fault(
          at: locate(problem.position.line, problem.position.column), .syntax(problem.message)))
      return nil
    }
    let mostScalars = 100 * Self.mostNodes
    guard !source.mayUseAliasesInKeys || source.expandedScalars(limit: mostScalars) < mostScalars
    else {
      reportExpansion(at: locate(1, 1))
      return nil
    }
    guard let root = compose(&source) else {
      if faults.isEmpty { return Schema.Node(.null, at: locate(1, 1)) }
      return nil
    }
    return convert(root, level: 0)
  }

  // MARK: Composing

  /// Composes the text; repeated keys are renamed first, so that `convert` can place them.
  private mutating func compose(_ source: inout SourceText) -> Yams.Node? {
    while true {
      do {
        let parser = try Parser(yaml: source.text, resolver: Self.resolver, encoding: .utf8)
        return try parser.singleRoot()
      } catch YamlError.duplicatedKeysInMapping(let duplicates, let context) {
        let position = SourceText.Position(line: context.mark.line, column: context.mark.column)
        let key = duplicates.first ?? ""
        guard originals.count < 64, let original = source.rename(key, at: position) else {
          faults.append(Fault(at: locate(position.line, position.column), .duplicateKey(key)))
          return nil
        }
        originals[position] = original
      } catch let error as YamlError {
        let problem = YAMLProblem(error, in: source)
        faults.append(
          Fault(
            at: locate(problem.position.line, problem.position.column), .syntax(problem.message)))
        return nil
      } catch {
        faults.append(Fault(at: locate(1, 1), .syntax("\(error)")))
        return nil
      }
    }
  }

  // MARK: Converting

  private func place(of node: Yams.Node) -> Place {
    node.mark.map { locate($0.line, $0.column) } ?? locate(1, 1)
  }

  private mutating func report(_ problem: Fault.Problem, at place: Place, key: String? = nil) {
    let path = key.map { self.path + [$0] } ?? self.path
    faults.append(Fault(at: place, path: path.dotted, problem))
  }

  private mutating func reportExpansion(at place: Place) {
    faults.append(
      Fault(
        at: place, .syntax("the aliases expand to more than \(most) values")))
  }

  /// Nil once the text has expanded to too many values; every other fault is recorded and passed
  /// over.
  private mutating func convert(_ node: Yams.Node, level: Int) -> Schema.Node? {
    let place = place(of: node)
    nodes += 1
    guard nodes <= most else {
      if nodes == most + 1 { reportExpansion(at: place) }
      return nil
    }
    guard level <= Self.mostLevels else {
      let problem = "lists and mappings are nested more than \(Self.mostLevels) deep"
      faults.append(Fault(at: place, .syntax(problem)))
      return nil
    }
    switch node {
    case .scalar(let scalar):
      return convert(scalar, at: place)
    case .sequence(let sequence):
      refuse(sequence.tag, but: .seq, at: place)
      var values: [Schema.Node] = []
      for (i, value) in sequence.enumerated() {
        path.append("[\(i)]")
        guard let value = convert(value, level: level + 1) else { return nil }
        path.removeLast()
        values.append(value)
      }
      return Schema.Node(.sequence(values), at: place)
    case .mapping(let mapping):
      refuse(mapping.tag, but: .map, at: place)
      return entries(of: mapping, level: level).map { Schema.Node(.mapping($0), at: place) }
    case .alias:
      preconditionFailure("aliases are replaced while the text is composed")
    }
  }

  private mutating func convert(_ scalar: Yams.Node.Scalar, at place: Place) -> Schema.Node {
    let isPlain = scalar.style == .plain || scalar.style == .any
    refuse(scalar.tag, but: isPlain ? Self.untagged : .str, at: place)
    if isPlain, ["", "~", "null"].contains(scalar.string) { return Schema.Node(.null, at: place) }
    return Schema.Node(.scalar(scalar.string, isQuoted: !isPlain), at: place)
  }

  /// Refuses a tag other than the one that the parser gives to what has none.
  private mutating func refuse(_ tag: Tag, but usual: Tag.Name, at place: Place) {
    let name = Tag.Name(rawValue: tag.description)
    guard name != .implicit, name != usual else { return }
    let text = name.rawValue.replacingPrefix("tag:yaml.org,2002:", with: "!!")
    let problem = "the tag `\(text)` is not supported: quote texts, and write numbers plain"
    report(.syntax(problem), at: place)
  }

  private mutating func entries(
    of mapping: Yams.Node.Mapping, level: Int
  ) -> [Schema.Node.Entry]? {
    var own: [Schema.Node.Entry] = []
    var names: Set<String> = []
    var merged: [Schema.Node.Entry] = []
    for (key, value) in mapping {
      let place = place(of: key)
      let name = name(of: key)
      path.append(name ?? "?")
      guard let node = convert(value, level: level + 1) else { return nil }
      path.removeLast()
      guard let name, case .scalar(let scalar) = key else {
        report(.syntax("a key must be a name, not a list or a mapping"), at: place)
        continue
      }
      let isPlain = scalar.style == .plain || scalar.style == .any
      refuse(scalar.tag, but: isPlain ? Self.untagged : .str, at: place)
      if isPlain, name == "<<" {
        merged += mergeable(node)
      } else if isPlain, name.isEmpty {
        report(.syntax("a key is missing before this `:`"), at: place)
      } else if !names.insert(name).inserted {
        report(.duplicateKey(name), at: place, key: name)
      } else {
        own.append(Schema.Node.Entry(key: name, place: place, value: node))
      }
    }
    for entry in merged where names.insert(entry.key).inserted { own.append(entry) }
    return own
  }

  /// A key's text, as it was before `compose` renamed it; nil where it is no scalar.
  private func name(of key: Yams.Node) -> String? {
    guard case .scalar(let scalar) = key else { return nil }
    let position = key.mark.map { SourceText.Position(line: $0.line, column: $0.column) }
    return position.flatMap { originals[$0] } ?? scalar.string
  }

  /// What a merge key brings in: a mapping's entries, or those of a list of mappings.
  private mutating func mergeable(_ node: Schema.Node) -> [Schema.Node.Entry] {
    switch node.content {
    case .mapping(let entries):
      return entries
    case .sequence(let nodes):
      return nodes.flatMap { mergeable($0) }
    case .null, .scalar:
      let problem = Fault.Problem.unexpected(
        found: node.found, expected: "a mapping to merge, such as `<<: *name`")
      report(problem, at: node.place)
      return []
    }
  }
}

extension String {
  func replacingPrefix(_ prefix: String, with other: String) -> String {
    hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
  }
}
