import FedSim
import Results

/// What devices were doing by hour.
enum FleetHoursTable {
  /// A row per hour and group, unless that is not recorded.
  static func groups(_ simulation: Simulation) -> [ResultDocument.Group] {
    let hours = simulation.books.hours
    guard hours.isOn else { return [] }
    let fleet = simulation.inputs.fleet
    let count = Int((simulation.now.microseconds + 3_599_999_999) / 3_600_000_000)
    func column(
      _ column: FleetHours.Column, _ text: String, comment: String? = nil
    ) -> ResultDocument.Variable {
      let seconds = (0..<count).flatMap { hour in
        fleet.indices.map { Double(hours[hour, $0, column]) / 1e6 }
      }
      return .seconds("\(column)", ["hour", "group"], seconds, text, comment: comment)
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
                + "trainingOfAll. These ignore an app's conditions.")),
        ],
        axes: [.init("hour", length: count), .init("group", length: fleet.count)],
        variables: [
          .count("hour", ["hour"], Array(0..<count), "simulated time, whole hours", units: "h"),
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
        ])
    ]
  }
}
