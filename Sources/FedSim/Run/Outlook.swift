/// When the world lets a device begin to train: a walk over its exogenous series, made anew from
/// their key.
struct Outlook: Codable {
  /// Before this time nobody looks again.
  var nextLook = SimTime.never
  /// The device that was found able to go on.
  var device = 0
}

/// What the world offers to one device, stretch by stretch.
struct Offer {
  let group: FleetGroupSettings
  let needed: StartConditions
  private static let names = [Series.power, .link, .usage, .window, .setting]
  private var series: [(any Timeline)?]
  private let horizon: SimTime

  init(_ inputs: SimulationInputs, group: Int, ordinal: Int, horizon: SimTime) {
    self.group = inputs.fleet[group]
    self.horizon = horizon
    needed = StartConditions(of: self.group)
    series = []
    for name in Self.names {
      series.append(World.timeline(name, of: self.group, ordinal: ordinal, inputs))
    }
  }

  private mutating func state(_ name: Series, at time: SimTime) -> UInt8? {
    let place = Self.names.firstIndex(of: name)!
    guard var timeline = series[place] else { return nil }
    defer { series[place] = timeline }
    return timeline.state(at: time)
  }

  private mutating func next(_ place: Int, after time: SimTime) -> SimTime {
    guard var timeline = series[place] else { return .never }
    defer { series[place] = timeline }
    return timeline.next(after: time, before: horizon)?.time ?? .never
  }

  /// Calls `visit` with each stretch up to the horizon and what holds in it, until it says false.
  ///
  /// `lockedSince` is when the device was locked last, if it is locked at `start`. A window counts
  /// at its beginning alone, with whatever holds just before or just after it, or all the time
  /// where `anyTime` says so: something may begin in one that is open already.
  mutating func walk(
    from start: SimTime, lockedSince: SimTime, anyTime: Bool = false,
    _ visit: (SimTime, StartConditions) -> Bool
  ) {
    var time = start
    var locked = lockedSince
    var wasActive = false
    var window: UInt8 = 0
    var before: StartConditions = []
    var nexts: [SimTime] = []
    for place in series.indices { nexts.append(next(place, after: start)) }
    while true {
      let isActive = state(.usage, at: time) == 1
      if wasActive, !isActive { locked = time }
      wasActive = isActive
      let idleFrom = locked + (group.background.processing?.idleDwell ?? .zero)
      var held = conditions(at: time)
      if !isActive, idleFrom <= time { held.insert(.idle) }
      let now = state(.window, at: time) ?? 0
      if now != 0, window == 0 {
        guard visit(time, held.union(before).union(.window)) else { return }
      }
      window = now
      before = held
      guard visit(time, anyTime && now != 0 ? held.union(.window) : held) else { return }
      var next = nexts.min() ?? .never
      if !isActive, idleFrom > time { next = min(next, idleFrom) }
      guard next < horizon else { return }
      time = next
      for place in nexts.indices where nexts[place] <= time {
        nexts[place] = self.next(place, after: time)
      }
    }
  }

  private mutating func conditions(at time: SimTime) -> StartConditions {
    var held: StartConditions = []
    if state(.power, at: time) == 1 { held.insert(.charging) }
    if state(.setting, at: time) ?? 1 == 1 { held.insert(.refreshOn) }
    let link = state(.link, at: time) ?? 0
    if link != 0 { held.insert(.online) }
    if link == 2 { held.insert(.wifi) }
    let settings = link == 1 ? group.network.cellular : group.network.wifi
    if link != 0, !(settings.metered ?? (link == 1)) { held.insert(.unmetered) }
    return held
  }
}

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

extension Rounds {
  /// Whether the open round's cohort can no longer send as many updates as the round waits for, and
  /// nothing else ends the round.
  static func isCohortBroken(_ server: borrowing Server, _ cx: borrowing Context) -> Bool {
    guard server.cohortGoal != nil, mayCohortsBreak(cx), let needed = neededMembers(server, cx)
    else {
      return false
    }
    var hopes =
      server.pending.count - Facts.lateCount(server, cx) + (server.underWay?.updates.count ?? 0)
    for number in cx.participations.numbers where cx.participations[number].round == server.round {
      let stage = cx.participations[number].stage
      if stage >= Stage.accepted.rawValue, stage < Stage.admitted.rawValue { hopes += 1 }
    }
    return hopes < needed
  }

  /// Whether a round may depend on all of its cohort.
  static func mayCohortsBreak(_ cx: borrowing Context) -> Bool {
    let probe = ServerView(
      now: .start, version: 0, round: 1, pending: 0, cohortGoal: 1, cohortSize: 1)
    guard cx.inputs.server.duplicates != .append else { return false }
    return cx.inputs.server.trigger.allSatisfy { $0.value.neededMembers(probe) != nil }
  }

  /// How many of the round's members have to answer, at least.
  static func neededMembers(_ server: borrowing Server, _ cx: borrowing Context) -> Int? {
    let view = Facts.serverView(server, cx)
    return cx.inputs.server.trigger.compactMap { $0.value.neededMembers(view) }.min()
  }
}
