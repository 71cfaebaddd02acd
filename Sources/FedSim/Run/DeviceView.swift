/// What a device is and does at one moment: read-only values for logs and stories.
package struct DeviceView: Equatable, Sendable {
  /// What the app does.
  package enum Work: String, CaseIterable, Sendable {
    case none, checking, waiting, downloading, training, uploading, pausing, offline, stuck
    case identifying
  }

  /// How much energy there is; always `normal` without a battery.
  package enum Energy: String, CaseIterable, Sendable { case normal, low, lowPower, off }

  package let isPlugged: Bool
  package let link: UInt8
  package let isUnmetered: Bool
  package let isActive: Bool
  package let window: UInt8
  package let energy: Energy
  package let heat: ThermalState
  package let app: SessionKind?
  package let work: Work
  package let outbox: Int
  package let heldVersion: Int
  /// When the pending request for a processing task may start; never: none is pending.
  package let requestFrom: SimTime
  /// Since when the device counts as idle, or will; never: it is in use.
  package let idleFrom: SimTime
  /// Until when its app counts as used.
  package let usedUntil: SimTime
  package let isSwipedAway: Bool
  package let isRefreshOn: Bool
  package let hasRunTime: Bool
  /// Whether it does not belong to the fleet now.
  package let isAway: Bool
}

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

extension Event {
  /// The device that it concerns; nil: the server, all, or whom a script names.
  package var device: Int? {
    switch self {
    case .world(_, let device, _), .linkRestored(let device, _), .softExpiry(let device, _),
      .hardExpiry(let device, _), .transferEnd(let device, _), .trainingEnd(let device, _),
      .arrival(let device, _, _), .response(let device, _, _), .deviceTimer(_, let device, _),
      .taskStart(let device, _):
      Int(device)
    case .server, .injection, .serverTimer, .end: nil
    }
  }
}

/// The server at one moment: read-only values for stories.
package struct ServerStanding: Equatable, Sendable {
  package let isReachable: Bool
  package let believesOnline: Bool
}

extension Simulation {
  /// The server as it is now.
  package var serverStanding: ServerStanding {
    ServerStanding(isReachable: cx.line.isReachable, believesOnline: cx.line.believesOnline)
  }
}
