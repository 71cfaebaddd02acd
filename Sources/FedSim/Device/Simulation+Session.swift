extension Simulation {
  /// The app begins to run: a task, a window, or opened by its user.
  mutating func beginSession(
    _ device: Int, _ kind: SessionKind, soft: SimTime, hard: SimTime
  ) {
    devices[device].sessionGeneration += 1
    let generation = devices[device].sessionGeneration
    cx.books.tallies.sessions += 1
    devices[device].activity.sessions += 1
    cx.note(device, .sessionBegan(kind))
    if collects(device), kind != .heartbeat {
      let session = Session(
        kind: kind, generation: generation, soft: soft, hard: hard, participation: -1)
      return beginCollecting(device, session, soft: soft)
    }
    if !kind.isPoll { takeStock(device) }
    let unmet = kind.isPoll ? nil : unmetCondition(device)
    let takesPart = unmet == nil
    let isFit = kind.isPoll || isFit(device)
    let hasData = kind.isPoll || hasData(device)
    var participation: Int32 = -1
    if !kind.isPoll, takesPart, isFit, hasData { participation = newParticipation(device) }
    devices[device].session = Session(
      kind: kind, generation: generation, soft: soft, hard: hard, participation: participation)
    if kind.isTask { taskBegan(device) }
    if !takesPart {
      cx.books.tallies.ineligibleSessions += 1
      for (place, reason) in Ineligibility.allCases.enumerated() where reason == unmet {
        cx.books.tallies.ineligible[place] += 1
      }
      return endSession(device, .ineligible)
    }
    if !isFit {
      cx.books.tallies.declinedSessions += 1
      return endSession(device, .declined)
    }
    if !hasData {
      cx.books.tallies.sessionsWithoutData += 1
      return endSession(device, .withoutData)
    }
    if cx.features.isOn, let end = disconnection(device) { return endSession(device, end) }
    scheduleExpiries(device, generation, soft: soft, hard: hard)
    proceed(device)
  }

  /// Schedules the ends of a session.
  mutating func scheduleExpiries(
    _ device: Int, _ generation: UInt32, soft: SimTime, hard: SimTime
  ) {
    if soft != .never {
      cx.schedule(
        .softExpiry(device: Int32(device), generation: generation), .deadline, at: soft,
        by: device)
    }
    if hard != .never {
      cx.schedule(
        .hardExpiry(device: Int32(device), generation: generation), .deadline, at: hard,
        by: device)
    }
  }

  /// Does what comes next in a session, if nothing is under way.
  mutating func proceed(_ device: Int) {
    guard let session = devices[device].session, !devices[device].hasTransfer,
      !devices[device].isRunning, !session.isPausing, !session.isStuck
    else { return }
    purgeOutbox(device)
    let isConnected = devices[device].isConnected
    let place = Int(devices[device].group)
    let participation = cx.inputs.fleet[place].participation
    if !devices.identities.isEmpty, isConnected, identifies(device) { return }
    if collects(device), session.kind != .heartbeat { return collect(device) }
    if let update = sendable(device), isConnected, !session.hasGivenUp,
      session.tries < cx.inputs.fleet[place].outbox.attempts
    {
      if participation.checksBeforeReport == true, !conditionsHold(device) {
        return endSession(device, .conditionsLost)
      }
      return startUpload(device, update)
    }
    if session.isExpiring { return endExpired(device) }
    switch session.stage {
    case .check:
      if isConnected { startCheck(device) }
    case .download:
      if isConnected {
        startRequest(
          device, .download, cx.features.givesKeys ? .fetch(round: session.round) : .latest,
          bytes: bytes(of: .fetch))
      }
    case .plan:
      if isConnected {
        startRequest(
          device, .download, .plan(round: session.round), bytes: cx.inputs.server.messageBytes)
      }
    case .train:
      beginTraining(device)
    case .evaluate:
      beginEvaluation(device)
    case .reply:
      if isConnected { sendReply(device) }
    case .done:
      let waits = sendable(device) != nil
      if waits, !isConnected, !session.hasGivenUp { return }
      if repetition(device) != nil {
        rest(device, .completed)
      } else {
        endSession(device, waits ? .unreachable : .completed)
      }
    }
  }

  /// Waits within a session.
  mutating func pause(_ device: Int, for duration: SimDuration, then stage: Session.Stage) {
    devices[device].session!.stage = stage
    devices[device].session!.isPausing = true
    cx.schedule(
      .deviceTimer(
        .sessionPause, device: Int32(device), generation: devices[device].session!.generation),
      .deviceTimer, at: cx.now + duration, by: device)
  }

  /// Nothing to do at present: asks again later where sessions repeat, else ends.
  mutating func rest(_ device: Int, _ reason: SessionEnd) {
    if let wait = repetition(device) {
      cx.note(device, .rested(reason))
      devices[device].session!.tries = 0
      devices[device].session!.hasGivenUp = false
      pause(device, for: wait, then: .check)
    } else {
      endSession(device, reason)
    }
  }

  /// How long a session waits until it asks again; nil: it does not.
  private func repetition(_ device: Int) -> SimDuration? {
    let participation = cx.inputs.fleet[Int(devices[device].group)].participation
    guard let kind = devices[device].session?.kind else { return nil }
    if kind.isPoll { return kind == .activation ? participation.pollEvery : nil }
    return participation.repeats ? participation.pause : nil
  }

  /// No new batch begins; a running one may end, an upload may go on until the hard expiry.
  mutating func expireSoftly(_ device: Int) {
    if devices[device].session!.isCompleted { return }
    devices[device].session!.hasExpired = true
    cx.note(device, .softExpiry)
    if onExpiration(device) == .ignore { return }
    setCancelled(device)
    devices[device].session!.isExpiring = true
    devices[device].session!.isPausing = false
    abandonEvaluation(device)
    if devices[device].run != nil { return cutTraining(device) }
    switch devices[device].transfer?.purpose {
    case .upload, .central(.file): return
    default: endExpired(device)
    }
  }

  /// The app has stopped at an expiry: it says so, or forgets it and waits for its kill.
  mutating func endExpired(_ device: Int) {
    guard onExpiration(device) == .forget else { return endSession(device, .expired) }
    if devices[device].transfer != nil { giveUpTransfer(device) }
    devices[device].session?.isStuck = true
  }

  /// The task's time is over: a batch that still runs costs the process.
  mutating func expireHard(_ device: Int) {
    let session = devices[device].session!
    if session.isCompleted { return endSession(device, .completed) }
    if devices[device].run != nil || session.isStuck || onExpiration(device) == .ignore {
      kill(device)
      return penalise(device)
    }
    endSession(device, .expired)
  }

  /// Expires a session now, with a grace until the hard expiry.
  mutating func expireNow(_ device: Int, grace: SimDuration) {
    guard let session = devices[device].session, !session.hasExpired, !session.isCompleted else {
      return
    }
    let hard = min(session.hard, cx.now + grace)
    devices[device].session!.hard = hard
    cx.schedule(
      .hardExpiry(device: Int32(device), generation: session.generation), .deadline, at: hard,
      by: device)
    expireSoftly(device)
  }

  /// The process is killed: what was in memory only is lost.
  mutating func kill(_ device: Int) {
    cx.books.tallies.kills += 1
    cx.note(device, .killed)
    if devices[device].isTraining { loseRun(device) }
    endProcess(device)
    let keeps = cx.inputs.fleet[Int(devices[device].group)].outbox.persists
    endSession(device, .killed)
    if !keeps {
      for update in devices[device].outbox { cx.leaveDevice(update, .lostAtKill) }
      devices[device].outbox = []
    }
  }

  /// Ends a session; what is under way is given up. No batch may be running.
  mutating func endSession(_ device: Int, _ reason: SessionEnd) {
    guard let session = devices[device].session else { return }
    abandonEvaluation(device)
    precondition(devices[device].run == nil, "a session ends between batches")
    if devices[device].transfer != nil { giveUpTransfer(device) }
    if cx.features.isOn { leaveStream(device, session.participation) }
    if collects(device) { endCollecting(device) }
    devices[device].session = nil
    cancelExpiries(device, session)
    cx.participations.letGo(session.participation)
    if cx.line.staysOnline, !cx.features.isOn || !keepsOwnModel(device) { devices[device].held = nil }
    devices[device].sessionGeneration += 1
    cx.note(device, .sessionEnded(reason))
    let place = Int(devices[device].group)
    if cx.inputs.fleet[place].outbox.capacity == 0 {
      for update in devices[device].outbox { cx.leaveDevice(update, .dropped) }
      devices[device].outbox = []
    }
    if cx.inputs.fleet[place].outbox.flushes == false { shelve(device) }
    if session.kind.isTask { taskEnded(device) }
    if session.kind == .task, reason != .killed,
      cx.inputs.fleet[place].background.processing?.resubmit == .atCompletion
    {
      submitTaskRequest(device)
    } else if session.kind == .refresh, reason != .killed,
      cx.inputs.fleet[place].background.refresh?.resubmit == .atCompletion
    {
      submitRefreshRequest(device)
    } else {
      considerTask(device)
    }
  }

  /// What would only be skipped later goes at once, if it is still to come.
  private mutating func cancelExpiries(_ device: Int, _ session: Session) {
    let number = Int32(device)
    if session.soft > cx.now, session.soft != .never {
      cx.agenda.cancel(
        .softExpiry(device: number, generation: session.generation), at: session.soft, of: device)
    }
    if session.hard > cx.now, session.hard != .never {
      cx.agenda.cancel(
        .hardExpiry(device: number, generation: session.generation), at: session.hard, of: device)
    }
  }

  // MARK: Participation

  private mutating func newParticipation(_ device: Int) -> Int32 {
    precondition(!cx.ahead.isAhead, "who takes part waits for its turn")
    return cx.participations.begin(
      group: devices[device].group, at: cx.now)
  }

  /// A session that asks for work again after it was accepted takes part anew.
  mutating func renewParticipation(_ device: Int) {
    let participation = devices[device].session!.participation
    guard participation >= 0,
      cx.participations[participation].stage >= Stage.accepted.rawValue
        || cx.features.isOn && cx.participations.isOutstanding(participation)
    else { return }
    if cx.features.isOn { leaveStream(device, participation) }
    devices[device].session!.participation = newParticipation(device)
    cx.participations.letGo(participation)
  }
}
