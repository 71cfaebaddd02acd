import DataSets
import FedSim
import Scenarios
import Schema

/// Reads the traces that a scenario's sources play, each file once whatever number of series it
/// gives, and the capacities of its groups.
struct TraceReader {
  /// The traces, by the name that a source gives them.
  private(set) var traces: [String: TraceSet] = [:]
  /// The capacities, by the path that the scenario gives.
  private(set) var capacities: [String: [DeviceCapacity]] = [:]
  /// What is wrong with them.
  private(set) var faults: [Fault] = []

  /// One series of one file.
  private struct Use {
    let source: any TraceSource
    let space: StateSpace
    let path: String
    var traceName: String { source.traceName(space) }
  }

  /// One series of a file of FLASH's, and how it is made.
  private struct FLASHUse {
    let use: Use
    let period: SimDuration?
    let series: ([FLASHSource.Message], StateSpace) -> TraceSeries
  }

  /// One series of a file of FedScale's, and how it is made.
  private struct FedScaleUse {
    let use: Use
    let series: ([(from: Int64, to: Int64)], Int64, StateSpace) -> TraceSeries
  }

  private let scenario: Scenario
  private var uses: [Use] = []

  /// A reader of the traces of this scenario.
  init(_ scenario: Scenario) {
    self.scenario = scenario
    for (source, space, path) in TimelineUse.all(in: scenario) {
      guard let source = source.asTraces else { continue }
      let name = source.traceName(space)
      if !uses.contains(where: { $0.traceName == name }) {
        uses.append(Use(source: source, space: space, path: path))
      }
    }
  }

  /// Reads and checks all of them; of each file the first fault is reported.
  mutating func readAll() {
    var files: [String] = []
    for use in uses where !files.contains(use.source.replay.file.path) {
      let file = use.source.replay.file
      files.append(file.path)
      let same = uses.filter { $0.source.replay.file.path == file.path }
      do throws(DataFault) {
        try read(same, scenario.path(of: file.path))
      } catch {
        report(error, file, use.path)
      }
    }
    for (index, group) in scenario.settings.fleet.enumerated() {
      guard let file = group.capacity?.replay.file, capacities[file.path] == nil else { continue }
      do throws(DataFault) {
        capacities[file.path] = try readCapacity(scenario.path(of: file.path))
      } catch {
        capacities[file.path] = []
        report(error, file, "fleet[\(index)].capacity")
      }
    }
  }

  private mutating func report(_ fault: DataFault, _ file: FileName, _ path: String) {
    let place = file.place == .none ? Place(file: scenario.file) : file.place
    // The byte of a pickle is reported with the file's own name.
    if case .byte = fault.place { return faults.append(Fault(fault, path: path)) }
    faults.append(scenario.fault(fault, at: place, path: path))
  }

  private mutating func read(_ uses: [Use], _ path: String) throws(DataFault) {
    var flash: [FLASHUse] = []
    var fedScale: [FedScaleUse] = []
    for use in uses {
      switch use.source.format {
      case .flash(let period, let series):
        flash.append(FLASHUse(use: use, period: period, series: series))
      case .fedScale(let series): fedScale.append(FedScaleUse(use: use, series: series))
      }
    }
    if !flash.isEmpty { try readFLASH(flash, path) }
    if !fedScale.isEmpty { try readFedScale(fedScale, path) }
    for use in uses where traces[use.traceName, default: []].isEmpty {
      throw DataFault(
        .countMismatch, in: path, found: "no trace", expected: "one at least")
    }
  }

  private mutating func readFLASH(
    _ uses: [FLASHUse], _ path: String
  ) throws(DataFault) {
    var sets = [TraceSet](repeating: [], count: uses.count)
    let events = FLASHEvent.allCases
    try FLASHFile.read(contentsOf: path, words: events.map(\.rawValue)) {
      trace throws(DataFault) in
      let messages = trace.messages.map { message in
        FLASHSource.Message(
          second: message.second, event: message.word < events.count ? events[message.word] : nil)
      }
      for (place, use) in uses.enumerated() {
        try Self.checkLength(of: trace, messages, use, path)
        sets[place].append(use.series(messages, use.use.space))
      }
    }
    for (place, use) in uses.enumerated() { traces[use.use.traceName] = sets[place] }
  }

  /// A trace that comes again lasts some time, and not longer than its period.
  private static func checkLength(
    of trace: borrowing FLASHFile.Trace, _ messages: [FLASHSource.Message], _ use: FLASHUse,
    _ path: String
  ) throws(DataFault) {
    guard use.use.source.replay.cycle, let first = messages.first, let last = messages.last else {
      return
    }
    let length = last.second - first.second
    if let period = use.period, .seconds(length) > period {
      throw DataFault(
        .outOfRange, in: path, at: trace.lastPlace,
        found: "a message \(length) s after the first of `\(trace.id)`",
        expected: "none beyond the `period`, \(period)")
    }
    guard use.period != nil || length > 0 else {
      throw DataFault(
        .outOfRange, in: path, at: trace.lastPlace,
        found: "all messages of `\(trace.id)` at one time",
        expected: "a trace that lasts some time",
        advice: "give its `period`, or `cycle: false`")
    }
  }

  private mutating func readFedScale(
    _ uses: [FedScaleUse], _ path: String
  ) throws(DataFault) {
    var sets = [TraceSet](repeating: [], count: uses.count)
    try FedScaleFiles.readAvailability(contentsOf: path) { trace throws(DataFault) in
      for (place, use) in uses.enumerated() {
        sets[place].append(use.series(trace.intervals, trace.finishTime, use.use.space))
      }
    }
    for (place, use) in uses.enumerated() { traces[use.use.traceName] = sets[place] }
  }

  private func readCapacity(_ path: String) throws(DataFault) -> [DeviceCapacity] {
    var capacities: [DeviceCapacity] = []
    try FedScaleFiles.readCapacity(contentsOf: path) { capacity throws(DataFault) in
      capacities.append(
        DeviceCapacity(milliseconds: capacity.computation, kilobits: capacity.communication))
    }
    guard !capacities.isEmpty else {
      throw DataFault(.countMismatch, in: path, found: "no device", expected: "one at least")
    }
    return capacities
  }
}

/// The timeline sources of a scenario, each with its series and its key.
enum TimelineUse {
  /// All of them, in the order in which they are.
  static func all(
    in scenario: Scenario
  ) -> [(source: any TimelineSource, space: StateSpace, path: String)] {
    var uses: [(source: any TimelineSource, space: StateSpace, path: String)] = []
    for (index, group) in scenario.settings.fleet.enumerated() {
      uses += all(in: group, "fleet[\(index)]")
    }
    let server = scenario.settings.server
    uses.append((server.reachable.value, .server, "server.reachable"))
    uses.append((server.internet.value, .server, "server.internet"))
    if let tokens = server.authentication {
      uses.append((tokens.service.value, .server, "server.authentication.service"))
    }
    return uses
  }

  private static func all(
    in group: FleetGroupSettings, _ path: String
  ) -> [(source: any TimelineSource, space: StateSpace, path: String)] {
    var uses: [(source: any TimelineSource, space: StateSpace, path: String)] = [
      (group.power.value, .power, "\(path).power"), (group.link.value, .link, "\(path).link"),
      (group.usage.value, .usage, "\(path).usage"),
    ]
    let others: [((any TimelineSource)?, StateSpace, String)] = [
      (group.background.windows?.value, .window, "background.windows"),
      (group.network.share?.value, .share, "network.share"),
      (
        group.background.system?.backgroundRefresh.value, .setting,
        "background.system.backgroundRefresh"
      ),
      (group.thermal?.ambient.value, .ambient, "thermal.ambient"),
      (group.presence?.value, .presence, "presence"),
    ]
    for case let (source?, space, key) in others { uses.append((source, space, "\(path).\(key)")) }
    return uses
  }
}
