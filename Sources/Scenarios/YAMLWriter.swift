import Schema

extension Node {
  /// The tree as YAML that reads back to the same tree.
  ///
  /// Mappings and lists of lists are written a line per entry, lists of scalars in brackets. Quoted
  /// scalars stay quoted, and plain ones that would read as something else become so.
  public var yaml: String { YAMLLines(showsOrigins: false).text(self) }

  /// The same with the file behind each value that has one as its place.
  var yamlWithOrigins: String { YAMLLines(showsOrigins: true).text(self) }
}

/// The lines of a YAML text.
struct YAMLLines {
  private static let width = 88

  /// Whether a value out of a file has the file's name behind it.
  let showsOrigins: Bool

  func text(_ node: Node) -> String {
    var lines: [String] = []
    switch node.content {
    case .mapping(let entries) where !entries.isEmpty: write(entries, indent: 0, to: &lines)
    case .sequence(let nodes) where !nodes.isEmpty && Self.inline(node) == nil:
      write(nodes, indent: 0, to: &lines)
    default: lines.append(Self.inline(node) ?? "")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func write(_ entries: [Node.Entry], indent: Int, to lines: inout [String]) {
    let margin = String(repeating: " ", count: indent)
    for entry in entries {
      let key = margin + Self.scalar(entry.key, isQuoted: false, isKey: true) + ":"
      if let text = Self.inline(entry.value),
        key.count + text.count < Self.width || Self.isScalar(entry.value)
      {
        lines.append(key + " " + text + origin(of: entry.value))
        continue
      }
      lines.append(key)
      write(entry.value, indent: indent + 2, to: &lines)
    }
  }

  /// The file that a value is from, as a comment.
  private func origin(of node: Node) -> String {
    showsOrigins && !node.place.file.isEmpty
      ? "  # from \(node.place.file.filter { !$0.isNewline })" : ""
  }

  private func write(_ nodes: [Node], indent: Int, to lines: inout [String]) {
    let margin = String(repeating: " ", count: indent)
    for node in nodes {
      if let text = Self.inline(node),
        indent + 2 + text.count < Self.width || Self.isScalar(node)
      {
        lines.append(margin + "- " + text)
        continue
      }
      let first = lines.count
      write(node, indent: indent + 2, to: &lines)
      let line = lines[first].dropFirst(indent + 2)
      lines[first] = margin + "- " + line
    }
  }

  private func write(_ node: Node, indent: Int, to lines: inout [String]) {
    switch node.content {
    case .mapping(let entries): write(entries, indent: indent, to: &lines)
    case .sequence(let nodes): write(nodes, indent: indent, to: &lines)
    case .null, .scalar: preconditionFailure("scalars are written in the line of their key")
    }
  }

  /// The text of a node that needs no separate lines.
  static func inline(_ node: Node) -> String? {
    switch node.content {
    case .null:
      return "null"
    case .scalar(let text, let isQuoted):
      return scalar(text, isQuoted: isQuoted, isKey: false)
    case .sequence(let nodes):
      guard nodes.allSatisfy(isScalar) else { return nil }
      return "[" + nodes.compactMap(inline).joined(separator: ", ") + "]"
    case .mapping(let entries):
      return entries.isEmpty ? "{}" : nil
    }
  }

  private static func isScalar(_ node: Node) -> Bool {
    switch node.content {
    case .null, .scalar: true
    case .sequence, .mapping: false
    }
  }

  static func scalar(_ text: String, isQuoted: Bool, isKey: Bool) -> String {
    let isPlain = !isQuoted && canBePlain(text) && !(isKey && text == "<<")
    return isPlain ? text : quoted(text)
  }

  /// Whether a text reads back as itself without quotes, in lists in brackets too.
  ///
  /// Source: YAML 1.2.2, §7.3.3; this allows less.
  private static func canBePlain(_ text: String) -> Bool {
    let scalars = Array(text.unicodeScalars)
    guard let first = scalars.first, let last = scalars.last, text != "~", text != "null" else {
      return false
    }
    let isNumber = Text.number(text) != nil
    guard
      first.properties.isAlphabetic || isNumber || ("0"..."9").contains(first)
        || "./_+(".unicodeScalars.contains(first)
    else { return false }
    guard last != ":", last != " " else { return false }
    for (i, scalar) in scalars.enumerated() {
      switch scalar {
      case ":", " ":
        if i + 1 < scalars.count, scalars[i + 1] == " " || scalars[i + 1] == "#" { return false }
      case "[", "]", "{", "}", ",", "\"", "'", "`", "|", ">", "%", "@", "&", "*", "!", "?":
        return false
      default:
        if scalar.value < 0x20 || scalar.value >= 0x7F { return false }
      }
    }
    return true
  }

  /// Source: YAML 1.2.2, §5.7.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        let value = scalar.value
        let isSafe =
          (0x20...0x7E).contains(value) || (0xA1...0x2027).contains(value)
          || (0x202A...0xD7FF).contains(value) || (0xF900...0xFDCF).contains(value)
          || (0x1_F000...0x1_FAFF).contains(value)
        if isSafe {
          result.unicodeScalars.append(scalar)
        } else {
          let digits = String(value, radix: 16)
          result += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }
      }
    }
    return result + "\""
  }
}
