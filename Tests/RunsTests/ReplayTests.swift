import Foundation
import Testing

import FedSim
import Learning
import Results
import Runs
import Scenarios
import Schema

/// Means with a weight of the first update that another part's author may have chosen.
private struct HeavyFirst: Aggregator {
  static let name = "heavy-first"
  static let summary = "A mean in which the first update counts more"

  struct Settings: PartSettings {
    var weight = 1.0
    init() {}
    static var shorthand: String? { "weight" }
    static var fields: [Field<Settings>] {
      [Field("weight", \.weight, .number(0...10), "The weight of the first update")]
    }
  }

  /// What the installed part multiplies by: a version of the part, not a setting.
  nonisolated(unsafe) static var factor = 1.0
  private let weight: Double

  init(_ settings: Settings) { weight = settings.weight * Self.factor }

  func combine(_ batch: AggregationBatch, _ memory: inout NoMemory) -> ParameterBuffer {
    let sum = Double(batch.updates.count - 1) + weight
    return batch.weightedSum(batch.updates.indices.map { ($0 == 0 ? weight : 1) / sum })
  }
}

@Suite("fedsim replay says whether a run is reproduced", .serialized)
struct ReplayTests {
  private let registry = Registry.standard.adding(HeavyFirst.self)

  private func run(
    _ folder: Folder, _ overrides: String..., options: RunOptions = RunOptions()
  ) throws -> String {
    let scenario = try Scenario(
      text: Night.text, file: folder("night.yaml"), overrides: overrides, registry: registry)
    _ = try Run(scenario, output: folder("r.h5"), options: options).perform()
    return folder("r.h5")
  }

  @Test("the bytes are the same, whatever the threads and whatever was recorded")
  func sameBytes() throws {
    let folder = try Folder()
    var options = RunOptions()
    options.threads = 2
    for overrides in [
      [], ["record.events=true", "record.timelineOf=[phones/1]"],
      ["record.federatedEvaluation={}", "stop.versions=5"], ["stop.accuracy=0.5"],
    ] {
      let scenario = try Scenario(
        text: Night.text, file: folder("night.yaml"), overrides: overrides)
      var run = Run(scenario, output: folder("r.h5"))
      run.safety.replacesOthers = true
      _ = try run.perform()
      let replay = try Replay(folder("r.h5"), options: options)
      #expect(replay.verdict == .sameBytes && replay.isSame, "\(overrides): \(replay.text)")
      #expect(replay.text == "same bytes: \(folder("r.h5"))")
      #expect(replay.storedDigest == replay.playedDigest && replay.hasSameEvents)
    }
  }

  @Test("the bytes are the same where ties were shaken")
  func shaken() throws {
    let folder = try Folder()
    var options = RunOptions()
    options.shakeTies = 5
    let replay = try Replay(try run(folder, options: options))
    #expect(replay.verdict == .sameBytes)
  }

  @Test("a cell that was changed in the file is reported with both values")
  func editedCell() throws {
    let folder = try Folder()
    let path = try run(folder)
    var document = try ResultFile.read(path)
    document.edit("versions", "samples") { $0[5] += 7 }
    try ResultFile.prepare(path).write(document)
    let replay = try Replay(path)
    #expect(replay.verdict == .different && !replay.isSame && replay.hasSameEvents)
    #expect(replay.version?.number == 5 && replay.version?.columns.map(\.place) == ["samples"])
    let stored = try #require(document.integers("versions/samples"))[5]
    #expect(replay.version?.columns[0].a == "\(stored)")
    #expect(replay.version?.columns[0].b == "\(stored - 7)")
    #expect(replay.cells.map(\.place) == ["versions/samples [version 5]"])
    #expect(replay.round == nil && replay.hour == nil && replay.event == nil)
  }

  @Test("an event that is missing in the file is reported by its row")
  func removedEvent() throws {
    let folder = try Folder()
    let path = try run(folder, "record.events=true")
    var document = try ResultFile.read(path)
    let place = try #require(document.root.groups.firstIndex { $0.name == "events" })
    for index in document.root.groups[place].variables.indices {
      document.root.groups[place].variables[index].values.remove(at: 60)
    }
    document.root.groups[place].axes[0].length -= 1
    try ResultFile.prepare(path).write(document)
    let replay = try Replay(path)
    #expect(replay.verdict == .different && replay.event?.index == 60)
    #expect(replay.version == nil && replay.round == nil)
  }

  @Test("another weight in a part of another package shows in the first version, and in no event")
  func aggregatorWeight() throws {
    let folder = try Folder()
    HeavyFirst.factor = 1
    let path = try run(folder, "server.aggregator={heavy-first: 2}")
    #expect(try Replay(path, registry: registry).verdict == .sameBytes)
    HeavyFirst.factor = 1.25
    defer { HeavyFirst.factor = 1 }
    let replay = try Replay(path, registry: registry)
    #expect(replay.verdict == .different && replay.hasSameEvents)
    #expect(replay.version?.number == 1 && replay.round == nil && replay.hour == nil)
    #expect(replay.event == nil && replay.text.contains("events: all equal"))
  }

  @Test("a table of intervals that has changed since shows in its hour")
  func changedTable() throws {
    let folder = try Folder()
    func write(_ from: Int) throws {
      try folder.write(
        "device,from,to\nphones/0,\(from),\(from + 600)\nphones/1,20000,21000\n", to: "w.csv")
    }
    try write(7200)
    let path = try run(
      folder, "fleet.phones.background={windows: {csv: w.csv}, processing: null}")
    #expect(try Replay(path).verdict == .sameBytes)
    // The window opens in hour 2, at 7,200 s or 7,300 s.
    try write(7300)
    let replay = try Replay(path)
    #expect(replay.verdict == .different && !replay.hasSameEvents)
    #expect(replay.hour?.number == 2)
    #expect(replay.text.contains("events: different"))
  }

  @Test("a result of an older schema is the same as far as it goes, unless a cell of it is not")
  func olderSchema() throws {
    let folder = try Folder()
    var document = try ResultFile.read(
      URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures/results/open-schema1.h5").path)
    // An earlier version of FedSim made it; a result of another version is not played again.
    let version = try #require(document.root.attributes.firstIndex { $0.name == "engineVersion" })
    document.root.attributes[version].value = .text(FedSimVersion.current)
    let fixture = folder("schema1.h5")
    try ResultFile.prepare(fixture).write(document)
    let replay = try Replay(fixture)
    #expect(replay.verdict == .sameAsHeld && replay.isSame && replay.hasSameEvents)
    #expect(
      replay.text.hasPrefix("same as far as comparable: everything in \(fixture) is reproduced"))
    #expect(replay.missing.allSatisfy { !$0.isInA } && !replay.missing.isEmpty)
    document.edit("versions", "samples") { $0[1] += 1 }
    try ResultFile.prepare(folder("x.h5")).write(document)
    #expect(try Replay(folder("x.h5")).verdict == .different)
  }

  @Test("what cannot be played again is refused, with what is wrong")
  func refusals() throws {
    let folder = try Folder()
    func message(_ path: String) -> String {
      do throws(RunFailure) {
        _ = try Replay(path)
        return ""
      } catch {
        return error.isBadInput ? error.description : "failed"
      }
    }
    #expect(message(folder("no.h5")).contains("there is no such file"))
    try folder.write("seed: 1\n", to: "x.h5")
    #expect(message(folder("x.h5")).contains("this is not a result of FedSim"))
    let path = try run(folder)
    var document = try ResultFile.read(path)
    for (name, value, expected) in [
      ("dataDigest", "00", "have changed since"), ("engineVersion", "9.9.9", "FedSim 9.9.9"),
    ] {
      let place = try #require(document.root.attributes.firstIndex { $0.name == name })
      document.root.attributes[place].value = .text(value)
      try ResultFile.prepare(path).write(document)
      #expect(message(path).contains(expected), "\(name)")
    }
  }
}
