import Numerics

extension Identity {
  /// Makes the identities, where any group has one or a script speaks of them.
  ///
  /// Draws: two `normal`s a device at slot 0 of `clock` (seed `world`).
  static func makeIdentities(_ devices: inout Devices, _ cx: inout Context) {
    guard
      cx.inputs.fleet.contains(where: \.hasIdentity)
        || cx.inputs.injections.contains(where: { [.reinstall, .reboot].contains($0.action) })
    else { return }
    devices.identities.isEmpty = cx.inputs.deviceCount == 0
    let needs = cx.inputs.server.selector.value.needs
    cx.features.readsBeliefs = needs.contains(.beliefs)
    cx.features.readsBatteries = needs.contains(.batteries)
    devices.identities.presence = cx.inputs.server.presence ?? PresenceSettings()
    cx.network.accounts.service = cx.inputs.server.tokens.service.value.timeline(
      TimelineContext(
        space: .server, key: StreamKey(seed: cx.inputs.seeds.world, purpose: "token-service"),
        device: "server", civilStart: cx.inputs.civilStart, tables: cx.inputs.tables,
        traces: cx.inputs.traces, seed: cx.inputs.seeds.world))
    for device in devices.indices {
      var identity = Identity()
      var account = Account()
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
        cx.books.identities.registered += 1
        account.number = Int32(cx.books.identities.registered)
        identity.isRegistered = true
      }
      devices.identities.devices.append(identity)
      cx.network.accounts.devices.append(account)
      Installation.planReinstall(device, &devices, &cx)
    }
  }
}
