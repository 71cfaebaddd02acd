import Numerics

/// What the world and scripts do to a device.
enum Surroundings {
  /// A device's series changes by itself.
  static func worldChanged(
    _ series: Series, _ device: Int, to state: UInt8, _ devices: inout Devices, _ cx: inout Context
  ) {
    devices[device].exogenous.combine(
      cx.now.microseconds, UInt64(series.rawValue) << 8 | UInt64(state))
    Roster.scheduleNext(series, device, &devices, &cx)
    switch series {
    case .power: setPlugged(device, state == 1, &devices, &cx)
    case .link: changeLink(device, &devices, &cx) { $0.linkState = state }
    case .usage: setActive(device, state == 1, &devices, &cx)
    case .window: windowChanged(device, to: state, &devices, &cx)
    case .ambient: Body.setHot(device, state == 1, &devices, &cx)
    case .setting: App.setRefresh(device, state == 1, &devices, &cx)
    case .presence: Membership.setPresent(device, state == 1, &devices, &cx)
    case .share:
      let rates = cx.network[device].rates
      cx.network[device].share = state
      Requesting.ratesChanged(device, from: rates, &cx)
    }
  }

  private static func setPlugged(
    _ device: Int, _ isPlugged: Bool, _ devices: inout Devices, _ cx: inout Context
  ) {
    devices[device].isPlugged = isPlugged
    if !isPlugged, let processing = Roster.group(of: device, devices, cx).background.processing,
      processing.requiresExternalPower
    {
      App.beginWatch(device, &devices, cx)
      if devices[device].sessionKind == .task {
        Session.expireNow(device, grace: processing.grace, &devices, &cx)
      }
    }
    checkConditions(device, &devices, &cx)
    App.watchProcessor(device, &devices, &cx)
    Scheduler.considerTask(device, &devices, &cx)
  }

  private static func setActive(
    _ device: Int, _ isActive: Bool, _ devices: inout Devices, _ cx: inout Context
  ) {
    devices[device].isActive = isActive
    if Body.isOff(device, &devices) { return }
    if isActive {
      Installation.unlockKeychain(device, &devices, &cx)
      if devices[device].sessionKind == .task {
        // The system ends processing tasks when a person takes up the device.
        let background = Roster.group(of: device, devices, cx).background
        let grace = background.processing?.grace ?? .seconds(5)
        if background.system?.endsOnUse ?? true {
          Session.expireNow(device, grace: grace, &devices, &cx)
        }
      }
      checkConditions(device, &devices, &cx)
      openApp(device, &devices, &cx)
    } else {
      let before = devices[device].lockedSince
      App.lock(device, &devices, &cx)
      if devices[device].sessionKind?.endsOnLock == true {
        Session.endSession(device, .locked, &devices, &cx)
      }
      Installation.setOpen(device, false, &devices)
      App.putAway(device, &devices, &cx)
      App.leaveApp(device, since: before, &devices, &cx)
      Scheduler.considerTask(device, &devices, &cx)
    }
  }

  /// Low-power mode, heat, or the battery's being full: conditions that may have been lost.
  static func conditionsChanged(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    checkConditions(device, &devices, &cx)
    Scheduler.considerTask(device, &devices, &cx)
  }

  /// A person takes up the device and, on a share of such times, opens the app: it polls.
  ///
  /// Draws: one `uniform` at slot = the time of activation in microseconds (purpose `activation`).
  private static func openApp(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let share = cx.inputs.fleet[Int(devices[device].group)].participation.pollOnActivation
    guard share > 0 else { return }
    var stream = Scheduler.schedulerKey(device, "activation", &devices, &cx).stream(
      slot: UInt64(cx.now.microseconds))
    guard stream.uniform() < share else { return }
    App.useApp(device, &devices, &cx)
  }

  static func windowChanged(
    _ device: Int, to state: UInt8, _ devices: inout Devices, _ cx: inout Context
  ) {
    let before = devices[device].windowState
    devices[device].windowState = state
    guard state != 0, !Body.isOff(device, &devices) else { return }
    // The last window may end just now: its hard expiry comes before the next one opens.
    if let session = devices[device].session, session.kind == .window, session.hard <= cx.now {
      Session.expireHard(device, &devices, &cx)
    }
    let next = Roster.worldNext(.window, device, after: cx.now, &devices, &cx)
    if state == 1 {
      // A window whose grace is longer than itself expires softly as it opens; one that was open
      // continues, or its session is over.
      guard before == 0, devices[device].session == nil else { return }
      Session.beginSession(device, .window, soft: cx.now, hard: next?.time ?? .never, &devices, &cx)
      return
    }
    let soft = next?.time ?? .never
    let hard =
      next.flatMap { Roster.worldNext(.window, device, after: $0.time, &devices, &cx)?.time }
      ?? .never
    takeOver(device, &devices, &cx)
    if devices[device].session == nil {
      Session.beginSession(
        device, .window, soft: soft, hard: next?.state == 1 ? hard : soft, &devices, &cx)
    }
  }

  /// A background session takes the place of a poll.
  static func takeOver(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if devices[device].session?.kind.endsOnLock == true {
      Session.endSession(device, .completed, &devices, &cx)
    }
  }

  static func setLinkDropped(
    _ device: Int, _ isDropped: Bool, _ devices: inout Devices, _ cx: inout Context
  ) {
    changeLink(device, &devices, &cx) { $0.isDropped = isDropped }
  }

  /// Changes the link, and with it what is under way.
  static func changeLink(
    _ device: Int, _ devices: inout Devices, _ cx: inout Context, _ change: (inout Line) -> Void
  ) {
    let before = cx.network[device].link
    let rates = cx.network[device].rates
    change(&cx.network[device])
    let after = cx.network[device].link
    guard before != after else { return }
    if before != 0, devices[device].hasSession { devices[device].session!.offlineSince = cx.now }
    let standing = Requesting.linkChanged(device, from: rates, before, &devices, &cx)
    checkConditions(device, &devices, &cx)
    if after == 0 { App.awaitLink(device, &devices, &cx) }
    if standing != .waits {
      cx.dialect(of: devices[device].group)?
        .onLink(device, isConnected: after != 0, &devices, &cx)
    }
    let isNew = before == 0 || standing == .broken
    if isNew, after != 0, devices[device].session != nil, !cx.network[device].isBusy {
      devices[device].session!.tries = 0
      Session.proceed(device, &devices, &cx)
    }
    if after != 0 { BackgroundTransfers.proceed(device, &devices, &cx) }
    Scheduler.considerTask(device, &devices, &cx)
  }

  /// Whether the app's own conditions for taking part hold.
  static func conditionsHold(_ device: Int, _ devices: borrowing Devices, _ cx: inout Context)
    -> Bool
  { unmetCondition(device, devices, &cx) == nil }

  /// The first of the app's own conditions for taking part that does not hold.
  static func unmetCondition(_ device: Int, _ devices: borrowing Devices, _ cx: inout Context)
    -> Condition?
  {
    let asked = devices.groupConditions[Int(devices[device].group)].app
    guard !asked.isEmpty else { return nil }
    let view = ConditionView(
      device, for: .app, link: cx.network[device].link,
      isUnmetered: cx.network[device].isUnmetered, devices, cx)
    return asked.firstUnmet(view, at: cx.now)
  }

  /// What a running session does when a condition is lost.
  private static func checkConditions(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
  {
    guard devices[device].hasSession, let session = devices[device].session,
      !session.kind.isPoll, !session.hasExpired, !conditionsHold(device, devices, &cx)
    else { return }
    switch Roster.group(of: device, devices, cx).interruption.onConditionsLost {
    case .ignore: return
    case .abort:
      if devices[device].isTraining { Training.endAttempt(device, .conditionsLost, &devices, &cx) }
    case .suspend:
      if let run = devices[device].run, !run.isEvaluation {
        let done = devices[device].pace.done(run, at: cx.now)
        Training.endRun(device, &devices, &cx)
        Training.writeCheckpoint(device, batches: done, &devices, &cx)
      }
    }
    Session.endSession(device, .conditionsLost, &devices, &cx)
  }

  /// The link is gone for a while, whatever its series says.
  static func dropLink(
    _ device: Int, lasting: SimDuration, _ devices: inout Devices, _ cx: inout Context
  ) {
    cx.network[device].dropGeneration += 1
    cx.schedule(
      .linkRestored(device: Int32(device), generation: cx.network[device].dropGeneration), .world,
      at: cx.now + lasting, by: device)
    setLinkDropped(device, true, &devices, &cx)
  }

  /// A scripted event.
  static func inject(_ index: Int, _ devices: inout Devices, _ cx: inout Context) {
    let injection = cx.inputs.injections[index]
    let device = cx.inputs.device(at: injection.device.path)!
    if Membership.isAway(device, devices), injection.action != .dropLink {
      return cx.books.tallies.injectionsWithoutEffect += 1
    }
    switch injection.action {
    case .launch:
      takeOver(device, &devices, &cx)
      guard devices[device].session == nil, !Body.isOff(device, &devices) else { break }
      Session.beginSession(
        device, .window, soft: cx.now + injection.soft, hard: cx.now + injection.hard, &devices, &cx
      )
      return
    case .expire:
      guard let session = devices[device].session, !session.hasExpired else { break }
      Session.expireNow(device, grace: injection.hard, &devices, &cx)
      return
    case .kill:
      guard devices[device].session != nil else {
        App.endIdleProcess(device, &devices, &cx)
        break
      }
      Session.kill(device, &devices, &cx)
      return
    case .forceQuit:
      App.forceQuit(device, &devices, &cx)
      return
    case .open:
      guard !Body.isOff(device, &devices) else { break }
      App.useApp(device, &devices, &cx)
      return
    case .submit:
      let kind = injection.task ?? .processing
      let background = Roster.group(of: device, devices, cx).background
      guard kind == .refresh ? background.refresh != nil : background.processing != nil else {
        break
      }
      let name = devices.taskNames.firstIndex(of: injection.identifier ?? kind.rawValue)!
      Scheduler.submit(device, Int16(name), kind, &devices, &cx)
      return
    case .reinstall:
      Installation.reinstall(device, &devices, &cx)
      return
    case .reboot:
      guard !Body.isOff(device, &devices) else { break }
      Installation.reboot(device, lasting: injection.lasting, &devices, &cx)
      return
    case .dropLink:
      dropLink(device, lasting: injection.lasting, &devices, &cx)
      return
    case .throw:
      guard devices[device].run != nil else { break }
      if Streams.reportFailure(device, &devices, &cx) { return }
      if devices[device].isTraining { Training.endAttempt(device, .threw, &devices, &cx) }
      Session.endSession(device, .threw, &devices, &cx)
      return
    case .erase, .poison, .reconnect, .wrongURL:
      if KnownDialect.injectExchange(injection, device, &devices, &cx) { return }
    case .clearData, .clearErrorLogs, .corruptErrorLogs:
      if SampleFiles.injectCollection(injection.action, device, &cx) { return }
    }
    cx.books.tallies.injectionsWithoutEffect += 1
  }
}
