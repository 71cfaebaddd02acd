import Numerics

/// Joining and leaving the fleet.
enum Membership {
  /// Whether a device does not belong to the fleet now: everything about it is suspended.
  static func isAway(_ device: Int, _ devices: borrowing Devices) -> Bool {
    devices.fleetTables.presence.isEmpty
      ? false : devices.fleetTables.presence[device]?.isHere == false
  }

  /// A device is not there at the start.
  static func beginAway(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    devices.fleetTables.presence[device]!.isHere = false
    cx.network[device].isOff = true
    Installation.loseModel(device, &devices, &cx)
  }

  /// A device joins the fleet or leaves it.
  static func setPresent(
    _ device: Int, _ isHere: Bool, _ devices: inout Devices, _ cx: inout Context
  ) {
    if isHere { join(device, &devices, &cx) } else { leave(device, &devices, &cx) }
  }

  /// A device joins with the app freshly installed.
  private static func join(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    devices.fleetTables.presence[device]!.isHere = true
    devices.fleetTables.presence[device]!.since = cx.now
    devices.fleetTables.presence[device]!.joins += 1
    cx.books.tallies.joins += 1
    cx.note(device, .condition(.joined))
    Installation.equip(device, &devices, &cx)
    if !devices.apps.isEmpty, devices.apps[device] != nil {
      var app = AppRegion()
      app.lastUse = cx.now
      app.isRefreshOn = devices.apps[device]!.isRefreshOn
      app.runTime =
        Roster.group(of: device, devices, cx).background.system?.dailyRunTime?.microseconds ?? 0
      app.refilledHour = cx.now.microseconds / 3_600_000_000
      // Timers of before must not ring for it.
      app.opening = devices.apps[device]!.opening + 1
      app.suspension = devices.apps[device]!.suspension + 1
      devices.apps[device] = app
    }
    let isEmpty = Body.isOff(device, &devices)
    Surroundings.changeLink(device, &devices, &cx) { $0.isOff = isEmpty }
    if !devices[device].isActive { App.lock(device, &devices, &cx) }
    let background = Roster.group(of: device, devices, cx).background
    if background.processing != nil { Scheduler.submitTaskRequest(device, &devices, &cx) }
    if background.refresh != nil { Scheduler.submitRefreshRequest(device, &devices, &cx) }
    if devices[device].windowState == StateSpace.window.usual {
      Surroundings.windowChanged(device, to: StateSpace.window.usual, &devices, &cx)
    }
  }

  /// A device leaves: what it was at ends, what it held is gone, and what it had sent goes its way.
  private static func leave(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    devices.fleetTables.presence[device]!.isHere = false
    devices.fleetTables.presence[device]!.total =
      devices.fleetTables.presence[device]!.total
      + (cx.now - devices.fleetTables.presence[device]!.since)
    devices.fleetTables.presence[device]!.leaves += 1
    cx.books.tallies.leaves += 1
    cx.note(device, .condition(.left))
    if devices[device].attempt != nil { Training.endAttempt(device, .deviceLeft, &devices, &cx) }
    BackgroundTransfers.cancel(device, &devices, &cx)
    if cx.network[transferOf: device] != nil { Requesting.giveUpTransfer(device, &devices, &cx) }
    for update in devices[device].outbox { cx.leaveDevice(update, .deviceLeft) }
    devices[device].outbox = []
    if Collecting.collects(device, cx) {
      SampleFiles.loseCollected(device, .deviceLeft, &cx)
    }
    Session.endSession(device, .left, &devices, &cx)
    App.endProcess(device, &devices, &cx)
    Installation.loseIdentity(device, &devices, &cx)
    OwnModel.loseOwn(device, &cx)
    if !devices.identities.isEmpty { devices.identities.devices[device].isKeychainLocked = false }
    for request in devices[device].scheduler.requests {
      devices[device].scheduler.remove(request.identifier)
    }
    devices[device].scheduler.starting = -1
    devices[device].scheduler.generation += 1
    Installation.loseModel(device, &devices, &cx)
    Surroundings.changeLink(device, &devices, &cx) { $0.isOff = true }
  }

  /// At the end of the run: how long devices that are still in the fleet have been there.
  static func closePresence(_ devices: inout Devices, _ cx: inout Context) {
    for device in devices.fleetTables.presence.indices {
      guard let presence = devices.fleetTables.presence[device], presence.isHere else { continue }
      devices.fleetTables.presence[device]!.total = presence.total + (cx.now - presence.since)
      devices.fleetTables.presence[device]!.since = cx.now
    }
  }
}
