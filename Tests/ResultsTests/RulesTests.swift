import Foundation
import Results
import Testing

/// Documents that break a rule of the layout are refused before anything is written.
@Suite struct RulesTests {
  private func fault(_ change: (inout ResultDocument.Group) -> Void) throws -> String {
    var group = ResultDocument.Group(
      "g", axes: [.init("x", length: 2), .init("u", length: 2, isUnlimited: true)],
      variables: [
        .init("v", ["x"], .double([1, 2]), units: "s", longName: "a variable"),
        .init("f", ["x"], codes: [0, 1], meanings: ["no", "yes"], longName: "flags"),
      ])
    change(&group)
    let document = ResultDocument(groups: [group])
    return try Samples.inFolder { folder in
      let file = try ResultFile.prepare(folder + "/a.h5")
      var message = "accepted"
      do { try file.write(document) } catch { message = "\(error)" }
      #expect(try Samples.names(in: folder) == (message == "accepted" ? ["a.h5"] : []))
      return message
    }
  }

  @Test func theUnchangedDocumentIsAccepted() throws {
    #expect(try fault { _ in } == "accepted")
  }

  @Test func axesAndShapesMustAgree() throws {
    #expect(
      try fault { $0.variables[0].axes = ["y"] }
        == "/g/v: found the axis y, expected an axis of the group or above it")
    #expect(
      try fault { $0.variables[0].values = .double([1]) }
        == "/g/v: found 1 values, expected 2, as its axes say")
    #expect(
      try fault {
        $0.variables[0].axes = ["x", "u"]
        $0.variables[0].values = .double([1, 2, 3, 4])
      } == "/g/v: found the unlimited axis u in place 1, expected it first")
    #expect(
      try fault {
        $0.variables[0].axes = ["x", "x"]
        $0.variables[0].values = .double([1, 2, 3, 4])
      } == "/g/v: found the name x twice, expected it once")
    #expect(
      try fault {
        let names = (0..<24).map { "a\($0)" }
        $0.axes += names.map { .init($0, length: 1) }
        $0.variables[0].axes = ["x"] + names
      } == "/g/v: found 25 axes, expected at most 24")
    #expect(
      try fault { $0.axes[0].length = -1 } == "/g/x: found length -1, expected zero or more")
    #expect(
      try fault {
        $0.variables[0].name = "x"
        $0.variables[0].axes = ["u"]
      } == "/g/x: found an axis's name and the axes [\"u\"], expected only the axis x")
  }

  @Test func namesAndUnitsMustBeThere() throws {
    for name in ["", "1st", "_x", "a b", "größe", "a/b"] {
      #expect(try fault { $0.variables[0].name = name }.contains("found the name \"\(name)\""))
    }
    #expect(
      try fault { $0.variables[0].units = "" }
        == "/g/v: found no unit or long name, expected both")
    #expect(
      try fault { $0.groups = [.init("v")] } == "/g: found the name v twice, expected it once")
    #expect(
      try fault { $0.variables[1].name = "v" } == "/g: found the name v twice, expected it once")
    #expect(
      try fault { $0.texts = [.init("t", "a\0b")] }
        == "/g/t: found a zero byte, expected text without")
  }

  @Test func attributesMustFit() throws {
    let set = { (attribute: ResultDocument.Attribute) in
      try fault { $0.variables[0].attributes = [attribute] }
    }
    #expect(
      try set(.init("units", .text("m")))
        == "/g/v@units: found a name the layout uses, expected another name")
    #expect(
      try set(.init("big", .array(.double(.init(repeating: 0, count: 8001)))))
        == "/g/v@big: found 64008 bytes, expected at most 64000; longer is for a variable or a text"
    )
    #expect(try set(.init("fits", .array(.double(.init(repeating: 0, count: 8000))))) == "accepted")
    #expect(try set(.init("none", .texts([]))) == "/g/v@none: found no text, expected some")
  }

  @Test func flagsMustHaveMeanings() throws {
    #expect(
      try fault { $0.variables[1].values = .int8([0, 2]) }
        == "/g/f: found the code 2, expected one of [0, 1]")
    #expect(
      try fault { $0.variables[1].attributes[1].value = .text("no") }
        .contains("flags of another type or number"))
    #expect(
      try fault {
        $0.variables[1] = .init(
          "f", ["x"], codes: [0, 1], meanings: ["not yet", "yes"], longName: "flags")
      }.contains("flags of another type or number"))
  }
}
