import Testing

import Schema

/// Settings with one field of each scalar form.
struct Scalars: PartSettings {
  enum Word: String, CaseIterable, Sendable { case discard, checkpoint, submitPartial }
  var whole = 1
  var share = 0.5
  var step = 0.1
  var flag = false
  var word = Word.discard
  var text = "t"
  var name = "n"
  var wait: Int64 = 60
  var seed: UInt64 = 1
  var list = [1]
  static var fields: [Field<Scalars>] {
    [
      Field("whole", \.whole, .integer(1...2_000), "A whole number"),
      Field("share", \.share, .fraction, "A share"),
      Field("step", \.step, .positive, "A step"),
      Field("flag", \.flag, .flag, "A flag"),
      Field("word", \.word, .choice, "A word"),
      Field("text", \.text, .text, "A text"),
      Field("name", \.name, .identifier, "A name"),
      Field(
        "wait", \.wait,
        .quantity(
          "a duration with a unit", units: [("s", 1), ("min", 60), ("h", 3_600)], 1...86_400,
          example: "30 min"), "A wait"),
      Field("seed", \.seed, .seed, "A seed"),
      Field("list", \.list, .list(of: .integer(0...9), minimum: 1), "A list"),
    ]
  }
}

@Suite("Reading settings")
struct ReaderTests {
  private func faults(_ key: String, _ node: Node) -> [String] {
    var reader = Reader(catalog: Catalog())
    _ = reader.read(Scalars.self, from: .mapping([(key, node)]))
    return reader.faults.map(\.description)
  }

  private let duration = "expected a duration with a unit from 1 s to 24 h, such as `30 min`"

  @Test(
    "what a number, flag or word should have been is said",
    arguments: [
      ("whole", "0", "found `0`, expected a whole number from 1 to 2000"),
      (
        "whole", "1_000",
        "found `1_000`, expected a whole number from 1 to 2000; YAML 1.2 reads `1_000` as a "
          + "text: write `1000`"
      ),
      (
        "whole", "0x10", "found `0x10`, expected a whole number from 1 to 2000; write it in decimal"
      ),
      (
        "whole", "010",
        "found `010`, expected a whole number from 1 to 2000; a whole number has no leading "
          + "zeros: write `10`"
      ),
      ("whole", "1.5", "found `1.5`, expected a whole number from 1 to 2000"),
      (
        "whole", "12:30",
        "found `12:30`, expected a whole number from 1 to 2000; YAML 1.2 reads `12:30` as a text"
      ),
      ("share", ".inf", "found `.inf`, expected a number from 0 to 1; a number is finite here"),
      ("share", "-.NaN", "found `-.NaN`, expected a number from 0 to 1; a number is finite here"),
      (
        "share", "0,5",
        "found `0,5`, expected a number from 0 to 1; a number has a decimal point and no commas"
      ),
      ("share", "1.01", "found `1.01`, expected a number from 0 to 1"),
      ("step", "0", "found `0`, expected a number above 0"),
      ("flag", "yes", "found `yes`, expected `true` or `false`; YAML 1.2 spells it `true`"),
      ("flag", "Off", "found `Off`, expected `true` or `false`; YAML 1.2 spells it `false`"),
      ("flag", "maybe", "found `maybe`, expected `true` or `false`"),
      (
        "word", "submit-partial",
        "found `submit-partial`, expected one of discard, checkpoint, submitPartial; did you "
          + "mean `submitPartial`?"
      ),
      ("word", "explode", "found `explode`, expected one of discard, checkpoint, submitPartial"),
      ("name", "a b", "found `a b`, expected a name of letters, digits, `-` and `_`"),
      ("seed", "-1", "found `-1`, expected a whole number from 0 to 2^64 - 1"),
      ("list", "3", "found `3`, expected a list of at least 1, each a whole number from 0 to 9"),
    ])
  func scalars(key: String, text: String, expected: String) {
    #expect(faults(key, .text(text)) == ["\(key): \(expected)"])
  }

  @Test(
    "what is wrong with a quantity is said",
    arguments: [
      ("30", "the unit is missing"),
      ("12:30", "YAML 1.2 reads `12:30` as a text: a duration is written `12 h 30 min`"),
      ("00:05", "YAML 1.2 reads `00:05` as a text: a duration is written `5 min`"),
      ("5 minutes", "there is no unit `minutes`; did you mean `min`?"),
      ("5 m", "there is no unit `m`; did you mean `min`?"),
      ("5 furlongs", "there is no unit `furlongs`; known units: s, min, h"),
      ("1_000 s", "numbers have no `_`: write `1000 s`"), ("0 s", nil), ("25 h", nil),
      ("soon", nil),
    ] as [(String, String?)])
  func quantities(text: String, hint: String?) {
    let message = "wait: found `\(text)`, \(duration)" + (hint.map { "; \($0)" } ?? "")
    #expect(faults("wait", .text(text)) == [message])
  }

  @Test("quoted numbers and flags are texts")
  func quoted() {
    #expect(
      faults("whole", .quoted("5")) == [
        "whole: found the text \"5\", expected a whole number from 1 to 2000; "
          + "a quoted value is a text: write `5` without quotes"
      ])
    #expect(
      faults("flag", .quoted("true")) == [
        "flag: found the text \"true\", expected `true` or `false`; "
          + "a quoted value is a text: write `true` without quotes"
      ])
    #expect(faults("wait", .quoted("30 min")) == [])
  }

  @Test("every fault is collected, in the order of the text")
  func allFaults() {
    var reader = Reader(catalog: Catalog())
    func at(_ line: Int) -> Place { Place(file: "f", line: line, column: 1) }
    let node = Node(
      .mapping([
        Node.Entry(key: "hwole", place: at(3), value: Node(.null)),
        Node.Entry(
          key: "share", place: at(2), value: Node(.scalar("2", isQuoted: false), at: at(2))),
        Node.Entry(
          key: "list", place: at(1),
          value: Node(
            .sequence([.text("1"), Node(.null, at: at(1)), Node(.sequence([]), at: at(4))]))),
      ]))
    _ = reader.read(Scalars.self, from: node)
    #expect(
      Faults(reader.faults).description == """
        f:1:1: list[1]: found nothing, expected a whole number from 0 to 9
        f:2:1: share: found `2`, expected a number from 0 to 1
        f:3:1: unknown key `hwole`; did you mean `whole`?
        f:4:1: list[2]: found an empty list, expected a whole number from 0 to 9
        """)
  }

  @Test("what was read is written so that it reads back")
  func resolved() {
    var reader = Reader(catalog: Catalog())
    let written = Node.mapping([
      ("whole", .text("+7")), ("share", .text("25e-2")), ("wait", .text("90 s")),
      ("text", .text("5")), ("word", .text("checkpoint")), ("list", Node(.sequence([.text("3")]))),
    ])
    let resolved = reader.read(Scalars.self, from: written).resolved
    #expect(
      resolved.json
        == #"{"whole":7,"share":0.25,"step":0.1,"flag":false,"word":"checkpoint","text":"5","#
        + #""name":"n","wait":"1 min 30 s","seed":1,"list":[3]}"#)
    #expect(reader.read(Scalars.self, from: resolved).resolved.hasSameContent(as: resolved))
    #expect(reader.faults.isEmpty)
  }
}

/// Settings that hold one kind of settings twice, with their own defaults.
struct Pair: PartSettings {
  struct Rates: PartSettings {
    var down = 40
    var up = 26
    static var fields: [Field<Rates>] {
      [
        Field("down", \.down, .integer(1...99), "To the device"),
        Field("up", \.up, .integer(1...99), "From the device"),
      ]
    }
  }
  static let slow: Rates = {
    var rates = Rates()
    (rates.down, rates.up) = (36, 11)
    return rates
  }()
  var fast = Rates()
  var slow = Pair.slow
  static var fields: [Field<Pair>] {
    [
      Field("fast", \.fast, .settings(), "The fast one"),
      Field("slow", \.slow, .settings(defaults: slow), "The slow one"),
    ]
  }
}

@Suite("Settings inside settings")
struct NestedSettingsTests {
  @Test("what is missing inside has the default that its owner gives it, in documentation too")
  func ownersDefaults() {
    var reader = Reader(catalog: Catalog())
    let written = Node.mapping([("slow", .mapping([("down", .text("5"))])), ("fast", Node(.null))])
    #expect(
      reader.read(Pair.self, from: written).resolved.json
        == #"{"fast":{"down":40,"up":26},"slow":{"down":5,"up":11}}"#)
    guard case .mapping(let fields, _) = Pair.descriptions[1].shape else {
      fatalError("no mapping")
    }
    #expect(fields().map { $0.defaultValue?.json } == ["36", "11"])
  }
}

/// Settings with a field that may be absent, and one of a feature.
private struct Maybes: PartSettings {
  var limit: Int?
  var extra: Int?
  static var fields: [Field<Maybes>] {
    [
      Field("limit", \.limit, optional: .integer(1...9), assumption: true, "A limit"),
      Field("extra", \.extra, feature: .integer(1...9), "A feature"),
    ]
  }
}

@Suite("Fields that may be absent")
struct MaybeTests {
  @Test("both are read alike; only the field of a feature is not written where it is absent")
  func absence() {
    func resolved(_ entries: [(String, Node)]) -> String {
      var reader = Reader(catalog: Catalog())
      let read = reader.read(Maybes.self, from: .mapping(entries)).resolved.json
      return reader.faults.isEmpty ? read : "\(reader.faults.map(\.description))"
    }
    #expect(resolved([]) == #"{"limit":null}"#)
    #expect(resolved([("limit", Node(.null)), ("extra", Node(.null))]) == #"{"limit":null}"#)
    #expect(resolved([("limit", .text("2")), ("extra", .text("3"))]) == #"{"limit":2,"extra":3}"#)
    for key in ["limit", "extra"] {
      #expect(
        resolved([(key, .text("0"))]).contains("found `0`, expected a whole number from 1 to 9"))
    }
    #expect(Maybes.fields.map(\.isAssumption) == [true, false])
    #expect(Maybes.fields.map(\.isRequired) == [false, false])
  }
}

@Suite("Trees as JSON")
struct JSONTests {
  @Test("numbers come in one form, texts are escaped, order is kept")
  func oneLine() {
    let node = Node.mapping([
      ("b", Node(.sequence([.text("+1"), .text("-0"), .text("1.50"), .text("1e3"), .text(".5")]))),
      ("a", Node(.sequence([.text("1_000"), .quoted("1"), .text("true"), Node(.null)]))),
      ("\"\\\n\u{1}é", .mapping([])),
    ])
    #expect(
      node.json == #"{"b":[1,0,1.5,1000,0.5],"a":["1_000","1",true,null],"\"\\\n\u0001é":{}}"#)
  }

  @Test("several lines are indented by two spaces a level")
  func manyLines() {
    let node = Node.mapping([
      ("a", Node(.sequence([.text("1"), .text("2")]))), ("b", .mapping([])),
    ])
    #expect(node.prettyJSON == "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}")
  }

  @Test("places and trees tell apart what is the same")
  func sameContent() {
    let a = Node(.scalar("1", isQuoted: false), at: Place(file: "a", line: 1, column: 1))
    #expect(a.hasSameContent(as: .text("1")))
    #expect(!a.hasSameContent(as: .quoted("1")))
    #expect(!Node.mapping([("a", a)]).hasSameContent(as: .mapping([("b", a)])))
    #expect(!Node(.sequence([a])).hasSameContent(as: Node(.sequence([a, a]))))
  }
}
