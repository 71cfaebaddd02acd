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
