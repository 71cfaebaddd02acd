import Analysis
import Results
import Schema

/// Results as small as a test needs them.
enum ReportFixture {
  /// A result with some versions an hour apart; it ends an hour after the last one, or at `hours`.
  static func document(
    seed: UInt64 = 1, accuracy: [Double], settings: [(String, String)] = [("stop", "1 d")],
    schema: Int64 = 2, hours: Int? = nil
  ) -> ResultDocument {
    let count = accuracy.count
    let text = settings.map { "\($0.0): \($0.1)\n" }.joined() + "seed: \(seed)\n"
    var document = ResultDocument(
      attributes: [
        .init("title", .text("a <night>")), .init("seed", .unsigned(seed)),
        .init("engineVersion", .text("0")), .init("schemaVersion", .integer(schema)),
      ],
      variables: [
        .init(
          "simulatedTime", [], .double([Double(hours ?? count) * 3600]), units: "s", longName: "end"
        ),
        .init("startTime", [], .int64([0]), units: "s", longName: "start"),
      ], texts: [.init("scenario", text)])
    let axis = ["version"]
    document.root.groups.append(
      .init(
        "versions", axes: [.init("version", length: count)],
        variables: [
          numbers("version", axis, (0..<count).map(Double.init)),
          numbers("publishedAt", axis, (0..<count).map { Double($0) * 3600 }),
          numbers("centralAccuracy", axis, accuracy),
          numbers("centralLoss", axis, accuracy.map { 1 - $0 }),
        ]))
    return document
  }

  /// The same as a report sees it.
  static func run(
    _ path: String, seed: UInt64 = 1, accuracy: [Double],
    settings: [(String, String)] = [("stop", "1 d")], hours: Int? = nil,
    adding groups: [ResultDocument.Group] = []
  ) -> ReportRun {
    var document = document(seed: seed, accuracy: accuracy, settings: settings, hours: hours)
    document.root.groups += groups
    return ReportRun(path, document, scenario: scenario(settings, seed: seed))
  }

  /// A resolved scenario of such settings.
  static func scenario(_ settings: [(String, String)], seed: UInt64 = 1) -> Node {
    .mapping(settings.map { ($0.0, .text($0.1)) } + [("seed", .text("\(seed)"))])
  }

  static func numbers(
    _ name: String, _ axes: [String], _ values: [Double]
  ) -> ResultDocument.Variable {
    .init(name, axes, .double(values), units: "1", longName: name)
  }

  /// A group with counts by outcome.
  static func counts(
    _ group: String, _ axis: String, _ column: String, _ rows: [(String, Double)]
  ) -> ResultDocument.Group {
    .init(
      group, axes: [.init(axis, length: rows.count)],
      variables: [
        .init(
          axis, [axis], codes: rows.indices.map { Int8($0) }, meanings: rows.map(\.0),
          longName: axis),
        numbers(column, [axis], rows.map(\.1)),
      ])
  }

  /// Two models trained at the server: `big` at 1 h and 3 h, `own`, which users have, at 2 h.
  static var central: ResultDocument.Group {
    let axis = ["publication"]
    return .init(
      "central",
      axes: [.init("publication", length: 3), .init("fileOutcome", length: 3)],
      variables: [
        .init("model", axis, codes: [0, 1, 0], meanings: ["big", "own"], longName: "model"),
        numbers("publishedAt", axis, [3600, 7200, 10_800]),
        numbers("testAccuracy", axis, [0.25, .nan, 0.75]),
        numbers("testLoss", axis, [2, .nan, 1]),
        numbers("userAccuracy", axis, [.nan, 0.5, .nan]),
        .init(
          "fileOutcome", ["fileOutcome"], codes: [0, 1, 2],
          meanings: ["trained", "erased", "unfinishedAtEnd"], longName: "how files ended"),
        numbers("filesEnded", ["fileOutcome"], [1200, 3, 4]),
        numbers("failedUploads", [], [7]),
      ])
  }
}
