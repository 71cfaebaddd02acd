import Learning

extension Simulation {
  /// Work by what became of it.
  public var effort: EffortLedger { cx.books.effort }
  /// Bytes by link and by how their transmission ended.
  public var traffic: TrafficLedger { cx.books.traffic }
  /// What devices were doing by hour.
  public var fleetHours: FleetHours { cx.books.hours }
  /// Aggregated updates by their staleness: as many as came up.
  public var stalenessCounts: [Int] { Array(cx.books.staleness) }
  /// What each device's work came to, in the order of the fleet.
  public var deviceEfforts: [DeviceEffort] { Array(cx.books.devices) }
  /// What each device's work drew; empty where no group has a battery.
  public var deviceEnergies: [DeviceEnergy] { Array(cx.books.energies) }

  /// Begins to measure.
  mutating func makeMeasures() {
    cx.books.open(devices: devices.count, hasEnergy: !devices.bodies.isEmpty)
    guard cx.inputs.record.fleetHours != false else { return }
    cx.books.hours = FleetHours(groups: cx.inputs.fleet.map(\.count))
    for device in devices.indices where cx.books.hours.samples(device) {
      devices[device].isSampled = true
      cx.books.hours.begin(hourState(device), at: cx.now)
    }
  }

  /// What follows from an event beside what its handler does.
  @inline(__always)
  mutating func refresh(after event: Event, actor: Int32) {
    if !devices.bodies.isEmpty { Body.refreshBodies(after: event, actor: actor, &devices, &cx) }
    if !devices.identities.isEmpty {
      Heartbeat.refreshIdentities(after: event, actor: actor, &devices, &cx)
    }
    if actor > 0, devices[Int(actor) - 1].isSampled { followHours(Int(actor) - 1) }
  }

  private mutating func followHours(_ device: Int) {
    cx.books.hours.follow(
      device, group: Int(devices[device].group), hourState(device), at: cx.now)
  }

  private func hourState(_ device: Int) -> FleetHours.State {
    if Membership.isAway(device, devices) { return [] }
    var state: FleetHours.State = .present
    let link = devices[device].link
    if link == 2 { state.insert(.wifi) } else if link == 1 { state.insert(.cellular) }
    if devices[device].isPlugged { state.insert(.plugged) }
    if !devices[device].isActive, !devices[device].isOff { state.insert(.idle) }
    if devices[device].isTraining { state.insert(.training) }
    return state
  }

  /// The last stretches end with the run.
  mutating func finishHours() { countHours(until: cx.now) }

  /// Counts the stretches that go on, up to a time; for one who looks at a run that goes on.
  package mutating func countHours(until time: SimTime) {
    for device in devices.indices where devices[device].isSampled {
      cx.books.hours.finish(device, group: Int(devices[device].group), at: time)
    }
  }
}
