import FedSim
import Numerics
import Scenarios
import Schema

extension Baseline {
  /// The outcome of a run that is over.
  init(_ scenario: Scenario, _ simulation: Simulation, _ facts: RunFacts, _ trail: EventTrail) {
    header = [
      ["format", Self.format], ["engine", FedSimVersion.current],
      ["schema", "\(FedSimVersion.resultSchema)"],
      ["scenario", Self.words(scenario.settings.name ?? "")],
      ["settings", String(scenario.digest.prefix(16))],
      ["data", simulation.inputs.task.digest.hexDigits],
      ["events", "\(simulation.books.tallies.events)"], ["eventDigest", facts.eventDigest],
    ]
    settings = scenario.resolvedText
    tables = [
      Self.counts(simulation, facts), Self.rounds(facts),
      Self.versions(facts, trail, simulation.inputs),
    ]
    if simulation.collection.isOn { tables.append(Self.central(simulation)) }
    tables.append(
      Table(
        name: "hours", columns: ["hour", "events", "digest"],
        rows: trail.hours.map { ["\($0.hour)", "\($0.events)", $0.digest.hexDigits] }))
    events = .hours
  }

  /// The events of a trail, as far as they are kept.
  static func events(
    _ trail: EventTrail, of simulation: Simulation, inWords: Bool
  ) -> Events {
    let count = simulation.books.tallies.events
    guard count == trail.rows.count else { return .hours }
    if inWords || count <= mostLines {
      let names = DeviceNames(simulation.inputs)
      return .lines(trail.rows.map { line($0, names) })
    }
    guard count <= mostMarks else { return .hours }
    return .blocks(
      stride(from: 0, to: count, by: blockSize).map { first in
        let rows = trail.rows[first..<min(first + blockSize, count)]
        return Block(
          first: first + 1, time: rows[first].time.plainSeconds,
          digest: rows.reduce(0) { $0 &+ $1.print }.hexDigits,
          marks: rows.map(mark).joined())
      })
  }

  /// A text as it is read back: on one line, one blank between words.
  private static func words(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// An event in words: when, who, what, and four digits of its fingerprint.
  static func line(_ row: EventTrail.Row, _ names: DeviceNames) -> String {
    let actor = row.event.device.map { names[$0] } ?? "server"
    let mark = row.print.hexDigits.suffix(4)
    return "\(row.time.plainSeconds) \(actor) \(row.event.shortWords) ~\(mark)"
  }

  /// Two digits of an event's fingerprint.
  static func mark(_ row: EventTrail.Row) -> String { String(row.print.hexDigits.suffix(2)) }

  private static func counts(_ simulation: Simulation, _ facts: RunFacts) -> Table {
    var rows = facts.counts.filter { $0.count != 0 && $0.name != "events" }
      .map { [$0.name, "\($0.count)"] }
    if simulation.collection.isOn {
      rows += FileOutcome.allCases.filter { simulation.collection.ledger[$0] > 0 }
        .map { ["file.\($0.rawValue)", "\(simulation.collection.ledger[$0])"] }
    }
    return Table(name: "counts", columns: ["name", "count"], rows: rows)
  }

  private static func rounds(_ facts: RunFacts) -> Table {
    Table(
      name: "rounds",
      columns: ["round", "openedAt", "closedAt", "outcome", "version", "cohort"]
        + Stage.allCases.map { "\($0)" },
      rows: zip(facts.rounds, facts.funnels).map { round, funnel in
        [
          "\(round.round)", round.openedAt.plainSeconds, round.closedAt.plainSeconds,
          round.outcome.rawValue, "\(round.version)", "\(round.cohort)",
        ] + funnel.counts.map { "\($0)" }
      })
  }

  private static func versions(
    _ facts: RunFacts, _ trail: EventTrail, _ inputs: SimulationInputs
  ) -> Table {
    let columns = VersionColumn.all.filter {
      $0.uses.contains(.recordings) && $0.presence.holds(inputs)
    }
    return Table(
      name: "versions", columns: columns.map(\.name) + ["model"],
      rows: facts.versions.enumerated().map { index, version in
        columns.map { cell($0.value(version, facts.series), of: $0) }
          + [index < trail.models.count ? trail.models[index] : "-"]
      })
  }

  private static func cell(_ value: ColumnValue, of column: VersionColumn) -> String {
    switch (value, column.kind) {
    case (.integer(let number), _): "\(number)"
    case (.time(let time), _): time.plainSeconds
    case (.code(let code), .code(let words)): words[Int(code)]
    case (let value, _): cell(value.asDouble)
    }
  }

  private static func central(_ simulation: Simulation) -> Table {
    Table(
      name: "central",
      columns: [
        "publication", "model", "version", "startedAt", "publishedAt", "files", "samples",
        "newSamples", "users", "trainingLoss", "accuracy",
      ],
      rows: simulation.collection.versions.enumerated().map { index, version in
        [
          "\(index + 1)", simulation.collection.tasks[version.model].name, "\(version.version)",
          version.startedAt.plainSeconds, version.publishedAt.plainSeconds, "\(version.files)",
          "\(version.samples)", "\(version.newSamples)", "\(version.users)",
          cell(version.trainingLoss), cell(version.evaluation?.accuracy ?? version.userAccuracy),
        ]
      })
  }

  /// A number as the shortest text that reads back as the same; `-` where there is none.
  private static func cell(_ value: Double?) -> String {
    guard let value, !value.isNaN else { return "-" }
    return Text.shortest(value)
  }
}

/// The paths of devices by their numbers, such as `phones/17`.
struct DeviceNames {
  private let groups: [(first: Int, name: String)]

  /// The names in a fleet.
  init(_ inputs: SimulationInputs) {
    var first = 0
    groups = inputs.fleet.map { group in
      defer { first += group.count }
      return (first, group.name)
    }
  }

  subscript(device: Int) -> String {
    guard let group = groups.last(where: { $0.first <= device }) else { return "\(device)" }
    return "\(group.name)/\(device - group.first)"
  }
}

extension SimTime {
  /// Seconds since the start, to the microsecond.
  var plainSeconds: String {
    let whole = "\(microseconds / 1_000_000)"
    var digits = String(1_000_000 + microseconds % 1_000_000).dropFirst()
    while digits.last == "0" { digits = digits.dropLast() }
    return digits.isEmpty ? whole : "\(whole).\(digits)"
  }
}
