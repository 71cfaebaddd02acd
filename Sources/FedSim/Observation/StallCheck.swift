/// Whether anything that is left can still contribute, looked at now and then.
struct StallCheck: Codable {
  /// Before this time nobody looks again.
  private(set) var nextCheck = SimTime.never
  /// The device that was found able to continue.
  private var device = 0

  /// Ends the run if nothing that is left can ever contribute.
  ///
  /// Only what is certain counts: no version has been published, nobody runs, nothing waits or is
  /// on its way, and the world up to the end never again lets a device with data begin; or the
  /// open round's cohort can no longer be complete and nothing else ends a round. Complexity: most
  /// calls end at the first device asked. There is at most one per simulated hour, and none before
  /// that device's last chance within a day, unless something else can end the run before.
  mutating func endIfStuck(
    _ devices: borrowing Devices, _ server: borrowing Server, _ cx: inout Context
  ) {
    nextCheck = cx.now + .hours(1)
    if server.version > 0, !Rounds.mayCohortsBreak(cx) { return nextCheck = .never }
    if Rounds.isCohortBroken(server, cx) { return StallCheck.stopStuck(&cx) }
    // What is collected may still be trained on.
    if cx.collection.isOn { return }
    guard server.version == 0, server.pending.isEmpty, server.openRound.cohortGoal == nil,
      cx.updates.living == 0, !cx.inputs.injections.contains(where: { $0.at >= cx.now })
    else { return }
    for device in devices.indices where devices[device].session.map({ !$0.kind.isPoll }) ?? false {
      return
    }
    let changes =
      cx.world.next(.reachable, after: cx.now) != nil
      || cx.world.next(.process, after: cx.now) != nil
    if cx.network.server.isReachable || changes {
      // A server that may leave for good, or a cohort that may break, can end the run before.
      let isSure = !changes && !Rounds.mayCohortsBreak(cx)
      for step in devices.indices {
        let candidate = (device + step) % devices.count
        guard
          let time = StallCheck.opportunity(of: candidate, isLast: isSure, devices, cx)
        else { continue }
        device = candidate
        nextCheck = max(nextCheck, time)
        return
      }
    }
    StallCheck.stopStuck(&cx)
  }
}

/// When the world lets a device begin to train: a walk over its exogenous series, made again from
/// their key, stretch by stretch.
struct ConditionForecast {
  let group: FleetGroupSettings
  let needed: Conditions
  private static let names = [Series.power, .link, .usage, .window, .setting]
  private var series: [(any Timeline)?]
  private let horizon: SimTime

  init(_ inputs: SimulationInputs, group: Int, ordinal: Int, horizon: SimTime) {
    self.group = inputs.fleet[group]
    self.horizon = horizon
    needed = Conditions(ofTheWorldFor: self.group)
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
    _ visit: (SimTime, Conditions) -> Bool
  ) {
    var time = start
    var locked = lockedSince
    var wasActive = false
    var window: UInt8 = 0
    var before: Conditions = []
    var nexts: [SimTime] = []
    for place in series.indices { nexts.append(next(place, after: start)) }
    while true {
      let isActive = state(.usage, at: time) == 1
      if wasActive, !isActive { locked = time }
      wasActive = isActive
      let idleFrom = locked + (group.background.processing?.idleDwell ?? .zero)
      let view = view(at: time, idleFrom: isActive ? .never : idleFrom)
      let held = needed.union([.online]).held(view, at: time)
      let now = state(.window, at: time) ?? 0
      if now != 0, window == 0 {
        guard visit(time, held.union(before).union([.window])) else { return }
      }
      window = now
      before = held
      guard visit(time, anyTime && now != 0 ? held.union([.window]) : held) else { return }
      var next = nexts.min() ?? .never
      if !isActive, idleFrom > time { next = min(next, idleFrom) }
      guard next < horizon else { return }
      time = next
      for place in nexts.indices where nexts[place] <= time {
        nexts[place] = self.next(place, after: time)
      }
    }
  }

  /// The device as conditions see it, outside of windows.
  private mutating func view(at time: SimTime, idleFrom: SimTime) -> ConditionView {
    var view = ConditionView()
    view.idleFrom = idleFrom
    view.isPlugged = state(.power, at: time) == 1
    view.isRefreshOn = state(.setting, at: time) ?? 1 == 1
    view.link = state(.link, at: time) ?? 0
    let settings = view.link == 1 ? group.network.cellular : group.network.wifi
    view.isUnmetered = view.link != 0 && !(settings.metered ?? (view.link == 1))
    return view
  }
}
