private func file(_ path: String, _ text: String) -> Source { Source(path: path, text: text) }

/// A protocol or a type as it is declared.
private struct Declaration {
  let name: String
  let line: Int
  let parents: [String]
  /// The place of the brace that opens its body.
  let body: Int

  /// The declarations that begin with a keyword.
  static func all(_ keyword: String, in tokens: [Token]) -> [Declaration] {
    tokens.indices.compactMap { start in
      guard tokens[start].text == keyword, start + 2 < tokens.count,
        tokens[start + 1].isCapitalised,
        let body = (start + 2..<tokens.count).first(where: { tokens[$0].text == "{" })
      else { return nil }
      let head = tokens[start + 2..<body].prefix { $0.text != "where" }
      return Declaration(
        name: tokens[start + 1].text, line: tokens[start].line,
        parents: head.filter(\.isCapitalised).map(\.text), body: body)
    }
  }

  /// How many requirements are in its body.
  func requirements(_ tokens: [Token]) -> Int {
    var (depth, count) = (0, 0)
    for token in tokens[body...] {
      switch token.text {
      case "{": depth += 1
      case "}": depth -= 1
      case "func", "var", "init", "subscript", "associatedtype": count += depth == 1 ? 1 : 0
      default: break
      }
      if depth == 0 { break }
    }
    return count
  }
}

extension Rule {
  private static let most = 8
  /// What a run tells is one method a kind, and an observer says what it hears of.
  private static let exempt = ["Observer"]

  static let seamSize = Rule.perFile(
    "A public protocol has at most 8 requirements",
    planted: [
      file(
        "Sources/FedSim/A.swift",
        "public protocol Seam: Part {\n" + String(repeating: "  var a: Int { get }\n", count: 7)
          + "  associatedtype B\n  func c(\n    _ d: Int\n  ) -> Int\n}\n")
    ],
    allowed: [
      file(
        "Sources/FedSim/A.swift",
        "public protocol Seam: Part {\n" + String(repeating: "  var a: Int { get }\n", count: 7)
          + "  func c(_ d: Int)\n}\nextension Seam {\n  var d: Int { 1 }\n}\n"),
      file(
        "Sources/FedSim/A.swift",
        "protocol Inner {\n" + String(repeating: "  func a()\n", count: 9) + "}\n"),
    ]
  ) { source in
    guard source.isSwift, source.target != nil else { return [] }
    let tokens = source.tokens
    return Declaration.all("protocol", in: tokens).compactMap { declared in
      let count = declared.requirements(tokens)
      let isPublic = tokens[..<declared.body].contains {
        $0.line == declared.line && $0.text == "public"
      }
      guard isPublic, count > most, !exempt.contains(declared.name) else { return nil }
      return Violation(
        path: source.path, line: declared.line,
        message: "\(declared.name) has \(count) requirements, at most \(most): split it by what "
          + "those are that conform, or make flags one OptionSet.")
    }
  }

  static let noPartCasts = Rule(
    "What the engine wants to know of a part is a question of its seam",
    planted: [
      "let b = part as? Mean\n", "if part is Mean { f() }\n", "let b = part as! Mean\n",
      "if part is any Aggregator { f() }\n", "let b = part as? any Aggregator\n",
    ].flatMap { code in
      ["FedSim", "Scenarios", "Runs"].map { target in
        [
          file("Sources/FedSim/A.swift", "public protocol PolicyPart: Part {}\n"),
          file("Sources/FedSim/B.swift", "public protocol Aggregator: PolicyPart {}\n"),
          file("Sources/FedSim/C.swift", "public struct Mean: Aggregator {}\n"),
          file("Sources/\(target)/D.swift", code),
        ]
      }
    },
    allowed: [
      [
        file("Sources/FedSim/A.swift", "public protocol Aggregator: Part {}\n"),
        file("Sources/FedSim/B.swift", "struct Mean: Aggregator {}\nstruct Box {}\n"),
        file("Sources/FedSim/C.swift", "let a = part as? Box\nlet b = (part as Aggregator)\n"),
        file("Sources/FedSimCLI/D.swift", "let a = part as? Mean\n"),
        file("Tests/FedSimTests/E.swift", "let a = part as? Mean\n"),
      ]
    ]
  ) { sources in
    let files = sources.filter { $0.isSwift && $0.target != nil }
    var seams: Set<String> = ["Part"]
    let protocols = files.flatMap { Declaration.all("protocol", in: $0.tokens) }
    // Each turn finds those that are a level further from `Part`.
    while let next = protocols.first(where: { declared in
      !seams.contains(declared.name) && declared.parents.contains { seams.contains($0) }
    }) {
      seams.insert(next.name)
    }
    let parts = files.flatMap { Declaration.all("struct", in: $0.tokens) }
      .filter { $0.parents.contains { seams.contains($0) } }.map(\.name)
    let names = seams.union(parts)
    return files.filter { ["FedSim", "Scenarios", "Runs"].contains($0.target) }.flatMap { source in
      source.tokens.indices.compactMap { place in
        let rest = source.tokens[place...].prefix(4).map(\.text)
        let type: [String]
        switch rest.first {
        case "is": type = Array(rest.dropFirst())
        case "as" where rest.count > 1 && ["?", "!"].contains(rest[1]):
          type = Array(rest.dropFirst(2))
        default: return nil
        }
        guard let name = type.first(where: { $0 != "any" }), names.contains(name) else {
          return nil
        }
        return Violation(
          path: source.path, line: source.tokens[place].line,
          message: "looks whether a part is \(name): ask what it is or does, by its protocol.")
      }
    }
  }
}
