import Schema

/// One `path=value` from a command line: `server.trigger.threshold=5`, `fleet[0].count=10`,
/// `fleet.phones.count=10`.
///
/// The value is YAML. It is laid over what is at the path, as an overriding file would be; a
/// path may go below a bare value, since that represents a mapping.
struct Override {
  private enum Step {
    case key(String, column: Int)
    case index(Int, column: Int)

    var text: String {
      switch self {
      case .key(let key, _): key
      case .index(let index, _): "[\(index)]"
      }
    }
  }

  /// Where a column of the path is.
  private let locate: (Int) -> Place
  private let steps: [Step]
  private let value: Node

  /// Parses an argument.
  ///
  /// Throws: what is wrong with the path or the value, placed by the column in the argument.
  init(_ argument: String) throws(Faults) {
    let label = "--set \(argument)"
    locate = { Place(file: label, column: $0) }
    let scalars = Array(argument.unicodeScalars)
    guard let equals = scalars.firstIndex(of: "="), equals > 0 else {
      throw Faults([
        Fault(at: locate(1), .syntax("expected `path=value`, such as `server.policy=fedavg`"))
      ])
    }
    steps = try Self.steps(Array(scalars[..<equals]), locate)
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars[(equals + 1)...])
    do throws(Faults) {
      value = try YAMLReader.read(String(text).utf8) { line, column in
        Place(file: label, column: line == 1 ? equals + 1 + column : scalars.count + 1)
      }
    } catch {
      let path = steps.map(\.text)
      throw Faults(
        error.faults.map { fault in
          Fault(
            at: fault.place, path: (path + (fault.path.isEmpty ? [] : [fault.path])).dotted,
            fault.problem)
        })
    }
  }

  /// A path that is at a place of a file, and a value that was read elsewhere.
  ///
  /// Throws: what is wrong with the path.
  init(path: String, at place: Place, value: Node) throws(Faults) {
    locate = { Place(file: place.file, line: place.line, column: place.column + $0 - 1) }
    steps = try Self.steps(Array(path.unicodeScalars), locate)
    self.value = value
    guard !steps.isEmpty else {
      throw Faults([Fault(at: place, .syntax("expected the path of a key"))])
    }
  }

  /// The path with names of list entries as indices, where the tree has such entries: equal for
  /// paths that lead to one place.
  func canonicalPath(in node: Node) -> [String] {
    var node: Node? = node
    return steps.map { step in
      var text = step.text
      if case .sequence(let nodes)? = node?.content {
        if case .key(let key, _) = step,
          let index = nodes.firstIndex(where: {
            if case .scalar(let name, _)? = $0["name"]?.content { return name == key }
            return false
          })
        {
          text = "[\(index)]"
        }
        node = Int(text.dropFirst().dropLast()).flatMap {
          nodes.indices.contains($0) ? nodes[$0] : nil
        }
      } else {
        node = node?[text]
      }
      return text
    }
  }

  /// The tree with this override laid over it.
  ///
  /// Throws: a fault where the path leads to no entry of a list.
  func laid(over node: Node, shape: Shape?, _ catalog: Catalog) throws(Faults) -> Node {
    try set(steps[...], in: node, shape: shape, Merge(catalog: catalog), path: [])
  }

  // MARK: Paths

  private static func steps(
    _ scalars: [Unicode.Scalar], _ locate: (Int) -> Place
  ) throws(Faults) -> [Step] {
    var steps: [Step] = []
    var i = 0
    while i < scalars.count {
      if scalars[i] == "[" {
        let close = scalars[i...].firstIndex(of: "]") ?? scalars.count
        let digits = String(String.UnicodeScalarView(scalars[(i + 1)..<close]))
        guard close < scalars.count, !steps.isEmpty, Text.isInteger(digits),
          let index = Int(digits), index >= 0
        else {
          throw Faults([Fault(at: locate(i + 1), .syntax("expected an index, such as `[0]`"))])
        }
        steps.append(.index(index, column: i + 1))
        i = close + 1
      } else {
        let end = scalars[i...].firstIndex { $0 == "." || $0 == "[" } ?? scalars.count
        guard end > i else {
          throw Faults([Fault(at: locate(i + 1), .syntax("expected a key here"))])
        }
        steps.append(
          .key(String(String.UnicodeScalarView(scalars[i..<end])), column: i + 1))
        i = end
      }
      if i < scalars.count, scalars[i] == "." {
        i += 1
        guard i < scalars.count, scalars[i] != "[" else {
          throw Faults([Fault(at: locate(i), .syntax("expected a key after this `.`"))])
        }
      } else if i < scalars.count, scalars[i] != "[" {
        throw Faults([Fault(at: locate(i + 1), .syntax("expected `.` or `[` here"))])
      }
    }
    return steps
  }

  // MARK: Setting

  private func set(
    _ steps: ArraySlice<Step>, in node: Node, shape: Shape?, _ merge: Merge, path: [String]
  ) throws(Faults) -> Node {
    guard let step = steps.first else { return merge.lay(value, over: node, shape: shape) }
    switch step {
    case .index(let index, let column):
      return try set(steps, at: index, column, in: node, shape: shape, merge, path: path)
    case .key(let key, let column):
      if case .sequence(let nodes) = node.content, !hasShorthand(shape) {
        let names = nodes.map { name(of: $0, shape, merge) }
        guard let index = names.firstIndex(of: key) else {
          let known = names.compactMap { $0 }
          let nearest = Spelling.nearest(to: key, among: known)
          let end = nearest.map { "did you mean `\($0)`?" } ?? "use an index, such as `[0]`"
          let problem = "no entry of this list has the name `\(key)`; \(end)"
          throw Faults([
            Fault(at: locate(column), path: path.dotted, .contradiction(problem))
          ])
        }
        return try set(steps, at: index, column, in: node, shape: shape, merge, path: path)
      }
      return try set(
        steps.dropFirst(), key: key, column, in: node, shape: shape, merge, path: path)
    }
  }

  private func set(
    _ steps: ArraySlice<Step>, at index: Int, _ column: Int, in node: Node, shape: Shape?,
    _ merge: Merge, path: [String]
  ) throws(Faults) -> Node {
    guard case .sequence(var nodes) = node.content, nodes.indices.contains(index) else {
      var found = node.found
      if case .sequence(let nodes) = node.content { found = "a list of \(nodes.count)" }
      let problem = Fault.Problem.unexpected(
        found: found, expected: "a list with an entry [\(index)]")
      throw Faults([Fault(at: locate(column), path: path.dotted, problem)])
    }
    var element: Shape?
    switch shape {
    case .list(let shape): element = shape
    case .part(let seam, several: true): element = .part(seam: seam, several: false)
    default: break
    }
    var rest = steps.dropFirst()
    if case .part = element, case .key = steps.first { rest = steps }
    nodes[index] = try set(
      rest, in: nodes[index], shape: element, merge, path: path + ["[\(index)]"])
    return Node(.sequence(nodes), at: node.place)
  }

  private func set(
    _ steps: ArraySlice<Step>, key: String, _ column: Int, in node: Node, shape: Shape?,
    _ merge: Merge, path: [String]
  ) throws(Faults) -> Node {
    let place = locate(column)
    var inner: Shape?
    var whole = node
    switch shape {
    case .mapping(let fields, let shorthand):
      inner = fields().first { $0.key == key }?.shape
      whole = merge.expanded(node, shorthand)
    case .part(let seam, let several):
      inner = merge.settings(of: key, seam)
      if let choice = merge.choice(node), choice.key == key {
        whole = Node(.mapping([choice]), at: node.place)
      } else if !several {
        whole = Node(.null)
      }
    default:
      break
    }
    var entries: [Node.Entry] = []
    if case .mapping(let present) = whole.content { entries = present }
    let present = entries.firstIndex { $0.key == key }
    let below = present.map { entries[$0].value } ?? Node(.null, at: place)
    let value = try set(steps, in: below, shape: inner, merge, path: path + [key])
    let entry = Node.Entry(key: key, place: place, value: value)
    if let present { entries[present] = entry } else { entries.append(entry) }
    return Node(.mapping(entries), at: whole.place == .none ? place : whole.place)
  }

  /// The name by which an entry of a list goes: its `name`, or the part that it is.
  private func name(of node: Node, _ shape: Shape?, _ merge: Merge) -> String? {
    if case .part = shape { return merge.choice(node)?.key }
    if case .scalar(let name, _) = node["name"]?.content { return name }
    return nil
  }

  private func hasShorthand(_ shape: Shape?) -> Bool {
    if case .mapping(_, let shorthand?) = shape { return !shorthand.isEmpty }
    return false
  }
}
