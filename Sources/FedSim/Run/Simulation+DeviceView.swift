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
      energy: energy(of: device, body, group), heat: body?.thermal ?? .nominal,
      app: state.session?.kind, work: work(of: device),
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

  private func energy(
    of device: Int, _ body: Body?, _ group: FleetGroupSettings
  ) -> DeviceView.Energy {
    guard let body, let battery = group.battery else { return .normal }
    if body.isOff { return .off }
    if body.isLowPower { return .lowPower }
    let isLow =
      !devices[device].isPlugged
      && body.energy(at: cx.now) < body.threshold(battery.essentialBelow)
    return isLow ? .low : .normal
  }

  private func work(of device: Int) -> DeviceView.Work {
    let state = devices[device]
    guard let session = state.session else { return .none }
    if state.run != nil { return .training }
    if let transfer = state.transfer {
      switch transfer.purpose {
      case .upload, .reply: return .uploading
      case .central(.model): return .downloading
      case .central: return .uploading
      case .download: return .downloading
      case .identity: return .identifying
      case .enrolment: return .checking
      case .check:
        return transfer.isHeld && transfer.phase == .awaiting ? .waiting : .checking
      }
    }
    if session.isStuck { return .stuck }
    if session.isPausing { return .pausing }
    return state.isConnected ? .none : .offline
  }
}

extension Simulation {
  /// The server as it is now.
  package var serverStanding: ServerStanding {
    ServerStanding(isReachable: cx.line.isReachable, believesOnline: cx.line.believesOnline)
  }
}
