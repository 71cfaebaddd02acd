import Numerics

extension Simulation {
  /// The app's process ends: what it held in memory is gone.
  mutating func forgetInMemory(_ device: Int) {
    guard !devices.identities.isEmpty else { return }
    devices.identities.devices[device].beats.isOpen = false
    if cx.inputs.fleet[Int(devices[device].group)].registration?.persists == false {
      devices.identities.devices[device].isRegistered = false
    }
  }

  /// A person opens the app, or leaves it.
  mutating func setOpen(_ device: Int, _ isOpen: Bool) {
    guard !devices.identities.isEmpty else { return }
    devices.identities.devices[device].beats.isOpen = isOpen && devices[device].isActive
  }

  /// The device has booted: until a person unlocks it, its keys cannot be read.
  mutating func lockKeychain(_ device: Int) {
    guard !devices.identities.isEmpty, !devices[device].isActive,
      cx.inputs.fleet[Int(devices[device].group)].authentication?.locksAtReboot == true
    else { return }
    devices.identities.devices[device].isKeychainLocked = true
    cx.note(device, .identity(.keychainLocked))
  }

  /// A person unlocks the device.
  mutating func unlockKeychain(_ device: Int) {
    guard !devices.identities.isEmpty, devices.identities.devices[device].isKeychainLocked else {
      return
    }
    devices.identities.devices[device].isKeychainLocked = false
    cx.note(device, .identity(.keychainUnlocked))
  }

  /// The device starts anew: the app's process ends, and the link is gone for a while.
  mutating func reboot(_ device: Int, lasting: SimDuration) {
    if devices[device].session != nil { kill(device) } else { endProcess(device) }
    lockKeychain(device)
    dropLink(device, lasting: lasting)
  }

  /// The app is removed and installed anew: data, model, outbox, checkpoint, tokens, requests and
  /// registration are lost; then its user opens it.
  mutating func reinstall(_ device: Int) {
    if devices[device].session != nil { kill(device) } else { endProcess(device) }
    if devices[device].attempt != nil { endAttempt(device, .uninstalled) }
    for update in devices[device].outbox { cx.leaveDevice(update, .uninstalled) }
    devices[device].outbox = []
    if collects(device) { loseCollected(device, .uninstalled) }
    setHeldVersion(device, -1)
    devices[device].held = nil
    devices[device].lastTrained = -1
    for request in devices[device].scheduler.requests {
      devices[device].scheduler.remove(request.identifier)
    }
    devices[device].scheduler.starting = -1
    devices[device].scheduler.generation += 1
    devices.identities.counts.reinstallations += 1
    let registration = cx.inputs.fleet[Int(devices[device].group)].registration
    if registration?.keepsData != true { devices.identities.devices[device].hasLostData = true }
    loseIdentity(device)
    loseOwn(device)
    devices.identities.devices[device].installations += 1
    cx.note(device, .identity(.reinstalled))
    if !isOff(device) { useApp(device) }
  }

  /// With an installation go its tokens, its registration, and what the server knows it by.
  mutating func loseIdentity(_ device: Int) {
    guard !devices.identities.isEmpty else { return }
    var tokens = devices.identities.devices[device].tokens
    (tokens.hasTokens, tokens.isRevoked, tokens.mustRefresh) = (false, false, false)
    (tokens.nextBootstrap, tokens.failures, tokens.issued) = (cx.now, 0, [])
    devices.identities.devices[device].tokens = tokens
    devices.identities.devices[device].isRegistered = false
    devices.identities.devices[device].serverID = 0
    devices.identities.devices[device].installedAt = cx.now
  }

  /// Whether the app has samples to train on.
  mutating func hasData(_ device: Int) -> Bool {
    devices[device].pace.batchCount > 0
      && (devices.identities.isEmpty || !devices.identities.devices[device].hasLostData)
  }

  /// Whether two updates of a device are of one installation: the server knows it by that.
  func isSameInstallation(_ a: Int32, _ b: Int32) -> Bool {
    guard !devices.identities.isEmpty else { return true }
    let since = devices.identities.devices[Int(cx.updates[a].device)].installedAt
    return (cx.updates[a].createdAt >= since) == (cx.updates[b].createdAt >= since)
  }

  /// Schedules the next re-installation.
  ///
  /// Draws: one `exponential` at slot = the number of installations so far (purpose `reinstall`).
  mutating func planReinstall(_ device: Int) {
    guard let mean = cx.inputs.fleet[Int(devices[device].group)].registration?.reinstallEvery
    else { return }
    let slot = UInt64(devices.identities.devices[device].installations)
    var stream = schedulerKey(device, "reinstall").stream(slot: slot)
    let wait = SimDuration(roundingUp: stream.exponential(mean: mean.seconds))
    cx.schedule(
      .deviceTimer(.reinstall, device: Int32(device), generation: 0), .kill,
      at: cx.now + max(wait, SimDuration(microseconds: 1)), by: device)
  }

  /// The time of a re-installation has come.
  mutating func reinstallRang(_ device: Int) {
    devices[device].exogenous.combine(cx.now.microseconds)
    if isAway(device) {
      devices.identities.devices[device].installations += 1
    } else {
      reinstall(device)
    }
    planReinstall(device)
  }
}

extension Simulation {
  /// What the identity of a device cannot be.
  func identityImpossibilities(_ device: Int) -> [String] {
    let identity = devices.identities.devices[device]
    let tokens = identity.tokens
    var found: [String] = []
    func never(_ isSo: Bool, _ what: String) {
      if isSo { found.append("\(path(of: device)) \(what)") }
    }
    never(tokens.misuses > 0, "uses a token that it knows to be expired")
    never(tokens.hasTokens && tokens.refresh > tokens.current, "has a token that was never issued")
    never(identity.isRegistered && identity.serverID == 0, "is registered, and nobody knows of it")
    never(
      identity.isKeychainLocked && devices[device].isActive, "is in use, and its keys are locked")
    never(identity.beats.isOpen && !devices[device].isActive, "is locked, and its app is open")
    never(
      identity.beats.isWaiting && identity.beats.conditions.period == 0,
      "waits for a heartbeat of an app that does not run")
    let belief = identity.beats.belief
    never(
      belief.times.reduce(0, +) != belief.until.microseconds
        || belief.linkTimes.reduce(0, +) != belief.until.microseconds,
      "is believed in for another time")
    guard device == 0 else { return found }
    let beats = devices.identities.counts.heartbeats
    let told = beats.withheld + beats.unsent + beats.sent
    never(beats.due != told, "and others: \(beats.due) heartbeats were due, \(told) are told of")
    never(
      beats.accepted + beats.unauthorised + beats.forbidden > beats.sent,
      "and others: more heartbeats arrived than were sent")
    return found
  }
}
