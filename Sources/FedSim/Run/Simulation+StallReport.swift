extension Simulation {
  /// Why a run that is over has no version, or why its open round could never end; nil: neither is
  /// so.
  ///
  /// Complexity: O(devices · changes of their series) where there is no version.
  public var stallReport: StallReport? {
    precondition(cx.isOver, "a stall report is about a complete run")
    guard server.version == 0 || cx.isStuck || Rounds.isCohortBroken(server, cx) else { return nil }
    // The initial model was good enough.
    if cx.now == .start, !cx.isStuck, cx.inputs.stop.accuracy != nil { return nil }
    guard Collecting.hasTrainers(cx) || cx.collection.versions.isEmpty else { return nil }
    var found = StallReport(stoppedAt: cx.isStuck ? cx.now : nil)
    if server.version == 0 {
      let all = StallReport.obstacles(devices, cx)
      for (device, obstacle) in all.enumerated() {
        let group = Int(devices[device].group)
        if let place = found.counts.firstIndex(where: {
          $0.group == group && $0.obstacle == obstacle
        }) {
          found.counts[place].devices += 1
        } else {
          found.counts.append(.init(group: group, obstacle: obstacle, devices: 1))
        }
      }
      found.counts = found.counts.enumerated().sorted {
        ($0.element.group, -$0.element.devices, $0.offset)
          < ($1.element.group, -$1.element.devices, $1.offset)
      }.map(\.element)
      found.places = all.enumerated().map { device, obstacle in
        found.counts.firstIndex {
          $0.group == Int(devices[device].group) && $0.obstacle == obstacle
        }!
      }
    }
    found.waits = StallReport.waits(devices, server, cx)
    return found
  }
}
