/// Why a run came to no version, or to no further one: for how many devices what never held, and
/// what the server waited for.
public struct Standstill: Sendable, Equatable {
  /// The first thing that was missing on a device's way into a version.
  public enum Obstacle: Sendable, Hashable {
    /// Its group gives the app nothing to run in.
    case nothingRuns
    /// Its app may only train when its user starts it there, and its user never did.
    case neverAsked
    /// It has no training data.
    case noData
    /// It never was in the fleet.
    case absent
    /// It cannot train this model.
    case unfit
    /// These conditions never held at once.
    case never(StartConditions)
    /// All of them did, and the system never started a task.
    case neverStarted
    /// The server was never reachable while the app ran.
    case serverUnreachable
    /// The server believed itself offline, and the device had no model.
    case noModel
    /// It waited for a cohort that was not formed, or not with it.
    case notChosen
    /// It began no training for another reason.
    case neverTrained
    /// All its trainings were cut off, and none came to an update.
    case neverFinished
    /// It made updates, and none of them became part of a version.
    case neverAggregated
    /// It collects for central training, which has published.
    case collects
    /// It collects, and never had enough to format.
    case neverFormatted
    /// None of its files came into the store.
    case neverStored
    /// Its files came into the store, and no training read them and published.
    case neverRead
  }

  /// What the server waited for.
  public enum Wait: Sendable, Hashable {
    /// A cohort, which needs so many devices at once, where that is known; the most that waited.
    case cohort(needed: Int?, waited: Int)
    /// The open round's cohort, of which too few members are left.
    case members(round: Int, goal: Int, arrived: Int)
    /// Nothing: so many rounds were closed, each without a version.
    case rounds(closed: Int)
    /// So many updates; the most that waited, and whether a fleet of this size can reach it.
    case updates(needed: Int, waited: Int, isPossible: Bool)
    /// A connection of its own.
    case connection
    /// Devices could not reach it, ever.
    case reachable
  }

  /// How many devices of a group met an obstacle.
  public struct Count: Sendable, Equatable {
    /// The group's place in the fleet.
    public let group: Int
    /// What was missing.
    public let obstacle: Obstacle
    /// How many devices.
    public internal(set) var devices: Int
  }

  /// When the run stopped, because nothing that was left could contribute; nil: it was played out.
  public let stoppedAt: SimTime?
  /// By group, the most devices first; empty where devices are not what is missing.
  public internal(set) var counts: [Count] = []
  /// The obstacle of each device: its place in `counts`, or -1.
  public internal(set) var places: [Int] = []
  /// What the server waited for.
  public internal(set) var waits: [Wait] = []
}

extension Simulation {
  /// Why a run that is over has no version, or why its open round could never end; nil: neither is
  /// so.
  ///
  /// Complexity: O(devices · changes of their series) where there is no version.
  public var standstill: Standstill? {
    precondition(isOver, "a standstill is that of a whole run")
    guard server.version == 0 || isStuck || isCohortBroken else { return nil }
    // The initial model was good enough.
    if now == .start, !isStuck, inputs.stop.accuracy != nil { return nil }
    guard hasTrainers || central.versions.isEmpty else { return nil }
    var found = Standstill(stoppedAt: isStuck ? now : nil)
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
    guard group(of: device).arrival != nil else { return devices[device].pace.batchCount > 0 }
    let (group, ordinal) = (Int(devices[device].group), Int(devices[device].ordinal))
    return samples(
      group: group, ordinal: ordinal, client: Int(devices[device].client), at: end) > 0
  }

  /// The first obstacle of each device.
  private func obstacles() -> [Standstill.Obstacle] {
    let accepted = hourFunnels.reduce(0) { $0 + $1[.accepted] }
    let formsCohorts = inputs.server.selector.value.formsCohorts
    let isReachable = isEver(.reachable)
    let hasInternet = isEver(.internet)
    var found: [Standstill.Obstacle] = []
    for device in devices.indices {
      let did = devices[device].activity
      let background = group(of: device).background
      if !everHasData(device) {
        found.append(.noData)
      } else if !isStuck, wasNeverHere(device) {
        found.append(.absent)
      } else if !isFit(device) {
        found.append(.unfit)
      } else if collects(device), let obstacle = collectorObstacle(device) {
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
    guard isAway(device), let presence = fleetTables.presence[device] else { return false }
    return presence.total == .zero
  }

  /// What never held at once for a device from the start to the end, of what the world decides.
  private func missingConditions(of device: Int) -> StartConditions? {
    let background = group(of: device).background
    guard background.processing != nil || background.windows != nil else { return nil }
    let state = devices[device]
    var offer = Offer(inputs, group: Int(state.group), ordinal: Int(state.ordinal), horizon: end)
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
    var world = world
    return world.state(series, at: .start) == 1 || world.next(series, after: .start) != nil
  }

  /// The first obstacle of a device that collects; nil: its app never ran.
  private func collectorObstacle(_ device: Int) -> Standstill.Obstacle? {
    if !central.versions.isEmpty { return .collects }
    let counts = central.collectors[device].counts
    if counts.stored > 0 { return .neverRead }
    if counts.files > 0 { return .neverStored }
    return devices[device].activity.sessions > 0 ? .neverFormatted : nil
  }

  /// What the server waited for.
  private func waits() -> [Standstill.Wait] {
    var found: [Standstill.Wait] = []
    if !isEver(.reachable) { found.append(.reachable) }
    if !hasTrainers { return found }
    if !server.believesOnline { found.append(.connection) }
    if isCohortBroken {
      found.append(
        .members(
          round: Int(server.round), goal: neededMembers!, arrived: server.pending.count))
    } else if inputs.server.selector.value.formsCohorts, server.cohortGoal == nil,
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
      let duplicates = inputs.server.duplicates
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
    inputs.server.selector.value.neededWaiting(ofRound: Int(server.round))
  }

  /// The fewest waiting updates at which a trigger would aggregate; nil: none would for any number.
  private var neededUpdates: Int? {
    func isEnough(_ pending: Int) -> Bool {
      let view = ServerView(
        now: now, version: Int(server.version), round: Int(server.round), pending: pending,
        cohortGoal: server.cohortGoal, cohortSize: server.cohortSize)
      return inputs.server.trigger.contains { trigger in
        // As if all of them had come at once, and after that the time of a trigger that has one.
        var memory = trigger.value.freshMemory()
        return trigger.value.decide(.arrival, view, with: &memory) == .aggregate
          || trigger.value.timer != nil
            && trigger.value.decide(.timer, view, with: &memory) == .aggregate
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
