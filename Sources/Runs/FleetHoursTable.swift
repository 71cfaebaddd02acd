import FedSim
import Results

/// What devices were doing by hour.
enum FleetHoursTable {
  /// A row per hour and group, unless that is not recorded.
  static func groups(_ simulation: Simulation) -> [ResultDocument.Group] {
    let hours = simulation.books.hours
    guard hours.isOn else { return [] }
    let fleet = simulation.inputs.fleet
    let rows = Int((simulation.now.microseconds + 3_599_999_999) / 3_600_000_000)
    func column(
      _ column: FleetHours.Column, _ text: String, comment: String? = nil
    ) -> ResultDocument.Variable {
      let seconds = (0..<rows).flatMap { hour in
        fleet.indices.map { Double(hours[hour, $0, column]) / 1e6 }
      }
      return .seconds("\(column)", ["hour", "group"], seconds, text, comment: comment)
    }
    func counts(_ count: FleetHours.Count, _ text: String) -> ResultDocument.Variable {
      let counts = interruptions(hours, count, groups: fleet.count, hours: rows)
      return .count("\(count)", ["hour", "group"], counts, text)
    }
    return [
      ResultDocument.Group(
        "fleetHours",
        attributes: [
          .init("sampledDevices", .integer(Int64(hours.sampled.reduce(0, +)))),
          .init("ofDevices", .integer(Int64(simulation.inputs.deviceCount))),
          .init(
            "comment",
            .text(
              "Device-seconds by simulated hour, of `sampled` devices of each group, except "
                + "trainingOfAll; counts of all devices. These ignore an app's conditions.")),
        ],
        axes: [.init("hour", length: rows), .init("group", length: fleet.count)],
        variables: [
          .count("hour", ["hour"], Array(0..<rows), "simulated time, whole hours", units: "h"),
          .count(
            "group", ["group"], Array(fleet.indices), "group, by its place in the fleet",
            comment: fleet.map(\.name).joined(separator: ", ")),
          .seconds(
            "utcOffset", ["group"], fleet.map(\.utcOffset.seconds),
            "local time minus UTC at its devices"),
          .count("devices", ["group"], fleet.map(\.count), "devices of the group"),
          .count(
            "sampled", ["group"], hours.sampled,
            "devices of the group that are sampled, evenly spaced over the fleet"),
          column(.present, "time that devices belonged to the fleet"),
          column(.wifi, "time that devices were online over Wi-Fi"),
          column(.cellular, "time that devices were online over a cellular link"),
          column(.plugged, "time that devices were plugged in"),
          column(.idle, "time that devices were locked, and not off"),
          column(
            .pluggedIdleOnline, "time that devices were plugged in, locked and online",
            comment: "all at once, regardless of the app's requirements"),
          column(.pluggedIdleWifi, "time that devices were plugged in, locked and on Wi-Fi"),
          column(.training, "time that devices trained"),
          column(.trainingOfAll, "time that all of the group's devices trained"),
          counts(.expiredTrainings, "trainings running when their task expired"),
          counts(.checkpoints, "checkpoints written"),
          counts(.resumed, "trainings resumed from their checkpoint"),
          counts(.waitedOffline, "updates that could not be sent as soon as they were made"),
        ])
    ]
  }

  /// Counts by hour and group; what happened at the very end of the last hour is of that hour.
  private static func interruptions(
    _ books: FleetHours, _ count: FleetHours.Count, groups: Int, hours: Int
  ) -> [Int] {
    var counts = (0..<hours).flatMap { hour in (0..<groups).map { books[hour, $0, count] } }
    if hours > 0 {
      for group in 0..<groups { counts[(hours - 1) * groups + group] += books[hours, group, count] }
    }
    return counts
  }
}
