import Foundation
import Testing

import FedSim
import Numerics
import Runs
import Scenarios
import Schema

@Suite("Traces that are written")
struct TraceExportTests {
  /// Phones with their own habits, tablets four and a half hours to the east.
  private static let text =
    Night.text.replacing("    count: 3\n", with: "    count: 3\n    utcOffset: 4 h 30 min\n")
    .replacing(
      "    link: {markov",
      with: """
            power: {diurnal: [{from: "22:00", to: "07:00", spread: 1 h, deviceSpread: 1 h}]}
            usage: {markov: [{state: locked, mean: 20 min}, {state: active, mean: 40 s}]}
            link: {markov
        """)

  private static func scenario(_ folder: Folder, _ overrides: [String] = []) throws -> Scenario {
    try Scenario(text: text, file: folder("night.yaml"), overrides: overrides)
  }

  @Test("what was written and is read again is the world it came from, over 30 wrapped days")
  func roundTrip() throws {
    let folder = try Folder()
    let links = "{markov: [{state: wifi, mean: 3 h}, {state: offline, mean: 7 s}]}"
    let world = try Self.scenario(folder, ["fleet.phones.link=\(links)"])
    var export = TraceExport(world)
    export.days = 5
    let summary = try export.write(to: folder("t.json"))
    #expect(summary.devices == 12 && summary.seconds == 5 * 86_400)
    let flash = "{flash: {file: t.json, gapPolicy: offline}}"
    let back = try Self.scenario(
      folder,
      ["phones", "tablets"].flatMap { group in
        ["power", "link", "usage"].map { "fleet.\(group).\($0)=\(flash)" }
      } + ["fleet.tablets.power.flash.firstTrace=9", "fleet.tablets.link.flash.firstTrace=9"]
        + ["fleet.tablets.usage.flash.firstTrace=9"])
    let (before, after) = (try world.inputs(), try back.inputs())
    for (group, count) in [(0, 9), (1, 3)] {
      for ordinal in 0..<count {
        for series in [Series.power, .link, .usage] {
          var theirs = try #require(before.timeline(series, group: group, ordinal: ordinal))
          var ours = try #require(after.timeline(series, group: group, ordinal: ordinal))
          var stream = StreamKey(seed: UInt64(ordinal), purpose: "questions").stream(slot: 0)
          for _ in 0..<1_500 {
            let second = Int64(stream.uniform() * 30 * 86_400)
            let state = theirs.state(at: .start + .seconds(second % (5 * 86_400)))
            #expect(
              ours.state(at: .start + .seconds(second)) == state,
              "\(series) of \(group)/\(ordinal) at \(second) s")
          }
        }
      }
    }
  }

  @Test(
    "a table that was written and is read again is the series it came from, to the microsecond",
    arguments: [Series.power, .link, .usage, .window])
  func tables(series: Series) throws {
    let folder = try Folder()
    let world = try Self.scenario(folder)
    var export = TraceExport(world)
    (export.format, export.series, export.days) = (.csv, "\(series)", 3)
    let isWindow = series == .window
    if isWindow { export.group = "tablets" }
    let summary = try export.write(to: folder("t.csv"))
    #expect(summary.devices == (isWindow ? 3 : 12))
    let key = isWindow ? "background.windows" : "\(series)"
    let groups = isWindow ? ["tablets"] : ["phones", "tablets"]
    let back = try Self.scenario(
      folder, groups.map { "fleet.\($0).\(key)={csv: {file: t.csv, period: 3 d}}" })
    let (before, after) = (try world.inputs(), try back.inputs())
    for (group, count) in isWindow ? [(1, 3)] : [(0, 9), (1, 3)] {
      for ordinal in 0..<count {
        var theirs = try #require(before.timeline(series, group: group, ordinal: ordinal))
        var ours = try #require(after.timeline(series, group: group, ordinal: ordinal))
        var (time, changes) = (SimTime.start, 0)
        let end = SimTime.start + .days(3)
        #expect(ours.state(at: time) == theirs.state(at: time))
        while let next = theirs.next(after: time, before: end) {
          let other = ours.next(after: time, before: end)
          #expect(other?.time == next.time && other?.state == next.state)
          // Three turns later it is the same.
          let late = next.time + .days(9)
          #expect(ours.state(at: late) == next.state)
          (time, changes) = (next.time, changes + 1)
        }
        #expect(ours.next(after: time, before: end) == nil)
        #expect(changes > 0 || !isWindow)
      }
    }
  }

  @Test("the text is FLASH's: local time to the second, and all three series at both ends")
  func text() throws {
    let folder = try Folder()
    let late = "{from: 3 s, to: 5 s}"
    let world = try Self.scenario(
      folder,
      [
        "fleet.tablets.power={fixed: {intervals: [{from: 1500 ms, to: 1900 ms}, \(late)]}}",
        "fleet.tablets.link={fixed: cellular}", "fleet.tablets.count=1", "stop.after=5500 ms",
      ])
    var export = TraceExport(world)
    export.group = "tablets"
    let summary = try export.write(to: folder("t.json"))
    // 06:00:00 UTC is 10:30:00 there; 1.5 s to 1.9 s is between two whole seconds; the end is at
    // 6 s.
    let lines = [
      "10:30:00\tbattery_charged_off", "10:30:00\t4G", "10:30:00\tscreen_off",
      "10:30:00\tscreen_lock", "10:30:03\tbattery_charged_on", "10:30:05\tbattery_charged_off",
      "10:30:06\tbattery_charged_off", "10:30:06\t4G", "10:30:06\tscreen_off",
      "10:30:06\tscreen_lock",
    ]
    let expected = ["tablets/0": ["guid": "tablets/0", "model": "unknown", "messages": ""]]
    let data = try Data(contentsOf: URL(fileURLWithPath: folder("t.json")))
    let found = try JSONDecoder().decode([String: [String: String]].self, from: data)
    #expect(found.keys == expected.keys && found["tablets/0"]?["guid"] == "tablets/0")
    #expect(
      found["tablets/0"]?["messages"] == lines.map { "2025-11-17 \($0)\n" }.joined(),
      "\(found)")
    #expect(summary.lines == lines.count && summary.seconds == 6)
  }

  @Test("nothing is left where nothing can be written")
  func refusals() throws {
    let folder = try Folder()
    func refusal(
      _ overrides: [String] = [], _ change: (inout TraceExport) -> Void
    ) throws -> String {
      var export = TraceExport(try Self.scenario(folder, overrides))
      change(&export)
      do throws(RunFailure) {
        _ = try export.write(to: folder("t.out"))
        return "written"
      } catch {
        return error.description
      }
    }
    #expect(try refusal { $0.group = "phone" }.contains("did you mean `phones`?"))
    #expect(try refusal { $0.series = "power" } == "--series needs --format csv")
    #expect(try refusal { $0.format = .csv }.contains("needs --series, one of power, link"))
    #expect(
      try refusal { ($0.format, $0.series) = (.csv, "windw") }.contains("did you mean `window`?"))
    #expect(
      try refusal { ($0.format, $0.series) = (.csv, "window") }
        == "group `phones` has no series window")
    #expect(
      try refusal(["start=9999-12-30T00:00:00Z"]) { $0.days = 2 }.contains("years 1 to 9999"))
    #expect(
      try refusal(["fleet.phones.power={flash: none.json}"]) { _ in }.contains(
        "none.json: No such file"))
    #expect(folder.names.isEmpty)
  }
}
