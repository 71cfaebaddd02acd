extension Simulation {
  /// A device as it is now.
  package func view(of device: Int) -> DeviceView {
    let state = devices[device]
    var conditions = ConditionView(
      device, for: .processing, link: cx.network[device].link,
      isUnmetered: cx.network[device].isUnmetered, devices, cx)
    conditions.requestFrom =
      state.scheduler.requests.first { $0.kind == .processing }
      .map { max($0.earliestBegin, state.scheduler.nextProcessing) } ?? .never
    // What such an app may do at night is no reason to call it anything else.
    if !devices.apps.isEmpty, devices.apps[device]?.isForceQuit == true {
      conditions.swipedUntil = .never
    }
    return DeviceView(
      conditions: conditions, isActive: state.isActive, window: state.windowState,
      heat: Body.hasBody(device, devices) ? devices.bodies[device].state.thermal : .nominal,
      app: state.session?.kind, work: DeviceView.work(of: device, devices, cx),
      outbox: state.outbox.count
        + (cx.collection.isOn ? cx.collection.collectors[device].log.count : 0),
      heldVersion: Int(state.heldVersion), isAway: Membership.isAway(device, devices))
  }
}

extension Simulation {
  /// The server as it is now.
  package var serverSnapshot: ServerSnapshot {
    ServerSnapshot(
      isReachable: cx.network.server.isReachable, believesOnline: cx.network.server.believesOnline)
  }
}
