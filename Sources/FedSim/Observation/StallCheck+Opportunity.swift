extension StallCheck {
  static func stopStuck(_ cx: inout Context) {
    cx.isStuck = true
    cx.isOver = true
  }

  /// The time until which it is known that the world will let a device begin to train: the next
  /// time at which it does, or, where that is asked for, the last one of the day that begins now,
  /// if there is one; nil: never before the end.
  static func opportunity(
    of device: Int, isLast: Bool, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> SimTime? {
    let state = devices[device]
    let client = Int(cx.members.clients[device])
    guard cx.inputs.task.partition.shards.indices.contains(client),
      !cx.inputs.task.partition.shards[client].isEmpty
    else { return nil }
    let group = Roster.group(of: device, devices, cx)
    let until = isLast ? min(cx.end, cx.now + .days(1)) : cx.now
    if group.background.continued != nil { return until }
    if group.background.processing == nil, group.background.windows == nil { return nil }
    var forecast = ConditionForecast(
      cx.inputs, group: Int(state.group), ordinal: Int(state.ordinal), horizon: cx.end)
    var next: SimTime?
    var (lastHeld, lastOnline) = (SimTime.start, SimTime?.none)
    let needed = forecast.needed
    forecast.walk(from: cx.now, lockedSince: state.lockedSince, anyTime: true) { time, held in
      if held.contains(.online) { lastOnline = time }
      if held.isSuperset(of: needed) { (next, lastHeld) = (next ?? time, time) }
      return time < until || next == nil || lastOnline == nil
    }
    guard let next, let lastOnline else { return nil }
    return isLast ? max(next, min(lastHeld, lastOnline)) : next
  }
}
