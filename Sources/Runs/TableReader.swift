import DataSets
import FedSim
import Scenarios
import Schema

/// Reads the tables of intervals that a scenario's timeline sources name, each file once.
struct TableReader {
  /// The tables, by the path that the scenario gives.
  private(set) var tables: [String: IntervalTable] = [:]
  /// What is wrong with them.
  private(set) var faults: [Fault] = []

  private struct Use {
    let file: FileName
    let path: String
    var spaces: [StateSpace]
    /// The periods after which the table begins again, wherever it is used so.
    var periods: [SimDuration]
  }

  private let scenario: Scenario
  private var uses: [Use] = []
  private var groups: [String: Int] = [:]

  /// Faults beyond this many in one file are not looked for.
  private static let mostFaults = 10_000

  /// A reader of the tables of this scenario.
  init(_ scenario: Scenario) {
    self.scenario = scenario
    for group in scenario.settings.fleet { groups[group.name] = group.count }
    for (source, space, path) in TimelineUse.all(in: scenario) { add(source, space, path) }
  }

  private mutating func add(_ source: any TimelineSource, _ space: StateSpace, _ path: String) {
    for file in source.files {
      if !uses.contains(where: { $0.file.path == file.path }) {
        uses.append(Use(file: file, path: path, spaces: [], periods: []))
      }
      let index = uses.firstIndex { $0.file.path == file.path }!
      if !uses[index].spaces.contains(space) { uses[index].spaces.append(space) }
      if let period = source.period, !uses[index].periods.contains(period) {
        uses[index].periods.append(period)
      }
    }
  }

  /// Reads and checks all of them.
  mutating func readAll() {
    for use in uses {
      do throws(DataFault) {
        tables[use.file.path] = try read(use)
      } catch {
        report(error, use)
      }
    }
  }

  private mutating func report(_ fault: DataFault, _ use: Use) {
    let place = use.file.place == .none ? Place(file: scenario.file) : use.file.place
    faults.append(scenario.fault(fault, at: place, path: use.path))
  }

  private static let columns: [DelimitedTable.Column] = [
    .required("device"), .required("from"), .required("to"), .optional("soft"), .optional("state"),
  ]

  private mutating func read(_ use: Use) throws(DataFault) -> IntervalTable {
    let path = scenario.path(of: use.file.path)
    var table = try DelimitedTable(contentsOf: path, columns: Self.columns)
    let before = faults.count
    var rows: [IntervalTable.Row] = []
    var lines: [Int] = []
    while try table.nextRow() {
      do throws(DataFault) {
        rows.append(try row(table, use))
        lines.append(table.line)
      } catch {
        report(error, use)
        if faults.count - before >= Self.mostFaults { break }
      }
    }
    if faults.count == before { try checkOrder(rows, lines, path, use) }
    return IntervalTable(rows: rows)
  }

  private func row(
    _ table: borrowing DelimitedTable, _ use: Use
  ) throws(DataFault) -> IntervalTable.Row {
    let device = table.text(0)
    guard isKnown(device, use) else {
      throw table.fault(
        .unknownName, column: 0, expected: "a device of the fleet, such as `phones/17`, or `*`")
    }
    let from = try table.microseconds(1)
    let to = try table.microseconds(2)
    try checkPeriods(table, use, from, to)
    guard from < to else {
      throw table.fault(
        .outOfRange, column: 2, expected: "a time after `\(table.text(1))`, the row's begin,")
    }
    var soft: SimTime?
    if !table.isEmpty(3) {
      guard use.spaces.contains(.window) else {
        throw table.fault(
          .unknownName, column: 3, expected: "nothing: only background windows have a soft expiry,")
      }
      let time = try table.microseconds(3)
      guard (from...to).contains(time) else {
        throw table.fault(.outOfRange, column: 3, expected: "a time within the row's interval")
      }
      soft = SimTime(microseconds: time)
    }
    let state = table.isEmpty(4) ? nil : table.text(4)
    for space in use.spaces {
      guard let state, space.number(of: state) == nil else { continue }
      let nearest = Spelling.nearest(to: state, among: space.states)
      throw table.fault(
        .unknownName, column: 4,
        expected: "a state of \(space.name) (\(space.states.joined(separator: ", ")))",
        advice: nearest.map { "did you mean `\($0)`?" })
    }
    return IntervalTable.Row(
      device: device, from: SimTime(microseconds: from), soft: soft,
      to: SimTime(microseconds: to), state: state)
  }

  /// A row of a table that begins again begins in one turn of it, and may reach into the next.
  private func checkPeriods(
    _ table: borrowing DelimitedTable, _ use: Use, _ from: Int64, _ to: Int64
  ) throws(DataFault) {
    for period in use.periods {
      guard (0..<period.microseconds).contains(from) else {
        throw table.fault(
          .outOfRange, column: 1, expected: "a time from 0 to before the period's end, \(period),")
      }
      guard to.subtractingReportingOverflow(from).partialValue <= period.microseconds else {
        throw table.fault(
          .outOfRange, column: 2, expected: "an interval of at most the period, \(period),")
      }
    }
  }

  private func isKnown(_ device: String, _ use: Use) -> Bool {
    if device == "*" { return true }
    if device == "server" { return use.spaces.contains(.server) }
    let pieces = device.split(separator: "/", omittingEmptySubsequences: false)
    guard pieces.count == 2, let count = groups[String(pieces[0])], let ordinal = Int(pieces[1])
    else { return false }
    return (0..<count).contains(ordinal) && String(ordinal) == pieces[1]
  }

  /// The intervals of one device do not overlap.
  private func checkOrder(
    _ rows: [IntervalTable.Row], _ lines: [Int], _ path: String, _ use: Use
  ) throws(DataFault) {
    let order = rows.indices.sorted {
      (rows[$0].device, rows[$0].from, $0) < (rows[$1].device, rows[$1].from, $1)
    }
    func overlap(_ a: Int, _ b: Int) throws(DataFault) -> DataFault {
      var table = try DelimitedTable(contentsOf: path, columns: Self.columns)
      let line = max(lines[a], lines[b])
      while try table.nextRow(), table.line < line {}
      return table.fault(
        .duplicate, column: 1,
        expected: "no overlap with the interval of `\(rows[a].device)` in line"
          + " \(min(lines[a], lines[b])),")
    }
    for (a, b) in zip(order, order.dropFirst())
    where rows[a].device == rows[b].device && rows[a].to > rows[b].from {
      throw try overlap(a, b)
    }
    // The last interval of a device may reach into the next turn, up to its first one.
    guard var first = order.first else { return }
    for (place, row) in order.enumerated() {
      if rows[row].device != rows[first].device { first = row }
      let isLast = place + 1 == order.count || rows[order[place + 1]].device != rows[row].device
      for period in use.periods
      where isLast && first != row && rows[row].to > rows[first].from + period {
        throw try overlap(row, first)
      }
    }
  }
}
