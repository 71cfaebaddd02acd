import Numerics

extension Simulation {
  /// Whether any device has an identity of its own.
  public var hasIdentities: Bool { !devices.identities.isEmpty }

  /// How often what happened to identities; nil where no device has one.
  public var identityCounts: IdentityCounts? {
    devices.identities.isEmpty ? nil : devices.identities.counts
  }

  /// Device-time in microseconds by what the server believed and what was true, over the devices
  /// that send heartbeats. Shapes: [belief][truth].
  public var presence: [[Int64]] {
    var sums = [[Int64]](repeating: [0, 0, 0], count: 3)
    for (device, identity) in zip(devices.all, devices.identities.devices)
    where cx.inputs.fleet[Int(device.group)].heartbeats != nil {
      for (place, time) in identity.beats.belief.times.enumerated() {
        sums[place / 3][place % 3] += time
      }
    }
    return sums
  }

  /// The same by the link that the last heartbeat told of and the true one, over the devices whose
  /// group says what heartbeats tell; nil where none does. Shapes: [belief][truth].
  public var linkBelief: [[Int64]]? {
    guard cx.inputs.fleet.contains(where: { $0.heartbeats?.reportedLink != nil }) else {
      return nil
    }
    var sums = [[Int64]](repeating: [0, 0, 0], count: 3)
    for (device, identity) in zip(devices.all, devices.identities.devices)
    where cx.inputs.fleet[Int(device.group)].heartbeats?.reportedLink != nil {
      for (place, time) in identity.beats.belief.linkTimes.enumerated() {
        sums[place / 3][place % 3] += time
      }
    }
    return sums
  }

  /// Makes the identities, where any group has one or a script speaks of them.
  ///
  /// Draws: two `normal`s a device at slot 0 of `clock` (seed `world`).
  mutating func makeIdentities() {
    guard
      cx.inputs.fleet.contains(where: \.hasIdentity)
        || cx.inputs.injections.contains(where: { [.reinstall, .reboot].contains($0.action) })
    else { return }
    devices.identities.isEmpty = cx.inputs.deviceCount == 0
    devices.identities.presence = cx.inputs.server.presence ?? PresenceSettings()
    devices.identities.service = cx.inputs.server.tokens.service.value.timeline(
      TimelineContext(
        space: .server, key: StreamKey(seed: cx.inputs.seeds.world, purpose: "token-service"),
        device: "server", civilStart: cx.inputs.civilStart, tables: cx.inputs.tables,
        traces: cx.inputs.traces, seed: cx.inputs.seeds.world))
    for device in devices.indices {
      var identity = Identity()
      let group = Roster.group(of: device, devices, cx)
      if let clock = group.clock {
        var stream = Scheduler.schedulerKey(device, "clock", &devices, &cx).stream(slot: 0)
        let (a, b) = (stream.normal(), stream.normal())
        // No clock is further out than the longest run.
        let most = Double(SimDuration.days(36_500).microseconds)
        let spread = min(most, max(-most, Double(clock.skewSpread.microseconds) * a))
        identity.skew = clock.skew.microseconds + Int64(spread.rounded())
        let drift = 1000 * (clock.drift + clock.driftSpread * b)
        identity.drift = Int64(min(1e8, max(-1e8, drift)).rounded())
      }
      if group.registration?.atStart == true {
        devices.identities.counts.registered += 1
        identity.serverID = Int32(devices.identities.counts.registered)
        identity.isRegistered = true
      }
      devices.identities.devices.append(identity)
      Installation.planReinstall(device, &devices, &cx)
    }
  }
}
