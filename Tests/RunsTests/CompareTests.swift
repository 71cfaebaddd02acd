import Foundation
import Testing

import FedSim
import Results
import Runs
import Scenarios

@Suite("fedsim compare finds where two results diverge")
struct CompareTests {
  private func run(
    _ scenario: Scenario, _ folder: Folder, _ name: String, _ options: RunOptions = RunOptions()
  ) throws -> String {
    _ = try Run(scenario, output: folder(name), options: options).perform()
    return folder(name)
  }

  /// The place is found a second time from the lists of all events, which observers collect, and
  /// from the tables, cell by cell.
  @Test("a planted difference, at its exact place", arguments: PlantedDifference.all)
  func planted(_ planted: PlantedDifference) throws {
    let folder = try Folder()
    let scenarios = try planted.scenarios()
    let a = try run(scenarios.0, folder, "a.h5")
    let b = try run(scenarios.1, folder, "b.h5", planted.options)
    let comparison = try Comparison(a, b)
    #expect(comparison.verdict == .different)
    #expect(comparison.warnings == [])
    let settings = comparison.settings.map { setting in
      "\(setting.place): \(setting.a ?? "absent")" + (setting.b.map { " | \($0)" } ?? "")
    }
    #expect(settings.count == planted.settings.count, "\(settings)")
    for (found, expected) in zip(settings, planted.settings) {
      #expect(found.hasPrefix(expected), "\(found)")
    }

    let tapes = try (
      EveryEvent.of(scenarios.0), EveryEvent.of(scenarios.1, planted.options)
    )
    let place = EveryEvent.firstDifference(tapes.0, tapes.1)
    #expect(comparison.event?.index == place, "\(comparison.text)")
    #expect(comparison.event?.kind == planted.kind, "\(comparison.text)")
    if let place {
      #expect(comparison.search == .played)
      #expect(comparison.event?.a?.time == tapes.0.times[place].seconds)
      #expect(comparison.event?.b?.time == tapes.1.times[place].seconds)
      // An hour's digest is a sum: it does not tell the order of what it adds up, and it differs
      // where numbers do.
      if planted.kind == .event, comparison.event?.numbersFrom == nil {
        let earlier = min(tapes.0.times[place], tapes.1.times[place])
        let hour = try #require(comparison.hour).number
        #expect(hour == Int(earlier.microseconds / 3_600_000_000))
      }
    } else {
      #expect(comparison.hour == nil)
      #expect(comparison.text.contains("events: all equal"))
    }

    let documents = (try ResultFile.read(a), try ResultFile.read(b))
    let version = firstDifferentRow(documents.0, documents.1, "versions")
    #expect(comparison.version?.row == version, "\(comparison.text)")
    #expect(comparison.version?.number == planted.version, "\(comparison.text)")
    #expect(comparison.round?.row == firstDifferentRow(documents.0, documents.1, "rounds"))
    if !planted.words.isEmpty {
      #expect(comparison.text.contains(planted.words), "\(comparison.text)")
    }
  }

  @Test("the digests of the hours add up to that of the run")
  func hours() throws {
    let (simulation, document) = try Night.run()
    let hours = try #require(document.integers("hours/eventDigest"))
    #expect(hours.count == 48)
    let sum = hours.reduce(UInt64(0)) { $0 &+ UInt64(bitPattern: $1) }
    #expect(sum == simulation.eventDigest.value)
    // The event that ends the run, at 48 h, is of hour 47 in the table.
    #expect(simulation.eventDigest.hours.count == 49)
    #expect(Set(hours).count > 40)
  }

  @Test("equal files are the same bytes, and equal content in other bytes is the same content")
  func same() throws {
    let folder = try Folder()
    let a = try run(Night.scenario(), folder, "a.h5")
    try FileManager.default.copyItem(atPath: a, toPath: folder("b.h5"))
    let equal = try Comparison(a, folder("b.h5"))
    #expect(equal.verdict == .sameBytes && equal.isSame)
    #expect(equal.text == "same bytes: \(a) and \(folder("b.h5"))")
    // HDF5 does not mind bytes behind its end.
    let handle = try #require(FileHandle(forWritingAtPath: folder("b.h5")))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data([0]))
    try handle.close()
    let content = try Comparison(a, folder("b.h5"))
    #expect(content.verdict == .sameContent && content.isSame)
    #expect(content.search == .notNeeded && content.event == nil)
  }

  @Test("an event that was taken out of a stored log is found in its row, without playing")
  func removedEvent() throws {
    let folder = try Folder()
    let a = try run(Night.scenario("record.events=true"), folder, "a.h5")
    var document = try ResultFile.read(a)
    let place = try #require(document.root.groups.firstIndex { $0.name == "events" })
    var events = document.root.groups[place]
    let row = 137
    for index in events.variables.indices {
      events.variables[index].values.remove(at: row)
    }
    events.axes[0].length -= 1
    document.root.groups[place] = events
    try ResultFile.prepare(folder("b.h5")).write(document)
    let comparison = try Comparison(a, folder("b.h5"))
    #expect(comparison.search == .stored && comparison.warnings == [])
    #expect(comparison.event?.index == row)
    // The row of the second file is the one that was behind it in the first.
    let whole = try ResultFile.read(a)
    let times = try #require(whole.numbers("events/time"))
    #expect(comparison.event?.a?.time == times[row])
    #expect(comparison.event?.b?.time == times[row + 1])
    #expect(comparison.version == nil && comparison.round == nil && comparison.hour == nil)
  }

  @Test("a cell that was changed after the file was written is found, and reported")
  func editedCell() throws {
    let folder = try Folder()
    let a = try run(Night.scenario(), folder, "a.h5")
    var document = try ResultFile.read(a)
    document.edit("devices", "aggregated") { $0[4] += 1 }
    try ResultFile.prepare(folder("b.h5")).write(document)
    let comparison = try Comparison(a, folder("b.h5"))
    #expect(comparison.cells.count == 1 && comparison.event == nil && comparison.settings == [])
    let was = try #require(document.integers("devices/aggregated"))[4] - 1
    #expect(
      comparison.cells.map { "\($0.place) \($0.a ?? "") \($0.b ?? "")" } == [
        "devices/aggregated [device 4] \(was) \(was + 1)"
      ])
    #expect(comparison.version == nil && comparison.round == nil)
  }

  @Test("stored events are used where both files have them")
  func storedEvents() throws {
    let folder = try Folder()
    let a = try run(
      Night.scenario("record.events=true", "server.trigger={threshold: 3}"), folder, "a.h5")
    let b = try run(
      Night.scenario("record.events=true", "server.trigger={threshold: 4}"), folder, "b.h5")
    let comparison = try Comparison(a, b)
    #expect(comparison.search == .stored)
    // The third update makes a version with a threshold of 3 only.
    let kinds = try #require(ResultFile.read(a).variable("events/kind"))
    let published = try #require(kinds.flagMeanings.firstIndex(of: "published"))
    let codes = kinds.values.asDoubles.map { Int($0) }
    let first = try #require(codes.dropFirst().firstIndex(of: published))
    let event = try #require(comparison.event)
    #expect(event.index <= first && event.index >= first - 3)
    let times = try #require(ResultFile.read(a).numbers("events/time"))
    #expect(event.a?.time == times[first])
  }

  @Test("without playing, the hour is reported and the event is not searched")
  func noReplay() throws {
    let folder = try Folder()
    let a = try run(Night.scenario(), folder, "a.h5")
    let b = try run(Night.scenario("seeds.world=8"), folder, "b.h5")
    let comparison = try Comparison(a, b, replays: false)
    #expect(comparison.search == .notAsked && comparison.event == nil)
    #expect(comparison.hour != nil)
    #expect(comparison.text.contains("first differing event: not searched (--no-replay)"))
  }

  @Test("a result of another version is compared by what it holds, and not played")
  func otherVersion() throws {
    let folder = try Folder()
    let a = try run(Night.scenario(), folder, "a.h5")
    var document = try ResultFile.read(try run(Night.scenario("seeds.world=8"), folder, "c.h5"))
    let place = try #require(document.root.attributes.firstIndex { $0.name == "engineVersion" })
    document.root.attributes[place].value = .text("0.0.1")
    try ResultFile.prepare(folder("b.h5")).write(document)
    let comparison = try Comparison(a, folder("b.h5"))
    #expect(comparison.search == .notPossible && comparison.verdict == .different)
    #expect(comparison.obstacle?.contains("a result of FedSim 0.0.1") == true)
    #expect(comparison.attributes.map(\.place).contains("engineVersion"))
    #expect(comparison.hour != nil && comparison.version != nil)
  }

  @Test("a file whose run is no longer reproduced is named")
  func notReproduced() throws {
    let folder = try Folder()
    let a = try run(Night.scenario(), folder, "a.h5")
    var document = try ResultFile.read(try run(Night.scenario("seeds.world=8"), folder, "c.h5"))
    let place = try #require(document.root.attributes.firstIndex { $0.name == "eventDigest" })
    document.root.attributes[place].value = .text("0123456789abcdef")
    try ResultFile.prepare(folder("b.h5")).write(document)
    let comparison = try Comparison(a, folder("b.h5"))
    #expect(comparison.search == .played && comparison.event != nil)
    #expect(comparison.warnings.count == 1)
    #expect(comparison.warnings[0].hasPrefix("\(folder("b.h5")) is not reproducible"))
  }
}

extension ResultDocument {
  /// Changes the whole numbers of a variable.
  mutating func edit(_ group: String, _ name: String, _ change: (inout [Int64]) -> Void) {
    let place = root.groups.firstIndex { $0.name == group }!
    let column = root.groups[place].variables.firstIndex { $0.name == name }!
    guard case .int64(var values) = root.groups[place].variables[column].values else { return }
    change(&values)
    root.groups[place].variables[column].values = .int64(values)
  }
}

extension ResultValues {
  /// Takes one number out.
  mutating func remove(at index: Int) {
    switch self {
    case .double(var x): x.remove(at: index); self = .double(x)
    case .float(var x): x.remove(at: index); self = .float(x)
    case .int64(var x): x.remove(at: index); self = .int64(x)
    case .int32(var x): x.remove(at: index); self = .int32(x)
    case .int8(var x): x.remove(at: index); self = .int8(x)
    case .uint8(var x): x.remove(at: index); self = .uint8(x)
    }
  }
}
