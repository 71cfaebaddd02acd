import FedSim
import Results

/// Everything that happened, where `record.events` asks for it.
enum EventTable {
  /// A row for each thing, in the order in which they happened.
  static func group(_ log: EventLog) -> ResultDocument.Group {
    let axis = ["event"]
    func numbers(
      _ name: String, _ text: String, _ path: KeyPath<EventLog.Row, Int32>
    ) -> ResultDocument.Variable {
      .init(
        name, axis, .int32(log.rows.map { $0[keyPath: path] }), units: "1", longName: text,
        attributes: [.init("coordinates", .text("time"))])
    }
    func codes(
      _ name: String, _ text: String, _ words: [String], later: Int,
      _ path: KeyPath<EventLog.Row, UInt8>
    ) -> ResultDocument.Variable {
      let codes = log.rows.map { $0[keyPath: path] }
      return .init(
        name, axis, codes: codes.map { Int8($0) },
        meanings: EventLog.listed(words, later: later, codes: codes), longName: text,
        attributes: [.init("coordinates", .text("time"))])
    }
    return ResultDocument.Group(
      "events",
      attributes: [
        .init("missed", .integer(Int64(log.missed))),
        .init(
          "comment",
          .text(
            "What happened to devices and server, in order; `missed` events did not fit into "
              + "record.eventLimit.")),
      ], axes: [.init("event", length: log.rows.count)],
      variables: [
        .seconds("time", axis, log.rows.map(\.time.seconds), "simulated time"),
        numbers("device", "number of the device in the fleet, -1: the server", \.device),
        codes("kind", "what happened", EventLog.kinds, later: EventLog.laterKinds, \.kind),
        codes(
          "detail", "details, or how it ended", EventLog.details, later: EventLog.laterDetails,
          \.detail
        ),
        numbers("round", "round of the event, else the round that was open", \.round),
        numbers("version", "version of the event, -1: none", \.version),
        numbers("update", "number of the event's update, -1: none", \.update),
        numbers(
          "count",
          "finished batches, members of a cohort, updates of a version or waiting, -1: none",
          \.count),
      ])
  }
}

/// The states of devices over time, where `record.timelineOf` names them.
enum TimelineTable {
  private static let texts: [TimelineLog.Part: (text: String, comment: String)] = [
    .power: ("whether the device is plugged in", ""),
    .link: (
      "link of the device", "offline also while the device is off or a script drops the link"
    ),
    .usage: ("whether a person uses the device", ""),
    .window: ("background window of the device, where windows are given directly", ""),
    .app: ("why the app runs", "activation: opened by its user; task: a processing task"),
    .work: (
      "what the app does",
      "waiting: for a cohort; pausing: before the next request; offline: for a link; stuck: for "
        + "the kill"
    ),
    .energy: (
      "energy state of the device",
      "low: below essentialBelow and unplugged; lowPower: low-power mode; normal also where "
        + "there is no battery"
    ),
    .heat: ("heat of the device", "nominal also where heat is not modelled"),
    .outbox: ("updates in the device's outbox", ""),
    .version: ("version that the device holds", "-1: none"),
  ]

  /// A subgroup a part, with a row per interval: by device, then by time.
  static func group(_ log: TimelineLog) -> ResultDocument.Group {
    ResultDocument.Group(
      "timeline",
      attributes: [
        .init(
          "comment",
          .text(
            "States of the devices in record.timelineOf: each is held from `from` until before "
              + "`to`."
          ))
      ],
      groups: TimelineLog.Part.allCases.enumerated().map { place, part in
        let all = Array(log.intervals[place])
        let rows = log.devices.flatMap { device in all.filter { Int($0.device) == device } }
        let (text, comment) = texts[part]!
        let remarks: [ResultDocument.Attribute] =
          comment.isEmpty ? [] : [.init("comment", .text(comment))]
        let state: ResultDocument.Variable =
          part.states.isEmpty
          ? .init(
            "state", ["interval"], .int32(rows.map(\.state)), units: "1", longName: text,
            attributes: remarks)
          : .init(
            "state", ["interval"], codes: rows.map { Int8($0.state) }, meanings: part.states,
            longName: text, attributes: remarks)
        return ResultDocument.Group(
          part.rawValue, axes: [.init("interval", length: rows.count)],
          variables: [
            .init(
              "device", ["interval"], .int32(rows.map(\.device)), units: "1",
              longName: "number of the device in the fleet"),
            .seconds(
              "from", ["interval"], rows.map(\.from.seconds),
              "simulated time at which the state began"),
            .seconds(
              "to", ["interval"], rows.map(\.to.seconds),
              "simulated time at which the state ended"),
            state,
          ])
      })
  }
}

/// Why a run produced no version, or no further one.
enum StallReportTable {
  /// A row for each obstacle that a group's devices met, and the obstacle of each device.
  static func group(
    _ stallReport: StallReport, _ inputs: SimulationInputs
  ) -> ResultDocument.Group {
    let axis = ["obstacle"]
    var words: [String] = []
    for count in stallReport.counts {
      let word = count.obstacle.word
      if !words.contains(word) { words.append(word) }
    }
    let codes = stallReport.counts.map { Int8(words.firstIndex(of: $0.obstacle.word)!) }
    let comment = ResultDocument.Attribute(
      "comment",
      .text(
        "Why there is no version, or no further one. Each device counts once, with the first "
          + "thing that was missing."))
    let stoppedAt = ResultDocument.Variable.scalar(
      "stoppedAt", .double([stallReport.stoppedAt?.seconds ?? .nan]), units: "s",
      "simulated time at which the run stopped, NaN if the run was not stopped")
    let report = [
      ResultDocument.Text("report", stallReport.lines(inputs).joined(separator: "\n"))
    ]
    // Where there are versions, devices are not what is missing.
    guard !codes.isEmpty else {
      return ResultDocument.Group(
        "standstill", attributes: [comment], axes: [], variables: [stoppedAt], texts: report)
    }
    return ResultDocument.Group(
      "standstill", attributes: [comment],
      axes: [
        .init("obstacle", length: stallReport.counts.count),
        .init("device", length: stallReport.places.count),
      ],
      variables: [
        stoppedAt,
        .count("group", axis, stallReport.counts.map(\.group), "fleet group, by its place"),
        .init("kind", axis, codes: codes, meanings: words, longName: "what was missing"),
        .count("devices", axis, stallReport.counts.map(\.devices), "devices of the group"),
        .count(
          "of", axis, stallReport.counts.map { inputs.fleet[$0.group].count },
          "devices that the group has"),
        .count(
          "obstacleOf", ["device"], stallReport.places,
          "row of `obstacle` that a device counts in"),
      ], texts: report)
  }
}
