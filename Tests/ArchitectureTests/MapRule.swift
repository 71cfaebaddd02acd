/// The page that says where everything of the engine is.
private let mapPath = "Sources/FedSim/README.md"
private let engine = "Sources/FedSim/"
private let rowsHeading = "To change X, open Y"
private let foldersHeading = "Folders"

/// The types of a tree, and the members that they declare.
struct Declarations {
  private(set) var types: Set<String> = []
  /// Each with its type: `Session.proceed`.
  private(set) var members: Set<String> = []

  private static let typeWords = ["struct", "enum", "class", "protocol", "actor", "extension"]

  init(in sources: [Source]) {
    for source in sources where source.isSwift && source.target != nil { read(source.tokens) }
  }

  /// Declarations in the body of a type count; what functions declare does not.
  private mutating func read(_ tokens: [Token]) {
    var bodies: [(type: String, depth: Int)] = []
    var opening: String?
    var depth = 0
    for (index, token) in tokens.enumerated() {
      let isFree = index == 0 || tokens[index - 1].text != "."
      switch token.text {
      case "{":
        depth += 1
        if let type = opening { bodies.append((type, depth)) }
        opening = nil
      case "}":
        if bodies.last?.depth == depth { bodies.removeLast() }
        depth -= 1
      case _ where !isFree || index + 1 == tokens.count: break
      case "func", "var", "let", "typealias":
        guard tokens[index + 1].isName else { break }
        let name = tokens[index + 1].text
        if token.text == "typealias" { types.insert(name) }
        if let body = bodies.last, body.depth == depth { members.insert("\(body.type).\(name)") }
      case "case":
        guard let body = bodies.last, body.depth == depth else { break }
        for name in Self.cases(tokens, from: index + 1) { members.insert("\(body.type).\(name)") }
      case let word where Self.typeWords.contains(word) && tokens[index + 1].isCapitalised:
        var last = index + 1
        while last + 2 < tokens.count, tokens[last + 1].text == ".",
          tokens[last + 2].isCapitalised
        { last += 2 }
        let name = tokens[last].text
        opening = name
        if word != "extension" { types.insert(name) }
        if let body = bodies.last, body.depth == depth { members.insert("\(body.type).\(name)") }
      default: break
      }
    }
  }

  /// The names of a `case`, which may have values and commas between them.
  private static func cases(_ tokens: [Token], from start: Int) -> [String] {
    var names: [String] = []
    var depth = 0
    var isExpected = true
    for token in tokens[start...] {
      if depth == 0, isExpected {
        guard token.isName else { break }
        names.append(token.text)
        isExpected = false
        continue
      }
      switch token.text {
      case "(": depth += 1
      case ")": depth -= 1
      case "," where depth == 0: isExpected = true
      case "=": break
      default: if depth == 0, token.isName || "{}@".contains(token.text) { return names }
      }
    }
    return names
  }
}

/// A page in Markdown as these rules read it.
struct Page {
  private let source: Source

  init(_ source: Source) { self.source = source }

  /// The words between backquotes, outside of fenced blocks.
  var spans: [Token] {
    var isFenced = false
    var spans: [Token] = []
    for (place, line) in source.lines.enumerated() {
      if line.hasPrefix("```") {
        isFenced.toggle()
      } else if !isFenced {
        spans += Self.spans(in: line).map { Token(text: $0, line: place + 1) }
      }
    }
    return spans
  }

  static func spans(in line: some StringProtocol) -> [String] {
    let parts = line.split(separator: "`", omittingEmptySubsequences: false)
    return parts.indices.filter { $0 % 2 == 1 && $0 + 1 < parts.count }.map { String(parts[$0]) }
  }

  /// Names with the file that a line finds them in: `A` and `B` in `C.swift`, `A` (`C.swift`).
  static func places(in line: some StringProtocol) -> [(name: String, path: String)] {
    let parts = String(line).split(separator: "`", omittingEmptySubsequences: false).map { part in
      String(part)
    }
    var names: [String] = []
    var places: [(name: String, path: String)] = []
    for index in parts.indices where index % 2 == 1 {
      if ![", ", " and ", " in ", " ("].contains(parts[index - 1]) { names = [] }
      if parts[index].hasSuffix(".swift") {
        places += names.map { ($0, parts[index]) }
        names = []
      } else {
        names.append(parts[index])
      }
    }
    return places
  }

  /// The rows of the tables below a heading, each as its cells.
  func rows(below heading: String) -> [[String]] {
    var isBelow = false
    var rows: [[String]] = []
    for line in source.lines {
      if line.hasPrefix("## ") { isBelow = line.dropFirst(3) == heading }
      guard isBelow, line.hasPrefix("|") else { continue }
      rows.append(line.split(separator: "|").map(String.init))
    }
    return Array(rows.dropFirst(2))
  }
}

extension Rule {
  private static func map(_ text: String) -> Source { Source(path: mapPath, text: text) }

  private static func rows(_ count: Int) -> String {
    "## \(rowsHeading)\n\n| to change | open |\n|---|---|\n"
      + String(repeating: "| a | b |\n", count: count) + "\n## \(foldersHeading)\n"
  }

  private static let session = Source(
    path: "Sources/FedSim/Device/Session+Steps.swift",
    text: """
      struct Session {
        enum Stage { case check(Int), train }
        static func proceed() { func inner() {} }
      }
      extension Session.Stage { var next: Int { 1 } }

      """)

  static let mapNames = Rule(
    "The map and the pages of design name what exists",
    planted: [
      [session, map("`Device/Sessions.swift`\n")],
      [session, map("`Gone/`\n")],
      [session, map("`docs/gone.md`\n")],
      [session, map("`Session.goOn` proceeds\n")],
      [session, map("`Session.inner`\n")],
      [session, map("`Stage.upload`\n")],
      [session, map("`Exchange`\n")],
      [session, Source(path: "docs/design/device.md", text: "As `Exchange` has it.\n")],
      [session, Source(path: "docs/design/device.md", text: "As `Session.run(_:)` has it.\n")],
    ],
    allowed: [
      [
        session,
        map(
          """
          `Device/Session+Steps.swift`, `Device/`, `Sources/FedSim/Device/Session+Steps.swift`
          `Session.proceed`, `Session.proceed()`, `Session`, `Session.Stage`, `Stage.train`
          `Stage.check`, `Stage.next`, `inout`, `Draws:`, `FedSim`
          ```
          Nobody.knows `Nothing.here`
          ```

          """),
        Source(path: "docs/design/device.md", text: "`Codable` `devices/on` `Session` `Tests/X`\n"),
        Source(path: "docs/device.md", text: "`Flower`\n"),
      ]
    ]
  ) { sources in
    let pages = sources.filter { $0.path == mapPath || $0.path.hasPrefix("docs/design/") }
    let declared = Declarations(in: sources)
    let paths = Set(sources.map(\.path))
    let targets = Set(sources.compactMap(\.target))
    let known = ["Codable", "Double", "Float", "Int"]
    func exists(_ path: String) -> Bool {
      path.hasSuffix("/")
        ? paths.contains { $0.hasPrefix(path) || $0.hasPrefix(engine + path) }
        : paths.contains(path) || paths.contains(engine + path)
    }
    return pages.flatMap { page in
      Page(page).spans.compactMap { span -> Violation? in
        let name = span.text.prefix { $0 != "(" }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isPath = name.contains("/") || name.hasSuffix(".swift") || name.hasSuffix(".md")
        let isName = parts.allSatisfy { part in
          !part.isEmpty && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        }
        if isPath {
          guard page.path == mapPath, !exists(String(name)) else { return nil }
        } else {
          guard isName, name.first!.isUppercase, parts.count <= 2, !known.contains(String(name)),
            !targets.contains(String(name)), parts.count == 1 || parts[0] != "Package",
            parts.count == 1
              ? !declared.types.contains(String(name)) : !declared.members.contains(String(name))
          else { return nil }
        }
        return Violation(
          path: page.path, line: span.line, message: "`\(span.text)` does not exist (any more).")
      }
    }
  }

  static let mapPlaces = Rule(
    "What the map finds in a file is declared there",
    planted: [
      [session, map("`Session.proceed` in `Device/Session.swift`\n")],
      [session, map("`Session.proceed` and `Session.rest` in `Device/Session+Steps.swift`\n")],
      [session, map("a (`Session.rest`, `Device/Session+Steps.swift`)\n")],
      [session, map("`Transfer` (`Device/Session+Steps.swift`)\n")],
    ],
    allowed: [
      [
        session,
        map(
          """
          `Session.proceed`, `Stage.check` and `Session` in `Device/Session+Steps.swift`
          `Session.rest`; `Session.proceed` (`Device/Session+Steps.swift`); `Clock/Time.swift`

          """),
      ]
    ]
  ) { sources in
    sources.filter { $0.path == mapPath }.flatMap { page in
      page.lines.enumerated().flatMap { place, line in
        Page.places(in: line).compactMap { name, path -> Violation? in
          let file = sources.filter { $0.path == engine + path || $0.path == path }
          let declared = Declarations(in: file)
          if declared.types.contains(name) || declared.members.contains(name) { return nil }
          return Violation(
            path: mapPath, line: place + 1, message: "`\(name)` is not declared in `\(path)`.")
        }
      }
    }
  }

  static let mapRows = Rule(
    "The map says of at least 25 changes where they are made",
    planted: [[map(rows(24))], [map("## Folders\n")]], allowed: [[map(rows(25))], [session]]
  ) { sources in
    sources.filter { $0.path == mapPath }.compactMap { page in
      let count = Page(page).rows(below: rowsHeading).count
      guard count < 25 else { return nil }
      let message = "\(count) rows below \"\(rowsHeading)\", at least 25."
      return Violation(path: page.path, line: 1, message: message)
    }
  }

  static let mapFolders = Rule(
    "Each folder of the engine is in the map's table of folders",
    planted: [
      [session, map("## Folders\n| folder | what |\n|---|---|\n| `Clock/` | `Device/` |\n")],
      [
        session, Source(path: "Sources/FedSim/Device/Radio/A.swift", text: ""),
        map("## Folders\n| folder | what |\n|---|---|\n| `Device/` | all |\n"),
      ],
      [session, map("`Device/`\n")],
    ],
    allowed: [
      [session, map("## Folders\n| folder | what |\n|---|---|\n| `Clock/`, `Device/` | a |\n")],
      [session],
    ]
  ) { sources in
    guard let page = sources.first(where: { $0.path == mapPath }) else { return [] }
    let listed = Page(page).rows(below: foldersHeading).flatMap { Page.spans(in: $0.first ?? "") }
    let folders = sources.filter { $0.isSwift && $0.path.hasPrefix(engine) }.compactMap { source in
      let inner = source.path.dropFirst(engine.count)
      return inner.lastIndex(of: "/").map { String(inner[...$0]) }
    }
    return Set(folders).subtracting(listed).sorted().map {
      Violation(path: mapPath, line: 1, message: "`\($0)` is not in the table of folders.")
    }
  }

  static let readmes = Rule(
    "Each target has a README.md that says what it is for",
    planted: [
      [session], [session, Source(path: "Sources/FedSim/Device/README.md", text: "Devices.\n")],
      [Source(path: "Sources/CZlib/shim.h", text: "\n")],
    ],
    allowed: [[session, map("The engine.\n")], [Source(path: "Tests/ATests/A.swift", text: "")]]
  ) { sources in
    let paths = Set(sources.map(\.path))
    let targets = Set(sources.filter { $0.path.hasPrefix("Sources/") }.compactMap(\.target))
    return targets.map { "Sources/\($0)/README.md" }.filter { !paths.contains($0) }.sorted().map {
      Violation(path: $0, line: 1, message: "write half a page: what for, main types, imports.")
    }
  }
}
