import Numerics

/// The updates that a device keeps until the server has them.
enum Outbox {
  /// Puts a new update into the outbox, or drops it where it cannot be kept.
  static func enqueue(_ device: Int, _ update: Int32, _ devices: inout Devices, _ cx: inout Context)
  {
    let settings = cx.inputs.fleet[Int(devices[device].group)].outbox
    let capacity = settings.capacity
    if settings.supersedes == true,
      let old = devices[device].outbox.first(where: {
        cx.updates[$0].base == cx.updates[update].base
      })
    {
      devices[device].takeOut(old)
      BackgroundTransfers.release(device, old, &cx)
      cx.leaveDevice(old, .replaced)
    }
    let isConnected = cx.network[device].isConnected
    // Over a stream that waits for its link the update is sent when the link is back.
    let isLost =
      !isConnected
      && !(cx.network[device].awaitedLink != 0 && Streams.isOpen(device, devices, cx))
    if capacity == 0, isLost { return cx.leaveDevice(update, .dropped) }
    while devices[device].outbox.count >= max(1, capacity) {
      let evicted = devices[device].outbox.removeFirst()
      BackgroundTransfers.release(device, evicted, &cx)
      cx.leaveDevice(evicted, .evicted)
    }
    devices[device].outbox.append(update)
    if !isConnected || sendable(device, devices, cx) != update { markWaiting(update, &cx) }
    if isLost, settings.retriesLost == false {
      devices[device].session?.hasGivenUp = true
    }
    devices[device].session?.tries = 0
  }

  /// The update that is sent next: the oldest that is not kept for good.
  static func sendable(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Int32?
  {
    guard cx.inputs.fleet[Int(devices[device].group)].outbox.flushes == false else {
      return devices[device].outbox.first
    }
    for update in devices[device].outbox where !cx.updates[update].isShelved { return update }
    return nil
  }

  /// What is in the outbox now is never sent from there.
  static func shelve(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let kept = BackgroundTransfers.update(of: device, cx)
    for update in devices[device].outbox where update != kept { cx.updates.shelve(update) }
  }

  /// Begins to send an update.
  static func startUpload(
    _ device: Int, _ update: Int32, _ devices: inout Devices, _ cx: inout Context
  ) {
    cx.note(device, .uploadBegan(update: Int(update)))
    BackgroundTransfers.handOver(device, update, devices, &cx)
    Requesting.startRequest(
      device, .upload(update), .submit(update: update),
      bytes: WireSize.updateBytes(cx), &devices, &cx)
    App.completeEarly(device, &devices, &cx)
  }

  /// An upload failed: another try, or later, or never.
  static func uploadFailed(
    _ device: Int, _ update: Int32, _ devices: inout Devices, _ cx: inout Context
  ) {
    let settings = cx.inputs.fleet[Int(devices[device].group)].outbox
    devices[device].session!.tries += 1
    if settings.retriesLost == false { devices[device].session!.hasGivenUp = true }
    let tries = devices[device].session!.tries
    if settings.capacity == 0, tries >= settings.attempts {
      devices[device].takeOut(update)
      cx.leaveDevice(update, .dropped)
    } else {
      markWaiting(update, &cx)
    }
    if cx.network[device].isConnected, tries < settings.attempts, settings.retriesLost != false,
      !devices[device].session!.isExpiring
    {
      var delay = settings.delay
      for _ in 1..<max(1, tries) {
        delay = SimDuration(roundingUp: delay.seconds * settings.backoff)
      }
      return Session.pause(
        device, for: jittered(delay, settings.jitter, device, devices, cx),
        then: devices[device].session!.stage, &devices, &cx)
    }
    Session.proceed(device, &devices, &cx)
  }

  /// A wait of an outbox, longer or shorter by chance.
  ///
  /// Draws: one `uniform` of `outbox-jitter` (seed `world`) at the time at which the try failed.
  private static func jittered(
    _ delay: SimDuration, _ jitter: Double?, _ device: Int, _ devices: borrowing Devices,
    _ cx: borrowing Context
  ) -> SimDuration {
    guard let jitter, jitter > 0 else { return delay }
    var stream = StreamKey(
      seed: cx.inputs.seeds.world, purpose: "outbox-jitter",
      group: Roster.group(of: device, devices, cx).name,
      ordinal: UInt32(devices[device].ordinal)
    ).stream(slot: UInt64(cx.now.microseconds))
    return SimDuration(roundingUp: delay.seconds * (1 + jitter * (2 * stream.uniform() - 1)))
  }

  /// Whether the oldest update has waited for too long.
  static func hasOutdated(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Bool
  {
    guard let first = devices[device].outbox.first,
      let limit = cx.inputs.fleet[Int(devices[device].group)].outbox.timeToLive
    else { return false }
    return cx.updates[first].createdAt + limit < cx.now
  }

  /// Drops updates that have waited for too long.
  static func dropOutdated(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    while hasOutdated(device, devices, cx) {
      let oldest = devices[device].outbox.removeFirst()
      BackgroundTransfers.release(device, oldest, &cx)
      cx.leaveDevice(oldest, .outdated)
    }
  }

  /// The process is gone, and with it updates that were only in its memory.
  static func loseUnstored(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !cx.inputs.fleet[Int(devices[device].group)].outbox.persists else { return }
    lose(device, .lostAtKill, &devices, &cx)
  }

  /// What the app keeps is gone; what the system has is not.
  static func lose(
    _ device: Int, _ outcome: UpdateOutcome, _ devices: inout Devices, _ cx: inout Context
  ) {
    let kept = BackgroundTransfers.update(of: device, cx)
    for update in devices[device].outbox where update != kept { cx.leaveDevice(update, outcome) }
    devices[device].outbox = kept.map { [$0] } ?? []
  }

  /// An update could not be sent at once.
  static func markWaiting(_ update: Int32, _ cx: inout Context) {
    guard cx.updates.markWaiting(update) else { return }
    cx.books.tallies.waitedOffline += 1
    let group = cx.members.group(of: Int(cx.updates[update].device))
    cx.books.interrupted(.waitedOffline, group: Int32(group), at: cx.now)
  }
}
