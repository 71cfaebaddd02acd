private func file(_ path: String, _ text: String) -> Source { Source(path: path, text: text) }

/// A `switch` as it is in a file.
private struct Switch {
  /// The line of its `default`; nil: it has none.
  private(set) var defaultLine: Int?
  /// The names of its patterns; nil: one of them is no name, such as a tuple or a range.
  private(set) var names: Set<String>? = []

  /// The one whose keyword is at a place.
  init?(_ tokens: [Token], at start: Int) {
    guard tokens[start].text == "switch", let body = Self.body(tokens, from: start + 1) else {
      return nil
    }
    var (depth, place) = (1, body + 1)
    while place < tokens.count, depth > 0 {
      switch tokens[place].text {
      case "{": depth += 1
      case "}": depth -= 1
      case "default" where depth == 1 && tokens[min(place + 1, tokens.count - 1)].text == ":":
        defaultLine = tokens[place].line
      case "case"
      where depth == 1 && !["if", "guard", "while", "for"].contains(tokens[place - 1].text):
        place = patterns(tokens, from: place + 1)
      default: break
      }
      place += 1
    }
  }

  /// The brace that opens the body of what is asked from a place on.
  private static func body(_ tokens: [Token], from start: Int) -> Int? {
    var depth = 0
    for place in start..<tokens.count {
      switch tokens[place].text {
      case "(", "[": depth += 1
      case ")", "]": depth -= 1
      case "{" where depth == 0: return place
      default: break
      }
    }
    return nil
  }

  /// Takes the names of a `case` from a place on; the place of its colon.
  private mutating func patterns(_ tokens: [Token], from start: Int) -> Int {
    var (depth, begins, place) = (0, true, start)
    while place < tokens.count {
      let text = tokens[place].text
      if depth == 0, text == ":" { break }
      if begins, text == ".", place + 1 < tokens.count {
        names?.insert(tokens[place + 1].text)
      } else if begins {
        names = nil
      }
      if ["(", "[", "{"].contains(text) { depth += 1 }
      if [")", "]", "}"].contains(text) { depth -= 1 }
      begins = depth == 0 && text == ","
      place += 1
    }
    return place
  }
}

extension Rule {
  /// A closed list of words is an enum that is `CaseIterable`. A `switch` counts as one over such
  /// a list if all its patterns are cases of it: none that is one is missed.
  static let wholeSwitches = Rule(
    "A switch over a closed list of words has no default",
    planted: [
      "switch end {\ncase .expired: f()\ndefault: g()\n}\n",
      "let a = switch x.end(of: { 1 }) {\ncase .killed, .left: if a { 1 } else { 2 }\n"
        + "default: 3\n}\n",
      "switch a {\ncase .killed:\n  switch b {\n  case (1, 2): f()\n  default: g()\n  }\n"
        + "default: break\n}\n",
      "switch end {\ncase .left where isLate: f()\ndefault:\n  g()\n}\n",
    ].map { code in
      [
        file(
          "Sources/FedSim/A.swift",
          "enum End: String, CaseIterable {\n  case expired, killed\n  /// Gone.\n  case left\n"
            + "}\n"),
        file("Sources/Runs/B.swift", code),
      ]
    },
    allowed: [
      [
        file(
          "Sources/FedSim/A.swift",
          "enum End: String, CaseIterable { case expired, killed, left }\n"
            + "enum Answer { case left, right, up(Int) }\n"),
        file(
          "Sources/Runs/B.swift",
          "switch end {\ncase .expired: f()\ncase .killed, .left: switch n {\n  case 1: f()\n"
            + "  default: g()\n  }\n}\n"),
        file("Sources/Runs/C.swift", "switch answer {\ncase .right: f()\ndefault: g()\n}\n"),
        file("Sources/Runs/D.swift", "switch (end, n) {\ncase (.left, 1): f()\ndefault: g()\n}\n"),
        file("Sources/Runs/E.swift", "switch answer {\ncase .left, .up(1): f()\ndefault: g()\n}\n"),
        file("Tests/RunsTests/F.swift", "switch end {\ncase .left: f()\ndefault: g()\n}\n"),
      ]
    ]
  ) { sources in
    let files = sources.filter { $0.isSwift && $0.target != nil }
    var lists: [(name: String, words: Set<String>)] = []
    for source in files {
      let outline = Outline(source)
      for type in outline.types where type.kind == "enum" && type.inherits.contains("CaseIterable")
      {
        let cases = outline.members.filter { $0.owner == type.name && $0.kind == "case" }
        lists.append((type.name, Set(cases.map(\.name))))
      }
    }
    return files.flatMap { source in
      source.tokens.indices.compactMap { place in
        guard let found = Switch(source.tokens, at: place), let line = found.defaultLine,
          let names = found.names, !names.isEmpty,
          let list = lists.first(where: { names.isSubset(of: $0.words) })
        else { return nil }
        return Violation(
          path: source.path, line: line,
          message: "swallows words of \(list.name) that are to come: name them, so that the "
            + "compiler asks.")
      }
    }
  }
}
