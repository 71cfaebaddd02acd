import Numerics

extension Simulation {
  /// Puts a new update into the outbox, or drops it where it cannot be kept.
  mutating func enqueue(_ device: Int, _ update: Int32) {
    let settings = inputs.fleet[Int(devices[device].group)].outbox
    let capacity = settings.capacity
    if settings.supersedes == true,
      let old = devices[device].outbox.first(where: {
        updates[$0].base == updates[update].base
      })
    {
      devices[device].takeOut(old)
      leaveDevice(old, .replaced)
    }
    if capacity == 0, !devices[device].isConnected {
      return leaveDevice(update, .dropped)
    }
    while devices[device].outbox.count >= max(1, capacity) {
      leaveDevice(devices[device].outbox.removeFirst(), .evicted)
    }
    devices[device].outbox.append(update)
    if !devices[device].isConnected {
      markWaiting(update)
      if settings.retriesLost == false { devices[device].session?.hasGivenUp = true }
    }
    devices[device].session?.tries = 0
  }

  /// The update that is sent next: the oldest that is not kept for good.
  func sendable(_ device: Int) -> Int32? {
    guard inputs.fleet[Int(devices[device].group)].outbox.flushes == false else {
      return devices[device].outbox.first
    }
    return devices[device].outbox.first { !updates[$0].isShelved }
  }

  /// What is in the outbox now is never sent from there.
  mutating func shelve(_ device: Int) {
    for update in devices[device].outbox { updates[update].isShelved = true }
  }

  /// Begins to send an update.
  mutating func startUpload(_ device: Int, _ update: Int32) {
    note(device, .uploadBegan(update: Int(update)))
    startRequest(
      device, .upload(update), .submit(update: update),
      bytes: updateBytes)
    completeEarly(device)
  }

  /// An upload failed: another try, or later, or never.
  mutating func uploadFailed(_ device: Int, _ update: Int32) {
    let settings = inputs.fleet[Int(devices[device].group)].outbox
    devices[device].session!.tries += 1
    if settings.retriesLost == false { devices[device].session!.hasGivenUp = true }
    let tries = devices[device].session!.tries
    if settings.capacity == 0, tries >= settings.attempts {
      devices[device].takeOut(update)
      leaveDevice(update, .dropped)
    } else {
      markWaiting(update)
    }
    if devices[device].isConnected, tries < settings.attempts, settings.retriesLost != false,
      !devices[device].session!.isExpiring
    {
      var delay = settings.delay
      for _ in 1..<max(1, tries) {
        delay = SimDuration(roundingUp: delay.seconds * settings.backoff)
      }
      return pause(
        device, for: jittered(delay, settings.jitter, device),
        then: devices[device].session!.stage)
    }
    proceed(device)
  }

  /// A wait of an outbox, longer or shorter by chance.
  ///
  /// Draws: one `uniform` of `outbox-jitter` (seed `world`) at the time at which the try failed.
  private func jittered(_ delay: SimDuration, _ jitter: Double?, _ device: Int) -> SimDuration {
    guard let jitter, jitter > 0 else { return delay }
    var stream = StreamKey(
      seed: inputs.seeds.world, purpose: "outbox-jitter", group: group(of: device).name,
      ordinal: UInt32(devices[device].ordinal)
    ).stream(slot: UInt64(now.microseconds))
    return SimDuration(roundingUp: delay.seconds * (1 + jitter * (2 * stream.uniform() - 1)))
  }

  /// Drops updates that have waited for too long.
  mutating func purgeOutbox(_ device: Int) {
    guard !devices[device].outbox.isEmpty,
      let limit = inputs.fleet[Int(devices[device].group)].outbox.timeToLive
    else { return }
    while let first = devices[device].outbox.first, updates[first].createdAt + limit < now {
      devices[device].outbox.removeFirst()
      leaveDevice(first, .outdated)
    }
  }

  /// An update could not be sent at once.
  mutating func markWaiting(_ update: Int32) {
    if !updates[update].hasWaited {
      updates[update].hasWaited = true
      tallies.waitedOffline += 1
    }
  }

  /// The device no longer keeps an update; `outcome` counts unless the server has or had it, or
  /// takes in what is still on its way.
  mutating func leaveDevice(_ update: Int32, _ outcome: UpdateOutcome?) {
    updates[update].isOnDevice = false
    if let outcome, !updates[update].hasArrived {
      if updates[update].copiesOnTheWay > 0 {
        updates[update].fallback = outcome
      } else {
        resolve(update, outcome)
      }
    }
    release(update)
  }

  /// A copy of an update came to the server's door; `isOpen` tells whether anyone answers.
  mutating func copyCame(_ update: Int32, isOpen: Bool) {
    updates[update].copiesOnTheWay -= 1
    if !isOpen, updates[update].copiesOnTheWay == 0, !updates[update].hasArrived,
      let outcome = updates[update].fallback
    {
      resolve(update, outcome)
    }
    release(update)
  }

  /// An update ends, once.
  mutating func resolve(_ update: Int32, _ outcome: UpdateOutcome) {
    if updates[update].outcome == nil {
      updates[update].outcome = outcome
      ledgers.updates.close(outcome)
      bookUpdate(update, outcome)
      note(Int(updates[update].device), .updateEnded(update: Int(update), outcome))
    }
    release(update)
  }

  /// Lets go of an update once nobody can ask for it any more.
  private mutating func release(_ update: Int32) {
    guard updates.contains(update) else { return }
    guard !updates[update].isOnDevice, let outcome = updates[update].outcome,
      updates[update].pendingCopies == 0, updates[update].copiesOnTheWay == 0
    else { return }
    let participation = updates[update].participation
    settled.add(outcome, batches: updates[update].batches)
    updates.remove(update)
    letGo(participation)
  }
}
