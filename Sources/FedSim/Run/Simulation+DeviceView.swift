extension Simulation {
  /// A device as it is now.
  package func view(of device: Int) -> DeviceView {
    let group = Roster.group(of: device, devices, cx)
    let state = devices[device]
    let app = devices.apps.isEmpty ? nil : devices.apps[device]
    let body = Body.hasBody(device, devices) ? devices.bodies[device] : nil
    let request = state.scheduler.requests.first { $0.kind == .processing }
    let dwell = group.background.processing?.idleDwell ?? .zero
    var usedUntil = SimTime.never
    var hasRunTime = true
    if let app, let system = group.background.system {
      usedUntil = app.lastUse + system.useLimit
      if let daily = system.dailyRunTime {
        let hours = cx.now.microseconds / 3_600_000_000 - app.refilledHour
        hasRunTime = app.runTime + hours * max(1, daily.microseconds / 24) > 0
      }
    }
    return DeviceView(
      isPlugged: state.isPlugged, link: state.link, isUnmetered: state.isUnmetered,
      isActive: state.isActive, window: state.windowState,
      energy: DeviceView.energy(of: device, body, group, devices, cx),
      heat: body?.thermal ?? .nominal,
      app: state.session?.kind, work: DeviceView.work(of: device, devices),
      outbox: state.outbox.count
        + (cx.collection.isOn ? cx.collection.collectors[device].log.count : 0),
      heldVersion: Int(state.heldVersion),
      requestFrom: request.map {
        max($0.earliestBegin, state.scheduler.nextProcessing)
      } ?? .never,
      idleFrom: state.isActive ? .never : state.lockedSince + dwell, usedUntil: usedUntil,
      isSwipedAway: app?.isForceQuit ?? false, isRefreshOn: app?.isRefreshOn ?? true,
      hasRunTime: hasRunTime, isAway: Membership.isAway(device, devices))
  }
}

extension Simulation {
  /// The server as it is now.
  package var serverStanding: ServerStanding {
    ServerStanding(isReachable: cx.network.server.isReachable, believesOnline: cx.network.server.believesOnline)
  }
}
