import Analysis
import Foundation
import Results
import Schema
import Testing

/// The page: what is in it, and what must not.
struct ReportTests {
  private func run(
    _ path: String, seed: UInt64 = 1, accuracy: [Double],
    settings: [(String, String)] = [("stop", "1 d")], hours: Int? = nil,
    adding groups: [ResultDocument.Group] = []
  ) -> ReportRun {
    ReportFixture.run(
      path, seed: seed, accuracy: accuracy, settings: settings, hours: hours, adding: groups)
  }

  @Test func thePageAsksForNothing() {
    let html = Report([run("a.h5", seed: 1, accuracy: [0.1, .nan, 0.7])]).html
    let text = html.replacing("http://www.w3.org/2000/svg", with: "")
    for word in [
      "http:", "https:", " src=", "@import", "url(", "<link", "fetch(", "XMLHttp", "import(",
    ] {
      #expect(!text.contains(word), "\(word)")
    }
    #expect(html.contains("default-src 'none'"))
  }

  @Test func textOfTheScenarioIsText() {
    let html = Report([
      run("x<y>.h5", accuracy: [0.1], settings: [("name", "</pre><script>alert(1)</script>")])
    ]).html
    #expect(html.components(separatedBy: "<script>").count == 2)
    #expect(html.contains("a &lt;night&gt;"))
    #expect(!html.contains("<night>"))
  }

  @Test func aColumnThatIsNamedHasAFigureWhereResultsHaveIt() {
    let night = run("a.h5", accuracy: [0.1, 0.7])
    #expect(!Report([night]).html.contains("Versions: "))
    let html = Report([night], columns: ["centralLoss", "joules"]).html
    #expect(html.contains("Versions: centralLoss"))
    #expect(!html.contains("Versions: joules"))
  }

  @Test("an axis of accuracy begins where the plateau does, after a climb in the first fifth")
  func axisOfAPlateau() throws {
    // 10 % at the start, 78 % after the first of ten hours, then 80 % and 82 %. Four fifths of the
    // way are 67.6 %, so what follows is 78 to 82 %: four steps of 1 %.
    let climb = [0.1, 0.78, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.82]
    let svg = try #require(Report([run("a.h5", accuracy: climb)]).svg(.accuracy))
    #expect(svg.contains(">curves start at 10%, below the axis</text>"))
    for tick in ["78%", "79%", "80%", "81%", "82%"] { #expect(svg.contains(">\(tick)</text>")) }
    #expect(!svg.contains(">0%</text>") && !svg.contains(">100%</text>"))
    // All values can be read, those below the axis too.
    let html = Report([run("a.h5", accuracy: climb)]).html.replacing("&quot;", with: "\"")
    #expect(html.contains("\"y\":[0.1,0.78,0.8,0.8,0.8,0.8,0.8,0.8,0.8,0.82,0.82]"))
  }

  @Test(
    "an axis of accuracy has all values of a slow climb, of a fall, and of a curve that stays",
    arguments: [
      [0.1, 0.3, 0.5, 0.7, 0.8, 0.8, 0.8, 0.8, 0.8, 0.82],
      [0.1, 0.78, 0.8, 0.8, 0.8, 0.8, 0.1, 0.8, 0.8, 0.82], [0.1, 0.1, 0.1, 0.1], [0.1],
      [0.8, 0.81, 0.82, 0.82, 0.82, 0.82, 0.82],
    ])
  func axisOfAllValues(accuracy: [Double]) {
    for plot in [Report.Plot.accuracy, .accuracyByVersion] {
      let svg = Report([run("a.h5", accuracy: accuracy)]).svg(plot)
      #expect(svg?.contains("below the axis") != true)
    }
  }

  @Test func theReadoutHasTheValuesOfTheFile() {
    let html = Report([run("a.h5", accuracy: [0.1, .nan, 0.7345678])]).html
    let text = html.replacing("&quot;", with: "\"")
    // The version that was not evaluated is left out; the last value holds until the end, 3 h.
    #expect(text.contains("\"x\":[0,7200,10800],\"y\":[0.1,0.7345678,0.7345678]"))
  }

  @Test func whatTheTableOfResultsLeavesOutIsCounted() {
    let runs = (1...62).map { run("a\($0).h5", seed: UInt64($0), accuracy: [0, 0.5]) }
    #expect(Report(Array(runs.prefix(60))).html.contains("a60.h5"))
    #expect(!Report(Array(runs.prefix(60))).html.contains(" more.</p>"))
    #expect(Report(runs).html.contains("<p class=\"note\">And 2 more.</p>"))
  }

  @Test func seedsOfOnePolicyStandTogether() {
    let runs = [
      run("a2.h5", seed: 2, accuracy: [0, 0.4]), run("a1.h5", seed: 1, accuracy: [0, 0.8]),
      run("b.h5", seed: 1, accuracy: [0, 0.5], settings: [("stop", "2 d")]),
    ]
    let html = Report(runs).html
    #expect(html.contains("a1 (2 seeds)"))
    // Medians of 40 and 80 %, with least and most; the other policy has one.
    #expect(html.contains("<td>60.0% (40.0%\u{A0}to\u{A0}80.0%)</td>"))
    #expect(html.contains("<td>50.0%</td>"))
    // Every result reaches 40 %.
    #expect(html.contains("time to 40%"))
  }

  @Test func namesAndWhatIsRecordedAreNoPartOfAPolicy() {
    let html = Report([
      run("a.h5", seed: 1, accuracy: [0, 0.4]),
      run(
        "b.h5", seed: 2, accuracy: [0, 0.8],
        settings: [
          ("name", "other"), ("description", "x"), ("seeds", "[1, 2]"), ("record", "all"),
          ("stop", "1 d"),
        ]),
    ]).html
    #expect(html.contains("(2 seeds)"))
  }

  @Test func oneSeedOfOnePolicyIsNeverCountedTwice() {
    let (a, b) = (run("a.h5", accuracy: [0, 0.4]), run("b.h5", accuracy: [0, 0.8]))
    #expect(a.isOfOneRun(with: b))
    #expect(!a.isOfOneRun(with: run("c.h5", seed: 2, accuracy: [0, 0.4])))
    #expect(!a.isOfOneRun(with: run("d.h5", accuracy: [0, 0.4], settings: [("stop", "2 d")])))
    #expect(!Report([a, b]).html.contains("seeds)"))
  }

  @Test func aBandEndsWithTheFirstSeed() {
    // One seed has versions at 0 and 1 h and ends at 2 h, the other at 0 to 3 h and ends at 4 h.
    let html = Report([
      run("a.h5", seed: 1, accuracy: [0, 0.4]),
      run("b.h5", seed: 2, accuracy: [0, 0.8, 0.9, 1]),
    ]).html.replacing("&quot;", with: "\"")
    // Medians of 0 and 0, of 40 and 80 %, and of 40 and 90 % at 2 h.
    #expect(html.contains("\"x\":[0,3600,7200],\"y\":[0,0.6,0.65]"))
    #expect(html.contains("the end of the shortest run"))
  }

  @Test func whatTheServerTrainedHasALineAModel() {
    let report = Report([
      run("a.h5", accuracy: [0.1], hours: 4, adding: [ReportFixture.central])
    ])
    let html = report.html.replacing("&quot;", with: "\"")
    // The last version holds until the end, 4 h.
    #expect(
      html.contains(
        "{\"name\":\"big\",\"kind\":\"step\",\"look\":0,\"x\":[3600,10800,14400],"
          + "\"y\":[0.25,0.75,0.75]}"))
    // Devices trained nothing, so their line, of the initial model alone, is not there.
    #expect(!html.contains("\"name\":\"federated\""))
    #expect(html.contains("<dd>75.0%</dd><dt>accuracy of the last version of big</dt>"))
    #expect(html.contains("<dd>3</dd><dt>versions published by training at the server</dt>"))
    #expect(html.contains("<dd>1,200</dd><dt>files used in training</dt>"))
    #expect(!html.contains("versions published</dt>"))
    // The ledger: 1200 + 3 + 4.
    #expect(html.contains("1,207 in all, by outcome"))
    #expect(html.contains("aria-label=\"Users&#39; personal models\""))
    for plot in [Report.Plot.accuracy, .central, .files, .uploads] {
      #expect(report.svg(plot) != nil, "\(plot)")
    }
  }

  @Test func centralModelsStandBesideWhatDevicesTrained() {
    let html = Report([run("a.h5", accuracy: [0.1, 0.6], adding: [ReportFixture.central])]).html
      .replacing("&quot;", with: "\"")
    #expect(html.contains("\"name\":\"federated\",\"kind\":\"step\",\"look\":0"))
    #expect(html.contains("\"name\":\"big\",\"kind\":\"step\",\"look\":1"))
  }

  @Test func aReferenceMayBeTrainedAtTheServer() {
    let html = Report(
      [run("a.h5", accuracy: [0.1, 0.6])],
      references: [("central", run("c.h5", accuracy: [0.1], adding: [ReportFixture.central]))]
    ).html.replacing("&quot;", with: "\"")
    #expect(html.contains("{\"name\":\"central: big\",\"kind\":\"step\",\"look\":7"))
    // A row each: what devices trained, and both models.
    #expect(html.contains("<td>central: big</td><td>1</td><td>75.0%</td><td>75.0%</td>"))
    // 60 % and 75 % were reached: the target is 60 %, which the model reached at 3 h.
    #expect(html.contains("<td>75.0%</td><td>3\u{A0}h</td><td>2</td><td>–</td>"))
  }

  @Test func whatIsUnderWayAtTheEndIsNotWasted() {
    let effort = ReportFixture.counts(
      "effort", "outcome", "deviceSeconds",
      [
        ("aggregated", 600), ("trainingKilled", 100), ("trainingUnfinishedAtEnd", 250),
        ("updateUnfinishedAtEnd", 50),
      ])
    let html = Report([run("a.h5", accuracy: [0.1, 0.6], adding: [effort])]).html
    // 100 of the 700 seconds whose work had ended, and 250 + 50 of all 1000.
    #expect(html.contains("<dd>14.3%</dd><dt>of training time wasted</dt>"))
    #expect(html.contains("<dd>30.0%</dd><dt>of training time in progress at the end</dt>"))
    // Both are grey on the figure.
    #expect(html.components(separatedBy: "<rect class=\"f7\"").count == 3)
  }

  @Test func whatIsNotDrawnSaysWhy() {
    let report = Report([run("a.h5", accuracy: [0.1])])
    #expect(
      report.html.contains(
        "Accuracy over versions, Loss over versions: no version came after the initial model."))
    #expect(!report.html.contains("aria-label=\"Accuracy over versions\""))
    #expect(report.html.contains("aria-label=\"Accuracy over time\""))
    #expect(
      report.obstacle(.timeline)
        == "the result has no `timeline/work`, which is available with `record.timelineOf`, "
        + "such as `record: {timelineOf: [phones/0]}`")
    #expect(report.obstacle(.accuracy) == nil)
    #expect(
      Report([run("a.h5", accuracy: [0.1], hours: 0)]).obstacle(.accuracy)
        == "the run stopped at its start")
    #expect(report.html.contains("<dd>0</dd><dt>versions published</dt>"))
    #expect(
      Report([run("b.h5", accuracy: [0, 1])]).html.contains("<dd>1</dd><dt>version published</dt>"))
  }

  @Test func assumptionsGoByGroupsAndShareRows() {
    let groups: Node = .mapping([
      (
        "fleet",
        Node(
          .sequence([.mapping([("name", .text("old"))]), .mapping([("name", .text("new"))])]))
      )
    ])
    func html(_ text: String?, schema: Int64) -> String {
      var document = ReportFixture.document(accuracy: [0.1], schema: schema)
      if let text { document.root.texts.append(.init("assumptions", text)) }
      return Report([ReportRun("a.h5", document, scenario: groups)]).html
    }
    let page = html(
      "fleet[0].network.up\t2 Mbit/s\tRate\nserver.x\t1\tX\nfleet[1].network.up\t2 Mbit/s\tRate\n"
        + "fleet[0].y\t1\tY\nfleet[1].y\t2\tY\n", schema: 2)
    #expect(
      page.contains("<td>all groups</td><td>network.up</td><td>2 Mbit/s</td><td>Rate</td>"))
    #expect(page.contains("<td>the scenario</td><td>server.x</td>"))
    #expect(page.contains("<td>old</td><td>y</td><td>1</td>"))
    #expect(page.contains("<td>new</td><td>y</td><td>2</td>"))
    #expect(!page.contains("fleet["))
    #expect(html(nil, schema: 2).contains("The scenario makes none."))
    // Results of schema 1 could not say.
    #expect(!html(nil, schema: 1).contains("Assumptions"))
  }

  @Test func hoursAreAsWideAsHours() {
    // Only the third hour is known: it reaches from 2 to 3.
    let values = (0..<24).map { $0 == 2 ? 0.5 : Double.nan }
    guard case .step(let points) = RunFigures.byHour(values) else {
      Issue.record("no step")
      return
    }
    let known = points.filter(\.y.isFinite)
    #expect(known == [.init(2, 0.5), .init(3, 0.5)])
    // A whole day ends at 24.
    guard case .step(let day) = RunFigures.byHour([Double](repeating: 1, count: 24)) else {
      Issue.record("no step")
      return
    }
    #expect(day.count == 25 && day.last == .init(24, 1))
  }

  @Test func stalenessStandsAtWholeNumbersAndEvennessBeginsAtZero() throws {
    let staleness = ReportFixture.counts("staleness", "staleness", "updates", [("0", 6)])
    let devices = ResultDocument.Group(
      "devices", axes: [.init("device", length: 1)],
      variables: [ReportFixture.numbers("aggregated", ["device"], [6])])
    let report = Report([run("a.h5", accuracy: [0, 1], adding: [staleness, devices])])
    let columns = try #require(report.svg(.staleness))
    for place in 0...4 { #expect(columns.contains("\">\(place)</text>"), "\(place)") }
    #expect(!columns.contains("\">0.5</text>"))
    // From nobody at 0 to the one device at 6, at the right end, x = 424: up from 242 to 52.
    let evenness = try #require(report.svg(.evenness))
    #expect(evenness.contains("242H424V52\""))
    #expect(report.html.contains("<span>1 device</span>"))
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
    let runs = (1...30).map { run("r\($0).h5", accuracy: accuracy, settings: [("n", "\($0)")]) }
    #expect(Report(runs).html.utf8.count < 5_000_000)
  }

  @Test func hoursFoldOntoTheDay() {
    // Hours 0 to 25 of a run that began at 22:30: hour 0 is the 22nd, hour 2 the 0th of the day.
    let sums = RunFigures.folded((0..<26).map { Double($0) }, offset: 22.5 * 3600)
    #expect(sums[22] == 0 + 24)
    #expect(sums[23] == 1 + 25)
    #expect(sums[0] == 2)
    #expect(sums[21] == 23)
    // West of Greenwich: hour 0 of a run that began at midnight is 19:00 of the day before.
    #expect(RunFigures.folded([1], offset: -5 * 3600)[19] == 1)
  }

  @Test func durationsReadAsPeopleSayThem() {
    #expect(Markup.duration(14 * 86_400) == "14 d")
    #expect(Markup.duration(90_000) == "1 d 1 h")
    #expect(Markup.duration(3_600) == "1 h")
    #expect(Markup.duration(5_400) == "1 h 30 min")
    #expect(Markup.duration(61) == "1 min 1 s")
    #expect(Markup.duration(0.25) == "0.25 s")
  }
}
