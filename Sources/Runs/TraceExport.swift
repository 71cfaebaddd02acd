import DataSets
import FedSim
import Learning
import Results
import Scenarios
import Schema

/// The exogenous series of a scenario's devices as a file of traces: a generator of traces from any
/// world that a scenario can describe.
public struct TraceExport {
  /// How traces are written.
  public enum Format: String, CaseIterable, Sendable {
    /// FLASH's JSON: power, link and usage, at whole seconds of local time.
    case flash
    /// One series as a table of intervals, as `csv` reads it, to the microsecond.
    case csv
  }

  /// What was written.
  public struct Summary: Sendable {
    /// Devices.
    public var devices = 0
    /// Messages, or rows.
    public var lines = 0
    /// The time that they cover, in whole seconds.
    public var seconds: Int64 = 0
  }

  /// The scenario whose world is written.
  public let scenario: Scenario
  /// How traces are written.
  public var format = Format.flash
  /// The series that a table has, such as `power`.
  public var series: String?
  /// The days that are written; nil: until the run would end.
  public var days: Int?
  /// The group whose devices are written; nil: all.
  public var group: String?

  /// An export of a scenario's world; nothing is read or written yet.
  public init(_ scenario: Scenario) { self.scenario = scenario }

  /// Writes the file: whole, or not at all.
  ///
  /// The data of the scenario's task are not read. Throws: `RunFailure` for whatever is wrong with
  /// the scenario's own files, the choice, or the place for the file; `failed` if it cannot be
  /// written.
  public func write(to path: String) throws(RunFailure) -> Summary {
    let series = try chosenSeries()
    let groups = try chosenGroups()
    let inputs = try inputs()
    try checkCalendar(inputs, groups)
    let file = try place(path)
    var summary = Summary()
    summary.seconds = seconds
    var text = TraceText(format, series, end: .start + .seconds(seconds))
    for place in groups {
      let group = inputs.fleet[place]
      guard format == .flash || inputs.timeline(series, group: place, ordinal: 0) != nil else {
        throw refusal("group `\(group.name)` has no series \(series)")
      }
      for ordinal in 0..<group.count {
        text.add("\(group.name)/\(ordinal)", local: Self.local(inputs, group)) {
          inputs.timeline($0, group: place, ordinal: ordinal)
        }
        summary.devices += 1
      }
    }
    summary.lines = text.lines
    do throws(ResultFault) {
      try file.place(text.finished())
    } catch {
      throw .failed("the traces cannot be written: \(error)")
    }
    return summary
  }

  /// The place for the file: not that of a file of another kind, or of one that the scenario reads.
  private func place(_ path: String) throws(RunFailure) -> PlacedFile {
    let inputs = NamedFiles.digests(of: scenario).keys.sorted().map { scenario.path(of: $0) }
    guard !inputs.contains(where: { StandingFile.isSame($0, path) }) else {
      throw StoredRun.refusal(path, "the scenario reads this file, which is not replaced")
    }
    return try StandingFile.place(for: path) { TraceText.isTraces($0, format) }
  }

  /// The time that is covered: whole days, or the run's whole seconds.
  private var seconds: Int64 {
    if let days { return Int64(days) * 86_400 }
    let run = scenario.settings.stop.after.microseconds
    return run / 1_000_000 + (run % 1_000_000 > 0 ? 1 : 0)
  }

  /// The dates of the text are in the years 1 to 9999.
  private func checkCalendar(
    _ inputs: SimulationInputs, _ groups: [Int]
  ) throws(RunFailure) {
    let years: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
    for place in groups where format == .flash {
      let local = Self.local(inputs, inputs.fleet[place])
      guard years.contains(local), years.contains(local + seconds) else {
        throw refusal("dates of the traces are outside the years 1 to 9999; give fewer --days")
      }
    }
  }

  /// The local time at which the run starts, in seconds since 1970.
  private static func local(_ inputs: SimulationInputs, _ group: FleetGroupSettings) -> Int64 {
    let offset = group.utcOffset.microseconds
    return inputs.civilStart + (offset - (offset % 1_000_000 + 1_000_000) % 1_000_000) / 1_000_000
  }

  private func chosenSeries() throws(RunFailure) -> Series {
    let names = Series.allCases.map { "\($0)" }
    guard format == .csv else {
      guard series == nil else { throw refusal("--series needs --format csv") }
      return .power
    }
    guard let series else {
      throw refusal(
        "--format csv needs --series, one of \(names.joined(separator: ", "))")
    }
    guard let found = Series.allCases.first(where: { "\($0)" == series }) else {
      let nearest = Spelling.nearest(to: series, among: names)
      throw refusal(.unknownName(series, seam: "series", nearest: nearest, known: names))
    }
    return found
  }

  private func chosenGroups() throws(RunFailure) -> [Int] {
    let fleet = scenario.settings.fleet
    guard let group else { return Array(fleet.indices) }
    guard let place = fleet.firstIndex(where: { $0.name == group }) else {
      let names = fleet.map(\.name)
      let nearest = Spelling.nearest(to: group, among: names)
      throw refusal(
        .unknownName(group, seam: "group in the fleet", nearest: nearest, known: names))
    }
    return [place]
  }

  private func refusal(_ message: String) -> RunFailure { refusal(.contradiction(message)) }

  private func refusal(_ problem: Fault.Problem) -> RunFailure {
    .input([Fault(at: .none, problem)])
  }

  /// The world alone: with a task of no samples.
  private func inputs() throws(RunFailure) -> SimulationInputs {
    var tables = TableReader(scenario)
    tables.readAll()
    var traces = TraceReader(scenario)
    traces.readAll()
    let faults = tables.faults + traces.faults
    guard faults.isEmpty else { throw .input(Faults(faults).faults) }
    let network = Network(inputCount: 1, layers: [.dense(outputs: 1, activation: .identity)])
    let nothing = Dataset(features: .floats([]), sampleShape: [1], labels: [], classCount: 1)
    var inputs = SimulationInputs(
      task: LearningTask(
        network: network, initial: ParameterBuffer([0, 0], layout: network.layout),
        train: nothing, test: nothing, partition: Partition(shards: []),
        plan: scenario.settings.task.training.plan))
    inputs.seeds = scenario.seeds
    inputs.civilStart = scenario.settings.start.secondsSince1970
    inputs.fleet = scenario.settings.fleet
    inputs.tables = tables.tables
    inputs.traces = traces.traces
    inputs.capacities = traces.capacities
    return inputs
  }
}
