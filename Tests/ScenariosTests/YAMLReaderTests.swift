import Testing

import Scenarios
import Schema

@Suite("Reading YAML")
struct YAMLReaderTests {
  private func read(_ text: String) throws -> Node { try YAMLReader.read(text, file: "f") }

  private func faults(_ bytes: [UInt8]) -> [String] {
    do throws(Faults) {
      _ = try YAMLReader.read(bytes, file: "f")
      return []
    } catch {
      return error.faults.map(\.description)
    }
  }

  private func faults(_ text: String) -> [String] { faults(Array(text.utf8)) }

  @Test("plain scalars keep their text, whatever other readers make of it")
  func plainScalarsKeepTheirText() throws {
    for text in [
      "12:30", "010", "1_000", ".inf", "-.INF", ".nan", "yes", "No", "on", "0x1F", "0o17", "1e3",
      "2025-11-17", "2025-11-17T00:00:00Z", "+1", "Null", "NULL", "True", "=",
    ] {
      let node = try read("key: \(text)\n")["key"]
      #expect(node?.hasSameContent(as: .text(text)) == true, "\(text)")
    }
  }

  @Test("null is an empty value, ~ and null; quoted they are texts")
  func nulls() throws {
    let node = try read("a:\nb: ~\nc: null\nd: ''\ne: \"null\"\nf: '~'\n")
    for key in ["a", "b", "c"] { #expect(node[key]?.hasSameContent(as: Node(.null)) == true) }
    #expect(node["d"]?.hasSameContent(as: .quoted("")) == true)
    #expect(node["e"]?.hasSameContent(as: .quoted("null")) == true)
    #expect(node["f"]?.hasSameContent(as: .quoted("~")) == true)
  }

  @Test("every kind of quoted scalar is flagged")
  func quotedScalars() throws {
    let node = try read("a: '1'\nb: \"2\"\nc: |\n  3\nd: >-\n  4\n  5\n")
    #expect(node["a"]?.hasSameContent(as: .quoted("1")) == true)
    #expect(node["b"]?.hasSameContent(as: .quoted("2")) == true)
    #expect(node["c"]?.hasSameContent(as: .quoted("3\n")) == true)
    #expect(node["d"]?.hasSameContent(as: .quoted("4 5")) == true)
  }

  @Test("keys and values know where they are, in characters")
  func places() throws {
    let node = try read("# é\r\nname: é\r\nlist: [é, {k: v}]\r\n")
    guard case .mapping(let entries) = node.content else { fatalError("no mapping") }
    #expect(entries[0].place == Place(file: "f", line: 2, column: 1))
    #expect(entries[0].value.place == Place(file: "f", line: 2, column: 7))
    guard case .sequence(let nodes) = entries[1].value.content else { fatalError("no list") }
    #expect(nodes[1].place == Place(file: "f", line: 3, column: 11))
    #expect(nodes[1]["k"]?.place == Place(file: "f", line: 3, column: 15))
  }

  @Test("a byte order mark says nothing")
  func byteOrderMark() throws {
    let node = try YAMLReader.read([0xEF, 0xBB, 0xBF] + Array("a: 1".utf8), file: "f")
    #expect(node.hasSameContent(as: .mapping([("a", .text("1"))])))
  }

  @Test("anchors, aliases and merge keys work; own keys win, then the first mapping listed")
  func anchors() throws {
    let node = try read(
      """
      a: &a {x: 1, y: 2}
      b: {<<: *a, y: 3}
      c: {<<: [{z: 4, x: 5}, *a], w: 6}
      d: *a
      "<<": plain
      """)
    #expect(node["b"]?.json == #"{"y":3,"x":1}"#)
    #expect(node["c"]?.json == #"{"w":6,"z":4,"x":5,"y":2}"#)
    #expect(node["d"]?.json == #"{"x":1,"y":2}"#)
    #expect(node["<<"]?.json == #""plain""#)
    #expect(node["d"]?["x"]?.place == Place(file: "f", line: 1, column: 11))
  }

  @Test(
    "a key that appears twice is reported at each further place, in every mapping at once",
    arguments: [
      ("a: 1\nb: 2\na: 3\n", ["f:3:1: a: the key `a` appears twice"]),
      (
        "a: 1\na: 2\na: 3\n",
        ["f:2:1: a: the key `a` appears twice", "f:3:1: a: the key `a` appears twice"]
      ),
      (
        "x: {k: 1, k: 2}\ny:\n  'k': 1\n  \"k\": 2\n  l: 3\n  l: 4\n",
        [
          "f:1:11: x.k: the key `k` appears twice", "f:4:3: y.k: the key `k` appears twice",
          "f:6:3: y.l: the key `l` appears twice",
        ]
      ),
      ("? a\n: 1\n? a\n: 2\n", ["f:3:3: a: the key `a` appears twice"]),
      ("'': 1\n'': 2\n", ["f:1:1: the key `` appears twice"]),
    ] as [(String, [String])])
  func duplicateKeys(text: String, expected: [String]) {
    #expect(faults(text) == expected)
  }

  @Test(
    "broken texts give a place and words that help",
    arguments: [
      ("a: 1\n\tb: 2\n", "f:2:1: a tab is not allowed here: indent with spaces"),
      ("a:\n\t- 1\n", "f:2:1: a tab is not allowed here: indent with spaces"),
      ("a: \"x\nb: 1\n", "f:1:4: this quote is never closed"),
      ("a: 'x\n", "f:1:4: this quote is never closed"),
      (
        "a: 1\n  b: 2\n",
        "f:2:4: this `:` begins a value where no value is allowed: fix the indentation, or quote "
          + "the text"
      ),
      (
        "a: b: c\n",
        "f:1:5: this `:` begins a value where no value is allowed: fix the indentation, or quote "
          + "the text"
      ),
      ("a:\n    b: 1\n  c: 2\n", "f:3:3: the indentation matches no line above"),
      ("- 1\n- 2\na: 3\n", "f:3:1: the indentation matches no line above"),
      ("a: [1, 2\nb: 3\n", "f:2:2: expected `,` or `]` for the `[` opened at 1:4"),
      ("a: {b: 1\n", "f:2:1: expected `,` or `}` for the `{` opened at 1:4"),
      ("a: @x\n", "f:1:4: a value cannot begin with `@`: quote the text"),
      ("a: `x`\n", "f:1:4: a value cannot begin with ```: quote the text"),
      ("a: *nothing\n", "f:1:4: `*nothing` has no anchor"),
      ("a: 1\n---\nb: 2\n", "f:2:1: a second document begins here: a file must have one"),
      ("a: 1\nb\nc: 2\n", "f:2:1: expected `:` after this key"),
      (
        "a: !!int 5\n",
        "f:1:4: a: the tag `!!int` is not supported: quote texts, and write numbers plain"
      ),
      (
        "a: !mine {b: 1}\n",
        "f:1:4: a: the tag `!mine` is not supported: quote texts, and write numbers plain"
      ),
      ("[a]: 1\n", "f:1:1: a key must be a name, not a list or a mapping"),
      ("{a: 1}: 1\n", "f:1:1: a key must be a name, not a list or a mapping"),
      (": 1\n", "f:1:1: a key is missing before this `:`"),
      ("<<: 1\n", "f:1:5: found `1`, expected a mapping to merge, such as `<<: *name`"),
      ("a: \u{0}\n", "f:1:4: the character U+0000 is not allowed"),
      ("a: x\n\u{7}b: 1\n", "f:2:1: the character U+0007 is not allowed"),
    ])
  func brokenTexts(text: String, expected: String) {
    #expect(faults(text) == [expected])
  }

  @Test(
    "a quote that is not closed is blamed itself, not the later line where the next quote ends it",
    arguments: [
      ("name: \"quick\nseed: 1\nfleet:\n  - name: \"phones\"\n    count: 2\n", "1:7"),
      ("seed: 1\nname: \"open\nstop: 1\ndescription: \"fine\"\n", "2:7"),
      ("name: \"open\nseed: 1\n# it is \"so\"\nstop: 1\n", "1:7"),
      ("name: 'open\nseed: 1\n# it's so\nstop: 1\n", "1:7"),
      ("name: \"open  # a comment\nseed: 1\nlist: [\"a\", \"b\"]\n", "1:7"),
      ("fleet: [{name: \"phones, count: 2}]\nname: \"night\"\n", "1:16"),
      ("list:\n  - \"a\"\n  - \"b\n  - \"c\"\n", "3:5"),
      ("\"name: x\nb: \"y\"\n", "1:1"),
      ("a: &x \"open\nb: \"y\"\n", "1:7"),
      ("a: \"one\nb: 2\nc: \"three\nd: 4\n", "1:4"),
    ])
  func unclosedQuotes(text: String, place: String) {
    #expect(faults(text) == ["f:\(place): this quote is never closed"])
  }

  @Test(
    "texts in quotes over several lines are read, and are not blamed for what is wrong elsewhere")
  func quotesOverLines() throws {
    #expect(try read("a: \"one\n  b: two\"\nc: 3\n")["a"]?.json == #""one b: two""#)
    let wrong = "f:4:2: expected `,` or `]` for the `[` opened at 3:4"
    #expect(faults("a: \"one\n  b: two\"\nc: [1\nd: 2\n") == [wrong])
    #expect(faults("a: 'it''s\n  - so'\nc: [1\nd: 2\n") == [wrong])
  }

  @Test("bytes that are no UTF-8 are placed")
  func notUTF8() {
    #expect(faults(Array("a: 1\nb: ".utf8) + [0xFF, 0x0A]) == ["f:2:4: this text is not UTF-8"])
    #expect(faults([0xC3]) == ["f:1:1: this text is not UTF-8"])
  }

  @Test("5,000 brackets, and deep blocks, are refused")
  func deepNesting() {
    let message = "lists and mappings are nested more than 100 deep"
    let brackets = faults(String(repeating: "[", count: 5_000))
    #expect(brackets.count == 1 && brackets[0].hasSuffix(message), "\(brackets)")
    let dashes = faults(String(repeating: "- ", count: 50_000) + "1")
    #expect(dashes.count == 1 && dashes[0].hasSuffix(message), "\(dashes)")
    var steps = ""
    for i in 0..<150 { steps += String(repeating: " ", count: i) + "a:\n" }
    #expect(faults(steps) == ["f:102:102: " + message])
    let allowed = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    #expect(faults(allowed) == [])
  }

  private func bomb(levels: Int, last: String) -> String {
    var text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for i in 1...levels {
      let aliases = Array(repeating: "*a\(i - 1)", count: 9).joined(separator: ", ")
      text += "a\(i): &a\(i) [\(aliases)]\n"
    }
    return text + last
  }

  @Test("an alias bomb is refused, as a value and as a key")
  func aliasBombs() {
    let message = "the aliases expand to more than 100000 values"
    let value = faults(bomb(levels: 8, last: ""))
    #expect(value.count == 1 && value[0].hasSuffix(message), "\(value)")
    let merged = faults(bomb(levels: 8, last: "k: {<<: *a8}\n"))
    #expect(merged.count == 1, "\(merged)")
    for key in ["? *a8\n: 1\n", "*a8 : 1\n", "k: {[*a8]: 1}\n", "k: {{z: *a8}: 1}\n"] {
      #expect(faults(bomb(levels: 8, last: key)) == ["f:1:1: " + message])
    }
    #expect(faults(bomb(levels: 3, last: "")) == [])
    #expect(faults(bomb(levels: 3, last: "*a0 : 1\n")).count == 1)
  }

  @Test("a text without aliases may have more values than aliases may expand to")
  func manyValues() {
    let values = Array(repeating: "1", count: YAMLReader.mostNodes + 1).joined(separator: ",")
    #expect(faults("a: [" + values + "]\n") == [])
  }

  @Test("long texts of anchors, keys and merges are read in one pass")
  func longTexts() {
    #expect(faults("a: " + String(repeating: "&", count: 1 << 20)).count == 1)
    let anchors = (0..<30_000).map { "&a\($0) x" }.joined(separator: ", ")
    #expect(faults("? [\(anchors)]\n: *a7\n").count == 1)
    let keys = (0..<40_000).map { "k\($0): &b\($0) 1\n" }.joined()
    #expect(faults(keys + "? *b9\n: 1\n") == [])
    let merges = "a: &a {" + (0..<20_000).map { "k\($0): 1" }.joined(separator: ", ") + "}\n"
    #expect(faults(merges + "b: {<<: [*a, *a]}\n") == [])
  }

  @Test("a text of more than 4 MiB is refused unread")
  func tooLong() {
    let text = [UInt8](repeating: 0x20, count: YAMLReader.mostBytes + 1)
    #expect(faults(text) == ["f:1:1: the text is longer than 4 MiB"])
  }
}
