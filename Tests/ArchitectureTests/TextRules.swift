/// Idioms that a reader of English must read twice, and what to write instead.
///
/// A phrase is looked for word by word, across the ends of lines.
private struct Idiom {
  let phrases: [[String]]
  let instead: String

  init(_ phrases: [String], _ instead: String) {
    self.phrases = phrases.map { $0.split(separator: " ").map(String.init) }
    self.instead = instead
  }
}

private let idioms = [
  Idiom(["stand", "stands", "stood"], "is, appears, or remains"),
  Idiom(["beside"], "next to, in addition to, or compared with"),
  Idiom(["told"], "reported, listed, or received"),
  Idiom(["lie", "lies", "lay"], "is"),
  Idiom(["mend", "mends"], "fix, or shrink"),
  Idiom(["anew"], "again"),
  Idiom(["whoever"], "the noun: each device that"),
  Idiom(
    ["go on", "goes on", "going on", "went on", "gone on"], "continues, resumes, or is running"),
  Idiom(["come to", "comes to", "coming to", "came to"], "reaches, or produces"),
  Idiom(["come out", "comes out", "coming out", "came out"], "is reproduced, or results in"),
  Idiom(["hang on", "hangs on"], "depends on"),
  Idiom(["so many", "so long"], "the number, this many, or this long"),
  Idiom(
    ["of its own", "of their own", "of his own", "of her own", "of one's own"],
    "separate, local, or nothing"),
  Idiom(
    ["two part", "they part", "runs part", "results part", "events part", "themselves part"],
    "diverge"),
  Idiom(["all the same"], "nevertheless, or equal"),
  Idiom(["what becomes of", "what became of"], "what happens to, or the outcome of"),
  Idiom(["for want of"], "because … is missing"),
  Idiom(["at hand"], "available, or current"),
  Idiom(["to be had"], "available"),
  Idiom(["as it were"], "nothing"),
  Idiom(["hand on", "hands on", "handed on"], "pass on"),
  Idiom(["keep to", "keeps to"], "follows, or stays within"),
  Idiom(["one a", "one an", "a line a", "a row a", "a value a", "a number a"], "one per"),
]

extension Idiom {
  /// The lines of a text on which an idiom begins.
  static func found(in text: String) -> [(line: Int, phrase: String, instead: String)] {
    let words = words(in: text)
    var found: [(line: Int, phrase: String, instead: String)] = []
    for place in words.indices {
      for idiom in idioms {
        for phrase in idiom.phrases
        where words[place...].prefix(phrase.count).map(\.text).elementsEqual(phrase) {
          found.append((words[place].line, phrase.joined(separator: " "), idiom.instead))
        }
      }
    }
    return found
  }

  /// The words of a text in small letters; a mark behind a word ends a phrase.
  private static func words(in text: String) -> [(text: String, line: Int)] {
    var words: [(text: String, line: Int)] = []
    for (line, content) in text.split(separator: "\n", omittingEmptySubsequences: false)
      .enumerated()
    {
      for piece in content.lowercased().split(whereSeparator: \.isWhitespace) {
        let isMark: (Character) -> Bool = { ".,;:|()[]{}`\"'*_!?".contains($0) }
        let word = piece.drop(while: isMark).reversed().drop(while: isMark).reversed()
        words.append((String(word), line + 1))
        if piece.last.map(isMark) == true { words.append(("", line + 1)) }
      }
    }
    return words
  }
}

extension Source {
  /// The contents of the string literals, each at its line and column. What joins two of them is
  /// blank, and all else a mark that no phrase crosses.
  fileprivate var literals: String {
    String(
      zip(uncommented, code).map { kept, blanked in
        guard kept == blanked, !kept.isNewline else { return kept }
        return kept.isWhitespace || "\"+#".contains(kept) ? " " : "|"
      })
  }

  /// The words of the comments, each at its line and column. All else is a mark that no phrase
  /// crosses, and so is code between backticks.
  fileprivate var comments: String {
    var (isCode, isPlain) = (false, false)
    return String(
      zip(text, uncommented).map { character, kept in
        if character.isNewline { (isCode, isPlain) = (false, false) }
        guard character != kept else { return character.isWhitespace ? character : "|" }
        if character == "`" { isCode.toggle() }
        if character != "/" { isPlain = true }
        return isCode || character == "`" ? "|" : isPlain ? character : " "
      })
  }

  /// The names of tests and suites, each at its line. All else is a mark that no phrase crosses.
  fileprivate var testNames: String {
    var names = ""
    var rest = uncommented[...]
    while let found = rest.firstMatch(of: /@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"/) {
      names += rest[..<found.1.startIndex].filter(\.isNewline) + "|" + found.1 + "|"
      rest = rest[found.1.endIndex...]
    }
    return names
  }

  /// What a reader sees of a page: no code blocks' anchors, no addresses of links.
  fileprivate var prose: String {
    var text = text
    for (from, to) in [("](", ")"), ("<a ", ">")] {
      while let start = text.range(of: from),
        let end = text.range(of: to, range: start.upperBound..<text.endIndex)
      {
        text.replaceSubrange(start.lowerBound..<end.upperBound, with: " ")
      }
    }
    return text
  }
}

private func literal(_ text: String) -> Source {
  Source(path: "Sources/Runs/A.swift", text: "let a = \"\(text)\"\n")
}

extension Rule {
  /// Field summaries, help, messages, long names and remarks are all string literals of Sources.
  static let plainTexts = Rule.perFile(
    "Texts that users read have no idioms",
    planted: [
      Source(
        path: "Sources/FedSim/A.swift",
        text: "Field(\"a\", \\.a, .flag, \"Whether a session goes on after an update\")\n"),
      Source(
        path: "Sources/FedSimCLI/A.swift",
        text: "@Option(help: \"Workers at once; by default one a processor.\")\nvar jobs: Int?\n"),
      Source(
        path: "Sources/FedSimCLI/A.swift",
        text: "let a = \"\"\"\n  Results of one policy stand\n  together.\n  \"\"\"\n"),
      Source(
        path: "Sources/Runs/A.swift",
        text: ".count(\"erasures\", \"erasures that\"\n  + \" came to the server\")\n"),
    ]
      + idioms.flatMap { $0.phrases.map { literal("what \($0.joined(separator: " ")) is") } },
    allowed: [
      literal("Lines that depend on the outstanding result. The stander, a standard: to come."),
      literal("told-\\(place) \\(standsBeside(told)) a.b"),
      Source(path: "Sources/FedSim/A.swift", text: "// It is next to it.\nlet told = goes.on\n"),
      Source(path: "Tests/FedSimTests/A.swift", text: "let a = \"it stands\"\n"),
    ]
  ) { source in
    guard source.isSwift, source.target != nil else { return [] }
    return Idiom.found(in: source.literals).filter {
      KnownExceptions.idioms[source.path]?.contains($0.phrase) != true
    }.map {
      Violation(
        path: source.path, line: $0.line, message: "`\($0.phrase)`: write \($0.instead).")
    }
  }

  static let plainComments = Rule.perFile(
    "Comments have no idioms",
    planted: [
      Source(
        path: "Sources/FedSim/A.swift",
        text: "/// The device has read it, and the session goes on.\nfunc a()\n"),
      Source(path: "Tests/RunsTests/A.swift", text: "let a = 1  // It\n  // stands there.\n"),
      Source(path: "Examples/my-policy/Sources/A/A.swift", text: "/* What becomes of it. */\n"),
    ]
      + idioms.flatMap { $0.phrases }.map {
        Source(
          path: "Sources/FedSim/A.swift",
          text: "  /// What \($0.joined(separator: "\n  /// ")) is.\nlet a = 1\n")
      },
    allowed: [
      Source(
        path: "Sources/FedSim/A.swift",
        text: "let told = \"it stands\"  // `told`, not `goes on`.\nfunc stand(beside: Int)\n"),
      Source(
        path: "Sources/FedSim/A.swift", text: "let a = 1  // We go.\nlet b = 2\n// On Wi-Fi.\n"),
      Source(path: "Sources/CKernels/a.c", text: "// It stands.\n"),
    ]
  ) { source in
    guard source.isSwift else { return [] }
    return Idiom.found(in: source.comments).map {
      Violation(
        path: source.path, line: $0.line, message: "`\($0.phrase)`: write \($0.instead).")
    }
  }

  static let plainTestNames = Rule.perFile(
    "Names of tests have no idioms",
    planted: [
      Source(path: "Tests/RunsTests/A.swift", text: "@Test(\"a run goes on\") func a() {}\n"),
      Source(
        path: "Tests/RunsTests/A.swift",
        text: "@Suite(\"A\") struct A {\n  @Test(\n    \"it stands\", arguments: [1])\n}\n"),
    ],
    allowed: [
      Source(
        path: "Tests/RunsTests/A.swift",
        text: "@Test(\"a run ends\") func told() { #expect(a == \"it goes on\") }\n"),
      Source(path: "Tests/RunsTests/A.swift", text: "@Test(\"we go\")\n@Test(\"on Wi-Fi\")\n"),
    ]
  ) { source in
    guard source.isSwift, source.path.hasPrefix("Tests/") else { return [] }
    return Idiom.found(in: source.testNames).map {
      Violation(
        path: source.path, line: $0.line, message: "`\($0.phrase)`: write \($0.instead).")
    }
  }

  static let plainPages = Rule.perFile(
    "Pages have no idioms",
    planted: idioms.flatMap { $0.phrases }.map {
      Source(path: "docs/a.md", text: "What \($0.joined(separator: "\n")) is.\n")
    },
    allowed: [
      Source(
        path: "docs/a.md", text: "See [there](a.md#what-stands-where). <a id=\"it stands\">\n"),
      Source(
        path: "docs/a.md", text: "Results come, out of order. The runs; part two. So, many.\n"),
    ]
  ) { source in
    guard source.path.hasSuffix(".md") else { return [] }
    return Idiom.found(in: source.prose).filter {
      KnownExceptions.idioms[source.path]?.contains($0.phrase) != true
    }.map {
      Violation(
        path: source.path, line: $0.line, message: "`\($0.phrase)`: write \($0.instead).")
    }
  }
}
