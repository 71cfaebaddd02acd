import Foundation
import Testing

import Runs
import Scenarios
import Schema

@Suite("Baselines")
struct CheckTests {
  @Test("what was recorded holds, whatever the number of jobs, threads and kernels")
  func holds() throws {
    let folder = try CheckedFolder()
    let recorded = folder.record()
    #expect(recorded.status == .recorded && recorded.baseline?.isNew == true)
    #expect(folder.folder.names == ["s.baseline", "s.yaml"])
    #expect(folder.check().status == .holds)
    for body in RunOptions.Body.allCases where body.isSupported {
      let report = folder.check {
        $0.jobs = 3
        $0.options.kernels = body
        $0.options.threads = 2
        $0.options.compute = .eager
      }
      #expect(report.status == .holds, "\(body): \(report.text)")
    }
  }

  @Test("recording again writes the same bytes, and says that nothing moved")
  func again() throws {
    let folder = try CheckedFolder()
    _ = folder.record()
    let text = try folder.text("s.baseline")
    let report = folder.record()
    #expect(report.status == .holds && report.baseline?.isWritten == false)
    #expect(try folder.text("s.baseline") == text)
  }

  @Test("a change without a recording is broken; with one it is reported, and the check holds")
  func moved() throws {
    let folder = try CheckedFolder()
    _ = folder.record()
    try folder.edit("threshold: 3", "threshold: 4")
    let broken = folder.check()
    #expect(broken.status == .broken)
    let text = broken.text
    #expect(
      text.contains("this run differs from the recording \(folder.folder("s.baseline")):"))
    #expect(text.contains("fedsim check --record \(folder.path)"))
    #expect(
      text.contains(
        "the settings differ from the recorded ones: server.trigger.threshold.updates is 4, "
          + "recorded 3"),
      "\(text)")
    let recorded = folder.record()
    #expect(recorded.status == .recorded && recorded.baseline?.isNew == false)
    #expect(recorded.baseline?.findings == broken.baseline?.findings)
    #expect(recorded.text.contains("round 1 ("), "\(recorded.text)")
    #expect(folder.check().status == .holds)
  }

  @Test("settings that change nothing of the run are a note and break nothing")
  func note() throws {
    let folder = try CheckedFolder()
    _ = folder.record()
    try folder.edit("name: small", "name: smaller")
    let report = folder.check()
    #expect(report.status == .holds)
    #expect(report.baseline?.notes.count == 1)
    #expect(
      report.text.contains(
        "the settings differ from the recorded ones: name is \"smaller\", recorded \"small\""))
    // A recording of before holds no settings: their digests differ, and that is said.
    let recorded = try folder.text("s.baseline")
    let start = try #require(recorded.firstRange(of: "[settings]\n"))
    let end = try #require(recorded.firstRange(of: "[counts]\n"))
    try folder.edit(
      String(recorded[start.lowerBound..<end.lowerBound]), "", in: "s.baseline")
    #expect(
      folder.check().text.contains("the settings differ from the recorded ones (their digest was "))
  }

  @Test("a name of several lines is on one in the baseline, and holds")
  func longName() throws {
    let folder = try CheckedFolder(
      CheckedFolder.small.replacing("name: small", with: "name: \"two  words\\n and a line \""))
    #expect(folder.record().status == .recorded)
    #expect(try folder.text("s.baseline").contains("\nscenario two words and a line\n"))
    #expect(folder.check().status == .holds)
  }

  @Test("claims are no part of the run: adding one asks for no recording")
  func claimsAreNoSettings() throws {
    let folder = try CheckedFolder()
    _ = folder.record()
    try folder.folder.write(
      CheckedFolder.small + "expect:\n  - {versions: {atLeast: 1}}\n", to: "s.yaml")
    let report = folder.check()
    #expect(report.status == .holds && report.baseline?.notes == [])
    #expect(report.claims.map(\.holds) == [true])
  }

  @Test("a baseline that is written although a claim is broken is reported, once")
  func recordedAllTheSame() throws {
    let folder = try CheckedFolder(CheckedFolder.small + "expect: [{versions: {below: 0}}]\n")
    let words = "\n  recorded despite this in \(folder.folder("s.baseline"))"
    let recorded = folder.record()
    #expect(recorded.status == .broken && recorded.text.hasSuffix(words + "  (new)"))
    #expect(folder.folder.names == ["s.baseline", "s.yaml"])
    #expect(!folder.record().text.contains("recorded despite this"), "nothing was written")
    #expect(!folder.check().text.contains("recorded despite this"))
  }

  @Test("the tables in a baseline are the result's")
  func tables() throws {
    let folder = try CheckedFolder()
    _ = folder.record()
    let scenario = try Scenario(contentsOf: folder.path)
    var simulation = try scenario.makeSimulation()
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    let document = recorder.document(simulation, of: scenario)
    let baseline = try Baseline(folder.text("s.baseline"), file: "s.baseline")
    let versions = try #require(baseline.table("versions"))
    for (index, name) in versions.columns.enumerated() where name != "model" {
      let variable = try #require(document.variable("versions/\(name)"), "\(name)")
      let values = versions.rows.map { Double($0[index]) ?? .nan }
      #expect(values.count == variable.values.count)
      for (a, b) in zip(values, variable.values.asDoubles) {
        #expect(a == b || (a.isNaN && b.isNaN), "\(name)")
      }
    }
    let rounds = try #require(baseline.table("rounds"))
    let closed = try #require(document.integers("rounds/aggregated"))
    let aggregated = try #require(rounds.columns.firstIndex(of: "aggregated"))
    // All but one that may be open at the end.
    #expect(!rounds.rows.isEmpty && rounds.rows.count >= closed.count - 1)
    for (row, count) in zip(rounds.rows, closed) { #expect(row[aggregated] == "\(count)") }
    // Every update is in the ledger once: begun is the sum of all ends.
    var (opened, ended) = (0, 0)
    for row in try #require(baseline.table("counts")).rows where row[0].hasPrefix("update.") {
      let count = try #require(Int(row[1]))
      if row[0] == "update.opened" { opened = count } else { ended += count }
    }
    #expect(opened == ended && opened > 0)
  }

  @Test("the events of the hours add up to the run's events and to its digest")
  func hours() throws {
    let folder = try CheckedFolder()
    _ = folder.record(inWords: true)
    let baseline = try Baseline(folder.text("s.baseline"), file: "s.baseline")
    var count = 0
    var sum: UInt64 = 0
    for row in try #require(baseline.table("hours")).rows {
      count += try #require(Int(row[1]))
      sum &+= try #require(UInt64(row[2], radix: 16))
    }
    let recorded = try #require(baseline.value("events").flatMap { Int($0) })
    let digest = try #require(baseline.value("eventDigest").flatMap { UInt64($0, radix: 16) })
    #expect(count == recorded && sum == digest)
    guard case .lines(let lines) = baseline.events else {
      Issue.record("no events in words")
      return
    }
    #expect(lines.count == recorded)
    #expect(lines.last?.contains(" server end ~") == true)
  }

  @Test("a long run is recorded by marks, which name the same first event as words do")
  func marks() throws {
    let (words, marks) = (try CheckedFolder(), try CheckedFolder())
    _ = words.record(inWords: true)
    _ = marks.record()
    #expect(try marks.text("s.baseline").contains("\n[marks]\n"))
    #expect(try words.text("s.baseline").contains("\n[events]\n"))
    for folder in [words, marks] { try folder.edit("attempts: 3", "attempts: 2") }
    let numbers = [words, marks].map { folder in
      folder.check().finding("event")?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }
    #expect(numbers[0] != nil && numbers[0] == numbers[1], "\(numbers)")
    let size = try (words.text("s.baseline").utf8.count, marks.text("s.baseline").utf8.count)
    #expect(4 * size.1 < 3 * size.0, "\(size)")
  }

  @Test("a run that lasts longer differs at the end of the recorded one")
  func longer() throws {
    let folder = try CheckedFolder(
      CheckedFolder.small.replacing("stop: {after: 8 h}", with: "stop: {after: 8 h, rounds: 5}"))
    _ = folder.record(inWords: true)
    let baseline = try Baseline(folder.text("s.baseline"), file: "b")
    let count = try #require(baseline.value("events").flatMap { Int($0) })
    try folder.edit("rounds: 5", "rounds: 6")
    let report = folder.check()
    let finding = try #require(report.finding("event"))
    #expect(finding.hasPrefix("event \(count + 1) is the first that differs"), "\(finding)")
    #expect(finding.hasSuffix("recorded the end of the run"), "\(finding)")
    // Rounds before it differ too: devices that trained in them ended only afterwards.
    #expect(report.finding("version")?.hasPrefix("version 6 (") == true, "\(report.text)")
  }

  @Test("tolerances let a column differ up to a bound, and survive a new recording")
  func tolerances() throws {
    let folder = try CheckedFolder()
    _ = folder.record()
    try folder.edit(
      "[tolerances]\n",
      "[tolerances]\nversions.centralLoss 10\nversions.centralAccuracy 1\n"
        + "versions.trainingLoss 10\nversions.model any\n", in: "s.baseline")
    let wrong = Registry.standard.adding(ForgetfulMean.self)
    #expect(folder.check(registry: wrong).status == .holds)
    try folder.edit("versions.centralLoss 10\n", "versions.centralLoss 1e-9\n", in: "s.baseline")
    #expect(folder.check(registry: wrong).finding("version")?.contains("centralLoss") == true)
    #expect(folder.record(registry: wrong).status == .recorded)
    let text = try folder.text("s.baseline")
    #expect(text.contains("versions.centralLoss 1e-09\n") || text.contains("centralLoss 1e-9\n"))
    #expect(text.contains("versions.model any\n"))
  }

  @Test(
    "parts of a baseline that do not go together are bad input",
    arguments: [
      (
        "\n\\[counts\\]\n([^\n]+\n)*", "\n[counts]\nname\nx\n",
        "expected rows of a name and a number"
      ),
      ("\nevents [0-9]+\n", "\nevents 1\n", "found 1 events, but those of the hours add up to"),
      (
        "\neventDigest .*\n", "\neventDigest 0000000000000000\n",
        "the digests of the hours do not add up to that of all events"
      ),
      ("\neventDigest .*\n", "\n", "expected a line `eventDigest` with"),
      ("\n[^\n]+\n\n\\[marks\\]", "\n\n[marks]", "but those of the hours add up to"),
      ("\n\\[marks\\]\n[^~]*$", "", "the section [events] or [marks] of"),
      ("\n\\[marks\\]\n[^\n]*\n", "\n[marks]\n", "expected the marks of 64 events from 1 on"),
      ("\n[^\n]+\n$", "\n", "found marks of"),
    ])
  func contradiction(part: String, new: String, message: String) throws {
    let folder = try CheckedFolder()
    _ = folder.record()
    let text = try folder.text("s.baseline")
    let edited = text.replacingOccurrences(of: part, with: new, options: .regularExpression)
    #expect(edited != text)
    try folder.folder.write(edited, to: "s.baseline")
    let report = folder.check()
    #expect(report.status == .badInput)
    #expect(report.faults.count == 1 && report.faults[0].contains(message), "\(report.faults)")
  }

  @Test("counts that were 0 can be tolerated: a baseline leaves them out")
  func zeroCounts() throws {
    let folder = try CheckedFolder()
    _ = folder.record()
    try folder.edit(
      "[tolerances]\n",
      "[tolerances]\ncounts.update.rejectedStale 3\ncounts.rebased any\n"
        + "counts.file.trained 1\nevents any\n", in: "s.baseline")
    #expect(folder.check().status == .holds)
  }

  @Test(
    "a broken baseline is bad input, with the line",
    arguments: [
      ("format 1\n", "", "this is not a recording: expected `format 1` first"),
      ("format 1\n", "format 7\n", "found format 7, expected 1"),
      ("[versions]\n", "[version]\n", "there is no section [version]; did you mean [versions]?"),
      (
        "[tolerances]\n", "[tolerances]\nversions.centralLos 1\n",
        "s.baseline:13:1: there is no column `versions.centralLos`"
      ),
      (
        "[tolerances]\n", "[tolerances]\ncounts.batchesUsd 5\n",
        "there is no column `counts.batchesUsd` for this tolerance; did you mean"
          + " `counts.batchesUsed`?"
      ),
      ("[tolerances]\n", "[tolerances]\nevents 3\n", "s.baseline:13:8: found `3`, expected `any`"),
      ("[tolerances]\n", "[tolerances]\nversions.model 3\n", "`versions.model` is not a number"),
      (
        "[tolerances]\n", "[tolerances]\ncounts.kills 3\ncounts.kills 4\n",
        "s.baseline:14:1: `counts.kills` is tolerated twice"
      ),
      ("[tolerances]\n", "[tolerances]\nversions.centralLoss little\n", "expected a column and a"),
      ("\n[hours]\nhour events digest\n", "\n[hours]\nhour events\n", "found 3 words, expected 2"),
    ])
  func brokenBaseline(old: String, new: String, message: String) throws {
    let folder = try CheckedFolder()
    _ = folder.record()
    try folder.edit(old, new, in: "s.baseline")
    let report = folder.check()
    #expect(report.status == .badInput)
    #expect(report.faults.count == 1 && report.faults[0].contains(message), "\(report.faults)")
    #expect(report.faults[0].contains("/s.baseline:"))
  }
}
