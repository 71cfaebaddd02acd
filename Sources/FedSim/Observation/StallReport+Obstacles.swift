extension StallReport {
  /// Whether a device has samples before the end.
  private static func everHasData(_ device: Int, _ devices: Devices, _ cx: Context) -> Bool {
    guard Roster.group(of: device, devices, cx).arrival != nil else {
      return devices[device].pace.batchCount > 0
    }
    let (group, ordinal) = (Int(devices[device].group), Int(devices[device].ordinal))
    return Roster.samples(
      group: group, ordinal: ordinal, client: Int(cx.members.clients[device]), at: cx.end, cx)
      > 0
  }

  /// The first obstacle of each device.
  static func obstacles(_ devices: Devices, _ cx: Context) -> [StallReport.Obstacle] {
    let accepted = cx.participations.hours.reduce(0) { $0 + $1[.accepted] }
    let formsCohorts = cx.inputs.server.selector.value.formsCohorts
    let isReachable = isEver(.reachable, cx)
    let hasInternet = isEver(.internet, cx)
    var found: [StallReport.Obstacle] = []
    for device in devices.indices {
      let did = cx.books.activity[device]
      let background = Roster.group(of: device, devices, cx).background
      if !everHasData(device, devices, cx) {
        found.append(.noData)
      } else if !cx.isStuck, wasNeverHere(device, devices) {
        found.append(.absent)
      } else if !Roster.isFit(device, devices) {
        found.append(.unfit)
      } else if Collecting.collects(device, cx),
        let obstacle = collectorObstacle(device, cx)
      {
        found.append(obstacle)
      } else if did.attempts > 0 {
        found.append(did.updates > 0 ? .neverAggregated : .neverFinished)
      } else if background.processing == nil, background.windows == nil, did.sessions == 0 {
        found.append(background.continued == nil ? .nothingRuns : .neverAsked)
      } else if let missing = missingConditions(of: device, devices, cx), !missing.isEmpty {
        found.append(.never(missing))
      } else if !isReachable {
        found.append(.serverUnreachable)
      } else if did.sessions == 0 {
        found.append(lacking(device, ran: false, devices, cx) ?? .neverStarted)
      } else if formsCohorts, accepted == 0 {
        found.append(.notChosen)
      } else if devices[device].heldVersion < 0, !hasInternet {
        found.append(.noModel)
      } else if Pacing.wasSentAway(device, devices, cx) {
        found.append(.sentAway)
      } else {
        found.append(lacking(device, ran: true, devices, cx) ?? .neverTrained)
      }
    }
    return found
  }

  /// Whether a device was away for the whole run.
  private static func wasNeverHere(_ device: Int, _ devices: Devices) -> Bool {
    guard Membership.isAway(device, devices), let presence = devices.fleetTables.presence[device]
    else { return false }
    return presence.total == .zero
  }

  /// What never held at once for a device from the start to the end, of what the world decides.
  private static func missingConditions(of device: Int, _ devices: Devices, _ cx: Context)
    -> Conditions?
  {
    let background = Roster.group(of: device, devices, cx).background
    guard background.processing != nil || background.windows != nil else { return nil }
    let state = devices[device]
    var forecast = ConditionForecast(
      cx.inputs, group: Int(state.group), ordinal: Int(state.ordinal), horizon: cx.end)
    var seen: [Conditions] = []
    forecast.walk(from: .start, lockedSince: .start) { _, held in
      if !seen.contains(held) { seen.append(held) }
      return true
    }
    let missing = forecast.needed.missing(in: seen)
    return missing.isEmpty && !seen.contains { $0.contains(.online) } ? [.online] : missing
  }

  /// What the app of a device that ran, or the system before a task that it never started, found
  /// missing at the end, of what the world does not decide alone.
  private static func lacking(_ device: Int, ran: Bool, _ devices: Devices, _ cx: Context)
    -> StallReport.Obstacle?
  {
    guard !Membership.isAway(device, devices) else { return nil }
    let group = Roster.group(of: device, devices, cx)
    let asker: Condition.Asker = ran ? .app : .processing
    let asked = Condition.allCases.filter {
      !$0.isOfTheWorld && $0.isAsked(by: asker, of: group)
    }
    var view = ConditionView(
      device, for: asker, link: cx.network[device].link,
      isUnmetered: cx.network[device].isUnmetered, devices, cx)
    view.requestFrom = devices[device].scheduler.requestFrom(.processing)
    return Conditions(asked).firstUnmet(view, at: cx.now).map { .lacking($0, ran: ran) }
  }

  /// Whether a series of the server is ever up.
  private static func isEver(_ series: ServerSeries, _ cx: Context) -> Bool {
    var world = cx.world
    return world.state(series, at: .start) == 1 || world.next(series, after: .start) != nil
  }

  /// The first obstacle of a device that collects; nil: its app never ran.
  private static func collectorObstacle(_ device: Int, _ cx: Context)
    -> StallReport.Obstacle?
  {
    if !cx.collection.versions.isEmpty { return .collects }
    let counts = cx.collection.collectors[device].counts
    if counts.stored > 0 { return .neverRead }
    if counts.files > 0 { return .neverStored }
    return cx.books.activity[device].sessions > 0 ? .neverFormatted : nil
  }

  /// What the server waited for.
  static func waits(_ devices: Devices, _ server: Server, _ cx: Context) -> [StallReport.Wait] {
    var found: [StallReport.Wait] = []
    if !isEver(.reachable, cx) { found.append(.reachable) }
    if !cx.inputs.hasTrainers { return found }
    if !cx.network.server.believesOnline { found.append(.connection) }
    if Rounds.isCohortBroken(server, cx) {
      found.append(
        .members(
          round: Int(server.openRound.number), goal: Rounds.neededMembers(server, cx)!,
          arrived: server.pending.count))
    } else if cx.inputs.server.selector.value.formsCohorts, server.openRound.cohortGoal == nil,
      server.waitingPeak > 0
    {
      let needed = neededWaiting(server, cx)
      if needed.map({ server.waitingPeak < $0 }) ?? true {
        found.append(.cohort(needed: needed, waited: server.waitingPeak))
      }
    }
    if server.version == 0, server.openRound.number > 1 {
      found.append(.rounds(closed: Int(server.openRound.number) - 1))
    }
    if server.version == 0, let needed = neededUpdates(server, cx), server.pendingPeak < needed {
      let able = devices.indices.count { everHasData($0, devices, cx) }
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
  private static func neededWaiting(_ server: Server, _ cx: Context) -> Int? {
    cx.inputs.server.selector.value.neededWaiting(ofRound: Int(server.openRound.number))
  }

  /// The fewest waiting updates at which a trigger would aggregate; nil: none would for any number.
  private static func neededUpdates(_ server: Server, _ cx: Context) -> Int? {
    func isEnough(_ pending: Int) -> Bool {
      let view = ServerView(
        now: cx.now, version: Int(server.version), round: Int(server.openRound.number),
        pending: pending,
        cohortGoal: server.openRound.cohortGoal, cohortSize: server.openRound.cohortSize)
      return cx.inputs.server.trigger.contains { trigger in
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
