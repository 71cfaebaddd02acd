extension Session {
  /// The app begins to run: a task, a window, or opened by its user.
  static func beginSession(
    _ device: Int, _ kind: SessionKind, soft: SimTime, hard: SimTime, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    cx.network[device].connection += 1
    let generation = cx.network[device].connection
    cx.books.tallies.sessions += 1
    cx.books.activity[device].sessions += 1
    cx.note(device, .sessionBegan(kind))
    App.wake(device, &devices)
    if kind == .refresh { Heartbeat.owe(device, after: \.inRefresh, &devices, cx) }
    if Collecting.collects(device, cx), kind != .heartbeat {
      let session = Session(
        kind: kind, generation: generation, soft: soft, hard: hard, participation: -1)
      return Collecting.beginCollecting(device, session, soft: soft, &devices, &cx)
    }
    if !kind.isPoll { Roster.takeStock(device, &devices, &cx) }
    let unmet = kind.isPoll ? nil : Surroundings.unmetCondition(device, devices, &cx)
    let isFit = kind.isPoll || Roster.isFit(device, devices)
    let hasData = kind.isPoll || Installation.hasData(device, devices)
    var participation: Int32 = -1
    if !kind.isPoll, unmet == nil, isFit, hasData {
      participation = newParticipation(device, &devices, &cx)
    }
    devices[device].session = Session(
      kind: kind, generation: generation, soft: soft, hard: hard, participation: participation)
    if kind.isTask { App.taskBegan(device, &devices, &cx) }
    if let unmet {
      cx.books.tallies.ineligibleSessions += 1
      cx.books.tallies.ineligible.count(unmet)
      return endSession(device, .ineligible, &devices, &cx)
    }
    if !isFit {
      cx.books.tallies.declinedSessions += 1
      return endSession(device, .declined, &devices, &cx)
    }
    if !hasData {
      cx.books.tallies.sessionsWithoutData += 1
      return endSession(device, .withoutData, &devices, &cx)
    }
    if cx.features.isOn, let dialect = cx.dialect(of: devices[device].group),
      let end = dialect.beforeSession(device, &devices, &cx)
    {
      return endSession(device, end, &devices, &cx)
    }
    scheduleExpiries(device, generation, soft: soft, hard: hard, &cx)
    proceed(device, &devices, &cx)
  }

  /// Schedules the ends of a session.
  static func scheduleExpiries(
    _ device: Int, _ generation: UInt32, soft: SimTime, hard: SimTime, _ cx: inout Context
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
  static func proceed(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let session = devices[device].session else { return }
    let facts = SessionFacts(session, of: device, devices, &cx)
    carryOut(session.next(facts), device, &devices, &cx)
  }

  private static func carryOut(
    _ step: SessionStep, _ device: Int, _ devices: inout Devices, _ cx: inout Context
  ) {
    switch step {
    case .wait: return
    case .dropOutdated:
      Outbox.dropOutdated(device, &devices, &cx)
      proceed(device, &devices, &cx)
    case .ageToken:
      devices.identities.devices[device].tokens.isFresh = false
      proceed(device, &devices, &cx)
    case .identify(let request): Identity.startIdentity(device, request, &devices, &cx)
    case .withhold(let reason): Identity.withhold(device, reason, &devices, &cx)
    case .collect: Collecting.collect(device, &devices, &cx)
    case .upload(let update): Outbox.startUpload(device, update, &devices, &cx)
    case .expire: endExpired(device, &devices, &cx)
    case .check: Requesting.startCheck(device, &devices, &cx)
    case .download:
      let round = devices[device].session!.round
      Requesting.startRequest(
        device, .download, cx.features.givesKeys ? .fetch(round: round) : .latest,
        bytes: WireSize.bytes(of: .fetch, cx), &devices, &cx)
    case .plan:
      Requesting.startRequest(
        device, .download, .plan(round: devices[device].session!.round),
        bytes: cx.inputs.server.messageBytes, &devices, &cx)
    case .train: Training.beginTraining(device, &devices, &cx)
    case .trainUnasked: Training.beginUnasked(device, &devices, &cx)
    case .evaluate:
      cx.dialect(of: devices[device].group)!.onStep(device, .evaluate, &devices, &cx)
    case .reply: cx.dialect(of: devices[device].group)!.onStep(device, .reply, &devices, &cx)
    case .rest(let reason): rest(device, reason, &devices, &cx)
    case .end(let reason): endSession(device, reason, &devices, &cx)
    }
  }

  /// Waits within a session.
  static func pause(
    _ device: Int, for duration: SimDuration, then stage: Session.Stage, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    devices[device].session!.stage = stage
    devices[device].session!.isPausing = true
    cx.schedule(
      .deviceTimer(
        .sessionPause, device: Int32(device), generation: devices[device].session!.generation),
      .deviceTimer, at: cx.now + duration, by: device)
  }

  /// Nothing to do at present: asks again later where sessions repeat, else ends.
  static func rest(
    _ device: Int, _ reason: SessionEnd, _ devices: inout Devices, _ cx: inout Context
  ) {
    cx.participations.stop(devices[device].session!.participation, .session(reason))
    if let wait = repetition(device, devices, cx) {
      cx.note(device, .rested(reason))
      devices[device].session!.tries = 0
      devices[device].session!.hasGivenUp = false
      pause(device, for: wait, then: .check, &devices, &cx)
    } else {
      endSession(device, reason, &devices, &cx)
    }
  }

  /// The server has no work for a device: it asks again later, or its session ends; an app that
  /// forgets to say that its task is over waits for its kill.
  static func turnedAway(
    _ device: Int, isForGood: Bool = false, _ devices: inout Devices, _ cx: inout Context
  ) {
    if App.forgetsRejection(device, devices, cx) {
      cx.participations.stop(devices[device].session!.participation, .session(.rejected))
      devices[device].session!.isStuck = true
    } else if isForGood {
      endSession(device, .rejected, &devices, &cx)
    } else if !cx.agenda.pollers.isOn || !Polling.begin(device, &devices, &cx) {
      rest(device, .rejected, &devices, &cx)
    }
  }

  /// How long a session waits until it asks again; nil: it does not.
  static func repetition(
    _ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> SimDuration? {
    let participation = cx.inputs.fleet[Int(devices[device].group)].participation
    guard let kind = devices[device].session?.kind else { return nil }
    if kind.isPoll { return kind == .activation ? participation.pollEvery : nil }
    return participation.repeats ? participation.pause : nil
  }

  /// No new batch begins; a running one may end, an upload may continue until the hard expiry.
  static func expireSoftly(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if devices[device].session!.isCompleted { return }
    devices[device].session!.hasExpired = true
    cx.note(device, .softExpiry)
    if App.onExpiration(device, &devices, &cx) == .ignore { return }
    App.setCancelled(device, &devices, &cx)
    devices[device].session!.isExpiring = true
    devices[device].session!.isPausing = false
    Training.abandonEvaluation(device, &devices, &cx)
    if devices[device].run != nil { return Training.cutTraining(device, &devices, &cx) }
    switch cx.network[transferOf: device]?.purpose {
    // Who waits on a stream has sent its result.
    case .upload
    where cx.network[transferOf: device]!.wait == nil
      && !BackgroundTransfers.areOn(device, devices, cx):
      return
    case .central(.file): return
    default: endExpired(device, &devices, &cx)
    }
  }

  /// The app has stopped at an expiry: it says so, or forgets it and waits for its kill.
  static func endExpired(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard App.onExpiration(device, &devices, &cx) == .forget else {
      return endSession(device, .expired, &devices, &cx)
    }
    if cx.network[transferOf: device] != nil, !BackgroundTransfers.isSending(device, cx) {
      Requesting.giveUpTransfer(device, &devices, &cx)
    }
    devices[device].session?.isStuck = true
  }

  /// The task's time is over: a batch that still runs costs the process.
  static func expireHard(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let session = devices[device].session!
    if session.isCompleted {
      if devices[device].isTraining {
        Training.loseRun(device, .discardedAtExpiry, &devices, &cx)
      }
      return endSession(device, .completed, &devices, &cx)
    }
    if devices[device].run != nil || session.isStuck
      || App.onExpiration(device, &devices, &cx) == .ignore
    {
      kill(device, &devices, &cx)
      return App.penalise(device, &devices, &cx)
    }
    endSession(device, .expired, &devices, &cx)
  }

  /// Expires a session now, with a grace until the hard expiry.
  static func expireNow(
    _ device: Int, grace: SimDuration, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard let session = devices[device].session, !session.hasExpired, !session.isCompleted else {
      return
    }
    let hard = min(session.hard, cx.now + grace)
    devices[device].session!.hard = hard
    cx.schedule(
      .hardExpiry(device: Int32(device), generation: session.generation), .deadline, at: hard,
      by: device)
    expireSoftly(device, &devices, &cx)
  }

  /// The process is killed: what was in memory only is lost.
  static func kill(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    cx.books.tallies.kills += 1
    cx.note(device, .killed)
    if devices[device].isTraining { Training.loseRun(device, .killed, &devices, &cx) }
    App.endProcess(device, &devices, &cx)
    endSession(device, .killed, &devices, &cx)
    Outbox.loseUnstored(device, &devices, &cx)
  }

  /// Ends a session; what is under way is given up. No batch may be running.
  static func endSession(
    _ device: Int, _ reason: SessionEnd, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard devices[device].hasSession else { return }
    Training.abandonEvaluation(device, &devices, &cx)
    precondition(devices[device].run == nil, "a session ends between batches")
    let continues = BackgroundTransfers.continues(device, after: reason, &devices, &cx)
    if cx.network[transferOf: device] != nil, !continues {
      Requesting.giveUpTransfer(device, &devices, &cx)
    }
    // Read now: who gives up a stream without a link has left its participation.
    let session = devices[device].session!
    if cx.features.isOn {
      cx.dialect(of: devices[device].group)?
        .onParticipationEnd(device, session.participation, &devices, &cx)
    }
    if Collecting.collects(device, cx) { Collecting.endCollecting(device, &cx) }
    devices[device].session = nil
    cancelExpiries(device, session, &cx)
    settle(session, reason, isContinued: devices[device].hasAttempt, &cx)
    if cx.network.server.staysOnline, !cx.features.keepsModels,
      !cx.features.isOn || !LayoutDialect.keepsOwnModel(device, devices, cx)
    {
      devices[device].held = nil
    }
    cx.network[device].connection += 1
    cx.note(device, .sessionEnded(reason))
    let place = Int(devices[device].group)
    if cx.inputs.fleet[place].outbox.capacity == 0 { Outbox.lose(device, .dropped, &devices, &cx) }
    if cx.inputs.fleet[place].outbox.flushes == false { Outbox.shelve(device, &devices, &cx) }
    BackgroundTransfers.proceed(device, &devices, &cx)
    if session.kind.isTask { App.taskEnded(device, &devices, &cx) }
    if reason != .killed { App.suspend(device, &devices, &cx) }
    if session.kind == .task, reason != .killed,
      cx.inputs.fleet[place].background.processing?.resubmit == .atCompletion
    {
      Scheduler.submitTaskRequest(device, &devices, &cx)
    } else if session.kind == .refresh, reason != .killed,
      cx.inputs.fleet[place].background.refresh?.resubmit == .atCompletion
    {
      Scheduler.submitRefreshRequest(device, &devices, &cx)
    } else {
      Scheduler.considerTask(device, &devices, &cx)
    }
  }

  /// What would only be skipped later goes at once, if it is still to come.
  private static func cancelExpiries(_ device: Int, _ session: Session, _ cx: inout Context) {
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

  /// The session of a participation is over; a training that it had begun may be continued.
  private static func settle(
    _ session: Session, _ end: SessionEnd, isContinued: Bool, _ cx: inout Context
  ) {
    let participation = session.participation
    guard participation >= 0 else { return }
    let isCut = isContinued && cx.participations.has(participation, reached: .started)
    cx.participations.stopUnlessStopped(participation, isCut ? .checkpointed : .session(end))
    cx.participations.letGo(participation)
  }

  private static func newParticipation(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> Int32
  {
    precondition(!cx.isAhead, "a participating device waits for its turn")
    return cx.participations.begin(
      group: devices[device].group, at: cx.now)
  }

  /// A session that asks for work again after it was accepted takes part again.
  static func renewParticipation(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let participation = devices[device].session!.participation
    if participation < 0, !devices[device].session!.kind.isPoll {
      // It was left with the stream on which it waited.
      devices[device].session!.participation = newParticipation(device, &devices, &cx)
      return
    }
    guard participation >= 0,
      cx.participations.has(participation, reached: .accepted)
        || cx.features.isOn && cx.participations.isOutstanding(participation)
    else { return }
    cx.dialect(of: devices[device].group)?
      .onParticipationEnd(device, participation, &devices, &cx)
    devices[device].session!.participation = newParticipation(device, &devices, &cx)
    cx.participations.stopUnlessStopped(participation, .askedAgain)
    cx.participations.letGo(participation)
  }
}
