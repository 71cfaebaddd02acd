import Numerics

/// Pace steering: the server tells devices when to come back, and they stay away until then.
enum Pacing {
  // MARK: The server

  /// Turns a device away that asked for work, or waited for it.
  static func turnAway(
    _ device: Int, _ generation: UInt32, held: Int, _ server: inout Server, _ cx: inout Context
  ) {
    guard let retry = cx.inputs.server.retry else {
      return Lobby.answerCheck(device, generation, held: held, .rejected, &server, &cx)
    }
    cx.books.exchange.rejectedWithTimeout += 1
    Requests.answer(
      device, generation, .rejected(RetryAfter(delay(of: device, retry.after, retry, cx))), &cx)
  }

  /// A cohort is formed: the others that waited are turned away.
  ///
  /// Order: of the devices.
  static func turnAwayRest(_ server: inout Server, _ cx: inout Context) {
    guard cx.inputs.server.retry != nil else { return }
    var rest = server.waiting
    server.waiting.removeAll()
    for (place, checkIn) in rest.inOrder().enumerated() {
      let request = rest.request(at: place)
      turnAway(checkIn.device, request.generation, held: checkIn.heldVersion, &server, &cx)
      cx.participations.letGo(request.participation)
    }
  }

  /// Whether a device that would wait is turned away instead: the round has its cohort.
  static func isFull(_ server: borrowing Server, _ cx: borrowing Context) -> Bool {
    cx.inputs.server.retry != nil && server.openRound.cohortGoal != nil
  }

  /// How long a device is to stay away.
  ///
  /// Draws: one `uniform` at slot = the time in microseconds of the answer (seed `policy`,
  /// purpose `retry`), by group and ordinal; none without jitter. No other device's draws move it.
  private static func delay(
    of device: Int, _ mean: SimDuration, _ retry: RetrySettings, _ cx: borrowing Context
  ) -> SimDuration {
    guard retry.jitter > 0 else { return mean }
    var stream = StreamKey(
      seed: cx.inputs.seeds.policy, purpose: "retry",
      group: cx.inputs.fleet[cx.members.group(of: device)].name,
      ordinal: UInt32(cx.members.ordinal(of: device))
    ).stream(slot: UInt64(cx.now.microseconds))
    return SimDuration(roundingUp: mean.seconds * (1 + retry.jitter * (2 * stream.uniform() - 1)))
  }

  // MARK: The device

  /// A device reads that it was turned away, and when it may ask again.
  ///
  /// In a window it waits for that time; a task is completed, and one that begins too early ends.
  static func told(
    _ device: Int, _ duration: SimDuration, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard stayAway(device, for: duration, &devices, cx) else {
      return Session.turnedAway(device, &devices, &cx)
    }
    if devices[device].session!.kind.isTask {
      return Session.turnedAway(device, isForGood: true, &devices, &cx)
    }
    devices[device].session!.stage = .check
    Session.proceed(device, &devices, &cx)
  }

  /// The receipt of an update says when its device may ask again.
  static func received(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let retry = cx.inputs.server.retry, let accepted = retry.accepted else { return }
    let duration = delay(of: device, accepted, retry, cx)
    _ = stayAway(device, for: duration, &devices, cx)
  }

  /// Whether a device was ever given a time to return.
  static func wasSentAway(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Bool
  { cx.inputs.server.retry != nil && devices.clients[device].quietUntil > .start }

  /// Notes until when a device stays away; false where its app takes no notice.
  private static func stayAway(
    _ device: Int, for duration: SimDuration, _ devices: inout Devices, _ cx: borrowing Context
  ) -> Bool {
    if cx.inputs.fleet[Int(devices[device].group)].protocol?.timeouts == .ignored { return false }
    devices.clients[device].quietUntil = cx.now + duration
    devices.clients[device].isRejected = true
    return true
  }
}
