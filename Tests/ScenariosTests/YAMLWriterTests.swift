import Testing

import Numerics
import Scenarios
import Schema

@Suite("Writing YAML")
struct YAMLWriterTests {
  @Test("mappings and lists are laid out a line an entry, lists of scalars in brackets")
  func layout() {
    let node = Node.mapping([
      ("name", .quoted("a: b")), ("wait", .text("1 h 30 min")), ("none", Node(.null)),
      ("sizes", Node(.sequence([.text("200"), .text("-1.5"), .quoted("x")]))),
      ("empty", .mapping([])), ("inner", .mapping([("low", .text("1"))])),
      (
        "groups",
        Node(
          .sequence([
            .mapping([("name", .text("a")), ("inner", .mapping([("low", .text("2"))]))]),
            Node(.sequence([Node(.sequence([.text("1")])), .mapping([("k", Node(.null))])])),
          ]))
      ),
    ])
    #expect(
      node.yaml == """
        name: "a: b"
        wait: 1 h 30 min
        none: null
        sizes: [200, -1.5, "x"]
        empty: {}
        inner:
          low: 1
        groups:
          - name: a
            inner:
              low: 2
          - - [1]
            - k: null

        """)
  }

  @Test(
    "a text that would read as something else is quoted",
    arguments: [
      ("", "\"\""), ("~", "\"~\""), ("null", "\"null\""), ("a b", "a b"), ("a: b", "\"a: b\""),
      ("a #b", "\"a #b\""), ("a#b", "a#b"), ("- a", "\"- a\""), ("-1", "-1"), ("-x", "\"-x\""),
      ("[a", "\"[a\""), ("a,b", "\"a,b\""), ("a:", "\"a:\""), ("12:30", "12:30"), (" a", "\" a\""),
      ("a ", "\"a \""), ("*a", "\"*a\""), ("é", "\"é\""), ("a\tb", "\"a\\tb\""),
      ("\u{2028}", "\"\\U00002028\""), ("<<", "\"<<\""), ("---", "\"---\""), ("...", "..."),
    ])
  func plainOrQuoted(text: String, expected: String) {
    #expect(Node.mapping([("k", .text(text))]).yaml == "k: \(expected)\n")
  }

  /// A random tree; plain scalars are such as a person could write.
  private func tree(_ stream: inout RandomStream, depth: Int) -> Node {
    let plain = [
      "a", "b-c", "1", "-2.5", "1e3", "12:30", "1_000", "30 min", "20 Mbit/s", "x/1", "true",
    ]
    let quoted = [
      "", " ", "1", "null", "a: b", "#", "é\u{1F4F1}", "\n\n", "\\\"'", "\u{85}\u{FEFF}\u{7F}",
      "- x",
    ]
    func name(_ i: Int) -> String { i % 3 == 0 ? quoted[i % quoted.count] + "\(i)" : "key\(i)" }
    switch stream.below(depth > 0 ? 6 : 3) {
    case 0: return .text(plain[Int(stream.below(UInt32(plain.count)))])
    case 1: return .quoted(quoted[Int(stream.below(UInt32(quoted.count)))])
    case 2: return Node(.null)
    case 3:
      let count = stream.below(4)
      return Node(.sequence((0..<count).map { _ in tree(&stream, depth: depth - 1) }))
    default:
      let count = Int(stream.below(5))
      return .mapping((0..<count).map { (name($0), tree(&stream, depth: depth - 1)) })
    }
  }

  @Test("what is written reads back to the same tree, 2,000 random trees")
  func roundTrip() throws {
    let key = StreamKey(seed: 1, purpose: "test.yaml")
    for slot in 0..<2_000 {
      var stream = key.stream(slot: UInt64(slot))
      let node = tree(&stream, depth: 5)
      let text = node.yaml
      let back = try YAMLReader.read(text, file: "f")
      #expect(back.hasSameContent(as: node), "slot \(slot):\n\(text)")
    }
  }
}
