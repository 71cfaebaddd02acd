import Testing

import Analysis
import Results

@Suite("Where two documents diverge")
struct DocumentComparisonTests {
  private func document(
    _ rounds: [Int64] = [1, 2, 3], _ codes: [Int8] = [0, 0, 1],
    _ meanings: [String] = ["yes", "no"], _ grid: [Double] = [1, 2, 3, .nan, 5, 6],
    digest: [Int64] = [7, 8]
  ) -> ResultDocument {
    ResultDocument(
      attributes: [.init("seed", .unsigned(1)), .init("contentDigest", .text("x"))],
      texts: [.init("scenario", "a\nb\nc")],
      groups: [
        .init(
          "rounds", axes: [.init("round", length: rounds.count)],
          variables: [
            .init("round", ["round"], .int64(rounds), units: "1", longName: "round"),
            .init("outcome", ["round"], codes: codes, meanings: meanings, longName: "how"),
          ]),
        .init(
          "grid", axes: [.init("x", length: 3), .init("y", length: 2)],
          variables: [.init("value", ["x", "y"], .double(grid), units: "1", longName: "value")]),
        .init(
          "hours", axes: [.init("hour", length: 2)],
          variables: [
            .init("eventDigest", ["hour"], .int64(digest), units: "1", longName: "digest")
          ]),
      ])
  }

  @Test("the same documents are the same, NaN and all")
  func same() {
    let comparison = DocumentComparison(document(), document())
    #expect(comparison.isSame && comparison.round == nil && comparison.hour == nil)
  }

  @Test("a later schema may add to a result, and take nothing of it away")
  func added() {
    var old = document()
    old.root.attributes.append(.init("schemaVersion", .integer(1)))
    var new = document()
    new.root.attributes.append(.init("schemaVersion", .integer(2)))
    new.root.groups.append(.init("effort"))
    #expect(DocumentComparison(old, new).hasAllOfTheFirst)
    #expect(!DocumentComparison(new, old).hasAllOfTheFirst)
    new.root.groups[1].variables[0].values = .double([1, 2, 3, 4, 5, 6])
    #expect(!DocumentComparison(old, new).hasAllOfTheFirst)
  }

  @Test("a cell of two axes is named by both, with both values")
  func cell() {
    let other = document([1, 2, 3], [0, 0, 1], ["yes", "no"], [1, 2, 3, 4, 5, 6])
    let comparison = DocumentComparison(document(), other)
    #expect(comparison.cells == [.init("grid/value [x 1, y 1]", "nan", "4.0")])
    #expect(comparison.cells.count == 1 && !comparison.isSame)
  }

  @Test("categories are compared by their words, and rows by their numbers")
  func words() throws {
    let renamed = DocumentComparison(document(), document([1, 2, 3], [1, 1, 0], ["no", "yes"]))
    #expect(renamed.round == nil)
    let other = DocumentComparison(document(), document([1, 2, 3], [0, 1, 1]))
    let row = try #require(other.round)
    #expect(row.row == 1 && row.number == 2 && row.columns == [.init("outcome", "yes", "no")])
  }

  @Test("a table that is longer parts where the other ends")
  func longer() throws {
    let other = DocumentComparison(document(), document([1, 2, 3, 9], [0, 0, 1, 1]))
    let row = try #require(other.round)
    #expect(row.row == 3 && row.number == 9)
    #expect(row.columns == [.init("", "there are 3", "there are 4")])
    #expect(other.cells.map(\.place) == ["rounds/round [round 9]", "rounds/outcome [round 9]"])
    #expect(other.cells[0].a == nil && other.cells[0].b == "9")
  }

  @Test("digests are reported in hexadecimal digits, texts by their first differing line")
  func digests() throws {
    var other = document(digest: [7, -1])
    other.root.texts[0].value = "a\nB\nc"
    other.root.attributes[0].value = .unsigned(2)
    let comparison = DocumentComparison(document(), other)
    #expect(
      comparison.hour?.columns == [.init("eventDigest", "0000000000000008", "ffffffffffffffff")])
    #expect(comparison.hour?.number == 1)
    #expect(comparison.cells.first == .init("scenario line 2", "b", "B"))
    #expect(comparison.attributes == [.init("seed", "1", "2")])
  }

  @Test("what only one has is listed, and remarks count too")
  func missing() {
    var other = document()
    other.root.groups.removeLast()
    other.root.groups[1].variables[0].units = "s"
    other.root.groups[0].variables.append(
      .init("more", ["round"], .int64([1, 2, 3]), units: "1", longName: "more"))
    let comparison = DocumentComparison(document(), other)
    #expect(
      comparison.missing == [
        .init(path: "hours", isInA: true), .init(path: "rounds/more", isInA: false),
      ])
    #expect(comparison.cells == [.init("grid/value@units", "1", "s")])
    #expect(comparison.round == nil && !comparison.isSame)
  }
}
