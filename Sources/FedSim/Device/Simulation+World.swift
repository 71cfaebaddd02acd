import Numerics

extension Simulation {
  /// A device's series changes by itself.
  mutating func worldChanged(_ series: Series, _ device: Int, to state: UInt8) {
    devices[device].exogenous.combine(
      cx.now.microseconds, UInt64(series.rawValue) << 8 | UInt64(state))
    scheduleNext(series, device)
    switch series {
    case .power: setPlugged(device, state == 1)
    case .link: changeLink(device) { $0.linkState = state }
    case .usage: setActive(device, state == 1)
    case .window: windowChanged(device, to: state)
    case .ambient: setHot(device, state == 1)
    case .setting: setRefresh(device, state == 1)
    case .presence: setPresent(device, state == 1)
    case .share:
      let rates = devices[device].rates
      devices[device].share = state
      linkChanged(
        device, from: rates, devices[device].link, isConnected: devices[device].isConnected,
        isSameLink: true)
    }
  }

  private mutating func setPlugged(_ device: Int, _ isPlugged: Bool) {
    devices[device].isPlugged = isPlugged
    if !isPlugged, devices[device].sessionKind == .task,
      let processing = group(of: device).background.processing, processing.requiresExternalPower
    {
      expireNow(device, grace: processing.grace)
    }
    checkConditions(device)
    watchProcessor(device)
    considerTask(device)
  }

  private mutating func setActive(_ device: Int, _ isActive: Bool) {
    devices[device].isActive = isActive
    if isOff(device) { return }
    if isActive {
      unlockKeychain(device)
      if devices[device].sessionKind == .task {
        // The system ends processing tasks when a person takes up the device.
        let background = group(of: device).background
        let grace = background.processing?.grace ?? .seconds(5)
        if background.system?.endsOnUse ?? true { expireNow(device, grace: grace) }
      }
      checkConditions(device)
      openApp(device)
    } else {
      let before = devices[device].lockedSince
      devices[device].lockedSince = cx.now
      if devices[device].sessionKind?.endsOnLock == true { endSession(device, .locked) }
      setOpen(device, false)
      leaveApp(device, since: before)
      considerTask(device)
    }
  }

  /// Low-power mode, heat, or the battery's being full: conditions that may have been lost.
  mutating func conditionsChanged(_ device: Int) {
    checkConditions(device)
    considerTask(device)
  }

  /// A person takes up the device and, on a share of such times, opens the app: it polls.
  ///
  /// Draws: one `uniform` at slot = the time of activation in microseconds (purpose `activation`).
  private mutating func openApp(_ device: Int) {
    let share = cx.inputs.fleet[Int(devices[device].group)].participation.pollOnActivation
    guard share > 0 else { return }
    var stream = schedulerKey(device, "activation").stream(slot: UInt64(cx.now.microseconds))
    guard stream.uniform() < share else { return }
    useApp(device)
  }

  mutating func windowChanged(_ device: Int, to state: UInt8) {
    let before = devices[device].windowState
    devices[device].windowState = state
    guard state != 0, !isOff(device) else { return }
    // The last window may end just now: its hard expiry comes before the next one opens.
    if let session = devices[device].session, session.kind == .window, session.hard <= cx.now {
      expireHard(device)
    }
    let next = worldNext(.window, device, after: cx.now)
    if state == 1 {
      // A window whose grace is longer than itself expires softly as it opens; one that was open
      // goes on, or its session is over.
      guard before == 0, devices[device].session == nil else { return }
      beginSession(device, .window, soft: cx.now, hard: next?.time ?? .never)
      return
    }
    let soft = next?.time ?? .never
    let hard = next.flatMap { worldNext(.window, device, after: $0.time)?.time } ?? .never
    takeOver(device)
    if devices[device].session == nil {
      beginSession(device, .window, soft: soft, hard: next?.state == 1 ? hard : soft)
    }
  }

  /// A background session takes the place of a poll.
  mutating func takeOver(_ device: Int) {
    if devices[device].session?.kind.endsOnLock == true { endSession(device, .completed) }
  }

  mutating func setLinkDropped(_ device: Int, _ isDropped: Bool) {
    changeLink(device) { $0.isLinkDropped = isDropped }
  }

  /// Changes the link, and with it what is under way.
  mutating func changeLink(_ device: Int, _ change: (inout Device) -> Void) {
    let before = devices[device].link
    let rates = devices[device].rates
    change(&devices[device])
    let after = devices[device].link
    guard before != after else { return }
    linkChanged(device, from: rates, before, isConnected: after != 0)
    checkConditions(device)
    if after == 0 { awaitLink(device) }
    if cx.features.isOn { exchangeLinkChanged(device, isConnected: after != 0) }
    if before == 0, devices[device].session != nil {
      devices[device].session!.tries = 0
      proceed(device)
    }
    considerTask(device)
  }

  /// Whether the app's own conditions for taking part hold.
  func conditionsHold(_ device: Int) -> Bool { unmetCondition(device) == nil }

  /// The first of the app's own conditions for taking part that does not hold.
  func unmetCondition(_ device: Int) -> Ineligibility? {
    let wanted = cx.inputs.fleet[Int(devices[device].group)].participation
    let body = hasBody(device) ? devices.bodies[device] : nil
    if let body {
      if wanted.avoidsLowPower == true, body.isLowPower { return .lowPower }
      if wanted.avoidsHeat == true, body.isSerious { return .heat }
    }
    if wanted.externalPower, !devices[device].isPlugged { return .power }
    if let body {
      if wanted.chargingOnly == true, body.isFull { return .power }
      if let minimum = wanted.minimumBattery, !devices[device].isPlugged,
        body.energy(at: cx.now) < body.threshold(minimum)
      {
        return .battery
      }
    }
    switch wanted.network {
    case .any: break
    case .wifi: if devices[device].link != 2 { return .network }
    case .unmetered: if !devices[device].isUnmetered { return .network }
    }
    return wanted.idle && devices[device].isActive ? .use : nil
  }

  /// What a running session does when a condition is lost.
  private mutating func checkConditions(_ device: Int) {
    guard devices[device].hasSession, let session = devices[device].session,
      !session.kind.isPoll, !session.hasExpired, !conditionsHold(device)
    else { return }
    switch group(of: device).interruption.onConditionsLost {
    case .ignore: return
    case .abort:
      if devices[device].isTraining { endAttempt(device, .conditionsLost) }
    case .suspend:
      if let run = devices[device].run, !run.isEvaluation {
        let done = devices[device].pace.done(run, at: cx.now)
        endRun(device)
        writeCheckpoint(device, batches: done)
      }
    }
    endSession(device, .conditionsLost)
  }

  /// The link is gone for a while, whatever its series says.
  mutating func dropLink(_ device: Int, lasting: SimDuration) {
    devices[device].dropGeneration += 1
    cx.schedule(
      .linkRestored(device: Int32(device), generation: devices[device].dropGeneration), .world,
      at: cx.now + lasting, by: device)
    setLinkDropped(device, true)
  }

  /// A scripted event.
  mutating func inject(_ index: Int) {
    let injection = cx.inputs.injections[index]
    let device = cx.inputs.device(at: injection.device.path)!
    if isAway(device), injection.action != .dropLink {
      return cx.books.tallies.injectionsWithoutEffect += 1
    }
    switch injection.action {
    case .launch:
      takeOver(device)
      guard devices[device].session == nil, !isOff(device) else { break }
      beginSession(device, .window, soft: cx.now + injection.soft, hard: cx.now + injection.hard)
      return
    case .expire:
      guard let session = devices[device].session, !session.hasExpired else { break }
      expireNow(device, grace: injection.hard)
      return
    case .kill:
      guard devices[device].session != nil else {
        endProcess(device)
        break
      }
      kill(device)
      return
    case .forceQuit:
      forceQuit(device)
      return
    case .open:
      guard !isOff(device) else { break }
      useApp(device)
      return
    case .submit:
      let kind = injection.task ?? .processing
      let background = group(of: device).background
      guard kind == .refresh ? background.refresh != nil : background.processing != nil else {
        break
      }
      let name = devices.taskNames.firstIndex(of: injection.identifier ?? kind.rawValue)!
      submit(device, Int16(name), kind)
      return
    case .reinstall:
      reinstall(device)
      return
    case .reboot:
      guard !isOff(device) else { break }
      reboot(device, lasting: injection.lasting)
      return
    case .dropLink:
      dropLink(device, lasting: injection.lasting)
      return
    case .throw:
      guard devices[device].run != nil else { break }
      if reportFailure(device) { return }
      if devices[device].isTraining { endAttempt(device, .threw) }
      endSession(device, .threw)
      return
    case .erase, .poison, .reconnect, .wrongURL:
      if injectExchange(injection, device) { return }
    case .clearData, .clearErrorLogs, .corruptErrorLogs:
      if injectCollection(injection.action, device) { return }
    }
    cx.books.tallies.injectionsWithoutEffect += 1
  }
}
