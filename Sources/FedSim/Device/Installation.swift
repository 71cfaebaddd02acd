import Numerics

/// Installing, removing and restarting: what memory and disk lose.
enum Installation {
  /// The app's process ends: what it held in memory is gone.
  static func forgetInMemory(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !devices.identities.isEmpty else { return }
    devices.identities.devices[device].beats.isOpen = false
    if cx.inputs.fleet[Int(devices[device].group)].registration?.persists == false {
      devices.identities.devices[device].isRegistered = false
    }
  }

  /// A person opens the app, or leaves it.
  static func setOpen(_ device: Int, _ isOpen: Bool, _ devices: inout Devices) {
    guard !devices.identities.isEmpty else { return }
    devices.identities.devices[device].beats.isOpen = isOpen && devices[device].isActive
  }

  /// The device has booted: until a person unlocks it, its keys cannot be read.
  static func lockKeychain(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !devices.identities.isEmpty, !devices[device].isActive,
      cx.inputs.fleet[Int(devices[device].group)].authentication?.locksAtReboot == true
    else { return }
    devices.identities.devices[device].isKeychainLocked = true
    cx.note(device, .identity(.keychainLocked))
  }

  /// A person unlocks the device.
  static func unlockKeychain(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !devices.identities.isEmpty, devices.identities.devices[device].isKeychainLocked else {
      return
    }
    devices.identities.devices[device].isKeychainLocked = false
    cx.note(device, .identity(.keychainUnlocked))
  }

  /// The device starts again: the app's process ends, and the link is gone for a while.
  static func reboot(
    _ device: Int, lasting: SimDuration, _ devices: inout Devices, _ cx: inout Context
  ) {
    BackgroundTransfers.cancel(device, &devices, &cx)
    if devices[device].session != nil {
      Session.kill(device, &devices, &cx)
    } else {
      App.endIdleProcess(device, &devices, &cx)
    }
    lockKeychain(device, &devices, &cx)
    Surroundings.dropLink(device, lasting: lasting, &devices, &cx)
  }

  /// The app is removed and reinstalled: data, model, outbox, checkpoint, tokens, requests and
  /// registration are lost; then its user opens it.
  static func reinstall(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    BackgroundTransfers.cancel(device, &devices, &cx)
    if devices[device].session != nil {
      Session.kill(device, &devices, &cx)
    } else {
      App.endProcess(device, &devices, &cx)
    }
    if devices[device].attempt != nil { Training.endAttempt(device, .uninstalled, &devices, &cx) }
    for update in devices[device].outbox { cx.leaveDevice(update, .uninstalled) }
    devices[device].outbox = []
    if Collecting.collects(device, cx) {
      SampleFiles.loseCollected(device, .uninstalled, &cx)
    }
    loseModel(device, &devices, &cx)
    equip(device, &devices, &cx)
    for request in devices[device].scheduler.requests {
      devices[device].scheduler.remove(request.identifier)
    }
    devices[device].scheduler.starting = -1
    devices[device].scheduler.generation += 1
    cx.books.identities.reinstallations += 1
    let registration = cx.inputs.fleet[Int(devices[device].group)].registration
    if registration?.keepsData != true { devices.identities.devices[device].hasLostData = true }
    loseIdentity(device, &devices, &cx)
    OwnModel.loseOwn(device, &cx)
    if !devices.clients.isEmpty { devices.clients[device].quietUntil = .start }
    devices.identities.devices[device].installations += 1
    cx.note(device, .identity(.reinstalled))
    if !Body.isOff(device, &devices) { App.useApp(device, &devices, &cx) }
  }

  /// The model that a device holds is gone with its app.
  static func loseModel(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    Accounting.setHeldVersion(device, -1, &devices, &cx)
    devices[device].held = nil
    devices[device].lastTrained = -1
  }

  /// The app is installed: with version 0, or without a model.
  static func equip(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard cx.inputs.fleet[Int(devices[device].group)].app?.comesWithModel == true else { return }
    Accounting.setHeldVersion(device, 0, &devices, &cx)
    devices[device].held = cx.inputs.task.initial
  }

  /// With an installation go its tokens, its registration, and what the server knows it by.
  static func loseIdentity(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !devices.identities.isEmpty else { return }
    var tokens = devices.identities.devices[device].tokens
    (tokens.hasTokens, tokens.isRevoked, tokens.mustRefresh) = (false, false, false)
    (tokens.nextBootstrap, tokens.failures) = (cx.now, 0)
    cx.network.accounts[device].issued = []
    devices.identities.devices[device].tokens = tokens
    devices.identities.devices[device].isRegistered = false
    cx.network.accounts[device].number = 0
    cx.network.accounts[device].installedAt = cx.now
  }

  /// Whether the app has samples to train on.
  static func hasData(_ device: Int, _ devices: borrowing Devices) -> Bool {
    guard devices[device].pace.batchCount > 0 else { return false }
    return devices.identities.isEmpty ? true : !devices.identities.devices[device].hasLostData
  }

  /// Whether two updates of a device are of one installation: the server knows it by that.
  static func isSameInstallation(
    _ a: Int32, _ b: Int32, _ cx: borrowing Context
  ) -> Bool {
    guard !cx.network.accounts.isEmpty else { return true }
    let since = cx.network.accounts[Int(cx.updates[a].device)].installedAt
    return (cx.updates[a].createdAt >= since) == (cx.updates[b].createdAt >= since)
  }

  /// Schedules the next re-installation.
  ///
  /// Draws: one `exponential` at slot = the number of installations so far (purpose `reinstall`).
  static func planReinstall(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let mean = cx.inputs.fleet[Int(devices[device].group)].registration?.reinstallEvery
    else { return }
    let slot = UInt64(devices.identities.devices[device].installations)
    var stream = Scheduler.schedulerKey(device, "reinstall", &devices, &cx).stream(slot: slot)
    let wait = SimDuration(roundingUp: stream.exponential(mean: mean.seconds))
    cx.schedule(
      .deviceTimer(.reinstall, device: Int32(device), generation: 0), .kill,
      at: cx.now + max(wait, SimDuration(microseconds: 1)), by: device)
  }

  /// The time of a re-installation has come.
  static func reinstallRang(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    devices[device].exogenous.combine(cx.now.microseconds)
    if Membership.isAway(device, devices) {
      devices.identities.devices[device].installations += 1
    } else {
      reinstall(device, &devices, &cx)
    }
    planReinstall(device, &devices, &cx)
  }
}
