import Testing

@Suite("Architecture")
struct ArchitectureTests {
  @Test("The source tree keeps the rule", arguments: Rule.all)
  func treeKeeps(rule: Rule) {
    let violations = rule.checkTree(SourceTree.sources)
    #expect(violations.isEmpty, "\(rule.name):\n\(list(violations))")
    for note in rule.notes(SourceTree.sources) {
      Issue.record("\(rule.name): \(note)", severity: .warning)
    }
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

@Suite("Known exceptions")
struct KnownExceptionTests {
  private func figure(_ name: String, _ value: Int) -> Figure {
    Figure(name: name, value: value, limit: 80, path: "Sources/A.swift", message: "split it")
  }

  @Test("An exception may be as large as its figure says, and no larger")
  func larger() {
    let known = ["Hall": 90]
    #expect(Rule.exceeding([figure("Hall", 90)], known).isEmpty)
    #expect(Rule.shrunk([figure("Hall", 90)], known).isEmpty)
    #expect(
      Rule.exceeding([figure("Hall", 91)], known).map(\.description)
        == ["Sources/A.swift:1: Hall: 91, at most 90; split it."])
    #expect(Rule.exceeding([figure("Room", 81)], known).count == 1, "it is on nobody's list")
    #expect(Rule.exceeding([figure("Room", 80)], [:]).isEmpty)
  }

  @Test("Where it has shrunk that is said")
  func smaller() {
    func notes(_ value: Int) -> [String] { Rule.shrunk([figure("Hall", value)], ["Hall": 90]) }
    #expect(notes(89) == ["Hall is 89 now, no longer 90: lower it in KnownExceptions"])
    #expect(notes(80) == ["Hall is 80 now, no longer 90: take it off KnownExceptions"])
    #expect(
      Rule.shrunk([], ["Hall": 90]) == [
        "Hall is 0 now, no longer 90: take it off KnownExceptions"
      ])
  }
}

@Suite("Outlines of files")
struct OutlineTests {
  private let outline = Outline(
    Source(
      path: "Sources/FedSim/A.swift",
      text: """
        /// A hall.
        public struct Hall<Door: Hashable>: Openable, Sendable where Door: Sendable {
          let a: Int, b = [1: 2]
          @Rebuilt(by: f({ 1 })) private(set) var c: (Int) -> [Int: Int] = { _ in [:] }
          var d: Int { didSet { let e = 1 } }
          var f: Int {
            get { g }
            set { func h() {} }
          }
          static let i = 1
          let j: Int
          public override class func k(_ l: Int = { 1 }()) {}
          init?(_ m: Int) { self.init(n: m) }
          subscript(o: Int) -> Int { o }
          enum Part: String {
            case p, q(Int), r = "s"
            case t
          }
          static func == (a: Self, b: Self) -> Bool { true }
        }
        extension Hall.Part: Named.Thing, Equatable {
          func u() { switch v { case w: let x = 1 } }
        }
        protocol Openable { var y: Int { get } }
        func z() {}

        """))

  private func names(_ owner: String) -> [String] {
    outline.members.filter { $0.owner == owner }.map(\.name)
  }

  @Test("Members are those of types, and not of bodies")
  func members() {
    #expect(
      names("Hall") == [
        "a", "b", "c", "d", "f", "i", "j", "k", "init", "subscript", "==",
      ])
    #expect(outline.members.first { $0.name == "k" }?.fullName == "k(_:)")
    #expect(outline.members.first { $0.name == "==" }?.fullName == "==(_:_:)")
    #expect(names("Hall.Part") == ["p", "q", "r", "t", "u"])
    #expect(names("Openable") == ["y"] && names("") == ["z"])
  }

  @Test("Stored are those that nothing computes")
  func stored() {
    let stored = outline.members.filter { $0.isStored && $0.ownerKind != "protocol" }
    #expect(stored.map(\.name) == ["a", "b", "c", "d", "j"])
    #expect(outline.members.filter(\.isPublic).map(\.name) == ["k"])
  }

  @Test("Types have what they inherit from")
  func types() {
    #expect(outline.types.map(\.name) == ["Hall", "Hall.Part", "Hall.Part", "Openable"])
    #expect(outline.types[0].inherits == ["Openable", "Sendable"] && outline.types[0].isDocumented)
    #expect(outline.types[2].inherits == ["Named.Thing", "Equatable"])
    #expect(!outline.types[3].isDocumented && outline.types[0].isPublic)
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
