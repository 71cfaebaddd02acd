import Foundation
import Testing

import FedSim
import Numerics
import Results
import Runs
import Scenarios
import Schema

@Suite("Traces that a scenario names")
struct TraceFileTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures/traces").path

  /// A scenario next to the fixtures of Tests/Fixtures-scripts/make_trace_files.py.
  private static func scenario(_ overrides: [String]) throws -> Scenario {
    try Scenario(text: Night.text, file: folder + "/night.yaml", overrides: overrides)
  }

  private static func faults(_ overrides: [String], in folder: String = folder) -> [String] {
    do throws(Faults) {
      _ = try Scenario(text: Night.text, file: folder + "/night.yaml", overrides: overrides)
        .inputs()
      return []
    } catch {
      return error.faults.map {
        $0.description.replacingOccurrences(of: folder + "/", with: "")
      }
    }
  }

  private struct Eligible: Decodable {
    let length: Int64
    let intervals: [[Int64]]
  }

  @Test("phones are free when FLASH takes them to be, over 30 wrapped days, asked in any order")
  func flash() throws {
    let inputs = try Self.scenario([
      "fleet.tablets.background.windows={flash: {file: flash.json, align: first}}",
      "fleet.tablets.background.windows.flash.gapPolicy=offline",
      "fleet.tablets.count=6",
    ]).inputs()
    let text = try Data(contentsOf: URL(fileURLWithPath: Self.folder + "/flash-eligible.json"))
    let eligible = try JSONDecoder().decode([String: Eligible].self, from: text)
    var open = 0
    for user in 0..<6 {
      let trace = try #require(eligible["user-\(user)"])
      var timeline = try #require(inputs.timeline(.window, group: 1, ordinal: user))
      var stream = StreamKey(seed: UInt64(user), purpose: "questions").stream(slot: 0)
      for _ in 0..<20_000 {
        let second = Int64(stream.uniform() * 30 * 86_400)
        let rest = second % trace.length
        let isOpen = trace.intervals.contains { $0[0] <= rest && rest < $0[1] }
        // Grace, the last of a window, counts as open.
        let state = timeline.state(at: .start + .seconds(second))
        #expect((state != 0) == isOpen, "user-\(user) at \(second) s")
        open += isOpen ? 1 : 0
      }
    }
    #expect(open > 5_000, "there is something to see")
  }

  @Test("pickles of every protocol, as Python writes them, give the same devices", arguments: 0...5)
  func protocols(version: Int) throws {
    let inputs = try Self.scenario([
      "fleet.phones.link={fedscale: {file: availability-\(version).pickle}}",
      "fleet.phones.capacity=capacity-\(version).pickle",
    ]).inputs()
    let traces = try #require(inputs.traces.values.first)
    #expect(inputs.traces.count == 1 && traces.count == 4)
    let seconds: [Int64] = [
      12788, 65881, 100044, 133574, 188992, 208292, 271372, 276575, 276663, 295006, 352625, 356236,
      356267, 400906, 441193, 475099,
    ]
    #expect(traces[0].times == [0] + seconds.map { $0 * 1_000_000 })
    #expect(traces[0].states == [0] + seconds.indices.map { $0 % 2 == 0 ? 2 : 0 })
    #expect(traces.map { $0.period?.seconds } == [518_400, 100, 100, 300])
    #expect(traces[1].states == [0] && traces[2].times == [0, 5_000_000, 10_000_000])
    // `active` and `inactive` are one list: intervals of no length.
    #expect(traces[3].states == [0])
    let capacities = try #require(inputs.capacities["capacity-\(version).pickle"])
    #expect(capacities.map(\.milliseconds) == [162, 40, 0.125])
    #expect(capacities.map(\.kilobits) == [5648.109619499134, 1000, 2.5e6])
  }

  @Test("thousands of devices come in the order of the file, out of gzip too")
  func many() throws {
    let inputs = try Self.scenario(["fleet.phones.presence={fedscale: many.pickle.gz}"]).inputs()
    let traces = try #require(inputs.traces.values.first)
    #expect(traces.count == 2500)
    // Device n is active from n to n + 60.
    #expect(traces[0].times == [0, 60_000_000] && traces[0].states == [1, 0])
    #expect(traces[1234].times == [0, 1_234_000_000, 1_294_000_000])
  }

  @Test("one file serves several series, and is read once for equal settings")
  func shared() throws {
    let inputs = try Self.scenario([
      "fleet.phones.power={flash: flash.json}", "fleet.phones.link={flash: flash.json}",
      "fleet.tablets.power={flash: {file: flash.json, firstTrace: 3}}",
      "fleet.tablets.usage={flash: {file: flash.json, inUse: screenOn}}",
    ]).inputs()
    #expect(inputs.traces.count == 3)
    #expect(inputs.traces.values.allSatisfy { $0.count == 6 })
    var (a, b) = (
      try #require(inputs.timeline(.power, group: 0, ordinal: 4)),
      try #require(inputs.timeline(.power, group: 1, ordinal: 1))
    )
    for hour in 0..<200 {
      let time = SimTime.start + .hours(Int64(hour))
      #expect(a.state(at: time) == b.state(at: time), "trace 4 for both")
    }
  }

  @Test("a run says which trace each device has, where it has one")
  func recorded() throws {
    let scenario = try Self.scenario([
      "fleet.phones.power={flash: flash.json}",
      "fleet.phones.link={fedscale: {file: availability-4.pickle, firstTrace: 1}}",
      "fleet.phones.capacity={file: capacity-4.pickle, firstTrace: 2}", "stop.after=1 h",
    ])
    var simulation = try scenario.makeSimulation()
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    let document = recorder.document(simulation, of: scenario)
    func column(_ name: String) -> [Int64]? { document.integers("devices/\(name)") }
    // Nine phones, six traces; then three tablets, which have none.
    #expect(column("powerTrace") == [0, 1, 2, 3, 4, 5, 0, 1, 2, -1, -1, -1])
    #expect(column("linkTrace") == [1, 2, 3, 0, 1, 2, 3, 0, 1, -1, -1, -1])
    #expect(column("capacityTrace") == [2, 0, 1, 2, 0, 1, 2, 0, 1, -1, -1, -1])
    #expect(column("usageTrace") == nil && column("windowTrace") == nil)
    let night = try Night.run("stop.after=1 h")
    let plain = night.document["devices"]?.variables.map(\.name)
    #expect(plain?.contains { $0.hasSuffix("Trace") } == false)
  }

  @Test("a device computes and sends as fast as its capacity says")
  func capacity() throws {
    // Twelve clients share 240 samples, a fifth kept back: 16 samples, 4 batches of 4, 2 epochs.
    // 3 · 162 ms · 4 samples = 1.944 s a batch; 8 batches are 15.552 s.
    let scenario = try Self.scenario([
      "fleet.tablets.capacity=capacity-2.pickle", "fleet.tablets.firstClient=0",
      "fleet.tablets.background.windows={fixed: open}", "stop.after=1 h",
      "server.messageBytes=0 B",
    ])
    final class Times: Observer {
      var began: [Int: SimTime] = [:]
      var ended: [Int: SimTime] = [:]
      var downloaded: [Int: SimTime] = [:]
      var accepted: [Int: SimTime] = [:]
      var wantsEveryEvent: Bool { true }
      func happened(_ event: ObservedEvent) {
        let device = event.device
        switch event.kind {
        case .trainingBegan: began[device] = began[device] ?? event.time
        case .attemptEnded: ended[device] = ended[device] ?? event.time
        case .downloaded: downloaded[device] = downloaded[device] ?? event.time
        case .accepted: accepted[device] = accepted[device] ?? event.time
        default: break
        }
      }
    }
    var simulation = try scenario.makeSimulation()
    let times = Times()
    simulation.run(observers: [times])
    func training(_ device: Int) throws -> Int64 {
      (try #require(times.ended[device]) - #require(times.began[device])).microseconds
    }
    // Tablets are the devices 9 to 11.
    #expect(try training(9) == 15_552_000)
    // 3 · 40 ms · 4 · 8 and 3 · 0.125 ms · 4 · 8.
    #expect(try training(10) == 3_840_000)
    #expect(try training(11) == 12_000)
    // The model: 5·4 + 4 + 4·3 + 3 = 39 parameters, 1,248 bits, at 1,000,000 bit/s 1.248 ms; there
    // and back 20 ms, in which the request has no bytes.
    let download = try #require(times.downloaded[10]) - #require(times.accepted[10])
    #expect(download.microseconds == 21_248)
  }

  // MARK: What is wrong

  @Test("a damaged file is reported with its own line and column, or its byte")
  func damaged() throws {
    let folder = try Folder()
    try folder.write(
      "{\"a\": {\"messages\": \"2020-01-29 23:41:07\\tbatery_charged_on\"}}", to: "t.json")
    let path = folder.path
    #expect(
      Self.faults(["fleet.phones.power={flash: t.json}"], in: path) == [
        "t.json:1:42: fleet[0].power: found `batery_charged_on`, expected one of "
          + FLASHEvent.allCases.map(\.rawValue).joined(separator: ", ")
          + ", or a level such as `55.0%`; did you mean `battery_charged_on`?"
      ])
    try folder.write("cos\nsystem\n(S'id'\ntR.", to: "evil.pickle")
    let refusal =
      "at byte 0 found the operation GLOBAL, expected a dictionary of plain values: numbers, "
      + "texts, lists and dictionaries; the file would call or load something, which is not "
      + "supported; "
      + "write plain numbers"
    #expect(
      Self.faults(
        ["fleet.phones.link={fedscale: evil.pickle}", "fleet.phones.capacity=evil.pickle"], in: path
      )
        == [
          "evil.pickle: fleet[0].link: \(refusal)", "evil.pickle: fleet[0].capacity: \(refusal)",
        ])
    #expect(
      Self.faults(["fleet.phones.power={flash: none.json}"], in: path) == [
        "--set fleet.phones.power={flash: none.json}: column 28: fleet[0].power: none.json: "
          + "No such file or directory"
      ])
    try folder.write("{}", to: "empty.json")
    #expect(
      Self.faults(["fleet.phones.power={flash: empty.json}"], in: path).first?
        .contains("found no trace, expected one at least") == true)
  }

  @Test("a trace of no length, or longer than its period, is a fault at its last message")
  func lengths() throws {
    let folder = try Folder()
    let one = "2020-01-29 23:41:07\\twifi\\n"
    try folder.write("{\"a\": {\"messages\": \"\(one)\(one)\"}}", to: "point.json")
    func faults(_ settings: String) -> [String] {
      Self.faults(["fleet.phones.link={flash: {file: \(settings)}}"], in: folder.path)
    }
    #expect(
      faults("point.json") == [
        "point.json:1:48: fleet[0].link: found all messages of `a` at one time, expected a trace "
          + "that lasts some time; give its `period`, or `cycle: false`"
      ])
    #expect(faults("point.json, cycle: false").isEmpty && faults("point.json, period: 1 d").isEmpty)
    try folder.write(
      "{\"a\": {\"messages\": \"\(one)2020-01-30 23:41:08\\twifi\\n\"}}", to: "long.json")
    #expect(
      faults("long.json, period: 1 d") == [
        "long.json:1:48: fleet[0].link: found a message 86401 s after the first of `a`, expected "
          + "none beyond the `period`, 1 d"
      ])
  }

  @Test(
    "settings that make no sense are faults of the scenario",
    arguments: [
      ("fleet.phones.presence={flash: flash.json}", "`flash` has no series of presence; it has"),
      ("server.reachable={fedscale: availability-4.pickle}", "`fedscale` has no series of server"),
      ("fleet.phones.power={flash: {file: flash.json, cycle: false, period: 1 d}}", "no `period`"),
      (
        "fleet.phones.power={flash: {file: flash.json, assign: drawn, firstTrace: 1}}",
        "has no effect"
      ),
      ("fleet.phones.power={flash: {fle: flash.json}}", "did you mean `file`?"),
      ("fleet.phones.power={flash: {file: flash.json, align: weak}}", "expected one of"),
      ("fleet.phones={capacity: capacity-4.pickle, hardware: iphone-13}", "both give the time"),
      ("fleet.phones.power={flash: {}}", "missing key `file`"),
      ("fleet.phones.power={csv: {file: x.csv, period: 0 s}}", "a duration of at least 1 s"),
    ])
  func settings(override: String, words: String) {
    let found = Self.faults([override])
    #expect(found.contains { $0.contains(words) }, "\(found)")
  }

  @Test(
    "a table that begins again has separate faults",
    arguments: [
      ("*,11 h,12 h", "w.csv:2:3: ", "from 0 to before the period's end, 10 h"),
      ("*,-1 h,1 h", "w.csv:2:3: ", "from 0 to before the period's end"),
      ("*,1 h,12 h", "w.csv:2:7: ", "an interval of at most the period, 10 h"),
      ("*,2 h,3 h\n*,9 h,13 h", "w.csv:3:3: ", "no overlap with the interval of `*` in line 2"),
      ("*,9 h,13 h\n*,2 h,4 h", "w.csv:3:3: ", "no overlap with the interval of `*` in line 2"),
      ("phones/1,1 h,2 h\n*,9 h,12 h\n*,0,90 min", "w.csv:4:3: ", "`*` in line 3"),
    ])
  func cyclicTable(rows: String, place: String, words: String) throws {
    let folder = try Folder()
    try folder.write("device,from,to\n\(rows)\n", to: "w.csv")
    let found = Self.faults(
      ["fleet.phones.link={csv: {file: w.csv, period: 10 h}}"], in: folder.path)
    #expect(found.count == 1 && found[0].hasPrefix(place) && found[0].contains(words), "\(found)")
    try folder.write("device,from,to\n*,9 h,12 h\n*,2 h,3 h\nphones/1,9 h,19 h\n", to: "good.csv")
    #expect(
      Self.faults(["fleet.phones.link={csv: {file: good.csv, period: 10 h}}"], in: folder.path)
        .isEmpty)
  }
}
