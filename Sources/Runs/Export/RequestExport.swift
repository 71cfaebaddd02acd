import FedSim
import Foundation
import Results
import Scenarios
import Schema

/// Which requests of a run are exported, and how.
public struct RequestChoice: Sendable {
  /// The dialect of all groups; nil: that of each group's keys.
  public var dialect: RequestDialect?
  /// Paths of the devices whose requests are written; none: all.
  public var devices: [String] = []
  /// Requests that reach the server from then on.
  public var from = SimTime.start
  /// Requests that reach the server before; nil: until the end.
  public var until: SimTime?
  /// Whether updates have their parameters; without them nothing is trained again.
  public var hasWeights = true
  /// Where paths in the scenario start; nil: where the scenario was when it was run.
  public var folder: String?

  /// All requests, with all that is in them.
  public init() {}

  /// Requests between two times of the run, written as durations such as `1 d 2 h`; nil: from its
  /// start, to its end. Returns which of them is wrong, and why; nil: none.
  public mutating func limit(from: String?, until: String?) -> (option: String, reason: String)? {
    for (option, text) in [("from", from), ("until", until)] {
      if let text, SimTime(sinceStart: text) == nil {
        return (option, "found `\(text)`, expected a duration, such as `1 d 2 h`")
      }
    }
    self.from = from.flatMap { SimTime(sinceStart: $0) } ?? .start
    self.until = until.flatMap { SimTime(sinceStart: $0) }
    guard let end = self.until, end <= self.from else { return nil }
    return ("until", "no time is left: it is not after --from")
  }

  /// Whether a time is among those that are written.
  func covers(_ time: SimTime) -> Bool { time >= from && (until.map { time < $0 } ?? true) }
}

/// The requests of a run, one per line, by playing the run again.
struct RequestExport {
  let path: String
  let choice: RequestChoice
  let replaces: Bool

  /// Writes them: all, or nothing.
  ///
  /// Throws: `RunFailure` for a result that cannot be played again, devices that are not there, a
  /// fleet that speaks no HTTP, and a place that is taken.
  func write(
    to target: String, _ options: RunOptions, _ registry: Registry
  ) throws(RunFailure) -> Export.Summary {
    let place = try ExportPlace(target, isFolder: false, replaces: replaces)
    let stored = try StoredRun(path, folder: choice.folder, registry: registry)
    let dialects = try dialects(of: stored.scenario)
    let devices = try devices(of: stored)
    var inputs = try stored.inputs(options)
    var choice = choice
    if choice.hasWeights, inputs.omitsArithmetic { choice.hasWeights = false }
    // Where a value decides what happens, everything is computed.
    if !choice.hasWeights, !inputs.followsLearning { inputs.omitsArithmetic = true }
    let file = try place.stream()
    let watch = RequestWatch(
      choice, inputs.fleet, dialects: dialects, title: title(of: stored),
      devices: devices,
      file: file)
    try add(header(stored, dialects), to: file)
    var simulation = Simulation(inputs)
    simulation.run(observers: [watch])
    if let fault = watch.fault { throw failed(fault) }
    guard stored.isSame(simulation) else {
      throw StoredRun.refusal(
        path,
        "the replayed run differs from the one in the file"
          + (choice.hasWeights
            ? ": a file that the scenario names, such as a table of intervals, has changed since"
            : "; give the export its weights, because what is learned decides what happens"))
    }
    try add(footer(watch), to: file)
    do throws(ResultFault) { try file.finish() } catch { throw failed(error) }
    return Export.Summary(
      files: 1, variables: watch.count, bytes: file.count, warning: stored.alteration)
  }

  /// What the scenario is called.
  private func title(of stored: StoredRun) -> String { stored.scenario.settings.name ?? "scenario" }

  private func add(_ line: JSONFields, to file: StreamedFile) throws(RunFailure) {
    do throws(ResultFault) { try file.add((line.object + "\n").utf8) } catch { throw failed(error) }
  }

  private func failed(_ fault: ResultFault) -> RunFailure {
    .failed("the export cannot be written: \(fault)")
  }

  /// The dialect of each group.
  private func dialects(of scenario: Scenario) throws(RunFailure) -> [RequestDialect] {
    let settings = scenario.settings
    var dialects: [RequestDialect] = []
    for group in settings.fleet {
      guard
        let dialect = choice.dialect ?? RequestDialect(of: group, server: settings.server)
      else {
        throw StoredRun.refusal(
          path,
          "group `\(group.name)` holds a stream (`protocol.stream`), as Flower's clients do: its "
            + "messages are frames of one gRPC stream, not requests that can be sent one by one. "
            + "--dialect automatic-backend writes the same checks and updates as requests of "
            + "HTTP; `record.events` has the story")
      }
      dialects.append(dialect)
    }
    return dialects
  }

  /// The numbers of the devices that are chosen; nil: all.
  private func devices(of stored: StoredRun) throws(RunFailure) -> Set<Int>? {
    guard !choice.devices.isEmpty else { return nil }
    var numbers: Set<Int> = []
    for device in choice.devices {
      numbers.insert(try Explanation.number(of: device, in: stored))
    }
    return numbers
  }

  /// What the lines are, for who reads them.
  private func header(_ stored: StoredRun, _ dialects: [RequestDialect]) -> JSONFields {
    let settings = stored.scenario.settings
    var line = JSONFields()
    line.add("format", text: "fedsim-requests")
    line.add("formatVersion", 1)
    line.add("scenario", text: title(of: stored))
    if case .unsigned(let seed)? = stored.document.root[attribute: "seed"] {
      line.add("seed", "\(seed)")
    }
    if case .int64(let start)? = stored.document.root[variable: "startTime"]?.values {
      line.add("startTime", "\(start[0])")
    }
    var groups = JSONFields()
    for (group, dialect) in zip(settings.fleet, dialects) {
      groups.add(group.name, text: dialect.rawValue)
    }
    line.add("dialects", groups.object)
    line.add("payload", text: "\(settings.server.payload)")
    line.add("heartbeatsLeftOut", heartbeats(stored))
    return line
  }

  /// Heartbeats that were sent: they are counted together, and none has an event.
  private func heartbeats(_ stored: StoredRun) -> Int {
    func count(_ name: String) -> Int {
      guard case .int64(let counts)? = stored.document["identity"]?[variable: name]?.values else {
        return 0
      }
      return Int(counts[0])
    }
    return count("heartbeatsDue") - count("heartbeatsWithheld") - count("heartbeatsUnsent")
  }

  private func footer(_ watch: RequestWatch) -> JSONFields {
    var line = JSONFields()
    line.add("requests", watch.count)
    var leftOut = JSONFields()
    for (kind, count) in watch.leftOut { leftOut.add(kind, count) }
    line.add("leftOut", leftOut.object)
    return line
  }
}
