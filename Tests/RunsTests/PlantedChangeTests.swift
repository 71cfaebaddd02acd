import Foundation
import Testing

import FedSim
import Runs
import Scenarios

/// Changes of behaviour that somebody may make unnoticed. Each is planted after its scenario was
/// recorded; the places that the check names are found a second time, by comparing two runs event
/// by event, round by round and version by version.
@Suite("A planted change of behaviour is caught, and its first place named")
struct PlantedChangeTests {
  /// Checks a changed run, and that the first places in it are those that `Course` finds.
  private func expectCaught(
    _ report: ScenarioReport, _ right: Course, _ wrong: Course,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(report.status == .broken, "\(report.text)", sourceLocation: sourceLocation)
    let text = report.text
    var named = 0
    for (kind, noun, first) in [
      ("event", "event", Course.firstDifference(right.events, wrong.events, from: 1)),
      ("round", "round", Course.firstDifference(right.rounds, wrong.rounds, from: 1)),
      ("version", "version", Course.firstDifference(right.versions, wrong.versions, from: 0)),
    ] {
      let finding = report.finding(kind)
      if let first {
        named += 1
        #expect(
          finding?.hasPrefix("\(noun) \(first) ") == true, "\(noun) \(first): \(text)",
          sourceLocation: sourceLocation)
      } else {
        #expect(finding == nil, "\(text)", sourceLocation: sourceLocation)
      }
    }
    #expect(named > 0, "a round, a version or an event", sourceLocation: sourceLocation)
  }

  /// A wrong twin of a part, in a copy of a scenario that was recorded with the right one.
  private func expectTwinCaught(
    _ text: String = CheckedFolder.small, right: Registry = .standard, wrong: Registry,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let folder = try CheckedFolder(text)
    let recorded = folder.record(registry: right, inWords: true)
    #expect(recorded.status == .recorded, sourceLocation: sourceLocation)
    #expect(folder.check(registry: right).status == .holds, sourceLocation: sourceLocation)
    expectCaught(
      folder.check(registry: wrong), try Course(folder.path, registry: right),
      try Course(folder.path, registry: wrong), sourceLocation: sourceLocation)
  }

  /// A scenario that was edited: what the engine would do with this behaviour.
  private func expectEditCaught(
    _ old: String, _ new: String, in text: String = CheckedFolder.small,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let folder = try CheckedFolder(text)
    #expect(folder.record(inWords: true).status == .recorded, sourceLocation: sourceLocation)
    let right = try Course(folder.path)
    try folder.edit(old, new)
    expectCaught(
      folder.check(), right, try Course(folder.path), sourceLocation: sourceLocation)
  }

  private static let cohorts = """
    seed: 3
    stop: {rounds: 12, after: 1 d}
    task:
      data:
        source: {blobs: {classes: 3, features: 4, train: 150, test: 60, spread: 1}}
        partition: {quantity-power: {clients: 10}}
      model: softmax
      training: {epochs: 1, batchSize: 5, optimizer: {sgd: 0.1}}
    fleet:
      - name: phones
        count: 10
        background: {windows: {fixed: open}}
        participation: {repeats: true, pause: 1 s}
        compute: {perBatch: 10 s}
    server:
      policy: synchronous-fedavg
      selector: {uniform: {cohort: 4, overSelection: 1}}
      trigger: {cohort-complete: {}, deadline: 10 min}

    """

  @Test("1: the weight by samples is dropped")
  func weightDropped() throws {
    try expectTwinCaught(wrong: .standard.adding(ForgetfulMean.self))
  }

  @Test("2: staleness is counted from the wrong version")
  func staleness() throws {
    try expectTwinCaught(
      CheckedFolder.small.replacing("sample-weighted-mean", with: "fresh-mean"),
      right: .standard.adding(FreshMean.self), wrong: .standard.adding(StaleMean.self))
  }

  @Test("3: a threshold is off by one")
  func threshold() throws {
    try expectTwinCaught(wrong: .standard.adding(LateThreshold.self))
  }

  @Test("4: a tie is broken the other way")
  func tie() throws {
    // Devices with equal shards and no spread finish at the same microsecond; who comes first is
    // the fleet's order, which --shake-ties gives up.
    let text = Self.cohorts.replacing("quantity-power", with: "iid").replacing(
      "overSelection: 1}", with: "overSelection: 1.5}")
    let folder = try CheckedFolder(text)
    #expect(folder.record(inWords: true).status == .recorded)
    let report = folder.check { $0.options.shakeTies = 4 }
    expectCaught(
      report, try Course(folder.path), try Course(folder.path) { $0.shakeTies = 4 })
  }

  @Test("5: an update counts twice")
  func twice() throws {
    try expectTwinCaught(wrong: .standard.adding(DoublingMean.self))
  }

  @Test("6: a deadline loses its tie with an arrival")
  func deadline() throws {
    // The cohort's last update arrives at the very microsecond at which the deadline rings.
    final class Arrivals: Observer {
      var formed = SimTime.start
      var last = SimTime.start
      var isFirstRound = true
      var wantsEveryEvent: Bool { true }
      func happened(_ event: ObservedEvent) {
        if case .cohortFormed(1, _) = event.kind { formed = event.time }
        if case .arrived = event.kind, isFirstRound { last = event.time }
      }
      func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
        isFirstRound = false
      }
    }
    let arrivals = Arrivals()
    var simulation = try Scenario(text: Self.cohorts).makeSimulation()
    simulation.run(observers: [arrivals])
    let after = arrivals.last - arrivals.formed
    #expect(after > .zero)
    try expectTwinCaught(
      Self.cohorts.replacing("deadline: 10 min", with: "deadline: \(after)"),
      wrong: .standard.adding(PoliteDeadline.self))
  }

  @Test("7: a stale update is accepted")
  func staleAccepted() throws {
    try expectEditCaught("maximumStaleness: 2", "maximumStaleness: 3")
  }

  @Test("8: an outbox drops its update instead of keeping it")
  func outbox() throws {
    try expectEditCaught("outbox: {capacity: 1,", "outbox: {capacity: 0,")
  }

  @Test("9: a retry too few")
  func retries() throws {
    try expectEditCaught("attempts: 3,", "attempts: 2,")
  }

  @Test("10: a receipt gives the wrong count of waiting updates")
  func receipt() throws {
    let folder = try CheckedFolder()
    #expect(folder.record(inWords: true).status == .recorded)
    let right = try Course(folder.path)
    // The first receipt, as an engine would have given it that counts an update too many: the
    // recorded run is edited, which is the same to a comparison.
    let text = try folder.text("s.baseline")
    let line = try #require(
      text.split(separator: "\n").first { $0.contains("response receipt pending ") })
    let wrong = try #require(line.wholeMatch(of: #/(.*pending=)(\d+)( ~)(....)/#))
    func hex(_ value: UInt64, _ count: Int) -> String {
      let digits = String(value, radix: 16)
      return String(repeating: "0", count: count - digits.count) + digits
    }
    // Its fingerprint is one higher, and so are the digests that add it up.
    let mark = try #require(UInt16(wrong.4, radix: 16)) &+ 1
    let other = "\(wrong.1)\(Int(wrong.2)! + 1)\(wrong.3)" + hex(UInt64(mark), 4)
    try folder.edit(String(line), other, in: "s.baseline")
    let digest = try #require(text.firstMatch(of: #/eventDigest (.*)/#)).1
    let hour = try Int(#require(line.split(separator: " ").first.flatMap { Double($0) })) / 3600
    let hours = text[try #require(text.range(of: "\n[hours]\n")).upperBound...]
    let row = try #require(
      hours.split(separator: "\n").first { $0.hasPrefix("\(hour) ") })
    let words = row.split(separator: " ")
    for old in [("eventDigest", digest), ("\(words[0]) \(words[1])", words[2])] {
      let new = hex(try #require(UInt64(old.1, radix: 16)) &+ 1, 16)
      try folder.edit("\(old.0) \(old.1)\n", "\(old.0) \(new)\n", in: "s.baseline")
    }
    let report = folder.check()
    let number =
      try #require(
        right.events.firstIndex { $0.contains("response") && $0.contains("pending,") }) + 1
    #expect(report.status == .broken)
    let finding = try #require(report.finding("event"))
    #expect(finding.hasPrefix("event \(number) is the first that differs: found `"), "\(finding)")
    #expect(finding.contains("pending=\(wrong.2)`, recorded `"), "\(finding)")
    #expect(finding.hasSuffix("pending=\(Int(wrong.2)! + 1)`"), "\(finding)")
  }

  @Test("11: the server takes half a step")
  func step() throws {
    try expectTwinCaught(wrong: .standard.adding(TimidSGD.self))
  }

  @Test("12: a round closes one update too early")
  func cohort() throws {
    try expectTwinCaught(Self.cohorts, wrong: .standard.adding(HastyCohort.self))
  }

  @Test("13: a selector takes who came last, and not a sample")
  func selector() throws {
    try expectTwinCaught(Self.cohorts, wrong: .standard.adding(LastSelector.self))
  }

  @Test(
    "the shipped scenarios catch wrong twins of what they use",
    arguments: [
      ("smoke/fleet", 0, "version 1 "), ("smoke/open", 1, "version 1 "),
      ("smoke/lossy", 2, "round 1 "), ("smoke/synchronous", 3, "round 1 "),
      ("smoke/synchronous", 4, "round 2 "),
    ])
  func shipped(name: String, twin: Int, first: String) {
    let registries: [Registry] = [
      .standard.adding(ForgetfulMean.self), .standard.adding(DoublingMean.self),
      .standard.adding(LateThreshold.self), .standard.adding(HastyCohort.self),
      .standard.adding(LastSelector.self),
    ]
    let check = Check(["\(CheckedFolder.shipped)/\(name).yaml"], registry: registries[twin])
    let report = check.perform()
    #expect(report.exitCode == 1)
    let findings = report.scenarios[0].baseline?.findings ?? []
    #expect(
      findings.contains { $0.text.hasPrefix(first) }, "\(report.scenarios[0].text)")
  }
}
