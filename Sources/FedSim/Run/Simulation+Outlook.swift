extension Simulation {
  /// Ends the run if nothing that is left can ever contribute.
  ///
  /// Only what is certain counts: no version has been published, nobody runs, nothing waits or is
  /// on its way, and the world up to the end never again lets a device with data begin; or the
  /// open round's cohort can no longer be complete and nothing else ends a round. Complexity: most
  /// calls end at the first device asked; at most one a simulated hour.
  mutating func lookAhead() {
    outlook.nextLook = cx.now + .hours(1)
    if server.version > 0, !Rounds.mayCohortsBreak(cx) { return outlook.nextLook = .never }
    if Rounds.isCohortBroken(server, cx) { return stopStuck() }
    // What is collected may still be trained on.
    if cx.collection.isOn { return }
    guard server.version == 0, server.pending.isEmpty, server.cohortGoal == nil,
      cx.updates.living == 0, !cx.inputs.injections.contains(where: { $0.at >= cx.now })
    else { return }
    for device in devices.indices where devices[device].session.map({ !$0.kind.isPoll }) ?? false {
      return
    }
    var isServerReachable = cx.line.isReachable
    if !isServerReachable { isServerReachable = cx.world.next(.reachable, after: cx.now) != nil }
    if isServerReachable {
      for step in devices.indices {
        let device = (outlook.device + step) % devices.count
        guard let time = opportunity(of: device) else { continue }
        outlook.device = device
        outlook.nextLook = max(outlook.nextLook, time)
        return
      }
    }
    stopStuck()
  }

  private mutating func stopStuck() {
    isStuck = true
    cx.isOver = true
  }

  /// The next time at which the world lets a device begin to train; nil: never before the end.
  private func opportunity(of device: Int) -> SimTime? {
    let state = devices[device]
    let client = Int(state.client)
    guard cx.inputs.task.partition.shards.indices.contains(client),
      !cx.inputs.task.partition.shards[client].isEmpty
    else { return nil }
    let group = Roster.group(of: device, devices, cx)
    if group.background.continued != nil { return cx.now }
    if group.background.processing == nil, group.background.windows == nil { return nil }
    var offer = Offer(
      cx.inputs, group: Int(state.group), ordinal: Int(state.ordinal), horizon: cx.end)
    var found: SimTime?
    var isEverOnline = false
    let needed = offer.needed
    offer.walk(from: cx.now, lockedSince: state.lockedSince, anyTime: true) { time, held in
      if held.contains(.online) { isEverOnline = true }
      if found == nil, held.isSuperset(of: needed) { found = time }
      return found == nil || !isEverOnline
    }
    return isEverOnline ? found : nil
  }
}
