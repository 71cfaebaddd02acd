import DataSets
import Results
import Schema

/// A result as one NPZ archive: `group/variable` for each variable, `group/text` for each text, and
/// `schema.json` with axes, units and meanings.
struct ExportArrays {
  private typealias Variable = (path: String, variable: ResultDocument.Variable, shape: [Int])

  private var variables: [Variable] = []
  private var texts: [(path: String, value: String)] = []
  private var groups: [(path: String, group: ResultDocument.Group)] = []

  /// The arrays of a document.
  init(_ document: ResultDocument) { add(document.root, at: "", above: []) }

  /// How many variables there are.
  var variableCount: Int { variables.count }

  /// The archive.
  ///
  /// Throws: `RunFailure.failed` where an archive without 64-bit fields cannot hold it.
  func bytes(for path: String) throws(RunFailure) -> [UInt8] {
    var members: [(name: String, contents: [UInt8])] = [
      ("schema.json", NPYArray.npyBytes(text: schema))
    ]
    members += texts.map { ($0.path, NPYArray.npyBytes(text: $0.value)) }
    members += variables.map { ($0.path, Self.array($0.variable.values, $0.shape).npyBytes()) }
    let size = members.reduce(0) { $0 + $1.contents.count + 2 * $1.name.utf8.count + 200 }
    guard members.count < 0xffff, size < 0xffff_0000 - 0xffff else {
      throw .failed("\(path): \(size) bytes do not fit into one NPZ archive; choose groups")
    }
    return NPZ.bytes(ofMembers: members)
  }

  private mutating func add(
    _ group: ResultDocument.Group, at prefix: String, above: [ResultDocument.Axis]
  ) {
    let axes = group.axes + above
    groups.append((prefix, group))
    for variable in group.variables {
      let shape = variable.axes.map { name in axes.first { $0.name == name }?.length ?? 0 }
      variables.append((prefix + variable.name, variable, shape))
    }
    for text in group.texts { texts.append((prefix + text.name, text.value)) }
    for child in group.groups { add(child, at: prefix + child.name + "/", above: axes) }
  }

  private static func array(_ values: ResultValues, _ shape: [Int]) -> NPYArray {
    let typed: NPYArray.Values =
      switch values {
      case .double(let x): .float64(x)
      case .float(let x): .float32(x)
      case .int64(let x): .int64(x)
      case .int32(let x): .int32(x)
      case .int8(let x): .int8(x)
      case .uint8(let x): .uint8(x)
      }
    return NPYArray(shape: shape, values: typed)
  }

  /// The description of all that is there, as JSON.
  private var schema: String {
    func entry(_ key: String, _ value: Node) -> Node.Entry { Node.Entry(key: key, value: value) }
    func text(_ value: String) -> Node { Node(.scalar(value, isQuoted: true)) }
    func remarks(_ attributes: [ResultDocument.Attribute]) -> Node {
      Node(.mapping(attributes.map { entry($0.name, $0.value.node) }))
    }
    let groups = groups.map { path, group in
      let axes = group.axes.map { entry($0.name, Node(.scalar("\($0.length)", isQuoted: false))) }
      return entry(
        "/" + path.dropLast(),
        Node(
          .mapping([
            entry("attributes", remarks(group.attributes)), entry("axes", Node(.mapping(axes))),
          ])))
    }
    let variables = variables.map { path, variable, _ in
      entry(
        path,
        Node(
          .mapping([
            entry("axes", Node(.sequence(variable.axes.map(text)))),
            entry("units", text(variable.units)), entry("longName", text(variable.longName)),
            entry("attributes", remarks(variable.attributes)),
          ])))
    }
    return Node(
      .mapping([
        entry("groups", Node(.mapping(groups))), entry("variables", Node(.mapping(variables))),
      ])
    ).prettyJSON
  }
}

extension ResultDocument.AttributeValue {
  /// The value as a tree; numbers that are not finite are texts.
  fileprivate var node: Node {
    switch self {
    case .text(let text): Node(.scalar(text, isQuoted: true))
    case .texts(let texts): Node(.sequence(texts.map { Node(.scalar($0, isQuoted: true)) }))
    case .integer, .unsigned, .number: Node(.scalar(text, isQuoted: false))
    case .array(let values):
      Node(.sequence(values.texts.map { Node(.scalar($0, isQuoted: false)) }))
    }
  }
}
