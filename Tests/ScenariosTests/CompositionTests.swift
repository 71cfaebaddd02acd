import Testing

import Scenarios
import Schema

@Suite("Bases and overrides")
struct CompositionTests {
  private func json(
    _ text: String, _ overrides: [String] = [], files: [String: String] = [:],
    file: String = "toy.yaml"
  ) throws -> String {
    try Toy.tree(text, overrides, files: files, file: file).json
  }

  @Test("mappings merge, lists and scalars are replaced, an empty value replaces what is below")
  func deepMerge() throws {
    let base = """
      title: lower
      count: 5
      inner: {low: 1, high: 7}
      groups: [{name: a}, {name: b}]
      x-anchor: ignored
      """
    let text = """
      base: base.yaml
      inner: {high: 8}
      groups: [{name: c}]
      count:
      """
    #expect(
      try json(text, files: ["base.yaml": base])
        == #"{"title":"lower","count":null,"inner":{"low":1,"high":8},"groups":[{"name":"c"}]}"#)
  }

  @Test("values keep the place of the file that they come from")
  func places() throws {
    let files = ["base.yaml": "inner:\n  low: 1\n  high: 7\n"]
    let node = try Toy.tree("base: base.yaml\ninner: {high: 8}\n", files: files)
    #expect(node["inner"]?["low"]?.place == Place(file: "base.yaml", line: 2, column: 8))
    #expect(node["inner"]?["high"]?.place == Place(file: "toy.yaml", line: 2, column: 15))
    #expect(
      Toy.faults("base: base.yaml\ncount: 0\n", files: ["base.yaml": "rate: 2\n"]) == [
        "base.yaml:1:7: rate: found `2`, expected a number from 0 to 1",
        "toy.yaml:2:8: count: found `0`, expected a whole number from 1 to 100",
      ])
  }

  @Test(
    "one chosen part is replaced by another name and merged by the same",
    arguments: [
      ("{mlp: {scale: 2}}", "{linear: {}}", #"{"linear":{}}"#),
      ("linear", "{mlp: {scale: 2}}", #"{"mlp":{"scale":2}}"#),
      ("{mlp: {scale: 2}}", "linear", #""linear""#),
      ("{mlp: {scale: 2}}", "{mlp: {hidden: [3]}}", #"{"mlp":{"scale":2,"hidden":[3]}}"#),
      ("{mlp: {scale: 2}}", "{mlp: [3]}", #"{"mlp":{"scale":2,"hidden":[3]}}"#),
      ("{mlp: [4, 4]}", "{mlp: {scale: 2}}", #"{"mlp":{"hidden":[4,4],"scale":2}}"#),
      ("{mlp: {scale: 2}}", "mlp", #"{"mlp":{"scale":2}}"#),
      ("{mlp: {scale: 2}}", "{mlp: }", #"{"mlp":null}"#),
      ("mlp", "{mlp: {scale: 2}}", #"{"mlp":{"scale":2}}"#),
    ])
  func chosenPart(lower: String, upper: String, expected: String) throws {
    let files = ["base.yaml": "model: \(lower)\n"]
    #expect(
      try json("base: base.yaml\nmodel: \(upper)\n", files: files) == #"{"model":"# + expected + "}"
    )
  }

  @Test("several parts merge by name; a list of them replaces")
  func severalParts() throws {
    let files = ["base.yaml": "steps: {linear: {}, mlp: {scale: 2}}\n"]
    #expect(
      try json("base: base.yaml\nsteps: {mlp: [5]}\n", files: files)
        == #"{"steps":{"linear":{},"mlp":{"scale":2,"hidden":[5]}}}"#)
    #expect(
      try json("base: base.yaml\nsteps: [mlp]\n", files: files) == #"{"steps":["mlp"]}"#)
  }

  @Test("a list of bases is laid down in order, and bases have bases")
  func severalBases() throws {
    let files = [
      "d/one.yaml": "base: sub/zero.yaml\ntitle: one\ncount: 1\n", "d/two.yaml": "count: 2\n",
      "d/sub/zero.yaml": "title: zero\nisOn: true\n",
    ]
    #expect(
      try json("base: [one.yaml, two.yaml]\n", files: files, file: "d/toy.yaml")
        == #"{"title":"one","isOn":true,"count":2}"#)
  }

  @Test("paths in a base count from the base's own folder")
  func pathsInBases() throws {
    let base = """
      file: data.csv
      model: {mlp: {weights: w.npz}}
      steps: [{mlp: {weights: ../v.npz}}]
      """
    #expect(
      try json(
        "base: ../common/base.yaml\n", files: ["s/common/base.yaml": base], file: "s/a/toy.yaml")
        == #"{"file":"../common/data.csv","model":{"mlp":{"weights":"../common/w.npz"}},"#
        + #""steps":[{"mlp":{"weights":"../v.npz"}}]}"#)
    #expect(
      try json("base: b.yaml\n", files: ["b.yaml": "file: /data.csv\n"]) == #"{"file":"/data.csv"}"#
    )
  }

  @Test("a missing base, a cycle and a wrong value are faults at the value of `base`")
  func brokenBases() {
    #expect(
      Toy.faults("base: none.yaml\n") == [
        "toy.yaml:1:7: base: cannot read `none.yaml`: No such file or directory"
      ])
    #expect(
      Toy.faults(
        "base: a.yaml\n", files: ["a.yaml": "base: ./b.yaml\n", "b.yaml": "base: [a.yaml]\n"])
        == [
          "b.yaml:1:8: base: a scenario cannot be based on itself: `toy.yaml` → `a.yaml` → "
            + "`b.yaml` → `a.yaml`"
        ])
    #expect(
      Toy.faults("base: toy.yaml\n", files: ["toy.yaml": "base: toy.yaml\n"]) == [
        "toy.yaml:1:7: base: a scenario cannot be based on itself: `toy.yaml` → `toy.yaml`"
      ])
    #expect(
      Toy.faults("base: {a: b}\n") == [
        "toy.yaml:1:7: base: found a mapping, expected the path of a scenario file, or a "
          + "list of them"
      ])
    #expect(
      Toy.faults("base: [a.yaml, b.yaml]\n", files: ["a.yaml": "\tx: 1\n", "b.yaml": "[1]\n"]) == [
        "a.yaml:1:1: a tab is not allowed here: indent with spaces",
        "b.yaml:1:1: found a list, expected a mapping of settings",
      ])
    let many = "base: [" + Array(repeating: "a.yaml", count: 70).joined(separator: ", ") + "]\n"
    let faults = Toy.faults(many, files: ["a.yaml": "count: 2\n"])
    #expect(faults.first == "toy.yaml:1:520: base: the scenario consists of more than 64 files")
  }

  @Test("a file that cannot be read, and an empty one, are faults of the file")
  func brokenFiles() {
    let composition = Composition(
      fields: ToySettings.descriptions, catalog: Toy.registry.catalog, files: Toy.files([:]))
    #expect(throws: Faults.self) { try composition.tree(file: "gone.yaml") }
    do throws(Faults) {
      _ = try composition.tree(file: "gone.yaml")
    } catch {
      #expect(error.description == "gone.yaml: cannot read `gone.yaml`: No such file or directory")
    }
    for text in ["", "# only a comment\n", "---\n", "~\n"] {
      #expect(
        Toy.faults(text).first?.hasSuffix("the file is empty: expected a mapping of settings")
          == true, "\(text)")
    }
    #expect(
      Toy.faults("hello\n") == ["toy.yaml:1:1: found `hello`, expected a mapping of settings"])
  }

  // MARK: Overrides

  @Test(
    "an override sets one value and keeps what is next to it",
    arguments: [
      ("count=7", #""count":7"#), ("inner.low=3", #""inner":{"low":3,"high":7}"#),
      ("inner=3", #""inner":{"low":3,"high":7}"#),
      ("inner={low: 3}", #""inner":{"low":3,"high":7}"#),
      ("inner=", #""inner":null"#),
      ("groups[1].count=10", #""groups":[{"name":"a","count":1},{"name":"b","count":10}]"#),
      ("groups.b.count=10", #""groups":[{"name":"a","count":1},{"name":"b","count":10}]"#),
      (
        "groups.b.inner.high=10",
        #""groups":[{"name":"a","count":1},{"name":"b","inner":{"high":10}}]"#
      ),
      ("groups=[]", #""groups":[]"#), ("model=linear", #""model":"linear""#),
      ("model.linear={}", #""model":{"linear":{}}"#),
      ("model.mlp.scale=3", #""model":{"mlp":{"hidden":[4,4],"scale":3}}"#),
      ("model.mlp.hidden[0]=9", #""model":{"mlp":{"hidden":[9,4]}}"#),
      ("model.mlp[1]=9", #""model":{"mlp":[4,9]}"#),
      ("title=a: b", #""title":{"a":"b"}"#), ("title='a=b'", #""title":"a=b""#),
      ("isOn=true", #""isOn":true"#),
      ("steps.mlp.scale=3", #""steps":[{"mlp":{"scale":3}},"linear"]"#),
    ])
  func overrides(argument: String, expected: String) throws {
    let text = """
      inner: {low: 1, high: 7}
      groups: [{name: a, count: 1}, {name: b}]
      model: {mlp: [4, 4]}
      steps: [mlp, linear]
      """
    let result = try json(text, [argument])
    #expect(result.contains(expected), "\(result)")
    let untouched = try Toy.tree(text)
    for key in ["inner", "groups", "model", "steps"] where !argument.hasPrefix(key) {
      let after = try Toy.tree(text, [argument])[key]
      #expect(after?.json == untouched[key]?.json, "\(key) after \(argument)")
    }
  }

  @Test("a later override wins, and overrides win over files")
  func orderOfOverrides() throws {
    #expect(try Toy.settings("count: 2\n", ["count=3", "count=4"]).count == 4)
  }

  @Test(
    "faults of an override point at a column of the argument",
    arguments: [
      ("innr.low=3", "column 1: unknown key `innr`; did you mean `inner`?"),
      ("inner.lo=3", "column 7: inner: unknown key `lo`; did you mean `low`?"),
      ("inner.low=300", "column 11: inner.low: found `300`, expected a whole number from 0 to 99"),
      (
        "wait=30",
        "column 6: wait: found `30`, expected a duration with a unit from 1 s to 24 h, such "
          + "as `30 min`; the unit is missing"
      ),
      ("count", "column 1: expected `path=value`, such as `server.policy=fedavg`"),
      ("=3", "column 1: expected `path=value`, such as `server.policy=fedavg`"),
      ("inner..low=3", "column 7: expected a key here"),
      ("inner.=3", "column 6: expected a key after this `.`"),
      ("groups[x]=3", "column 7: expected an index, such as `[0]`"),
      ("groups[0=3", "column 7: expected an index, such as `[0]`"),
      ("groups[0]x=3", "column 10: expected `.` or `[` here"),
      (
        "groups[5].count=3",
        "column 7: groups: found a list of 1, expected a list with an entry [5]"
      ),
      ("count[0]=3", "column 6: count: found `2`, expected a list with an entry [0]"),
      (
        "groups.fones.count=3",
        "column 8: groups: no entry of this list has the name `fones`; did you mean `phones`?"
      ),
      ("groups.phones.cuont=3", "column 15: groups[0]: unknown key `cuont`; did you mean `count`?"),
      ("model.mpl.scale=3", "column 7: model: there is no model `mpl`; did you mean `mlp`?"),
      ("title=[1", "column 9: title: expected `,` or `]` for the open `[`"),
      ("title=\"x", "column 7: title: this quote is never closed"),
      ("title={a: 1, a: 2}", "column 14: title.a: the key `a` appears twice"),
      (
        "title=!!str 5",
        "column 7: title: the tag `!!str` is not supported: quote texts, and write numbers plain"
      ),
    ])
  func brokenOverrides(argument: String, expected: String) {
    let text = "count: 2\ngroups: [{name: phones}]\n"
    #expect(Toy.faults(text, [argument]) == ["--set \(argument): \(expected)"])
  }

  @Test("faults of files and of several overrides are reported together")
  func severalFaults() {
    #expect(
      Toy.faults("count: 0\n", ["rate=2", "isOn=maybe"]) == [
        "--set isOn=maybe: column 6: isOn: found `maybe`, expected `true` or `false`",
        "--set rate=2: column 6: rate: found `2`, expected a number from 0 to 1",
        "toy.yaml:1:8: count: found `0`, expected a whole number from 1 to 100",
      ])
    #expect(
      Toy.faults("count: 1\n", ["a..b=1", "c[=2"]) == [
        "--set a..b=1: column 3: expected a key here",
        "--set c[=2: column 2: expected an index, such as `[0]`",
      ])
  }
}
