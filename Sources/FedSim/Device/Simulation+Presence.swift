import Numerics

extension Simulation {
  /// Whether a device does not belong to the fleet now: everything about it stands still.
  func isAway(_ device: Int) -> Bool {
    devices.fleetTables.presence.isEmpty
      ? false : devices.fleetTables.presence[device]?.isHere == false
  }

  /// A device is not there at the start.
  mutating func beginAway(_ device: Int) {
    devices.fleetTables.presence[device]!.isHere = false
    devices[device].isOff = true
  }

  /// A device joins the fleet or leaves it.
  mutating func setPresent(_ device: Int, _ isHere: Bool) {
    if isHere { join(device) } else { leave(device) }
  }

  /// A device joins with the app freshly installed.
  private mutating func join(_ device: Int) {
    devices.fleetTables.presence[device]!.isHere = true
    devices.fleetTables.presence[device]!.since = cx.now
    devices.fleetTables.presence[device]!.joins += 1
    cx.books.tallies.joins += 1
    cx.note(device, .condition(.joined))
    if !devices.apps.isEmpty, devices.apps[device] != nil {
      var app = AppRegion()
      app.lastUse = cx.now
      app.isRefreshOn = devices.apps[device]!.isRefreshOn
      app.runTime = group(of: device).background.system?.dailyRunTime?.microseconds ?? 0
      app.refilledHour = cx.now.microseconds / 3_600_000_000
      devices.apps[device] = app
    }
    let isEmpty = isOff(device)
    changeLink(device) { $0.isOff = isEmpty }
    if !devices[device].isActive { devices[device].lockedSince = cx.now }
    let background = group(of: device).background
    if background.processing != nil { submitTaskRequest(device) }
    if background.refresh != nil { submitRefreshRequest(device) }
    if devices[device].windowState == StateSpace.window.usual {
      windowChanged(device, to: StateSpace.window.usual)
    }
  }

  /// A device leaves: what it was at ends, what it held is gone, and what it had sent goes its way.
  private mutating func leave(_ device: Int) {
    devices.fleetTables.presence[device]!.isHere = false
    devices.fleetTables.presence[device]!.total =
      devices.fleetTables.presence[device]!.total
      + (cx.now - devices.fleetTables.presence[device]!.since)
    devices.fleetTables.presence[device]!.leaves += 1
    cx.books.tallies.leaves += 1
    cx.note(device, .condition(.left))
    if devices[device].attempt != nil { endAttempt(device, .deviceLeft) }
    if devices[device].transfer != nil { giveUpTransfer(device) }
    for update in devices[device].outbox { cx.leaveDevice(update, .deviceLeft) }
    devices[device].outbox = []
    if collects(device) { loseCollected(device, .deviceLeft) }
    endSession(device, .left)
    endProcess(device)
    loseIdentity(device)
    loseOwn(device)
    if !devices.identities.isEmpty { devices.identities.devices[device].isKeychainLocked = false }
    for request in devices[device].scheduler.requests {
      devices[device].scheduler.remove(request.identifier)
    }
    devices[device].scheduler.starting = -1
    devices[device].scheduler.generation += 1
    setHeldVersion(device, -1)
    devices[device].held = nil
    devices[device].lastTrained = -1
    changeLink(device) { $0.isOff = true }
  }
}
