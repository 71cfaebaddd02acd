import Analysis
import Results
import Schema
import Testing

/// What the page says of interruptions, and of what the funnel loses.
struct ReportInterruptionTests {
  /// Counts of an hour each, over a separate axis.
  private func hours(_ columns: [(String, [Double])]) -> ResultDocument.Group {
    .init(
      "hours", axes: [.init("hour", length: columns[0].1.count)],
      variables: columns.map { ReportFixture.numbers($0.0, ["hour"], $0.1) })
  }

  private var funnel: ResultDocument.Group {
    hours([
      ("eligible", [10, 5]), ("checkedIn", [9, 4]), ("accepted", [9, 4]), ("started", [8, 4]),
      ("trained", [5, 3]), ("delivered", [5, 3]), ("admitted", [5, 3]), ("aggregated", [4, 2]),
    ])
  }

  private func losses(_ rows: [(stage: Int8, reason: Int8, count: Double)])
    -> ResultDocument.Group
  {
    let axis = ["loss"]
    return .init(
      "losses", axes: [.init("loss", length: rows.count)],
      variables: [
        .init(
          "stage", axis, codes: rows.map(\.stage),
          meanings: [
            "eligible", "checkedIn", "accepted", "started", "trained", "delivered", "admitted",
            "aggregated",
          ], longName: "stage"),
        .init(
          "reason", axis, codes: rows.map(\.reason),
          meanings: [
            "unfinishedAtEnd", "checkpointed", "askedAgain", "expired", "killed", "nothingNew",
            "rejectedLate",
          ], longName: "why"),
        ReportFixture.numbers("participations", axis, rows.map(\.count)),
      ])
  }

  /// The names and texts of a figure's bars, from the top.
  private func bars(_ svg: String) -> [String] {
    svg.components(separatedBy: "<title>").dropFirst()
      .compactMap { $0.components(separatedBy: "</title>").first }
  }

  private func ledger(_ counts: [(String, Double)]) -> ResultDocument.Group {
    .init("ledger", variables: counts.map { ReportFixture.numbers($0.0, [], [$0.1]) })
  }

  @Test func eachStepOfTheFunnelNamesItsLosses() throws {
    let rows = losses([
      (stage: 1, reason: 3, count: 1), (stage: 3, reason: 5, count: 1),
      (stage: 4, reason: 4, count: 1), (stage: 4, reason: 1, count: 3),
      (stage: 7, reason: 6, count: 1), (stage: 7, reason: 0, count: 1),
    ])
    let svg = try #require(
      Report([ReportFixture.run("a.h5", accuracy: [0.1], adding: [funnel, rows])]).svg(.funnel))
    // 15 sessions; 13 checked in, of whose loss one is known; 12 trainings, 8 updates, 6 used.
    #expect(
      bars(svg) == [
        "eligible: 15 · 100.0%",
        "task expired: −1", "reason not recorded: −1",
        "checked in: 13 · 86.7%",
        "accepted: 13 · 86.7%",
        "no new model: −1",
        "training started: 12 · 80.0%",
        "cut off, checkpoint kept: −3", "app killed: −1",
        "trained: 8 · 53.3%", "delivered: 8 · 53.3%", "admitted: 8 · 53.3%",
        "rejected late: −1", "in progress at the end: −1",
        "aggregated: 6 · 40.0%",
      ])
  }

  @Test func aResultWithoutReasonsSaysSo() throws {
    let svg = try #require(
      Report([ReportFixture.run("a.h5", accuracy: [0.1], adding: [funnel])]).svg(.funnel))
    #expect(
      bars(svg).filter { $0.contains("−") } == [
        "reason not recorded: −2", "reason not recorded: −1", "reason not recorded: −4",
        "reason not recorded: −2",
      ])
  }

  @Test func interruptionsStandAtTheHourOfTheDevicesDay() throws {
    // Two days. The first group is two hours ahead of UTC, the second five behind it.
    var expired = [[Double]](repeating: [0, 0], count: 48)
    expired[0] = [4, 0]
    expired[24] = [2, 7]
    let none = [Double](repeating: 0, count: 96)
    let table = ResultDocument.Group(
      "fleetHours", axes: [.init("hour", length: 48), .init("group", length: 2)],
      variables: [
        ReportFixture.numbers("utcOffset", ["group"], [7200, -18_000]),
        ReportFixture.numbers("expiredTrainings", ["hour", "group"], expired.flatMap { $0 }),
        ReportFixture.numbers("checkpoints", ["hour", "group"], none),
      ])
    let report = Report([ReportFixture.run("a.h5", accuracy: [0.1], hours: 48, adding: [table])])
    // (4 + 2) / 2 d at 2:00, and 7 / 2 d at 19:00; the last value holds until 24:00.
    var values = [String](repeating: "0", count: 25)
    (values[2], values[19]) = ("3", "3.5")
    let html = report.html.replacing("&quot;", with: "\"")
    #expect(html.contains("\"y\":[\(values.joined(separator: ","))]"))
    #expect(html.contains("\"name\":\"expired\""))
    #expect(html.contains(">trainings expired a day<"))
    // What never happened is not drawn.
    #expect(!html.contains("\"name\":\"checkpointed\""))
    #expect(report.obstacle(.interruptions) == nil)
    #expect(
      Report([ReportFixture.run("a.h5", accuracy: [0.1])]).obstacle(.interruptions)
        == "the result has no `fleetHours/expiredTrainings`, which is available unless "
        + "`record.fleetHours` is false, since schema 2")
  }

  /// A page of one group with these settings.
  private func page(_ settings: [(String, Node)], _ counts: [(String, Double)]) -> String {
    var document = ReportFixture.document(accuracy: [0.1])
    document.root.groups.append(ledger(counts))
    let fleet = Node(.sequence([.mapping([("name", .text("phones"))] + settings)]))
    return Report([ReportRun("a.h5", document, scenario: .mapping([("fleet", fleet)]))]).html
  }

  @Test func tilesTellOfInterruptionsThatCanOccur() {
    let none = [
      ("expiredTrainings", 0.0), ("checkpoints", 0), ("resumed", 0), ("waitedOffline", 0),
    ]
    let counted = page(
      [], [("expiredTrainings", 5117), ("checkpoints", 1), ("resumed", 0), ("waitedOffline", 144)])
    #expect(counted.contains("<dd>5,117</dd><dt>trainings expired</dt>"))
    #expect(counted.contains("<dd>1</dd><dt>training checkpointed</dt>"))
    #expect(counted.contains("<dd>144</dd><dt>updates waited offline</dt>"))
    #expect(!counted.contains("resumed</dt>"))
    // Always on: nothing ends, nothing is kept, and the link is always there.
    let fixed: (Node) -> Node = { always in
      .mapping([("fixed", .mapping([("always", always), ("intervals", Node(.sequence([])))]))])
    }
    let always = page(
      [
        ("background", .mapping([("processing", Node(.null)), ("windows", fixed(.text("open")))])),
        ("link", fixed(.text("wifi"))),
      ], none)
    for word in ["expired", "checkpointed", "resumed", "waited offline"] {
      #expect(!always.contains("\(word)</dt>"), "\(word)")
    }
    // What can occur and did not is on the page, too.
    let tasks = page(
      [
        ("background", .mapping([("processing", .mapping([]))])),
        ("interruption", .mapping([("onExpiry", .text("checkpoint"))])),
        ("link", .mapping([("markov", .mapping([]))])),
      ], none)
    for word in [
      "trainings expired", "trainings checkpointed", "trainings resumed", "updates waited offline",
    ] {
      #expect(tasks.contains("<dd>0</dd><dt>\(word)</dt>"), "\(word)")
    }
  }
}
