/// A place in a text that a person wrote.
public struct Place: Hashable, Sendable {
  /// The file's name as the user gave it, or the argument (`--set`).
  public var file: String
  /// Line, from 1; 0 where the text has no lines.
  public var line: Int
  /// Column, from 1; 0 where there is none.
  public var column: Int

  /// A place.
  public init(file: String, line: Int = 0, column: Int = 0) {
    self.file = file
    self.line = line
    self.column = column
  }

  /// The place of what no person wrote, such as a default.
  public static let none = Place(file: "")
}

/// A value in a tree of settings, with the place it was read from.
public struct Node: Sendable {
  /// What a node holds.
  public enum Content: Sendable {
    /// Nothing was written.
    case null
    /// A scalar's text; a quoted one is never a number.
    case scalar(String, isQuoted: Bool)
    /// Values in order.
    case sequence([Node])
    /// Keys with values, in the order written; the writer of the tree keeps keys unique.
    case mapping([Entry])
  }

  /// One key of a mapping with its value.
  public struct Entry: Sendable {
    /// The key's text.
    public var key: String
    /// Where the key is.
    public var place: Place
    /// The value.
    public var value: Node

    /// An entry.
    public init(key: String, place: Place = .none, value: Node) {
      self.key = key
      self.place = place
      self.value = value
    }
  }

  /// What the node holds.
  public var content: Content
  /// Where in the source the node begins.
  public var place: Place

  /// A node.
  public init(_ content: Content, at place: Place = .none) {
    self.content = content
    self.place = place
  }

  /// A plain scalar without a place.
  public static func text(_ text: String) -> Node { Node(.scalar(text, isQuoted: false)) }

  /// A quoted scalar without a place.
  public static func quoted(_ text: String) -> Node { Node(.scalar(text, isQuoted: true)) }

  /// A mapping without places.
  public static func mapping(_ entries: [(String, Node)]) -> Node {
    Node(.mapping(entries.map { Entry(key: $0.0, value: $0.1) }))
  }

  /// What a message calls this node: `a list`, `the number 3`, `the text "x"`.
  public var found: String {
    switch content {
    case .null: return "nothing"
    case .scalar(let text, let isQuoted):
      // A file of another kind may be one long text.
      let isLong = text.count > 200
      let start = text.prefix(80).map { $0.isNewline ? " " : $0 }
      let shown = isLong ? String(start) + "…" : text
      return isQuoted ? "the text \"\(shown)\"" : "`\(shown)`"
    case .sequence(let nodes): return nodes.isEmpty ? "an empty list" : "a list"
    case .mapping(let entries): return entries.isEmpty ? "an empty mapping" : "a mapping"
    }
  }

  /// What to say where a mapping was expected: nothing, or that `key:value` lacks a blank.
  public var hintOfBlank: String {
    guard case .scalar(let text, isQuoted: false) = content, let colon = text.firstIndex(of: ":"),
      colon != text.startIndex, text.index(after: colon) != text.endIndex,
      text[..<colon].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" })
    else { return "" }
    return "; a blank belongs behind the `:`"
  }

  /// The value of a key, where the node is a mapping that has it.
  public subscript(key: String) -> Node? {
    guard case .mapping(let entries) = content else { return nil }
    return entries.first { $0.key == key }?.value
  }
}
