import Numerics

/// The operating system's scheduler: which pending request starts when.
enum Scheduler {
  /// The identifier of the app's own processing task and of its refresh task.
  static let processingTask: Int16 = 0
  static let refreshTask: Int16 = 1

  /// The app asks for its processing task.
  static func submitTaskRequest(
    _ device: Int, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard cx.inputs.fleet[Int(devices[device].group)].background.processing != nil,
      !Membership.isAway(device, devices)
    else { return }
    submit(device, Self.processingTask, .processing, &devices, &cx)
  }

  /// The app asks for its refresh task.
  static func submitRefreshRequest(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard cx.inputs.fleet[Int(devices[device].group)].background.refresh != nil,
      !Membership.isAway(device, devices)
    else {
      return
    }
    submit(device, Self.refreshTask, .refresh, &devices, &cx)
  }

  /// The app asks the operating system for a task; a pending request with the same identifier is
  /// replaced.
  ///
  /// The system starts at most one task of a kind in each quarter of an hour, its scan period.
  static func submit(
    _ device: Int, _ identifier: Int16, _ kind: TaskKind, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    let place = Int(devices[device].group)
    if !devices.systemFigures.isEmpty, devices.systemFigures[place] != nil {
      let error = refusal(device, identifier, kind, &devices, &cx)
      if cx.audience.wantsEveryEvent {
        cx.note(device, .submitted(task: devices.taskNames[Int(identifier)], error))
      }
      if error != nil { return cx.books.tallies.refusedRequests += 1 }
    }
    let wait =
      kind == .refresh
      ? cx.inputs.fleet[place].background.refresh!.earliestBegin
      : cx.inputs.fleet[place].background.processing!.earliestBegin
    let begin = max(cx.now + wait, devices[device].scheduler.next(kind))
    devices[device].scheduler.insert(
      TaskRequest(identifier: identifier, kind: kind, earliestBegin: begin, submittedAt: cx.now))
    if devices[device].scheduler.starting == identifier
      || devices[device].scheduler.starting < 0
    {
      devices[device].scheduler.starting = -1
      devices[device].scheduler.generation += 1
    }
    if begin > cx.now {
      cx.schedule(
        .deviceTimer(.earliestBegin, device: Int32(device), generation: 0), .deviceTimer,
        at: begin, by: device)
    }
    considerTask(device, &devices, &cx)
  }

  /// Why the operating system does not take a request, in the order of its checks; nil: it does.
  private static func refusal(
    _ device: Int, _ identifier: Int16, _ kind: TaskKind, _ devices: inout Devices,
    _ cx: inout Context
  ) -> SubmitError? {
    let place = Int(devices[device].group)
    if devices.systemFigures[place]!.namesPermitted,
      let permitted = cx.inputs.fleet[place].background.system!.permitted,
      !permitted.contains(devices.taskNames[Int(identifier)])
    {
      return .notPermitted
    }
    if !devices.apps[device]!.isRefreshOn { return .unavailable }
    let pending = devices[device].scheduler.requests
    if pending.contains(where: { $0.identifier == identifier && $0.kind == kind }) { return nil }
    let limit =
      kind == .refresh
      ? devices.systemFigures[place]!.refreshLimit
      : devices.systemFigures[place]!.processingLimit
    return pending.count { $0.kind == kind } >= limit ? .tooManyPendingTaskRequests : nil
  }

  /// Looks whether a pending request may start, and draws when.
  ///
  /// Draws: one `uniform` at slot = the quarter of an hour (purpose `task-start`, for refresh tasks
  /// `refresh-start`).
  static func considerTask(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if devices.fleetTables.mayQueue { ContinuedTask.startQueued(device, &devices, &cx) }
    guard devices[device].scheduler.starting < 0 else { return }
    var next = SimTime.never
    for place in 0..<devices[device].scheduler.requests.count
    where mayStart(device, place, devices, at: cx.now) {
      let request = devices[device].scheduler.requests[place]
      switch look(device, request, &devices, &cx) {
      case .wait(let time): next = min(next, time)
      case .draw: preconditionFailure("a look has drawn")
      case .start:
        let place = Int(devices[device].group)
        let isRefresh = request.kind == .refresh
        devices[device].scheduler.starting = request.identifier
        devices[device].scheduler.generation += 1
        var stream = schedulerKey(device, isRefresh ? "refresh-start" : "task-start", &devices, &cx)
          .stream(slot: quarter(cx.now))
        let delay =
          isRefresh
          ? cx.inputs.fleet[place].background.refresh!.delay(at: stream.uniform())
          : cx.inputs.fleet[place].background.processing!.delay(at: stream.uniform())
        cx.schedule(
          .taskStart(device: Int32(device), generation: devices[device].scheduler.generation),
          .scan, at: cx.now + delay, by: device)
        return
      }
    }
    planScan(device, at: next, &devices, &cx)
  }

  /// Schedules the next scan that can find anything new, unless one comes before.
  private static func planScan(
    _ device: Int, at time: SimTime, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard time != .never,
      time < devices[device].scheduler.scanAt || devices[device].scheduler.scanAt <= cx.now
    else { return }
    devices[device].scheduler.scanAt = time
    devices[device].scheduler.scanGeneration += 1
    cx.schedule(
      .deviceTimer(
        .scan, device: Int32(device), generation: devices[device].scheduler.scanGeneration),
      .scan, at: time, by: device)
  }

  /// Whether a request may start already; if not, nothing else matters.
  @inline(__always)
  private static func mayStart(
    _ device: Int, _ place: Int, _ devices: borrowing Devices, at now: SimTime
  ) -> Bool {
    let begin = devices[device].scheduler.requests.earliestBegin(place)
    return SchedulerStep.beforehand(isHeldUp: false, earliestBegin: begin, at: now) == nil
  }

  /// What is to be done with a request now: to start it, or to wait.
  @inline(never)
  private static func look(
    _ device: Int, _ request: TaskRequest, _ devices: inout Devices, _ cx: inout Context
  ) -> SchedulerStep {
    let isHeldUp = SchedulerFacts.isHeldUp(device, request.kind, devices)
    if let step = SchedulerStep.beforehand(
      isHeldUp: isHeldUp, earliestBegin: request.earliestBegin, at: cx.now)
    {
      return step
    }
    let step = SchedulerStep(SchedulerFacts(device, request, devices, &cx), at: cx.now)
    return step == .draw ? chance(device, request, &devices, &cx) : step
  }

  /// The drawn start has come: the conditions are looked at again.
  ///
  /// Draws: one `normal` at slot = the quarter of an hour (purpose `task-budget`), one `uniform`
  /// there where a stretch of `processingStarts` begins (purpose `start-stretch`); for a refresh
  /// task two `uniform`s (purpose `refresh-budget`).
  static func startTask(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let identifier = devices[device].scheduler.starting
    devices[device].scheduler.starting = -1
    guard
      let request = devices[device].scheduler.requests.first(where: { $0.identifier == identifier })
    else { return }
    guard look(device, request, &devices, &cx) == .start else {
      return considerTask(device, &devices, &cx)
    }
    devices[device].scheduler.remove(identifier)
    let nextQuarter = SimTime(microseconds: Int64(quarter(cx.now) + 1) * 900_000_000)
    let place = Int(devices[device].group)
    let kind: SessionKind
    var budget: SimDuration
    let grace: SimDuration
    let resubmit: ProcessingSettings.Resubmit
    if request.kind == .refresh {
      devices[device].scheduler.nextRefresh = nextQuarter
      let refresh = cx.inputs.fleet[place].background.refresh!
      (kind, resubmit) = (.refresh, refresh.resubmit)
      (budget, grace) = (refreshBudget(device, refresh, &devices, &cx), refresh.grace)
    } else {
      devices[device].scheduler.nextProcessing = nextQuarter
      countStart(device, &devices, &cx)
      let processing = cx.inputs.fleet[place].background.processing!
      (kind, resubmit) = (.task, processing.resubmit)
      budget = processingBudget(device, processing, &devices, &cx)
      grace = processing.grace
    }
    if !devices.apps.isEmpty, let until = devices.apps[device]?.penalisedUntil, cx.now < until {
      budget = SimDuration(microseconds: max(1, budget.microseconds / 2))
    }
    Surroundings.takeOver(device, &devices, &cx)
    if resubmit == .atStart, identifier <= Self.refreshTask {
      submit(device, identifier, request.kind, &devices, &cx)
    }
    Session.beginSession(
      device, kind, soft: max(cx.now, cx.now + budget - grace), hard: cx.now + budget, &devices, &cx
    )
  }

  /// One of the processing tasks that the system grants the app starts.
  private static func countStart(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let place = Int(devices[device].group)
    guard let starts = cx.inputs.fleet[place].background.system?.processingStarts else { return }
    let key = schedulerKey(device, "start-stretch", &devices, &cx)
    let slot = quarter(cx.now)
    devices.apps[device]!.giveStart(at: cx.now) {
      var stream = key.stream(slot: slot)
      return starts.length(at: stream.uniform())
    }
  }

  private static func processingBudget(
    _ device: Int, _ processing: ProcessingSettings, _ devices: inout Devices, _ cx: inout Context
  )
    -> SimDuration
  {
    var stream = schedulerKey(device, "task-budget", &devices, &cx).stream(slot: quarter(cx.now))
    let drawn = SimDuration(
      roundingUp: stream.logNormal(
        median: processing.budgetMedian.seconds, sigma: processing.budgetSpread))
    return min(max(drawn, processing.budgetMinimum), processing.budgetMaximum)
  }

  private static func refreshBudget(
    _ device: Int, _ refresh: RefreshSettings, _ devices: inout Devices, _ cx: inout Context
  ) -> SimDuration {
    var stream = schedulerKey(device, "refresh-budget", &devices, &cx).stream(slot: quarter(cx.now))
    guard stream.uniform() < refresh.shortShare else { return refresh.budget }
    let span = refresh.shortMaximum - refresh.shortMinimum
    return refresh.shortMinimum + span.scaled(by: stream.uniform())
  }

  /// The number of the quarter of an hour since the start.
  static func quarter(_ time: SimTime) -> UInt64 { UInt64(time.microseconds / 900_000_000) }

  /// The key of what the operating system and the person draw.
  static func schedulerKey(
    _ device: Int, _ purpose: Purpose, _ devices: inout Devices, _ cx: inout Context
  ) -> StreamKey {
    cx.streamKeys.key(
      purpose, group: Int(devices[device].group), of: cx.inputs,
      ordinal: UInt32(devices[device].ordinal))
  }

  // MARK: Starts by chance

  /// A task that starts by chance: whether now, or the first quarter of an hour in which it may.
  ///
  /// Draws: one `uniform` at slot = each quarter of an hour looked at (purpose `on-battery` or
  /// `refresh-chance`).
  private static func chance(
    _ device: Int, _ request: TaskRequest, _ devices: inout Devices, _ cx: inout Context
  ) -> SchedulerStep {
    let place = Int(devices[device].group)
    let onBattery = devices.systemFigures[place]!.onBattery
    let attemptWithin = devices.systemFigures[place]!.attemptWithin
    let isRefresh = request.kind == .refresh
    let key = schedulerKey(device, isRefresh ? "refresh-chance" : "on-battery", &devices, &cx)
    // Two days cover every wait of a processing request; a refresh request looks again then.
    for ahead in 0...UInt64(192) {
      let time =
        ahead == 0
        ? cx.now : SimTime(microseconds: Int64(quarter(cx.now) + ahead) * 900_000_000)
      let share = isRefresh ? refreshShare(device, at: time, &devices, &cx) : onBattery
      var stream = key.stream(slot: quarter(time))
      if stream.uniform() < share {
        return ahead == 0 ? .start : .wait(until: time)
      }
      if !isRefresh {
        let due = request.submittedAt + attemptWithin
        if due <= time { return ahead == 0 ? .start : .wait(until: max(due, cx.now)) }
        let next = SimTime(microseconds: Int64(quarter(time) + 1) * 900_000_000)
        if due < next { return .wait(until: due) }
      }
    }
    return .wait(until: SimTime(microseconds: Int64(quarter(cx.now) + 193) * 900_000_000))
  }

  /// The chance of a refresh task in a quarter of an hour: by how often the app is used at that
  /// hour of the day.
  private static func refreshShare(
    _ device: Int, at time: SimTime, _ devices: inout Devices, _ cx: inout Context
  ) -> Double {
    let likelihood = devices.systemFigures[Int(devices[device].group)]!.likelihood
    let most = devices.apps[device]!.mostUses
    guard most > 0 else { return likelihood }
    let share =
      Double(devices.apps[device]!.uses(in: DeviceClock.usageHour(device, time, &devices, &cx)))
      / Double(most)
    return likelihood + (1 - likelihood) * share
  }
}
