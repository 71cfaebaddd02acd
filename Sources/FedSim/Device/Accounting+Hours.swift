import Learning

extension Accounting {
  /// Begins to measure.
  static func openBooks(_ devices: inout Devices, _ cx: inout Context) {
    cx.books.open(devices: devices.count, hasEnergy: !devices.bodies.isEmpty)
    guard cx.inputs.record.fleetHours != false else { return }
    cx.books.hours = FleetHours(groups: cx.inputs.fleet.map(\.count))
    for device in devices.indices where cx.books.hours.samples(device) {
      devices[device].isSampled = true
      let state = hourState(device, devices, &cx)
      cx.books.hours.begin(state, at: cx.now)
    }
  }

  static func followHours(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let state = hourState(device, devices, &cx)
    cx.books.hours.follow(device, group: Int(devices[device].group), state, at: cx.now)
  }

  private static func hourState(
    _ device: Int, _ devices: borrowing Devices, _ cx: inout Context
  ) -> FleetHours.State {
    if Membership.isAway(device, devices) { return [] }
    var state: FleetHours.State = .present
    let link = cx.network[device].link
    if link == 2 { state.insert(.wifi) } else if link == 1 { state.insert(.cellular) }
    if devices[device].isPlugged { state.insert(.plugged) }
    if !devices[device].isActive, !cx.network[device].isOff { state.insert(.idle) }
    if devices[device].isTraining { state.insert(.training) }
    return state
  }

  /// The last stretches end with the run.
  static func finishHours(_ devices: inout Devices, _ cx: inout Context) {
    countHours(until: cx.now, &devices, &cx)
  }

  /// Counts the stretches that are still open, up to a time; for an observer of an unfinished run.
  static func countHours(until time: SimTime, _ devices: inout Devices, _ cx: inout Context) {
    for device in devices.indices where devices[device].isSampled {
      cx.books.hours.finish(device, group: Int(devices[device].group), at: time)
    }
  }
}
