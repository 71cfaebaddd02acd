extension Simulation {
  /// What devices that are still there have been for so long.
  mutating func closePresence() {
    for device in devices.fleetTables.presence.indices {
      guard let presence = devices.fleetTables.presence[device], presence.isHere else { continue }
      devices.fleetTables.presence[device]!.total = presence.total + (cx.now - presence.since)
      devices.fleetTables.presence[device]!.since = cx.now
    }
  }

  /// Devices that belong to the fleet now. Complexity: O(devices).
  public var presentCount: Int { devices.indices.count { !Membership.isAway($0, devices) } }

  /// Why a device cannot train the model; nil: it can.
  public func unfitness(of device: Int) -> Unfitness? {
    Roster.hardware(of: device, devices)?.unfitness
  }

  /// Samples that a device will have had.
  func samples(of device: Int) -> Int {
    let shards = cx.inputs.task.partition.shards
    return shards.isEmpty ? 0 : shards[Int(devices[device].client)].count
  }

  func hardwareRecord(
    _ device: Int
  ) -> (name: String, speedRank: Double, unfitness: Unfitness?)? {
    guard let made = Roster.hardware(of: device, devices) else { return nil }
    let classes = cx.inputs.fleet[Int(devices[device].group)].hardware!.classes
    return (classes[Int(made.place)].name, made.speedRank, made.unfitness)
  }

  func presenceRecord(_ device: Int) -> (joins: Int, leaves: Int, total: SimDuration)? {
    guard !devices.fleetTables.presence.isEmpty, let presence = devices.fleetTables.presence[device]
    else {
      return nil
    }
    return (Int(presence.joins), Int(presence.leaves), presence.total)
  }

  func arrivalRecord(_ device: Int) -> Int? {
    guard devices.fleetTables.hasArrivals,
      cx.inputs.fleet[Int(devices[device].group)].arrival != nil
    else {
      return nil
    }
    return Roster.samples(
      group: Int(devices[device].group), ordinal: Int(devices[device].ordinal),
      client: Int(devices[device].client), at: cx.now, devices, cx)
  }
}
