/// What a device is and does at one moment: read-only values for logs and stories.
package struct DeviceView: Equatable, Sendable {
  /// What the app does.
  package enum Work: String, CaseIterable, Sendable {
    case none, checking, waiting, downloading, training, uploading, pausing, offline, stuck
    case identifying
  }

  /// How much energy there is; always `normal` without a battery.
  package enum Energy: String, CaseIterable, Sendable { case normal, low, lowPower, off }

  /// The device as the conditions of its processing task see it.
  package let conditions: ConditionView
  package let isActive: Bool
  package let window: UInt8
  package let heat: ThermalState
  package let app: SessionKind?
  package let work: Work
  package let outbox: Int
  package let heldVersion: Int
  /// Whether it does not belong to the fleet now.
  package let isAway: Bool

  package var isPlugged: Bool { conditions.isPlugged }
  package var link: UInt8 { conditions.link }
  package var energy: Energy {
    conditions.isOff
      ? .off : conditions.isLowPower ? .lowPower : conditions.isLow ? .low : .normal
  }

  /// The conditions that hold at a time, the device being as it is here; none of a device that is
  /// away.
  package func held(at time: SimTime, of needed: Conditions) -> Conditions {
    isAway ? [] : needed.held(conditions, at: time)
  }

  /// Those of the app's own conditions that do not hold at a time, the first of them the one for
  /// which the app refused, or would.
  package func unmet(at time: SimTime, of group: FleetGroupSettings) -> [Condition] {
    var view = conditions
    view.idleFrom = isActive ? .never : .start
    return Condition.allCases.filter {
      $0.isAsked(by: .app, of: group) && !$0.holds(view, at: time)
    }
  }
}

extension DeviceView {
  /// A device as it is now.
  package init(_ device: Int, in run: borrowing Simulation) {
    self.init(device, run.devices, run.cx)
  }

  private init(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context) {
    let state = devices[device]
    var conditions = ConditionView(
      device, for: .processing, link: cx.network[device].link,
      isUnmetered: cx.network[device].isUnmetered, devices, cx)
    conditions.requestFrom = state.scheduler.requestFrom(.processing)
    // What such an app may do at night is no reason to call it anything else.
    if !devices.apps.isEmpty, devices.apps[device]?.isForceQuit == true {
      conditions.swipedUntil = .never
    }
    self.conditions = conditions
    isActive = state.isActive
    window = state.windowState
    heat = Body.hasBody(device, devices) ? devices.bodies[device].state.thermal : .nominal
    app = state.session?.kind
    work = DeviceView.work(of: device, devices, cx)
    outbox =
      state.outbox.count + (cx.collection.isOn ? cx.collection.collectors[device].log.count : 0)
    heldVersion = Int(state.heldVersion)
    isAway = Membership.isAway(device, devices)
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
package struct ServerSnapshot: Equatable, Sendable {
  package let isReachable: Bool
  package let believesOnline: Bool

  /// The server as it is now.
  package init(_ run: borrowing Simulation) {
    isReachable = run.cx.network.server.isReachable
    believesOnline = run.cx.network.server.believesOnline
  }
}
