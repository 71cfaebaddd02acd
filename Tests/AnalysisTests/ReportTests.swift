import Analysis
import Foundation
import Results
import Testing

/// The page: what stands in it, and what must not.
struct ReportTests {
  /// A result with some versions an hour apart.
  private func run(
    _ path: String, seed: UInt64, accuracy: [Double], scenario: String = "name: a\nstop: 1 d"
  ) -> ReportRun {
    let count = accuracy.count
    var document = ResultDocument(
      attributes: [
        .init("title", .text("a <night>")), .init("seed", .unsigned(seed)),
        .init("engineVersion", .text("0")),
      ],
      variables: [
        .init(
          "simulatedTime", [], .double([Double(count) * 3600]), units: "s", longName: "end"),
        .init("startTime", [], .int64([0]), units: "s", longName: "start"),
      ], texts: [.init("scenario", "\(scenario)\nseed: \(seed)\n")])
    let axis = ["version"]
    document.root.groups.append(
      .init(
        "versions", axes: [.init("version", length: count)],
        variables: [
          .init(
            "version", axis, .int64((0..<count).map { Int64($0) }), units: "1", longName: "version"),
          .init(
            "publishedAt", axis, .double((0..<count).map { Double($0) * 3600 }), units: "s",
            longName: "time"),
          .init("centralAccuracy", axis, .double(accuracy), units: "1", longName: "accuracy"),
        ]))
    return ReportRun(path, document)
  }

  @Test func thePageAsksForNothing() {
    let html = Report([run("a.h5", seed: 1, accuracy: [0.1, .nan, 0.7])]).html
    let text = html.replacing("http://www.w3.org/2000/svg", with: "")
    for word in ["http", " src=", "@import", "url(", "<link", "fetch(", "XMLHttp", "import("] {
      #expect(!text.contains(word), "\(word)")
    }
    #expect(html.contains("default-src 'none'"))
  }

  @Test func textOfTheScenarioIsText() {
    let html = Report([
      run("x<y>.h5", seed: 1, accuracy: [0.1], scenario: "name: </pre><script>alert(1)</script>")
    ]).html
    #expect(html.components(separatedBy: "<script>").count == 2)
    #expect(html.contains("a &lt;night&gt;"))
    #expect(!html.contains("<night>"))
  }

  @Test func theReadoutHasTheValuesOfTheFile() {
    let html = Report([run("a.h5", seed: 1, accuracy: [0.1, .nan, 0.7345678])]).html
    let text = html.replacing("&quot;", with: "\"")
    // The version that was not evaluated is left out; the last value holds until the end, 3 h.
    #expect(text.contains("\"x\":[0,7200,10800],\"y\":[0.1,0.7345678,0.7345678]"))
  }

  @Test func seedsOfOnePolicyStandTogether() {
    let runs = [
      run("a2.h5", seed: 2, accuracy: [0, 0.4]), run("a1.h5", seed: 1, accuracy: [0, 0.8]),
      run("b.h5", seed: 1, accuracy: [0, 0.5], scenario: "name: a\nstop: 2 d"),
    ]
    let html = Report(runs).html
    #expect(html.contains("a1 (2 seeds)"))
    // Medians of 40 and 80 %, with least and most; the other policy has one.
    #expect(html.contains("<td>60.0% (40.0%–80.0%)</td>"))
    #expect(html.contains("<td>50.0%</td>"))
    // Every result reaches 40 %.
    #expect(html.contains("time to 40.0%"))
  }

  @Test func whatIsRecordedIsNoPartOfAPolicy() {
    let html = Report([
      run("a.h5", seed: 1, accuracy: [0, 0.4]),
      run(
        "b.h5", seed: 2, accuracy: [0, 0.8],
        scenario: "name: a\nrecord:\n  timelineOf: [a/1]\nstop: 1 d"),
    ]).html
    #expect(html.contains("(2 seeds)"))
  }

  @Test func thinningKeepsEndsAndExtremes() {
    var points = (0..<10_000).map { Figure.Point(Double($0), 0.5) }
    points[1234].y = 0.9
    points[4321].y = 0.1
    let kept = thinned(points, to: 400)
    #expect(kept.count <= 400)
    #expect(kept.first == points.first)
    #expect(kept.last == points.last)
    #expect(kept.contains(points[1234]))
    #expect(kept.contains(points[4321]))
    #expect(zip(kept, kept.dropFirst()).allSatisfy { $0.x < $1.x })
    #expect(thinned(Array(points.prefix(10)), to: 400).count == 10)
  }

  @Test func thirtyLongResultsMakeASmallPage() {
    let accuracy = (0..<5000).map { Double($0 * 7919 % 1000) / 1000 }
    let runs = (1...30).map { run("r\($0).h5", seed: 1, accuracy: accuracy, scenario: "n: \($0)") }
    #expect(Report(runs).html.utf8.count < 5_000_000)
  }

  @Test func hoursFoldOntoTheDay() {
    // Hours 0 to 25 of a run that began at 22:30: hour 0 is the 22nd, hour 2 the 0th of the day.
    let sums = Report.folded((0..<26).map { Double($0) }, offset: 22.5 * 3600)
    #expect(sums[22] == 0 + 24)
    #expect(sums[23] == 1 + 25)
    #expect(sums[0] == 2)
    #expect(sums[21] == 23)
    // West of Greenwich: hour 0 of a run that began at midnight is 19:00 of the day before.
    #expect(Report.folded([1], offset: -5 * 3600)[19] == 1)
  }

  @Test func durationsReadAsPeopleSayThem() {
    #expect(Report.duration(14 * 86_400) == "14 d")
    #expect(Report.duration(90_000) == "1 d 1 h")
    #expect(Report.duration(3_600) == "1 h")
    #expect(Report.duration(5_400) == "1 h 30 min")
    #expect(Report.duration(61) == "1 min 1 s")
    #expect(Report.duration(0.25) == "0.25 s")
  }
}
