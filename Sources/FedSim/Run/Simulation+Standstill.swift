extension Simulation {
  /// Why a run that is over has no version, or why its open round could never end; nil: neither is
  /// so.
  ///
  /// Complexity: O(devices · changes of their series) where there is no version.
  public var standstill: Standstill? {
    precondition(cx.isOver, "a standstill is that of a whole run")
    guard server.version == 0 || isStuck || Rounds.isCohortBroken(server, cx) else { return nil }
    // The initial model was good enough.
    if cx.now == .start, !isStuck, cx.inputs.stop.accuracy != nil { return nil }
    guard hasTrainers || cx.collection.versions.isEmpty else { return nil }
    var found = Standstill(stoppedAt: isStuck ? cx.now : nil)
    if server.version == 0 {
      let all = obstacles()
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
    found.waits = waits()
    return found
  }

  /// Whether a device has samples before the end.
  private func everHasData(_ device: Int) -> Bool {
    guard Roster.group(of: device, devices, cx).arrival != nil else {
      return devices[device].pace.batchCount > 0
    }
    let (group, ordinal) = (Int(devices[device].group), Int(devices[device].ordinal))
    return Roster.samples(
      group: group, ordinal: ordinal, client: Int(devices[device].client), at: cx.end, devices, cx)
      > 0
  }

  /// The first obstacle of each device.
  private func obstacles() -> [Standstill.Obstacle] {
    let accepted = cx.participations.hours.reduce(0) { $0 + $1[.accepted] }
    let formsCohorts = cx.inputs.server.selector.value.formsCohorts
    let isReachable = isEver(.reachable)
    let hasInternet = isEver(.internet)
    var found: [Standstill.Obstacle] = []
    for device in devices.indices {
      let did = devices[device].activity
      let background = Roster.group(of: device, devices, cx).background
      if !everHasData(device) {
        found.append(.noData)
      } else if !isStuck, wasNeverHere(device) {
        found.append(.absent)
      } else if !Roster.isFit(device, devices) {
        found.append(.unfit)
      } else if Collecting.collects(device, devices, cx), let obstacle = collectorObstacle(device) {
        found.append(obstacle)
      } else if did.attempts > 0 {
        found.append(did.updates > 0 ? .neverAggregated : .neverFinished)
      } else if background.processing == nil, background.windows == nil, did.sessions == 0 {
        found.append(background.continued == nil ? .nothingRuns : .neverAsked)
      } else if let missing = missingConditions(of: device), !missing.isEmpty {
        found.append(.never(missing))
      } else if !isReachable {
        found.append(.serverUnreachable)
      } else if did.sessions == 0 {
        found.append(.neverStarted)
      } else if formsCohorts, accepted == 0 {
        found.append(.notChosen)
      } else {
        found.append(devices[device].heldVersion < 0 && !hasInternet ? .noModel : .neverTrained)
      }
    }
    return found
  }

  /// Whether a device was away for the whole run.
  private func wasNeverHere(_ device: Int) -> Bool {
    guard Membership.isAway(device, devices), let presence = devices.fleetTables.presence[device]
    else { return false }
    return presence.total == .zero
  }

  /// What never held at once for a device from the start to the end, of what the world decides.
  private func missingConditions(of device: Int) -> StartConditions? {
    let background = Roster.group(of: device, devices, cx).background
    guard background.processing != nil || background.windows != nil else { return nil }
    let state = devices[device]
    var offer = Offer(
      cx.inputs, group: Int(state.group), ordinal: Int(state.ordinal), horizon: cx.end)
    var seen: [StartConditions] = []
    offer.walk(from: .start, lockedSince: .start) { _, held in
      if !seen.contains(held) { seen.append(held) }
      return true
    }
    let missing = offer.needed.missing(in: seen)
    let online = StartConditions.online
    return missing.isEmpty && !seen.contains { $0.contains(online) } ? online : missing
  }

  /// Whether a series of the server is ever up.
  private func isEver(_ series: ServerSeries) -> Bool {
    var world = cx.world
    return world.state(series, at: .start) == 1 || world.next(series, after: .start) != nil
  }

  /// The first obstacle of a device that collects; nil: its app never ran.
  private func collectorObstacle(_ device: Int) -> Standstill.Obstacle? {
    if !cx.collection.versions.isEmpty { return .collects }
    let counts = cx.collection.collectors[device].counts
    if counts.stored > 0 { return .neverRead }
    if counts.files > 0 { return .neverStored }
    return devices[device].activity.sessions > 0 ? .neverFormatted : nil
  }

  /// What the server waited for.
  private func waits() -> [Standstill.Wait] {
    var found: [Standstill.Wait] = []
    if !isEver(.reachable) { found.append(.reachable) }
    if !hasTrainers { return found }
    if !cx.line.believesOnline { found.append(.connection) }
    if Rounds.isCohortBroken(server, cx) {
      found.append(
        .members(
          round: Int(server.round), goal: Rounds.neededMembers(server, cx)!,
          arrived: server.pending.count))
    } else if cx.inputs.server.selector.value.formsCohorts, server.cohortGoal == nil,
      server.waitingPeak > 0
    {
      let needed = neededWaiting
      if needed.map({ server.waitingPeak < $0 }) ?? true {
        found.append(.cohort(needed: needed, waited: server.waitingPeak))
      }
    }
    if server.version == 0, server.round > 1 {
      found.append(.rounds(closed: Int(server.round) - 1))
    }
    if server.version == 0, let needed = neededUpdates, server.pendingPeak < needed {
      let able = devices.indices.count { everHasData($0) }
      let duplicates = cx.inputs.server.duplicates
      let isPossible = duplicates == .append || duplicates == .overwrite || needed <= able
      if server.pendingPeak > 0 || !isPossible {
        found.append(
          .updates(needed: needed, waited: server.pendingPeak, isPossible: isPossible))
      }
    }
    return found
  }

  /// How many devices the selector waits for, where it is one that says so.
  private var neededWaiting: Int? {
    let selector = cx.inputs.server.selector.value
    if let scripted = selector as? ScriptedSelector {
      let place = Int(server.round) - 1
      return scripted.cohorts.indices.contains(place) ? scripted.cohorts[place].count : nil
    }
    return selector.neededWaiting
  }

  /// The fewest waiting updates at which a trigger would aggregate; nil: none would for any number.
  private var neededUpdates: Int? {
    func isEnough(_ pending: Int) -> Bool {
      let view = ServerView(
        now: cx.now, version: Int(server.version), round: Int(server.round), pending: pending,
        cohortGoal: server.cohortGoal, cohortSize: server.cohortSize)
      return cx.inputs.server.trigger.contains { trigger in
        trigger.value.decide(.arrival, view) == .aggregate
          || trigger.value.timer != nil && trigger.value.decide(.timer, view) == .aggregate
      }
    }
    var high = 1
    while !isEnough(high) {
      high *= 2
      if high > 1 << 21 { return nil }
    }
    var low = high / 2
    while high - low > 1 {
      let middle = (low + high) / 2
      if isEnough(middle) { high = middle } else { low = middle }
    }
    return high
  }
}
