import Analysis
import Results
import Schema
import Testing

/// The settings in which the results of a page differ.
struct ReportSettingsTests {
  private func run(_ path: String, seed: UInt64 = 1, _ scenario: [(String, Node)]) -> ReportRun {
    ReportRun(
      path, ReportFixture.document(seed: seed, accuracy: [0.1]),
      scenario: .mapping(scenario + [("seed", .text("\(seed)"))]))
  }

  private func fleet(_ count: String) -> Node {
    Node(.sequence([.mapping([("name", .text("phones")), ("count", .text(count))])]))
  }

  /// The rows of the section, cells divided by bars.
  private func rows(_ html: String) -> [String] {
    guard let section = html.components(separatedBy: "<section id=\"settings\">").dropFirst().first,
      let body = section.components(separatedBy: "</section>").first
    else { return [] }
    return body.components(separatedBy: "<tr>").dropFirst().map { row in
      row.components(separatedBy: "<td>").dropFirst()
        .map { $0.components(separatedBy: "</td>")[0] }.joined(separator: " | ")
    }.filter { !$0.isEmpty }
  }

  @Test func eachSettingThatDiffersStandsThereWithAllValues() {
    let html = Report([
      run("a.h5", [("fleet", fleet("10")), ("stop", .text("1 d")), ("x", .text("1"))]),
      run("b.h5", [("fleet", fleet("20")), ("stop", .text("1 d")), ("x", .text("1"))]),
      run("c.h5", seed: 7, [("fleet", fleet("10")), ("stop", .text("2 d"))]),
      run("c8.h5", seed: 8, [("fleet", fleet("10")), ("stop", .text("2 d"))]),
    ]).html
    #expect(html.contains("<th>setting</th><th>a</th><th>b</th><th>c</th>"))
    #expect(
      rows(html) == [
        "fleet.phones.count | 10 | 20 | 10",
        "stop | &quot;1 d&quot; | &quot;1 d&quot; | &quot;2 d&quot;",
        "x | 1 | 1 | (absent)", "seed | 1 | 1 | 7, 8",
      ])
  }

  @Test func aReferenceHasAColumn() {
    let html = Report(
      [run("a.h5", [("stop", .text("1"))])],
      references: [("ideal", run("r.h5", seed: 3, [("stop", .text("2"))]))]
    ).html
    #expect(html.contains("<th>setting</th><th>a &lt;night&gt;</th><th>ideal</th>"))
    #expect(rows(html) == ["stop | 1 | 2", "seed | 1 | 3"])
  }

  @Test func cellsOfASweepAreNamedByTheSettingsInWhichTheyDiffer() {
    func cell(_ digit: String, seed: UInt64, _ buffer: String, _ period: String) -> ReportRun {
      ReportFixture.run(
        "cells/" + String(repeating: digit, count: 31) + "\(seed).h5", seed: seed,
        accuracy: [0.5], settings: [("buffer", buffer), ("period", period)])
    }
    let runs = [
      cell("a", seed: 1, "3", "1 h"), cell("b", seed: 2, "3", "1 h"),
      cell("c", seed: 1, "10", "1 h"),
    ]
    func heads(_ runs: [ReportRun]) -> String {
      let html = Report(runs).html.components(separatedBy: "<th>setting</th>")
      return html.dropFirst().first?.components(separatedBy: "</tr>").first ?? ""
    }
    #expect(heads(runs) == "<th>buffer 3</th><th>buffer 10</th>")
    let others = runs + [cell("d", seed: 1, "10", "2 h")]
    #expect(
      heads(others) == "<th>buffer 3, period 1 h</th><th>buffer 10, period 1 h</th>"
        + "<th>buffer 10, period 2 h</th>")
    // Files that somebody named keep their names.
    let named = [("slow", "3"), ("fast", "10")].map { name, buffer in
      ReportFixture.run(
        "\(name).h5", accuracy: [0.5], settings: [("buffer", buffer), ("period", "1 h")])
    }
    #expect(heads(named) == "<th>slow</th><th>fast</th>")
  }

  @Test func resultsOfOnePolicySaySo() {
    let html = Report([
      run("a.h5", seed: 2, [("stop", .text("1"))]), run("b.h5", seed: 1, [("stop", .text("1"))]),
    ]).html
    #expect(html.contains("All results have the same settings, with the seeds 1, 2."))
    // A reference may be of the same policy.
    let same = Report(
      [run("a.h5", [("stop", .text("1"))])],
      references: [("again", run("r.h5", seed: 3, [("stop", .text("1"))]))]
    ).html
    #expect(same.contains("<p>All results have the same settings.</p>"))
    #expect(rows(same) == ["seed | 1 | 3"])
    // A single result has nothing to compare.
    #expect(!Report([run("a.h5", [("stop", .text("1"))])]).html.contains("id=\"settings\""))
  }

  @Test func seedsOfSingleWorldsAreNamed() {
    let seeds: Node = .mapping([("world", .text("5")), ("data", Node(.null))])
    let html = Report([
      run("a.h5", [("stop", .text("1")), ("seeds", seeds)]), run("b.h5", [("stop", .text("2"))]),
    ]).html
    #expect(rows(html).last == "seed | 1 with world 5 | 1")
  }

  @Test func threeScenariosAreComparedAtOnce() {
    func scenario(_ trigger: Node) -> Node {
      .mapping([("server", .mapping([("trigger", trigger)]))])
    }
    let one = scenario(.mapping([("threshold", .text("1"))]))
    let two = scenario(.mapping([("threshold", .text("2"))]))
    let word = scenario(.text("all"))
    // Where one has a word and others a mapping, the whole is listed.
    #expect(
      SettingDifferences.among([one, two, word]) == [
        .init("server.trigger", ["{\"threshold\":1}", "{\"threshold\":2}", "\"all\""])
      ])
    #expect(
      SettingDifferences.among([one, two, two]) == [
        .init("server.trigger.threshold", ["1", "2", "2"])
      ])
    #expect(SettingDifferences.among([one, one, one]).isEmpty)
  }
}
