import Schema

extension Node {
  /// The tree as YAML in at most this many lines: in lines of 80 characters if it fits, else in
  /// longer ones. The tree is a mapping.
  public func compactYAML(mostLines: Int) -> [String] {
    for width in [80, 100, 120, 160, 240, 400, 800] {
      let lines = compactLines(width: width)
      if lines.count <= mostLines { return lines }
    }
    return [flow]
  }

  /// Lines of at most `width` characters where that can be, each as full as it can be.
  private func compactLines(width: Int) -> [String] {
    var lines: [String] = []
    write(indent: 0, width: width, to: &lines)
    return lines
  }

  private func write(indent: Int, width: Int, to lines: inout [String]) {
    let margin = String(repeating: " ", count: indent)
    switch content {
    case .mapping(let entries) where !entries.isEmpty:
      for entry in entries {
        let key = margin + YAMLLines.scalar(entry.key, isQuoted: false, isKey: true) + ":"
        let text = entry.value.flow
        if key.count + 1 + text.count <= width || !entry.value.hasParts {
          lines.append(key + " " + text)
        } else {
          lines.append(key)
          entry.value.write(indent: indent + 2, width: width, to: &lines)
        }
      }
    case .sequence(let nodes) where !nodes.isEmpty:
      for node in nodes {
        let text = node.flow
        if indent + 2 + text.count <= width || !node.hasParts {
          lines.append(margin + "- " + text)
        } else {
          let first = lines.count
          node.write(indent: indent + 2, width: width, to: &lines)
          lines[first] = margin + "- " + lines[first].dropFirst(indent + 2)
        }
      }
    default:
      lines.append(margin + flow)
    }
  }

  private var hasParts: Bool {
    switch content {
    case .mapping(let entries): !entries.isEmpty
    case .sequence(let nodes): !nodes.isEmpty
    case .null, .scalar: false
    }
  }

  /// The tree on one line.
  private var flow: String {
    switch content {
    case .null: "null"
    case .scalar(let text, let isQuoted):
      YAMLLines.scalar(text, isQuoted: isQuoted, isKey: false)
    case .sequence(let nodes): "[" + nodes.map(\.flow).joined(separator: ", ") + "]"
    case .mapping(let entries):
      "{"
        + entries.map {
          YAMLLines.scalar($0.key, isQuoted: false, isKey: true) + ": " + $0.value.flow
        }.joined(separator: ", ") + "}"
    }
  }
}
