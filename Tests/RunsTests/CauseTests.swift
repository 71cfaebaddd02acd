import Foundation
import Testing

import FedSim
import Runs

@Suite("Causes")
struct CauseTests {
  /// The app is opened at 10 s, and is in its user's hand until 1800 s. From 300 s after that on
  /// its heartbeat is overdue, and its token has expired; the server is down by then. A training
  /// needs power, which never comes.
  @Test("an app that only had to tell the server that it lives did not run for a training")
  func heartbeats() throws {
    let story = PlantedStory(
      name: "",
      overrides: [
        PlantedStory.task("requiresExternalPower: true"), "fleet.phones.power={fixed: unplugged}",
        "fleet.phones.authentication={}", "server.authentication={tokenLife: 2 min}",
        "fleet.phones.heartbeats={foreground: 300 s}",
        "fleet.phones.usage={fixed: {intervals: [{from: 0 s, to: 1800 s}]}}",
        "inject=[{at: 10 s, device: phones/0, action: open}]",
        "server.reachable={fixed: {otherwise: up, "
          + "intervals: [{from: 200 s, to: 1800 s, state: down}]}}",
      ], cause: .neverHeld, causeText: "", sentence: "", ledger: [])
    let (explanation, _) = try story.explained(in: Folder())
    #expect(
      explanation.text.contains(
        "At 0 d 00:05:10 its app had to send a heartbeat."), "\(explanation.text)")
    #expect(explanation.cause == .neverHeld)
    #expect(explanation.causeText == "never charging")
    // While such a session still lasts: the request of 310 s is given up after a minute.
    var short = story
    short.overrides += ["stop.after=330 s", "stop.playsOut=true"]
    short.round = nil
    #expect(try short.explained(in: Folder()).0.causeText == "never idle and never charging")
  }

  @Test("the system that grants no further task is the cause, and an eviction is in the story")
  func processLife() throws {
    // The task at 100 s makes the update of round 1, which ends with the tablets' at 1 h; the next
    // one may start at 10,100 s. Suspended at 110.660 s, the app is out of memory 10 s later.
    let story = PlantedStory(
      name: "no further task",
      overrides: [
        "fleet.phones.background={windows: null, processing: {idleDwell: 100 s, startDelay: 0 s}, "
          + "system: {processingStarts: {within: [{at: 0, value: 10000 s}]}}}",
        "fleet.phones.app={evictedAfter: {median: 10 s}}",
      ],
      round: 2, cause: .neverHeld, causeText: "", sentence: "", ledger: [])
    let (explanation, document) = try story.explained(in: Folder())
    #expect(explanation.cause == .neverHeld)
    #expect(explanation.causeText == "granted no further task by its system")
    #expect(
      explanation.text.contains(
        "the system never started its task, because it was granted no further task by its system"),
      "\(explanation.text)")
    #expect(document.integers("ledger/evictions") == [1])
    var first = story
    first.round = 1
    let (earlier, _) = try first.explained(in: Folder())
    #expect(earlier.cause == .contributed)
    #expect(
      earlier.text.contains("the system removed its suspended app from memory"), "\(earlier.text)")
  }

  @Test("the page on asking why lists every cause, and no other")
  func page() throws {
    let root =
      URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().path
    let text = try String(contentsOfFile: root + "/docs/why.md", encoding: .utf8)
    let start = try #require(text.range(of: "\n| cause | meaning |\n|---|---|\n"))
    let rows = text[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
      .prefix { $0.hasPrefix("| `") }
    let words = rows.map { String($0.dropFirst(3).prefix { $0 != "`" }) }
    #expect(words == Explanation.Cause.allCases.map(\.rawValue))
  }
}
