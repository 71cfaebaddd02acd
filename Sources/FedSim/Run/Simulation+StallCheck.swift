extension Simulation {
  /// Ends the run if nothing that is left can ever contribute.
  ///
  /// Only what is certain counts: no version has been published, nobody runs, nothing waits or is
  /// on its way, and the world up to the end never again lets a device with data begin; or the
  /// open round's cohort can no longer be complete and nothing else ends a round. Complexity: most
  /// calls end at the first device asked; at most one per simulated hour.
  mutating func checkForStall() {
    stallCheck.nextCheck = cx.now + .hours(1)
    if server.version > 0, !Rounds.mayCohortsBreak(cx) { return stallCheck.nextCheck = .never }
    if Rounds.isCohortBroken(server, cx) { return StallCheck.stopStuck(&cx) }
    // What is collected may still be trained on.
    if cx.collection.isOn { return }
    guard server.version == 0, server.pending.isEmpty, server.cohortGoal == nil,
      cx.updates.living == 0, !cx.inputs.injections.contains(where: { $0.at >= cx.now })
    else { return }
    for device in devices.indices where devices[device].session.map({ !$0.kind.isPoll }) ?? false {
      return
    }
    var isServerReachable = cx.network.server.isReachable
    if !isServerReachable { isServerReachable = cx.world.next(.reachable, after: cx.now) != nil }
    if isServerReachable {
      for step in devices.indices {
        let device = (stallCheck.device + step) % devices.count
        guard let time = StallCheck.opportunity(of: device, devices, cx) else { continue }
        stallCheck.device = device
        stallCheck.nextCheck = max(stallCheck.nextCheck, time)
        return
      }
    }
    StallCheck.stopStuck(&cx)
  }
}
