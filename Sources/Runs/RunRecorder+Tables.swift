import FedSim
import Learning
import Results

extension RunRecorder {
  /// A row per round, with its funnel of participation.
  func roundTable(_ simulation: Simulation) -> ResultDocument.Group {
    let axis = ["round"]
    let funnels = rounds.map { funnel(of: $0.round, simulation) }
    var variables: [ResultDocument.Variable] = [
      .count("round", axis, rounds.map(\.round), "round, numbered from 1"),
      .seconds(
        "openedAt", axis, rounds.map(\.openedAt.seconds),
        "simulated time at which the round was opened"),
      .seconds(
        "closedAt", axis, rounds.map(\.closedAt.seconds),
        "simulated time at which the round ended"),
      .init(
        "outcome", axis, codes: rounds.map { code(of: $0.outcome) },
        meanings: EventLog.listed(
          RoundOutcome.allCases.map(\.rawValue), later: RoundOutcome.later,
          codes: rounds.map { UInt8(code(of: $0.outcome)) }), longName: "how the round ended"),
      .count("version", axis, rounds.map(\.version), "version that the round published, or -1"),
      .count(
        "cohort", axis, rounds.map(\.cohort),
        "devices in the round's cohort, 0 if no cohort is formed"),
    ]
    variables += FunnelColumns.variables(funnels, over: "round")
    for index in variables.indices where !["round", "closedAt"].contains(variables[index].name) {
      variables[index].attributes.append(.init("coordinates", .text("closedAt")))
    }
    return ResultDocument.Group(
      "rounds",
      attributes: [
        .init(
          "comment",
          .text("The server's rounds. Stages of the funnel: \(FunnelColumns.comment)"))
      ], axes: [.init("round", length: rounds.count)], variables: variables)
  }

  /// The ledgers, and how long the server used another version than the latest.
  func ledgerTable(_ simulation: Simulation) -> ResultDocument.Group {
    var group = LedgerTable.group(simulation)
    if let inUse = series(simulation).inUse {
      group.variables.append(
        .scalar(
          "modelBehind", .double([inUse.behind.seconds]), units: "s",
          "time in which the model in use was not the latest version"))
    }
    return group
  }
}

/// The code of a case: its place among all cases.
func code<Flag: CaseIterable & RawRepresentable>(of flag: Flag) -> Int8
where Flag.RawValue == String {
  Int8(Flag.allCases.enumerated().first { $0.element.rawValue == flag.rawValue }?.offset ?? -1)
}

/// The eight stages of participation as columns.
enum FunnelColumns {
  /// What the stages mean, in one line.
  static let comment =
    "eligible (a session began and every condition held) >= checkedIn >= accepted >= started >= "
    + "trained (whole or partial) >= delivered >= admitted >= aggregated."

  /// One variable a stage.
  static func variables(_ funnels: [Funnel?], over axis: String) -> [ResultDocument.Variable] {
    Stage.allCases.map { stage in
      .count(
        "\(stage)", [axis], funnels.map { $0?[stage] ?? 0 },
        "participations that reached `\(stage)`")
    }
  }
}

/// Participations by the hour in which their session began.
enum HourTable {
  /// A row for each hour of the run that has begun.
  static func group(_ simulation: Simulation) -> ResultDocument.Group {
    let hour: Int64 = 3_600_000_000
    var funnels: [Funnel?] = Array(simulation.participations.hours)
    while Int64(funnels.count) * hour < simulation.now.microseconds { funnels.append(nil) }
    let byGroup = byGroup(simulation, hours: funnels.count)
    return ResultDocument.Group(
      "hours",
      attributes: [
        .init(
          "comment", .text("By the hour in which the session began: \(FunnelColumns.comment)"))
      ], axes: [.init("hour", length: funnels.count)] + byGroup.axes,
      variables: [
        .count("hour", ["hour"], Array(funnels.indices), "simulated time, whole hours", units: "h")
      ] + FunnelColumns.variables(funnels, over: "hour") + byGroup.variables
        + digests(simulation, hours: funnels.count))
  }

  /// The digest of each hour's events; those at the very end of the last hour are of that hour.
  private static func digests(
    _ simulation: Simulation, hours: Int
  ) -> [ResultDocument.Variable] {
    var digests = [UInt64](repeating: 0, count: hours)
    for (hour, digest) in simulation.eventDigest.hours.enumerated() where hours > 0 {
      digests[min(hour, hours - 1)] &+= digest
    }
    return [
      .init(
        "eventDigest", ["hour"], .int64(digests.map { Int64(bitPattern: $0) }), units: "1",
        longName: "digest of the events of the hour, as signed bits",
        attributes: [
          .init("comment", .text("Modulo 2^64 the sum is the attribute eventDigest."))
        ])
    ]
  }

  /// The same by the groups of the fleet, where that is recorded.
  private static func byGroup(
    _ simulation: Simulation, hours: Int
  ) -> (axes: [ResultDocument.Axis], variables: [ResultDocument.Variable]) {
    let groups = simulation.participations.groups
    guard !groups.isEmpty else { return ([], []) }
    let names = simulation.inputs.fleet.map(\.name).joined(separator: ", ")
    let place = ResultDocument.Variable.count(
      "group", ["group"], Array(groups.indices), "group, by its place in the fleet",
      comment: names)
    let stages = Stage.allCases.map { stage in
      let counts = (0..<hours).flatMap { hour in
        groups.map { hour < $0.count ? $0[hour][stage] : 0 }
      }
      return ResultDocument.Variable.count(
        "\(stage)ByGroup", ["hour", "group"], counts,
        "participations of the group's devices that reached `\(stage)`")
    }
    return ([.init("group", length: groups.count)], [place] + stages)
  }
}

extension ResultDocument.Variable {
  /// Whole numbers.
  static func count(
    _ name: String, _ axes: [String], _ values: [Int], _ longName: String, units: String = "1",
    comment: String? = nil
  ) -> Self {
    .init(
      name, axes, .int64(values.map { Int64($0) }), units: units, longName: longName,
      attributes: comment.map { [.init("comment", .text($0))] } ?? [])
  }

  /// Numbers, NaN where there is none.
  static func number(
    _ name: String, _ axes: [String], _ values: [Double], _ longName: String, units: String = "1",
    comment: String? = nil
  ) -> Self {
    .init(
      name, axes, .double(values), units: units, longName: longName,
      attributes: comment.map { [.init("comment", .text($0))] } ?? [])
  }

  /// Times and durations in seconds.
  static func seconds(
    _ name: String, _ axes: [String], _ values: [Double], _ longName: String,
    comment: String? = nil
  ) -> Self {
    number(name, axes, values, longName, units: "s", comment: comment)
  }

  /// A single number.
  static func scalar(
    _ name: String, _ values: ResultValues, units: String = "1", _ longName: String
  ) -> Self {
    .init(name, [], values, units: units, longName: longName)
  }
}
