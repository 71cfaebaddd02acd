extension StallCheck {
  static func stopStuck(_ cx: inout Context) {
    cx.isStuck = true
    cx.isOver = true
  }

  /// The next time at which the world lets a device begin to train; nil: never before the end.
  static func opportunity(of device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> SimTime?
  {
    let state = devices[device]
    let client = Int(cx.members.clients[device])
    guard cx.inputs.task.partition.shards.indices.contains(client),
      !cx.inputs.task.partition.shards[client].isEmpty
    else { return nil }
    let group = Roster.group(of: device, devices, cx)
    if group.background.continued != nil { return cx.now }
    if group.background.processing == nil, group.background.windows == nil { return nil }
    var forecast = ConditionForecast(
      cx.inputs, group: Int(state.group), ordinal: Int(state.ordinal), horizon: cx.end)
    var found: SimTime?
    var isEverOnline = false
    let needed = forecast.needed
    forecast.walk(from: cx.now, lockedSince: state.lockedSince, anyTime: true) { time, held in
      if held.contains(.online) { isEverOnline = true }
      if found == nil, held.isSuperset(of: needed) { found = time }
      return found == nil || !isEverOnline
    }
    return isEverOnline ? found : nil
  }
}
