extension Node {
  /// One line of JSON, keys in the order of the tree.
  ///
  /// A plain scalar that is a number or a flag becomes one in its shortest form; every other scalar
  /// becomes a string. Two trees of one schema have equal texts exactly if they have equal values.
  public var json: String {
    var text = ""
    writeJSON(to: &text, indent: nil)
    return text
  }

  /// The same over several lines, each level indented by two spaces.
  public var prettyJSON: String {
    var text = ""
    writeJSON(to: &text, indent: 0)
    return text
  }

  /// Whether two trees hold the same, wherever they are.
  public func hasSameContent(as other: Node) -> Bool {
    switch (content, other.content) {
    case (.null, .null):
      return true
    case (.scalar(let a, let isQuoted), .scalar(let b, let isOtherQuoted)):
      return a == b && isQuoted == isOtherQuoted
    case (.sequence(let a), .sequence(let b)):
      return a.count == b.count && zip(a, b).allSatisfy { $0.hasSameContent(as: $1) }
    case (.mapping(let a), .mapping(let b)):
      return a.count == b.count
        && zip(a, b).allSatisfy { $0.key == $1.key && $0.value.hasSameContent(as: $1.value) }
    default:
      return false
    }
  }

  private func writeJSON(to text: inout String, indent: Int?) {
    switch content {
    case .null:
      text += "null"
    case .scalar(let value, let isQuoted):
      text += isQuoted ? Text.jsonString(value) : Text.jsonScalar(value)
    case .sequence(let nodes):
      Self.writeList(nodes, in: ("[", "]"), to: &text, indent: indent) { node, text, indent in
        node.writeJSON(to: &text, indent: indent)
      }
    case .mapping(let entries):
      Self.writeList(entries, in: ("{", "}"), to: &text, indent: indent) { entry, text, indent in
        text += Text.jsonString(entry.key) + (indent == nil ? ":" : ": ")
        entry.value.writeJSON(to: &text, indent: indent)
      }
    }
  }

  private static func writeList<Element>(
    _ elements: [Element], in brackets: (String, String), to text: inout String, indent: Int?,
    _ write: (Element, inout String, Int?) -> Void
  ) {
    text += brackets.0
    for (i, element) in elements.enumerated() {
      if i > 0 { text += "," }
      if let indent { text += "\n" + String(repeating: "  ", count: indent + 1) }
      write(element, &text, indent.map { $0 + 1 })
    }
    if let indent, !elements.isEmpty { text += "\n" + String(repeating: "  ", count: indent) }
    text += brackets.1
  }
}

extension Text {
  /// A plain scalar as JSON: a number or a flag where it is one, else a string.
  static func jsonScalar(_ text: String) -> String {
    if text == "true" || text == "false" { return text }
    if isInteger(text) {
      let digits = text.drop { $0 == "+" || $0 == "-" }
      return (text.first == "-" && digits != "0" ? "-" : "") + digits
    }
    return number(text).map(shortest) ?? jsonString(text)
  }

  /// A string as JSON; only quotes, backslashes and control characters are escaped.
  ///
  /// Source: RFC 8259, §7.
  public static func jsonString(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7F {
          let digits = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
