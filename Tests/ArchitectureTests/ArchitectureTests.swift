import Testing

@Suite("Architecture")
struct ArchitectureTests {
  @Test("The source tree keeps the rule", arguments: Rule.all)
  func treeKeeps(rule: Rule) {
    let violations = rule.check(SourceTree.sources)
    #expect(violations.isEmpty, "\(rule.name):\n\(list(violations))")
  }

  @Test("The rule catches what is planted", arguments: Rule.all)
  func catches(rule: Rule) {
    #expect(!rule.planted.isEmpty)
    for planted in rule.planted {
      #expect(!rule.check(planted).isEmpty, "not caught:\n\(text(planted))")
    }
  }

  @Test("The rule lets lookalikes pass", arguments: Rule.all)
  func letsPass(rule: Rule) {
    for allowed in rule.allowed {
      let violations = rule.check(allowed)
      #expect(violations.isEmpty, "caught:\n\(text(allowed))\n\(list(violations))")
    }
  }

  @Test("The tests see the whole tree")
  func seesTree() {
    let paths = SourceTree.sources.map(\.path)
    #expect(paths.contains("Package.swift"))
    #expect(paths.contains("Makefile"))
    #expect(paths.contains(".ci/run"))
    #expect(paths.contains("Sources/fedsim/main.swift"))
    #expect(paths.contains("Tests/ArchitectureTests/ArchitectureTests.swift"))
    #expect(paths.contains("Examples/my-policy/Sources/MyPolicy/OlympicMean.swift"))
    #expect(paths.contains { $0.hasPrefix("Sources/CKernels/") && $0.hasSuffix(".c") })
  }

  private func list(_ violations: [Violation]) -> String {
    violations.map(\.description).joined(separator: "\n")
  }

  private func text(_ sources: [Source]) -> String {
    sources.map { "\($0.path): \($0.text.prefix(200))" }.joined(separator: "\n")
  }
}

@Suite("Stripping comments and strings")
struct StripperTests {
  private func swift(_ text: String) -> String {
    Stripper.strip(text, language: .swift, keepsStrings: false)
  }

  @Test("Comments go, nested ones too, and lines stay")
  func comments() {
    #expect(swift("a // b\nc") == "a     \nc")
    #expect(swift("a/* b /* c */\nd */e") == "a            \n    e")
  }

  @Test("Strings go, what is interpolated stays")
  func strings() {
    #expect(swift(#"f("a // b")"#) == #"f("      ")"#)
    #expect(swift(#"f("a\"b") // c"#) == #"f("    ")     "#)
    #expect(swift(##"f("a\(g("b"))c")"##) == ##"f("  (g(" ")) ")"##)
    #expect(swift(###"f(#"a"b\(c)"#)"###) == ###"f(#"       "#)"###)
    #expect(swift("\"\"\"\n a \"b\"\n\"\"\" + c") == "\"\"\"\n      \n\"\"\" + c")
  }

  @Test("In C a quotation mark may be a character")
  func characters() {
    let code = Stripper.strip("g('\"'); /* /* */ h();", language: .c, keepsStrings: false)
    #expect(code == "g(' ');          h();")
  }

  @Test("Tokens carry their lines")
  func tokens() {
    #expect(
      Token.all(in: "a.b\n(c_1)") == [
        Token(text: "a", line: 1), Token(text: ".", line: 1), Token(text: "b", line: 1),
        Token(text: "(", line: 2), Token(text: "c_1", line: 2), Token(text: ")", line: 2),
      ])
  }
}
