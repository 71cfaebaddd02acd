/// What a file declares: its types, extensions and their members, read from its tokens.
///
/// It knows braces and words, not the language: what a body holds is passed over, and a property is
/// stored unless braces follow its type that are no `willSet` and no `didSet`.
struct Outline: Sendable {
  /// A type, a protocol or an extension.
  struct TypeDeclaration: Sendable {
    /// `struct`, `class`, `enum`, `actor`, `protocol` or `extension`.
    let kind: String
    /// The name with those of the types around it: `Journal.Record`.
    let name: String
    let line: Int
    /// What is after the colon, without generic arguments.
    let inherits: [String]
    let isPublic: Bool
    let isDocumented: Bool
  }

  /// A member of a type, or a declaration of the file.
  struct Member: Sendable {
    /// The type, as `TypeDeclaration.name`; empty for declarations of the file.
    let owner: String
    /// The kind of its declaration.
    let ownerKind: String
    /// `func`, `init`, `subscript`, `var`, `let`, `case`, `typealias`, `associatedtype`, `deinit`.
    let kind: String
    let name: String
    /// The labels of a function's or an initialiser's parameters: `(_:to:)`; else empty.
    let labels: String
    let line: Int
    let isStored: Bool
    let modifiers: Set<String>
    let isDocumented: Bool

    var isPublic: Bool { modifiers.contains("public") || modifiers.contains("open") }
    var fullName: String { name + labels }
  }

  private(set) var types: [TypeDeclaration] = []
  private(set) var members: [Member] = []
  /// The properties that a `Field` names, by the type in whose declaration it is.
  private(set) var fields: [(owner: String, name: String)] = []

  private struct Scope {
    /// The type whose members are here; nil in a body.
    var type: TypeDeclaration?
    var parentheses = 0
  }

  private static let typeWords = ["struct", "class", "enum", "actor", "protocol", "extension"]
  private static let memberWords = [
    "func", "init", "subscript", "var", "let", "case", "typealias", "associatedtype", "deinit",
  ]
  private static let modifierWords: Set<String> = [
    "public", "package", "internal", "private", "fileprivate", "open", "static", "class", "final",
    "mutating", "nonmutating", "override", "lazy", "weak", "unowned", "indirect", "consuming",
    "borrowing", "convenience", "required", "dynamic", "nonisolated", "prefix", "postfix", "infix",
    "set",
  ]

  private let tokens: [Token]
  private let lines: [Substring]

  init(_ source: Source) {
    tokens = source.isSwift ? source.tokens : []
    lines = source.text.split(separator: "\n", omittingEmptySubsequences: false)
    var scopes = [Scope()]
    var pending: TypeDeclaration?
    for index in tokens.indices {
      let text = tokens[index].text
      switch text {
      case "(", "[": scopes[scopes.count - 1].parentheses += 1
      case ")", "]": scopes[scopes.count - 1].parentheses -= 1
      case "{":
        scopes.append(Scope(type: pending))
        pending = nil
      case "}":
        if scopes.count > 1 { scopes.removeLast() }
      case "Field":
        let owner = scopes.last { $0.type != nil }?.type?.name
        if let owner, let name = fieldName(index) { fields.append((owner, name)) }
      default:
        let isTop = scopes.count == 1
        guard let scope = scopes.last, scope.parentheses == 0, isTop || scope.type != nil,
          !(index > 0 && tokens[index - 1].text == ".")
        else { continue }
        if let found = typeDeclaration(index, in: scope.type) {
          types.append(found)
          pending = found
        } else {
          members += memberDeclarations(index, in: scope.type)
        }
      }
    }
  }

  private func text(_ index: Int) -> String {
    tokens.indices.contains(index) ? tokens[index].text : ""
  }

  // MARK: Types

  private func typeDeclaration(_ index: Int, in outer: TypeDeclaration?) -> TypeDeclaration? {
    let kind = text(index)
    guard Self.typeWords.contains(kind), index + 1 < tokens.count, tokens[index + 1].isName,
      !Self.memberWords.contains(text(index + 1)), !Self.modifierWords.contains(text(index + 1))
    else { return nil }
    var name = text(index + 1)
    var next = index + 2
    while text(next) == ".", next + 1 < tokens.count, tokens[next + 1].isName {
      name += "." + text(next + 1)
      next += 2
    }
    let (modifiers, first) = modifiers(before: index)
    let isNested = kind != "extension" && outer != nil
    return TypeDeclaration(
      kind: kind, name: isNested ? outer!.name + "." + name : name, line: tokens[index].line,
      inherits: inherited(from: next),
      isPublic: modifiers.contains("public") || modifiers.contains("open"),
      isDocumented: isDocumented(first))
  }

  /// The names behind the colon of a declaration that begins before `start`.
  private func inherited(from start: Int) -> [String] {
    var names: [String] = []
    var (angles, isBehindColon, continues) = (0, false, false)
    for index in start..<tokens.count {
      let word = text(index)
      if word == "{" || (word == "where" && angles == 0) { break }
      if word == "<" { angles += 1 }
      if word == ">", text(index - 1) != "-" { angles -= 1 }
      guard angles == 0 else { continue }
      if word == ":" { isBehindColon = true }
      if word == "." { continues = true }
      guard isBehindColon, tokens[index].isName else { continue }
      if continues, let last = names.popLast() {
        names.append(last + "." + word)
      } else {
        names.append(word)
      }
      continues = false
    }
    return names
  }

  // MARK: Members

  private func memberDeclarations(_ index: Int, in type: TypeDeclaration?) -> [Member] {
    let kind = text(index)
    guard Self.memberWords.contains(kind) else { return [] }
    if kind == "case", type?.kind != "enum" { return [] }
    if kind == "init", !["(", "?", "!", "<"].contains(text(index + 1)) { return [] }
    let (modifiers, first) = modifiers(before: index)
    let isDocumented = isDocumented(first)
    func member(_ name: String, isStored: Bool = false) -> Member {
      Member(
        owner: type?.name ?? "", ownerKind: type?.kind ?? "", kind: kind, name: name,
        labels: ["func", "init"].contains(kind) ? labels(index) : "",
        line: tokens[index].line, isStored: isStored && !modifiers.contains("static"),
        modifiers: modifiers, isDocumented: isDocumented)
    }
    switch kind {
    case "func":
      var name = ""
      var next = index + 1
      while next < tokens.count, !["(", "<"].contains(text(next)) || name.isEmpty {
        name += text(next)
        next += 1
        if tokens[next - 1].isName { break }
      }
      return [member(name)]
    case "var", "let": return properties(index).map { member($0.name, isStored: $0.isStored) }
    case "case": return caseNames(index).map { member($0) }
    case "typealias", "associatedtype": return [member(text(index + 1))]
    default: return [member(kind)]
    }
  }

  /// The labels of the parameters of a declaration that begins here.
  private func labels(_ index: Int) -> String {
    guard let open = (index + 1..<tokens.count).first(where: { text($0) == "(" }) else {
      return ""
    }
    // The parameters of an operator have no labels.
    let isOperator = text(index) == "func" && !tokens[index + 1].isName
    var (labels, depth) = ("(", 0)
    for next in open..<tokens.count {
      let word = text(next)
      if ["(", "[", "<", "{"].contains(word) { depth += 1 }
      if [")", "]", "}"].contains(word) || (word == ">" && text(next - 1) != "-") { depth -= 1 }
      if depth == 0 { break }
      let begins = (word == "(" && next == open) || word == ","
      guard depth == 1, begins, text(next + 1) != ")" else { continue }
      labels += (isOperator ? "_" : text(next + 1)) + ":"
    }
    return labels + ")"
  }

  /// The properties of one `var` or `let`.
  private func properties(_ index: Int) -> [(name: String, isStored: Bool)] {
    var found: [(name: String, isStored: Bool)] = []
    var (depth, angles, isName) = (0, 0, true)
    for next in (index + 1)..<tokens.count {
      let word = text(next)
      if ["(", "["].contains(word) { depth += 1 }
      if [")", "]"].contains(word) { depth -= 1 }
      if word == "<" { angles += 1 }
      if word == ">", text(next - 1) != "-" { angles -= 1 }
      if depth < 0 || (depth == 0 && (word == "}" || word == "=" || word == ";")) { break }
      guard depth == 0, angles == 0 else { continue }
      if word == "{" {
        if !["willSet", "didSet"].contains(text(next + 1)) {
          return found.map { ($0.name, false) }
        }
        break
      }
      if word == "," {
        isName = true
      } else if isName {
        found.append((word, true))
        isName = false
      } else if word == "@" || Self.memberWords.contains(word) || Self.typeWords.contains(word)
        || (Self.modifierWords.contains(word) && tokens[next].line > tokens[next - 1].line)
      {
        break
      }
    }
    return found
  }

  private func caseNames(_ index: Int) -> [String] {
    var names: [String] = []
    var (depth, isName) = (0, true)
    for next in (index + 1)..<tokens.count {
      let word = text(next)
      if ["(", "["].contains(word) { depth += 1 }
      if [")", "]"].contains(word) { depth -= 1 }
      guard depth == 0 else { continue }
      if isName, tokens[next].isName {
        names.append(word)
        isName = false
      } else if word == "," {
        isName = true
      } else if word == "}" || tokens[next].line > tokens[next - 1].line {
        break
      }
    }
    return names
  }

  // MARK: What is before and around

  /// The modifiers of a declaration, and its first token, attributes included.
  private func modifiers(before index: Int) -> (Set<String>, first: Int) {
    var found: Set<String> = []
    var first = index
    while first > 0 {
      var before = first - 1
      if text(before) == ")" {
        var depth = 0
        repeat {
          if text(before) == ")" { depth += 1 }
          if text(before) == "(" { depth -= 1 }
          before -= 1
        } while before >= 0 && depth > 0
        guard before >= 0 else { break }
        let isAttribute = before > 0 && text(before - 1) == "@"
        guard isAttribute || Self.modifierWords.contains(text(before)) else { break }
      }
      if before > 0, text(before - 1) == "@" {
        first = before - 1
      } else if Self.modifierWords.contains(text(before)), text(before - 1) != "." {
        // `private(set)` says nothing of who may read.
        if text(before + 1) != "(" || before + 1 == index { found.insert(text(before)) }
        first = before
      } else {
        break
      }
    }
    return (found, first)
  }

  /// Whether a doc comment is above a token.
  private func isDocumented(_ index: Int) -> Bool {
    let above = tokens[index].line - 2
    guard lines.indices.contains(above) else { return false }
    let line = lines[above].drop { $0 == " " }
    return line.hasPrefix("///") || line.hasSuffix("*/")
  }

  /// The property that a `Field` at this token names: `Field("key", \.property, …`.
  private func fieldName(_ index: Int) -> String? {
    guard text(index + 1) == "(" else { return nil }
    var next = index + 2
    // The key is a string, of which only the quotation marks are left.
    while text(next) == "\"" { next += 1 }
    if text(next) == "," { next += 1 }
    guard text(next) == "\\", text(next + 1) == "." else { return nil }
    return text(next + 3) == "." ? nil : text(next + 2)
  }
}
