import Foundation
import Testing

import FedSim
import Results
import Runs
import Scenarios

@Suite("Events and timelines in a result")
struct StoredStoryTests {
  private static func run(_ overrides: [String]) throws -> ResultDocument {
    let folder = try Folder()
    let scenario = try Scenario(
      text: PlantedStory.text, file: folder("s.yaml"), overrides: overrides)
    _ = try Run(scenario, output: folder("r.h5")).perform()
    return try ResultFile.read(folder("r.h5"))
  }

  /// A line per event of a device: seconds, kind, detail, and the numbers that are there.
  private static func events(_ document: ResultDocument, of device: Double) throws -> [String] {
    func column(_ name: String) throws -> [Double] {
      try #require(document.variable("events/\(name)")?.values.asDoubles)
    }
    let kinds = try #require(document.variable("events/kind")?.flagMeanings)
    let details = try #require(document.variable("events/detail")?.flagMeanings)
    let devices = try column("device")
    return try devices.indices.filter { devices[$0] == device }.map { row in
      let detail = details[Int(try column("detail")[row])]
      var line = "\(try column("time")[row]) \(kinds[Int(try column("kind")[row])])"
      if detail != "none" { line += " \(detail)" }
      for (letter, name) in [("r", "round"), ("v", "version"), ("u", "update"), ("n", "count")] {
        let value = Int(try column(name)[row])
        if value >= 0 { line += " \(letter)\(value)" }
      }
      return line
    }
  }

  /// The numbers are at `PlantedStory`.
  @Test("every event of a device and of the server is there, with its codes")
  func events() throws {
    let document = try Self.run(["record.events=true"])
    #expect(
      try Self.events(document, of: 0) == [
        "0.0 sessionBegan window r1", "2.02 accepted r1", "4.34 downloaded r1 v0",
        "4.34 trainingBegan r1 v0 n0", "8.34 attemptEnded finished r1 n4",
        "8.34 updateCreated r1 v0 u0 n4", "8.34 uploadBegan r1 u0", "9.65 arrived r1 u0",
        "10.66 receipt pending r1 v0 u0 n1", "10.66 sessionEnded completed r1",
        "3609.65 updateEnded aggregated r1 u0",
      ])
    // The second tablet's update finds round 2 open.
    #expect(
      try Self.events(document, of: -1) == ["0.0 published r1 v0 n0", "3609.65 published r1 v1 n2"])
    #expect(document["events"]?[attribute: "missed"] == .integer(0))
    #expect(document["timeline"] == nil)
  }

  @Test("the log holds the first events up to its limit and counts the rest")
  func limit() throws {
    let all = try Self.run(["record.events=true"])
    let some = try Self.run(["record.events=true", "record.eventLimit=7"])
    let count = try #require(all.variable("events/time")).values.count
    #expect(
      some.numbers("events/time") == Array(try #require(all.numbers("events/time")?.prefix(7))))
    #expect(some["events"]?[attribute: "missed"] == .integer(Int64(count - 7)))
  }

  @Test("the states of a device are there as intervals")
  func timeline() throws {
    let document = try Self.run([
      "record.timelineOf=[phones/0]", "fleet.phones.power={fixed: {intervals: [{from: 60 s}]}}",
    ])
    func intervals(_ part: String) throws -> [String] {
      let group = try #require(document["timeline/\(part)"])
      let words = group[variable: "state"]?.flagMeanings ?? []
      let states = try #require(group[variable: "state"]).values.asDoubles.map { Int($0) }
      let from = try #require(group[variable: "from"]).values.asDoubles
      let to = try #require(group[variable: "to"]).values.asDoubles
      #expect(try #require(group[variable: "device"]).values.asDoubles.allSatisfy { $0 == 0 })
      return states.indices.map {
        "\(from[$0]) \(to[$0]) \(words.isEmpty ? "\(states[$0])" : words[states[$0]])"
      }
    }
    #expect(try intervals("power") == ["0.0 60.0 unplugged", "60.0 7200.0 plugged"])
    #expect(try intervals("link") == ["0.0 7200.0 wifi"])
    #expect(
      try intervals("window")
        == ["0.0 90.0 open", "90.0 95.0 expiring", "95.0 7200.0 closed"])
    #expect(try intervals("app") == ["0.0 10.66 window", "10.66 7200.0 none"])
    #expect(
      try intervals("work") == [
        "0.0 2.02 checking", "2.02 4.34 downloading", "4.34 8.34 training", "8.34 10.66 uploading",
        "10.66 7200.0 none",
      ])
    #expect(try intervals("outbox") == ["0.0 8.34 0", "8.34 10.66 1", "10.66 7200.0 0"])
    #expect(try intervals("version") == ["0.0 4.34 -1", "4.34 7200.0 0"])
    #expect(try intervals("energy") == ["0.0 7200.0 normal"])
    #expect(document["events"] == nil)
  }

  @Test("equal runs are equal files, whatever the threads; without it nothing changes")
  func sameBytes() throws {
    let folder = try Folder()
    func bytes(_ threads: Int, _ eager: Bool, _ overrides: [String]) throws -> Data {
      let scenario = try Scenario(text: Night.text, file: "night.yaml", overrides: overrides)
      var options = RunOptions()
      options.threads = threads
      options.compute = eager ? .eager : .lazy
      _ = try Run(scenario, output: folder("n.h5"), options: options).perform()
      return try Data(contentsOf: URL(fileURLWithPath: folder("n.h5")))
    }
    let recorded = ["record.events=true", "record.timelineOf=[phones/1, tablets/0]"]
    let reference = try bytes(1, false, recorded)
    #expect(try bytes(3, false, recorded) == reference)
    #expect(try bytes(2, true, recorded) == reference)
    let plain = try Night.run().document
    let (_, document) = try Night.run("record.events=true", "record.timelineOf=[phones/1]")
    #expect(
      document.root[attribute: "eventDigest"] == plain.root[attribute: "eventDigest"])
    for group in plain.root.groups { #expect(document[group.name] == group, "\(group.name)") }
    #expect(document.root.groups.count == plain.root.groups.count + 2)
    try document.validate()
  }

  @Test("a device that is not there is refused")
  func faults() {
    #expect(throws: (any Error).self) { try Night.scenario("record.timelineOf=[phones/9]") }
    #expect(throws: (any Error).self) { try Night.scenario("record.timelineOf=[phone/1]") }
    #expect(throws: (any Error).self) { try Night.scenario("record.timelineOf=[phones]") }
  }

  /// The phone's update arrives at 9.650 and closes round 1; it is done at 10.660. The tablets
  /// begin at 30 s and close round 2 at 39.650.
  @Test("tells of a device that had done its work, whether it pauses or has asked again")
  func afterItsWork() throws {
    let folder = try Folder()
    func explained(_ overrides: String...) throws -> Explanation {
      let story = PlantedStory(
        name: "",
        overrides: [
          "fleet.phones.participation.repeats=true",
          PlantedStory.window("30 s", "89 s", "94 s", of: "tablets"),
        ] + overrides, round: 2, cause: .pausing, causeText: "", sentence: "", ledger: [])
      return try story.explained(in: folder).0
    }
    let pausing = try explained(
      "server.trigger.threshold=1", "fleet.phones.participation.pause=1 min")
    #expect(pausing.cause == .pausing)
    #expect(
      pausing.text.contains(
        "it had finished its work at 0 d 00:00:10.66, and pauses for 1 min before its next "
          + "request"),
      "\(pausing.text)")
    let done = try explained(
      "server.trigger.threshold=1", "fleet.phones.participation.repeats=false")
    #expect(done.cause == .noWindow)
    #expect(done.causeText == "its app had stopped before in a window that was still open")
    let asking = try explained(
      "server.trigger=[cohort-complete]", "fleet.phones.participation.pause=1 s",
      "server.selector={scripted: {cohorts: [[0], [1, 2]]}}")
    #expect(asking.cause == .notChosen, "\(asking.text)")
    #expect(asking.causeText == "the server did not select it")
  }
}
