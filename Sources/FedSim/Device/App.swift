import Numerics

/// The app and its user: uses, expirations, limits on the processor.
enum App {
  static func settings(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> AppSettings?
  {
    cx.inputs.fleet[Int(devices[device].group)].app
  }

  /// What the app of a device does when a task expires.
  static func onExpiration(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> AppSettings.OnExpiration
  {
    guard let kind = devices[device].session?.kind, kind.isTask else { return .complete }
    let settings = settings(device, &devices, &cx)
    if kind == .refresh, let own = settings?.onRefreshExpiration { return own }
    return settings?.onExpiration ?? .complete
  }

  /// The hour of the day at a device.
  static func localHour(
    _ device: Int, _ time: SimTime, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> Int {
    let offset = cx.inputs.fleet[Int(devices[device].group)].utcOffset
    let local = cx.inputs.civilStart * 1_000_000 + offset.microseconds + time.microseconds
    let day: Int64 = 86_400_000_000
    return Int((local - local.floored(by: day) * day) / 3_600_000_000)
  }

  /// The next local midnight.
  static func nextMidnight(
    _ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> SimTime {
    let offset = cx.inputs.fleet[Int(devices[device].group)].utcOffset
    let local = cx.inputs.civilStart * 1_000_000 + offset.microseconds + cx.now.microseconds
    let day: Int64 = 86_400_000_000
    return cx.now + SimDuration(microseconds: day - (local - local.floored(by: day) * day))
  }

  /// When it is night at a device, from midnight to 6:00: the start, where it is; else the next.
  static func nextNight(
    _ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> SimTime {
    localHour(device, cx.now, devices, cx) < 6 ? .start : nextMidnight(device, devices, cx)
  }

  // MARK: The person

  /// A person opens the app: it polls, and asks for its tasks where none are pending.
  static func useApp(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if !devices.apps.isEmpty, devices.apps[device] != nil {
      devices.apps[device]!.use(
        at: cx.now, hour: DeviceClock.usageHour(device, cx.now, &devices, &cx))
      devices.apps[device]!.isForceQuit = false
    }
    Installation.setOpen(device, true, &devices)
    takeUp(device, &devices, &cx)
    let background = cx.inputs.fleet[Int(devices[device].group)].background
    let pending = devices[device].scheduler.requests
    if background.processing != nil, !pending.contains(where: { $0.kind == .processing }) {
      Scheduler.submitTaskRequest(device, &devices, &cx)
    }
    if background.refresh != nil, !pending.contains(where: { $0.kind == .refresh }) {
      Scheduler.submitRefreshRequest(device, &devices, &cx)
    }
    if let strategy = background.continued?.strategy {
      ContinuedTask.openContinued(device, strategy, &devices, &cx)
    } else if devices[device].session == nil, startsContinued(device, &devices, &cx) {
      Session.beginSession(device, .continued, soft: .never, hard: .never, &devices, &cx)
      if !cx.network[device].isConnected { awaitLink(device, &devices, &cx) }
    } else if devices[device].session == nil {
      Session.beginSession(device, .activation, soft: .never, hard: .never, &devices, &cx)
    }
  }

  /// Whether the person starts a training in the app that continues when it is left.
  ///
  /// Draws: one `uniform` at slot = the time of opening in microseconds (purpose `continued`).
  static func startsContinued(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> Bool
  {
    let group = cx.inputs.fleet[Int(devices[device].group)]
    guard let share = group.background.continued?.share else { return false }
    var stream = Scheduler.schedulerKey(device, "continued", &devices, &cx).stream(
      slot: UInt64(cx.now.microseconds))
    return stream.uniform() < share
  }

  /// A continued task whose batches take too long shows no progress.
  static func awaitProgress(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard devices[device].session?.kind == .continued,
      let settings = cx.inputs.fleet[Int(devices[device].group)].background.continued,
      devices[device].pace.full > settings.stall
    else { return }
    expectProgress(device, for: settings.stall, &devices, &cx)
  }

  /// A continued task has no link.
  static func awaitLink(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard devices[device].session?.kind == .continued,
      let settings = cx.inputs.fleet[Int(devices[device].group)].background.continued
    else { return }
    devices[device].session!.offlineSince = cx.now
    expectProgress(device, for: settings.networkLoss, &devices, &cx)
  }

  private static func expectProgress(
    _ device: Int, for duration: SimDuration, _ devices: inout Devices, _ cx: inout Context
  ) {
    let generation = devices[device].session!.generation
    cx.schedule(
      .deviceTimer(.stalled, device: Int32(device), generation: generation), .deviceTimer,
      at: cx.now + duration, by: device)
  }

  /// A continued task expires if it still waits for what it waited for.
  static func stallRang(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> Bool {
    let settings = cx.inputs.fleet[Int(devices[device].group)].background.continued!
    let session = devices[device].session!
    let isStalled =
      devices[device].pace.full > settings.stall
      && devices[device].run.map { $0.begunAt + settings.stall <= cx.now } ?? false
    let isAlone =
      !cx.network[device].isConnected && session.offlineSince + settings.networkLoss <= cx.now
    guard isStalled || isAlone else { return false }
    Session.expireNow(device, grace: settings.grace, &devices, &cx)
    return true
  }

  /// The person locks the device, and has perhaps swiped the app away before.
  ///
  /// Draws: one `uniform` at slot = the time of locking in microseconds (purpose `force-quit`).
  static func leaveApp(
    _ device: Int, since unlocked: SimTime, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard let share = settings(device, &devices, &cx)?.forceQuits, share > 0,
      devices.apps[device]!.lastUse >= unlocked
    else { return }
    var stream = Scheduler.schedulerKey(device, "force-quit", &devices, &cx).stream(
      slot: UInt64(cx.now.microseconds))
    if stream.uniform() < share { forceQuit(device, &devices, &cx) }
  }

  /// The app is swiped away: its process ends, and it gets no tasks as before.
  static func forceQuit(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    cx.note(device, .forceQuit)
    BackgroundTransfers.cancel(device, &devices, &cx)
    if devices[device].session != nil {
      Session.kill(device, &devices, &cx)
    } else {
      endIdleProcess(device, &devices, &cx)
    }
    if !devices.apps.isEmpty {
      devices.apps[device]?.isForceQuit = true
      devices.apps[device]?.isQueued = false
    }
  }

  /// An app that does not wait for its upload calls its task complete, and is soon suspended.
  static func completeEarly(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let session = devices[device].session, session.kind.isTask, !session.isCompleted,
      let rest = settings(device, &devices, &cx)?.completesEarly
    else { return }
    devices[device].session!.isCompleted = true
    devices[device].session!.hard = min(session.hard, cx.now + rest)
    cx.schedule(
      .hardExpiry(device: Int32(device), generation: session.generation), .deadline,
      at: devices[device].session!.hard, by: device)
  }

  /// Whether an app says nothing when its task has no work; it waits for its kill then.
  static func forgetsRejection(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Bool
  {
    guard cx.inputs.fleet[Int(devices[device].group)].app?.onRejection == .forget else {
      return false
    }
    return devices[device].session?.kind.isTask == true
  }

  /// An expiry sets a flag in the process.
  static func setCancelled(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if settings(device, &devices, &cx)?.resetsFlag == false {
      devices.apps[device]!.isCancelled = true
    }
  }

  /// Whether a flag that nobody clears stops the training.
  static func isCancelled(_ device: Int, _ devices: inout Devices) -> Bool {
    devices.apps.isEmpty ? false : devices.apps[device]?.isCancelled ?? false
  }

  /// What the process held in memory is gone.
  static func endProcess(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    Installation.forgetInMemory(device, &devices, &cx)
    if !devices.apps.isEmpty, devices.apps[device] != nil {
      devices.apps[device]!.isCancelled = false
      devices.apps[device]!.isOpen = false
      devices.apps[device]!.opening += 1
      devices.apps[device]!.suspension += 1
    }
    if cx.features.isOn { KnownDialect.forgetProcess(device, &devices, cx) }
    if Collecting.collects(device, cx) { Collecting.loseCollecting(device, &cx) }
  }

  /// The person switches background refresh on or off.
  static func setRefresh(_ device: Int, _ isOn: Bool, _ devices: inout Devices, _ cx: inout Context)
  {
    devices.apps[device]!.isRefreshOn = isOn
    Scheduler.considerTask(device, &devices, &cx)
  }

  // MARK: The system's accounts

  /// A task begins: its run time counts from now.
  static func taskBegan(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if !devices.apps.isEmpty { devices.apps[device]?.taskBegan = cx.now }
  }

  /// A task is over: it has used up some of the run time of the day.
  static func taskEnded(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !devices.apps.isEmpty, devices.apps[device] != nil,
      devices.apps[device]!.taskBegan != .never
    else { return }
    let began = devices.apps[device]!.taskBegan
    devices.apps[device]!.taskBegan = .never
    guard let daily = devices.systemFigures[Int(devices[device].group)]?.dailyRunTime else {
      return
    }
    let hour = cx.now.microseconds / 3_600_000_000
    let refill = max(1, daily.microseconds / 24)
    let left = min(
      daily.microseconds,
      devices.apps[device]!.runTime + (hour - devices.apps[device]!.refilledHour) * refill)
    devices.apps[device]!.refilledHour = hour
    devices.apps[device]!.runTime = left - (cx.now - began).microseconds
  }

  /// A task was killed by the system: the next ones get less time.
  static func penalise(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !devices.apps.isEmpty, devices.apps[device] != nil,
      let system = cx.inputs.fleet[Int(devices[device].group)].background.system
    else { return }
    cx.books.tallies.penalties += 1
    devices.apps[device]!.penalisedUntil = cx.now + system.penalty
  }

  // MARK: Processor time

  /// The limit of processor time for what a device does now; nil: it is not monitored.
  private static func cpuLimit(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> (
    limit: SimDuration, window: SimDuration
  )? {
    guard !devices.apps.isEmpty, devices[device].session?.kind == .task else { return nil }
    let place = Int(devices[device].group)
    guard let system = devices.systemFigures[place], system.cpuLimit < system.cpuWindow else {
      return nil
    }
    if cx.inputs.fleet[place].background.processing!.requiresExternalPower,
      devices[device].isPlugged
    {
      return nil
    }
    // Busy time counts in full; a duty cycle below 1 allows for more of it.
    let duty = cx.inputs.fleet[place].compute.dutyCycle ?? 1
    return (SimDuration(roundingUp: system.cpuLimit.seconds / duty), system.cpuWindow)
  }

  /// The charger is gone: from now on the system watches how busy a task is that requires it.
  static func beginWatch(_ device: Int, _ devices: inout Devices, _ cx: borrowing Context) {
    if !devices.apps.isEmpty { devices.apps[device]?.watchedSince = cx.now }
  }

  /// Schedules the kill of a task that will have been too busy.
  static func watchProcessor(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let (limit, window) = cpuLimit(device, &devices, &cx), let run = devices[device].run,
      limit < window
    else { return }
    let app = devices.apps[device]!
    func busy(_ time: SimTime) -> SimDuration { app.busy(run, until: time, within: window) }
    // Busy time never falls while the run lasts: the first moment of too much is found by halving.
    var low = cx.now.microseconds
    var high = (cx.now + limit).microseconds + 1
    guard busy(SimTime(microseconds: high)) > limit else { return }
    while low < high {
      let middle = (low + high) / 2
      if busy(SimTime(microseconds: middle)) > limit { high = middle } else { low = middle + 1 }
    }
    cx.schedule(
      .deviceTimer(.processor, device: Int32(device), generation: devices[device].runGeneration),
      .kill, at: SimTime(microseconds: high), by: device)
  }

  /// The processor has been busy for too long.
  static func processorExceeded(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let (limit, window) = cpuLimit(device, &devices, &cx), let run = devices[device].run,
      devices.apps[device]!.busy(run, until: cx.now, within: window) > limit
    else { return }  // it was on the charger meanwhile
    cx.books.tallies.bySystem.processorKills += 1
    cx.note(device, .processorExceeded)
    Session.kill(device, &devices, &cx)
    penalise(device, &devices, &cx)
  }

  /// A run is over: the processor was busy until now.
  static func noteBurst(
    _ device: Int, _ run: TrainingRun, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard !devices.apps.isEmpty, devices.apps[device] != nil,
      let window = devices.systemFigures[Int(devices[device].group)]?.cpuWindow
    else { return }
    let now = cx.now
    devices.apps[device]!.bursts.removeAll { $0.end + window < now }
    devices.apps[device]!.bursts.append(AppRegion.Burst(start: run.begunAt, end: now))
  }
}
