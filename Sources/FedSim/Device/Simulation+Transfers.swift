extension Simulation {
  /// Begins a request: its bytes are sent, then its answer is awaited and received.
  mutating func startRequest(
    _ device: Int, _ purpose: Transfer.Purpose, _ request: Request, bytes: Int64
  ) {
    precondition(!devices[device].hasTransfer, "one request at a time")
    precondition(devices[device].isConnected, "a request needs a link")
    cx.books.ledgers.transmissions.open()
    if !devices.identities.isEmpty { watchToken(device, purpose) }
    devices[device].transferGeneration += 1
    let id = devices[device].transferGeneration
    devices[device].transfer = Transfer(
      purpose: purpose, request: request, id: id, plan: id, remaining: bytes,
      energyMark: energyDrawn(device).radio, since: cx.now)
    if purpose == .download,
      let limit = cx.inputs.fleet[Int(devices[device].group)].network.downloadTimeout
    {
      cx.schedule(
        .deviceTimer(.downloadTimeout, device: Int32(device), generation: id), .deviceTimer,
        at: cx.now + limit, by: device)
    }
    planTransfer(device)
  }

  /// Asks the server for news, and for work unless it is a poll.
  mutating func startCheck(_ device: Int) {
    if cx.features.isOn, waits(device) || enrols(device) { return }
    renewParticipation(device)
    devices[device].session!.isEvaluating = false
    let session = devices[device].session!
    startRequest(
      device, .check,
      .check(heldVersion: devices[device].heldVersion, participation: session.participation),
      bytes: bytes(of: .check))
  }

  /// Schedules the time at which the remaining bytes are through at the present rate.
  private mutating func planTransfer(_ device: Int) {
    devices[device].transferGeneration += 1
    let plan = devices[device].transferGeneration
    let rates = devices[device].rates
    let wait = devices[device].transfer!.begin(plan, over: rates, at: cx.now)
    guard let wait else { return }
    cx.schedule(
      .transferEnd(device: Int32(device), generation: plan), .transferEnd, at: cx.now + wait,
      by: device)
  }

  /// All bytes of a request are sent, or of an answer received.
  mutating func bytesThrough(_ device: Int) {
    if devices[device].transferPhase == .receiving {
      // Taken and not copied: it holds the model that came.
      let outcome = devices[device].transferResponse!.outcome
      let received = devices[device].transferRemaining!
      return completed(device, closeTransfer(device, outcome, received: received))
    }
    let due = cx.now + cx.inputs.fleet[Int(devices[device].group)].network.requestTimeout
    let (id, request, sent) = devices[device].transfer!.leave(due: due)
    countBytes(device, link: devices[device].link, up: sent)
    if !devices.identities.isEmpty { stamp(device, id) }
    if case .submit(let update) = request { cx.updates.send(update) }
    if case .check(_, let participation) = request { cx.participations.hold(participation) }
    if case .probe(let isUpload) = request, isUpload { uploadMeasured(device) }
    if case .central(let request) = request { centralLeft(request) }
    cx.schedule(
      .arrival(device: Int32(device), generation: id, request), .serverArrival,
      at: cx.now + devices[device].rates.oneWay, by: device)
    if !devices[device].isTimeoutPending { watchTimeout(device) }
  }

  /// Sets the device's one timer for the time at which the request under way is due. Requests that
  /// are answered meanwhile leave it as it is, so the queue holds one a device at most.
  private mutating func watchTimeout(_ device: Int) {
    devices[device].isTimeoutPending = true
    cx.schedule(
      .deviceTimer(.requestTimeout, device: Int32(device), generation: 0), .deviceTimer,
      at: devices[device].transfer!.due, by: device)
  }

  /// The timer rings: a request that is due fails; one that began later is watched on.
  mutating func timeoutRang(_ device: Int) -> Bool {
    devices[device].isTimeoutPending = false
    guard let transfer = devices[device].transfer, transfer.phase == .awaiting, !transfer.isHeld
    else { return false }
    guard transfer.due <= cx.now else {
      watchTimeout(device)
      return false
    }
    if cx.inputs.server.service != nil, transfer.purpose == .check {
      closeConnection(device, transfer.id)
    }
    failTransfer(device, .timedOut)
    return true
  }

  /// The head of an answer has come: its body follows.
  mutating func answered(_ device: Int, _ response: Response) {
    let bytes = bytes(of: response)
    devices[device].transfer!.receive(response, bytes)
    if case .probe(let isUpload) = devices[device].transferRequest, !isUpload {
      // The probe comes with the answer.
      devices.clients[device].probeSince = cx.now
      devices[device].transfer!.remaining = probeBytes(device)
    }
    planTransfer(device)
  }

  /// The link has changed while a device may have a request under way.
  ///
  /// On another link the byte under way begins anew; on the same one not a bit is lost.
  mutating func linkChanged(
    _ device: Int, from rates: Link, _ link: UInt8, isConnected: Bool, isSameLink: Bool = false
  ) {
    guard let transfer = devices[device].transfer else { return }
    if transfer.phase != .awaiting { countProgress(device, rates, link) }
    if !isSameLink { devices[device].transfer!.fraction = 0 }
    if !isConnected {
      failTransfer(device, transfer.phase == .awaiting ? .unacknowledged : .linkLost)
    } else if transfer.phase != .awaiting {
      planTransfer(device)
    }
  }

  /// Takes into account the bytes that passed since the last plan, over a link of this state.
  mutating func countProgress(_ device: Int, _ rates: Link, _ link: UInt8) {
    let transfer = devices[device].transfer!
    let rate = transfer.phase == .sending ? rates.up : rates.down
    let (bytes, fraction) = rate.bytes(in: cx.now - transfer.since, after: transfer.fraction)
    let passed = min(transfer.remaining, bytes)
    devices[device].transfer!.remaining -= passed
    devices[device].transfer!.fraction = fraction
    if transfer.phase == .sending {
      countBytes(device, link: link, up: passed)
    } else {
      countBytes(device, link: link, down: passed)
    }
  }

  /// Ends a request that a session gives up, without going on in the session.
  mutating func giveUpTransfer(_ device: Int) {
    let transfer = devices[device].transfer!
    if transfer.phase != .awaiting {
      countProgress(device, devices[device].rates, devices[device].link)
    }
    let outcome: TransmissionOutcome = transfer.phase == .awaiting ? .unacknowledged : .cancelled
    closeTransfer(device, outcome)
    if case .upload(let update) = transfer.purpose {
      cx.note(device, .uploadFailed(update: Int(update), outcome))
      markWaiting(update)
    } else if case .central(let request) = transfer.purpose {
      centralFailed(device, request, outcome)
    } else if transfer.purpose == .check || transfer.purpose == .download {
      cx.note(device, .requestFailed(transfer.purpose == .check ? .check : .download, outcome))
    }
    if transfer.purpose == .check, transfer.phase == .awaiting, devices[device].isConnected {
      closeConnection(device, transfer.id)
    }
  }

  /// The server sees the connection close over which a device asked for work.
  private mutating func closeConnection(_ device: Int, _ id: UInt32) {
    cx.schedule(
      .arrival(device: Int32(device), generation: id, .leave), .serverArrival,
      at: cx.now + devices[device].rates.oneWay, by: device)
  }

  /// A request fails, and the session goes on without it.
  mutating func failTransfer(_ device: Int, _ outcome: TransmissionOutcome) {
    let transfer = devices[device].transfer!
    closeTransfer(device, outcome)
    switch transfer.purpose {
    case .check, .download, .enrolment, .reply:
      cx.note(device, .requestFailed(transfer.purpose == .download ? .download : .check, outcome))
      devices[device].session!.stage = .check
      devices[device].session!.isEvaluating = false
      if transfer.purpose == .enrolment { devices.clients[device].enrolment = .authenticate }
      // With the link gone the session waits for it; with the server gone it rests or ends.
      if devices[device].isConnected { rest(device, .unreachable) }
    case .upload(let update):
      cx.note(device, .uploadFailed(update: Int(update), outcome))
      uploadFailed(device, update)
    case .identity(let request):
      identityFailed(device, request, outcome)
    case .central(let request):
      centralFailed(device, request, outcome)
      proceed(device)
    }
  }

  /// A request was answered in full.
  private mutating func completed(_ device: Int, _ transfer: Transfer) {
    switch transfer.response! {
    case .check(let latest, let isOnline, let answer, let round):
      if let lent = transfer.body { devices[device].held = lent }
      checked(device, latest: latest, isOnline: isOnline, answer, round: round)
    case .model(let version):
      if cx.features.isOn {
        guard decode(device, version, transfer.body!) else {
          if !cannotEvaluate(device) { rest(device, .undecodable) }
          return
        }
      } else {
        devices[device].held = transfer.body
      }
      setHeldVersion(device, version)
      cx.note(device, .downloaded(version: Int(version)))
      if cx.features.isOn, wantsPlan(device) { return }
      modelCame(device)
    case .modelUnavailable:
      if cx.features.isOn, cannotEvaluate(device) { return }
      if cx.features.isOn, overwritesModel(device) { return rest(device, .nothingNew) }
      modelCame(device)
    case .plan:
      cx.note(device, .exchange(.planDownloaded))
      modelCame(device)
    case .enrolled(let needsSpeedTest):
      enrolled(device, needsSpeedTest: needsSpeedTest)
    case .probed:
      probed(device)
    case .noted:
      replyNoted(device)
    case .granted(let request):
      granted(device, transfer.id, request)
    case .refused(let refusal):
      refused(device, transfer.purpose, refusal)
    case .rejected(let retry):
      rejected(device, retry)
    case .keyInvalid:
      keyExpired(device)
    case .failed:
      requestFailed(device)
    case .central(let response):
      guard case .central(let request) = transfer.purpose else {
        preconditionFailure("only what is asked of the store is answered by it")
      }
      centralAnswered(device, request, response)
    case .receipt(let receipt):
      guard case .upload(let update) = transfer.purpose else {
        preconditionFailure("only uploads have receipts")
      }
      cx.note(device, .receipt(update: Int(update), receipt))
      devices[device].takeOut(update)
      cx.leaveDevice(update, nil)
      devices[device].session!.tries = 0
      proceed(device)
    }
  }

  private mutating func checked(
    _ device: Int, latest: Int32, isOnline: Bool, _ answer: CheckAnswer, round: Int32
  ) {
    let held = devices[device].heldVersion
    let hasUpdate = latest > held && isOnline
    if !isOnline { cx.note(device, .serverOffline) }
    switch answer {
    case .rejected:
      return turnedAway(device)
    case .sendModel, .sendProperties, .evaluate:
      instructed(device, answer, round: round)
    case .pollOnly:
      devices[device].session!.stage = hasUpdate ? .download : .done
    case .accepted:
      devices[device].session!.round = round
      cx.note(device, .accepted(round: Int(round)))
      let participation = cx.inputs.fleet[Int(devices[device].group)].participation
      if participation.retrain == .newVersions, !hasUpdate,
        held == devices[device].lastTrained, !devices[device].hasAttempt
      {
        return rest(device, .nothingNew)
      }
      if !hasUpdate, held < 0 { return rest(device, .nothingNew) }
      let isSent = cx.features.givesKeys || cx.features.isOn && overwritesModel(device)
      devices[device].session!.stage = hasUpdate || isSent ? .download : .train
    }
    proceed(device)
  }

  private mutating func modelCame(_ device: Int) {
    let isPoll = devices[device].session!.kind.isPoll
    if !isPoll, devices[device].held == nil { return rest(device, .nothingNew) }
    let isEvaluating = devices[device].session!.isEvaluating
    devices[device].session!.stage = isPoll ? .done : isEvaluating ? .evaluate : .train
    proceed(device)
  }
}
