import Numerics

extension Simulation {
  /// Puts a new update into the outbox, or drops it where it cannot be kept.
  mutating func enqueue(_ device: Int, _ update: Int32) {
    let settings = inputs.fleet[Int(devices[device].group)].outbox
    let capacity = settings.capacity
    if settings.supersedes == true,
      let old = devices[device].outbox.first(where: {
        updates[Int($0)].base == updates[Int(update)].base
      })
    {
      devices[device].outbox.removeAll { $0 == old }
      leaveDevice(old, .replaced)
    }
    if capacity == 0, !devices[device].isConnected {
      return leaveDevice(update, .dropped)
    }
    while devices[device].outbox.count >= max(1, capacity) {
      leaveDevice(devices[device].outbox.removeFirst(), .evicted)
    }
    devices[device].outbox.append(update)
    if !devices[device].isConnected { markWaiting(update) }
    devices[device].session?.tries = 0
  }

  /// Begins to send an update.
  mutating func startUpload(_ device: Int, _ update: Int32) {
    note(device, .uploadBegan(update: Int(update)))
    startRequest(
      device, .upload(update), .submit(update: update),
      bytes: modelBytes + inputs.server.messageBytes)
    completeEarly(device)
  }

  /// An upload failed: another try, or later, or never.
  mutating func uploadFailed(_ device: Int, _ update: Int32) {
    let settings = inputs.fleet[Int(devices[device].group)].outbox
    devices[device].session!.tries += 1
    let tries = devices[device].session!.tries
    if settings.capacity == 0, tries >= settings.attempts {
      devices[device].outbox.removeAll { $0 == update }
      leaveDevice(update, .dropped)
    } else {
      markWaiting(update)
    }
    if devices[device].isConnected, tries < settings.attempts,
      !devices[device].session!.isExpiring
    {
      var delay = settings.delay
      for _ in 1..<max(1, tries) {
        delay = SimDuration(roundingUp: delay.seconds * settings.backoff)
      }
      return pause(device, for: delay, then: devices[device].session!.stage)
    }
    proceed(device)
  }

  /// Drops updates that have waited for too long.
  mutating func purgeOutbox(_ device: Int) {
    guard !devices[device].outbox.isEmpty,
      let limit = inputs.fleet[Int(devices[device].group)].outbox.timeToLive
    else { return }
    while let first = devices[device].outbox.first, updates[Int(first)].createdAt + limit < now {
      devices[device].outbox.removeFirst()
      leaveDevice(first, .outdated)
    }
  }

  /// An update could not be sent at once.
  mutating func markWaiting(_ update: Int32) {
    if !updates[Int(update)].hasWaited {
      updates[Int(update)].hasWaited = true
      tallies.waitedOffline += 1
    }
  }

  /// The device no longer keeps an update; `outcome` counts unless the server has or had it, or
  /// takes in what is still on its way.
  mutating func leaveDevice(_ update: Int32, _ outcome: UpdateOutcome?) {
    updates[Int(update)].isOnDevice = false
    if let outcome, !updates[Int(update)].hasArrived {
      if updates[Int(update)].copiesOnTheWay > 0 {
        updates[Int(update)].fallback = outcome
      } else {
        resolve(update, outcome)
      }
    }
    release(update)
  }

  /// A copy of an update came to the server's door; `isOpen` tells whether anyone answers.
  mutating func copyCame(_ update: Int32, isOpen: Bool) {
    updates[Int(update)].copiesOnTheWay -= 1
    if !isOpen, updates[Int(update)].copiesOnTheWay == 0, !updates[Int(update)].hasArrived,
      let outcome = updates[Int(update)].fallback
    {
      resolve(update, outcome)
    }
    release(update)
  }

  /// An update ends, once.
  mutating func resolve(_ update: Int32, _ outcome: UpdateOutcome) {
    if updates[Int(update)].outcome == nil {
      updates[Int(update)].outcome = outcome
      ledgers.updates.close(outcome)
    }
    release(update)
  }

  /// Lets go of an update's values once nobody can need them.
  private mutating func release(_ update: Int32) {
    let record = updates[Int(update)]
    if !record.isOnDevice, record.outcome != nil, record.pendingCopies == 0,
      record.copiesOnTheWay == 0
    {
      updates[Int(update)].training = nil
      updates[Int(update)].baseParameters = nil
    }
  }
}
