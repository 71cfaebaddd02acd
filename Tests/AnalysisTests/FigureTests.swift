import Analysis
import Foundation
import Testing

/// Figures: their bytes, and that nothing odd breaks them.
struct FigureTests {
  private typealias Point = Figure.Point

  private func figure(_ series: [Figure.Series]) -> Figure {
    Figure(
      "A title", x: .init("simulated time", .time, includesZero: true),
      y: .init("accuracy", .share, includesZero: true), series)
  }

  @Test func aStepIsDrawnToTheNextPlaceAndThenUp() {
    // 0 to 100 s across, 0 to 100 % up: with one series the plot begins at y = 52 and is 190 high,
    // so 0 % is at 242, 50 % at 147 and 100 % at 52; across it ends at 440 - 16 = 424.
    let svg = figure([.init("a", .step([Point(0, 0), Point(50, 0.5), Point(100, 1)]))]).svg
    #expect(svg.contains("V147H424V52\"/>"))
    #expect(svg.contains("class=\"line l0\" d=\"M"))
    #expect(svg.contains(" 242H"))
  }

  @Test func aGapInTheDataIsAGapInTheLine() {
    let svg = figure([
      .init(
        "a",
        .line([Point(0, 0), Point(20, 0), Point(50, .nan), Point(80, 1), Point(100, 1)]))
    ]).svg
    // A line of the grid ends there too, in one piece.
    let lines = svg.split(separator: "\"").filter { $0.hasPrefix("M") && $0.hasSuffix("L424 52") }
    #expect(lines.contains { $0.split(separator: "M").count == 2 }, "\(lines)")
    #expect(!svg.contains("<circle"))
  }

  @Test func aPointThatStandsAloneIsADisc() {
    // Of three points with a gap behind each none is joined to another: 0 % is at 242, 50 % at
    // 147, 100 % at 52, and the last is at the right end.
    let points = [
      Point(0, 0), Point(25, .nan), Point(50, 0.5), Point(75, .nan), Point(100, 1),
    ]
    for mark in [Figure.Mark.line(points), .step(points)] {
      let svg = figure([.init("a", mark)]).svg
      for y in [242, 147, 52] { #expect(svg.contains("cy=\"\(y)\" r=\"3.5\"/>"), "\(y)") }
      #expect(svg.contains("<circle class=\"f0\" cx=\"424\" cy=\"52\""))
      #expect(!svg.contains("class=\"line"))
    }
  }

  @Test func aBandOfOnePlaceIsAStroke() {
    let band = Figure.Mark.band([.init(100, low: 0, middle: 0.5, high: 1)])
    let svg = figure([.init("a", band)]).svg
    #expect(svg.contains("d=\"M424 242L424 52\"/><circle class=\"f0\" cx=\"424\" cy=\"147\""))
  }

  @Test func whatLiesAtOnePlaceIsKnown() {
    #expect(
      figure([.init("a", .step([Point(3, 0)])), .init("b", .line([Point(3, 1)]))]).isOfOnePlace)
    #expect(figure([.init("a", .step([Point(3, 0), Point(4, .nan)]))]).isOfOnePlace)
    #expect(!figure([.init("a", .step([Point(3, 0), Point(4, 0)]))]).isOfOnePlace)
    #expect(!figure([.init("a", .columns([Point(3, 1)], width: 1))]).isOfOnePlace)
  }

  @Test func aBandGoesAlongItsUpperEndAndBack() {
    let band = Figure.Mark.band([
      .init(0, low: 0, middle: 0.25, high: 0.5), .init(100, low: 0.5, middle: 0.75, high: 1),
    ])
    let svg = figure([.init("a", band)]).svg
    // Up from 50 % (147) to 100 % (52) at the right end, down to 50 %, then to 0 % (242), and back.
    #expect(svg.contains(" 147H424V52V147V242H"))
    #expect(svg.contains("band f0"))
  }

  @Test func columnsStandOnZero() {
    let svg = Figure(
      "Columns", x: .init("versions"), y: .init("updates"),
      [.init("u", .columns([Point(0, 10), Point(1, 5)], width: 1))]
    ).svg
    // 10 fills the height of 190, 5 half of it.
    #expect(svg.contains("height=\"190\""))
    #expect(svg.contains("height=\"95\""))
  }

  @Test func namesAreEscaped() {
    var figure = figure([.init("<script>alert(1)</script>", .line([Point(0, 0), Point(1, 1)]))])
    figure.series.append(.init("b & c", .line([Point(0, 1)])))
    figure.title = "\"<b>\""
    #expect(!figure.svg.contains("<script"))
    #expect(!figure.svg.contains("<b>"))
    #expect(figure.svg.contains("b &amp; c"))
  }

  @Test func whatIsEmptySaysSo() {
    #expect(figure([]).isEmpty)
    #expect(figure([]).svg.contains("nothing to show"))
    #expect(figure([.init("a", .line([Point(0, .nan)]))]).isEmpty)
    #expect(!figure([.init("a", .line([Point(0, 0)]))]).isEmpty)
  }

  @Test(arguments: [
    [Point(0, 0.5)], [Point(0, 1), Point(1, 1)], [Point(1e-12, 1e-12), Point(2e-12, 2e-12)],
    [Point(-1e12, -1e15), Point(1e12, 1e15)], [Point(.infinity, 1), Point(0, -.infinity)],
  ])
  func oddNumbersMakeAFigure(points: [Figure.Point]) {
    for mark in [Figure.Mark.line(points), .step(points), .columns(points, width: 1)] {
      let svg = figure([.init("a", mark)]).svg
      #expect(!svg.contains("nan"))
      #expect(!svg.contains("inf\""))
      #expect(svg.hasSuffix("</svg>\n"))
    }
  }

  @Test func theSameValuesGiveTheSameBytes() throws {
    let one = figure([
      .init("first", .step([Point(0, 0.1), Point(3600, 0.6), Point(90_000, 0.8)])),
      .init(
        "second (3 seeds)",
        .band([
          .init(0, low: 0.05, middle: 0.1, high: 0.2),
          .init(60_000, low: 0.4, middle: 0.5, high: 0.7),
        ])),
    ])
    let path = #filePath.replacing("FigureTests.swift", with: "Fixtures/figure.svg")
    let golden = try String(contentsOfFile: path, encoding: .utf8)
    #expect(one.svg == golden)
    #expect(one.svg == one.svg)
  }

  @Test func longBarsLeaveRoomForTheirNumbers() {
    let bars = BarFigure(
      "Bars", "hours",
      [.init("a rather long name for a bar of this kind", 10, "1,234,567 h · 99.9%")]
    ).svg
    let rectangle = bars.split(separator: "<").first { $0.hasPrefix("rect class=\"f0\"") }
    let numbers = (rectangle ?? "").split(separator: "\"").compactMap { Double($0) }
    // x, y, width, height: the bar and the text of 19 characters behind it end before 440.
    #expect(numbers.count == 4)
    #expect(numbers[0] + numbers[2] + 6 + 19 * 11 * 0.5 < 440)
  }
}
