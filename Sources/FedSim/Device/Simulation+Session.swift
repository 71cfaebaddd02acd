extension Simulation {
  /// The app begins to run: a task, a window, or opened by its user.
  mutating func beginSession(
    _ device: Int, _ kind: SessionKind, soft: SimTime, hard: SimTime
  ) {
    devices[device].sessionGeneration += 1
    let generation = devices[device].sessionGeneration
    tallies.sessions += 1
    devices[device].activity.sessions += 1
    note(device, .sessionBegan(kind))
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
      tallies.ineligibleSessions += 1
      for (place, reason) in Ineligibility.allCases.enumerated() where reason == unmet {
        tallies.ineligible[place] += 1
      }
      return endSession(device, .ineligible)
    }
    if !isFit {
      tallies.declinedSessions += 1
      return endSession(device, .declined)
    }
    if !hasData {
      tallies.sessionsWithoutData += 1
      return endSession(device, .withoutData)
    }
    if exchange.isOn, let end = disconnection(device) { return endSession(device, end) }
    scheduleExpiries(device, generation, soft: soft, hard: hard)
    proceed(device)
  }

  /// Schedules the ends of a session.
  mutating func scheduleExpiries(
    _ device: Int, _ generation: UInt32, soft: SimTime, hard: SimTime
  ) {
    if soft != .never {
      schedule(
        .softExpiry(device: Int32(device), generation: generation), .deadline, at: soft,
        by: device)
    }
    if hard != .never {
      schedule(
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
    let participation = inputs.fleet[place].participation
    if !identities.isEmpty, isConnected, identifies(device) { return }
    if collects(device), session.kind != .heartbeat { return collect(device) }
    if let update = sendable(device), isConnected, !session.hasGivenUp,
      session.tries < inputs.fleet[place].outbox.attempts
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
          device, .download, exchange.givesKeys ? .fetch(round: session.round) : .latest,
          bytes: bytes(of: .fetch))
      }
    case .plan:
      if isConnected {
        startRequest(
          device, .download, .plan(round: session.round), bytes: inputs.server.messageBytes)
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
    schedule(
      .deviceTimer(
        .sessionPause, device: Int32(device), generation: devices[device].session!.generation),
      .deviceTimer, at: now + duration, by: device)
  }

  /// Nothing to do at present: asks again later where sessions repeat, else ends.
  mutating func rest(_ device: Int, _ reason: SessionEnd) {
    if let wait = repetition(device) {
      note(device, .rested(reason))
      devices[device].session!.tries = 0
      devices[device].session!.hasGivenUp = false
      pause(device, for: wait, then: .check)
    } else {
      endSession(device, reason)
    }
  }

  /// How long a session waits until it asks again; nil: it does not.
  private func repetition(_ device: Int) -> SimDuration? {
    let participation = inputs.fleet[Int(devices[device].group)].participation
    guard let kind = devices[device].session?.kind else { return nil }
    if kind.isPoll { return kind == .activation ? participation.pollEvery : nil }
    return participation.repeats ? participation.pause : nil
  }

  /// No new batch begins; a running one may end, an upload may go on until the hard expiry.
  mutating func expireSoftly(_ device: Int) {
    if devices[device].session!.isCompleted { return }
    devices[device].session!.hasExpired = true
    note(device, .softExpiry)
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
    let hard = min(session.hard, now + grace)
    devices[device].session!.hard = hard
    schedule(
      .hardExpiry(device: Int32(device), generation: session.generation), .deadline, at: hard,
      by: device)
    expireSoftly(device)
  }

  /// The process is killed: what was in memory only is lost.
  mutating func kill(_ device: Int) {
    tallies.kills += 1
    note(device, .killed)
    if devices[device].isTraining { loseRun(device) }
    endProcess(device)
    let keeps = inputs.fleet[Int(devices[device].group)].outbox.persists
    endSession(device, .killed)
    if !keeps {
      for update in devices[device].outbox { leaveDevice(update, .lostAtKill) }
      devices[device].outbox = []
    }
  }

  /// Ends a session; what is under way is given up. No batch may be running.
  mutating func endSession(_ device: Int, _ reason: SessionEnd) {
    guard let session = devices[device].session else { return }
    abandonEvaluation(device)
    precondition(devices[device].run == nil, "a session ends between batches")
    if devices[device].transfer != nil { giveUpTransfer(device) }
    if exchange.isOn { leaveStream(device, session.participation) }
    if collects(device) { endCollecting(device) }
    devices[device].session = nil
    cancelExpiries(device, session)
    letGo(session.participation)
    if server.staysOnline, !exchange.isOn || !keepsOwnModel(device) { devices[device].held = nil }
    devices[device].sessionGeneration += 1
    note(device, .sessionEnded(reason))
    let place = Int(devices[device].group)
    if inputs.fleet[place].outbox.capacity == 0 {
      for update in devices[device].outbox { leaveDevice(update, .dropped) }
      devices[device].outbox = []
    }
    if inputs.fleet[place].outbox.flushes == false { shelve(device) }
    if session.kind.isTask { taskEnded(device) }
    if session.kind == .task, reason != .killed,
      inputs.fleet[place].background.processing?.resubmit == .atCompletion
    {
      submitTaskRequest(device)
    } else if session.kind == .refresh, reason != .killed,
      inputs.fleet[place].background.refresh?.resubmit == .atCompletion
    {
      submitRefreshRequest(device)
    } else {
      considerTask(device)
    }
  }

  /// What would only be skipped later goes at once, if it is still to come.
  private mutating func cancelExpiries(_ device: Int, _ session: Session) {
    let (number, actor) = (Int32(device), Int32(device + 1))
    if session.soft > now, session.soft != .never {
      queue.cancel(
        .softExpiry(device: number, generation: session.generation), at: session.soft, of: actor)
    }
    if session.hard > now, session.hard != .never {
      queue.cancel(
        .hardExpiry(device: number, generation: session.generation), at: session.hard, of: actor)
    }
  }

  // MARK: Participation

  private mutating func newParticipation(_ device: Int) -> Int32 {
    precondition(!ahead.isAhead, "who takes part waits for its turn")
    let hour = Int(now.microseconds / 3_600_000_000)
    while hourFunnels.count <= hour { hourFunnels.append(Funnel()) }
    let group = devices[device].group
    participations.append(
      Participation(
        round: server.round, hour: Int32(hour), group: group, stage: Stage.eligible.rawValue))
    hourFunnels[hour][.eligible] += 1
    countByGroup(Int(group), hour, Int(Stage.eligible.rawValue))
    roundFunnels[Int(server.round)][.eligible] += 1
    return Int32(participations.count - 1)
  }

  /// Counts a participation for its device's group, where that is recorded.
  private mutating func countByGroup(_ group: Int, _ hour: Int, _ stage: Int) {
    guard !groupFunnels.isEmpty else { return }
    while groupFunnels[group].count <= hour { groupFunnels[group].append(Funnel()) }
    groupFunnels[group][hour][stage] += 1
  }

  /// A session that asks for work again after it was accepted takes part anew.
  mutating func renewParticipation(_ device: Int) {
    let participation = devices[device].session!.participation
    guard participation >= 0,
      participations[participation].stage >= Stage.accepted.rawValue
        || exchange.isOn && isOutstanding(participation)
    else { return }
    if exchange.isOn { leaveStream(device, participation) }
    devices[device].session!.participation = newParticipation(device)
    letGo(participation)
  }

  /// One more may move a participation on.
  mutating func hold(_ participation: Int32) {
    if participation >= 0 { participations[participation].holders += 1 }
  }

  /// One fewer may; the last one's going settles it.
  mutating func letGo(_ participation: Int32) {
    guard participation >= 0 else { return }
    participations[participation].holders -= 1
    guard participations[participation].holders == 0 else { return }
    settled.participations[Int(participations[participation].stage)] += 1
    participations.remove(participation)
  }

  /// A participation reaches a stage, and with it every stage before.
  mutating func reach(_ participation: Int32, _ stage: Stage) {
    guard participation >= 0 else { return }
    while participations[participation].stage < stage.rawValue {
      participations[participation].stage += 1
      let reached = Int(participations[participation].stage)
      let hour = Int(participations[participation].hour)
      hourFunnels[hour][reached] += 1
      countByGroup(Int(participations[participation].group), hour, reached)
      roundFunnels[Int(participations[participation].round)][reached] += 1
    }
  }

  /// A participation is accepted into a round: in that round too it was eligible and checked in.
  mutating func accept(_ participation: Int32) {
    guard participation >= 0 else { return }
    reach(participation, .checkedIn)
    if participations[participation].stage < Stage.accepted.rawValue,
      participations[participation].round != server.round
    {
      participations[participation].round = server.round
      roundFunnels[Int(server.round)][.eligible] += 1
      roundFunnels[Int(server.round)][.checkedIn] += 1
    }
    reach(participation, .accepted)
  }
}
