import Learning

extension Simulation {
  /// Work by its outcome.
  public var effort: EffortLedger { cx.books.effort }
  /// Bytes by link and by how their transmission ended.
  public var traffic: TrafficLedger { cx.books.traffic }
  /// What devices were doing by hour.
  public var fleetHours: FleetHours { cx.books.hours }
  /// Aggregated updates by their staleness: as many as came up.
  public var stalenessCounts: [Int] { Array(cx.books.staleness) }
  /// The outcomes of each device's work, in the order of the fleet.
  public var deviceEfforts: [DeviceEffort] { Array(cx.books.devices) }
  /// What each device's work drew; empty where no group has a battery.
  public var deviceEnergies: [DeviceEnergy] { Array(cx.books.energies) }

  /// What follows from an event besides what its handler does.
  @inline(__always)
  mutating func refresh(after event: Event, actor: Int32) {
    if !devices.bodies.isEmpty { Body.refreshBodies(after: event, actor: actor, &devices, &cx) }
    if !devices.identities.isEmpty {
      Heartbeat.refreshIdentities(after: event, actor: actor, &devices, &cx)
    }
    if actor > 0, devices[Int(actor) - 1].isSampled {
      Accounting.followHours(Int(actor) - 1, &devices, &cx)
    }
  }
}
