extension Transfer {
  /// Begins a request: its bytes are sent, then its answer is awaited and received.
  static func startRequest(
    _ device: Int, _ purpose: Transfer.Purpose, _ request: Request, bytes: Int64,
    _ devices: inout Devices, _ cx: inout Context
  ) {
    precondition(!devices[device].hasTransfer, "one request at a time")
    precondition(devices[device].isConnected, "a request needs a link")
    cx.books.ledgers.transmissions.open()
    if !devices.identities.isEmpty { Identity.watchToken(device, purpose, &devices, &cx) }
    devices[device].transferGeneration += 1
    let id = devices[device].transferGeneration
    devices[device].transfer = Transfer(
      purpose: purpose, request: request, id: id, plan: id, remaining: bytes,
      energyMark: Measures.energyDrawn(device, &devices, &cx).radio, since: cx.now)
    if purpose == .download,
      let limit = cx.inputs.fleet[Int(devices[device].group)].network.downloadTimeout
    {
      cx.schedule(
        .deviceTimer(.downloadTimeout, device: Int32(device), generation: id), .deviceTimer,
        at: cx.now + limit, by: device)
    }
    planTransfer(device, &devices, &cx)
  }

  /// Asks the server for news, and for work unless it is a poll.
  static func startCheck(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if cx.features.isOn,
      Cycles.waits(device, &devices, &cx) || Workers.enrols(device, &devices, &cx)
    {
      return
    }
    Session.renewParticipation(device, &devices, &cx)
    devices[device].session!.isEvaluating = false
    let session = devices[device].session!
    startRequest(
      device, .check,
      .check(heldVersion: devices[device].heldVersion, participation: session.participation),
      bytes: WireSize.bytes(of: .check, cx), &devices, &cx)
  }

  /// Schedules the time at which the remaining bytes are through at the present rate.
  private static func planTransfer(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
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
  static func bytesThrough(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if devices[device].transferPhase == .receiving {
      // Taken and not copied: it holds the model that came.
      let outcome = devices[device].transferResponse!.outcome
      let received = devices[device].transferRemaining!
      return completed(
        device, Measures.closeTransfer(device, outcome, received: received, &devices, &cx),
        &devices, &cx)
    }
    let due = cx.now + cx.inputs.fleet[Int(devices[device].group)].network.requestTimeout
    let (id, request, sent) = devices[device].transfer!.leave(due: due)
    Measures.countBytes(device, link: devices[device].link, up: sent, &devices, &cx)
    if !devices.identities.isEmpty { Identity.stamp(device, id, &devices) }
    if case .submit(let update) = request { cx.updates.send(update) }
    if case .check(_, let participation) = request { cx.participations.hold(participation) }
    if case .probe(let isUpload) = request, isUpload {
      Workers.uploadMeasured(device, &devices, &cx)
    }
    if case .central(let request) = request { Collecting.centralLeft(request, &cx) }
    cx.schedule(
      .arrival(device: Int32(device), generation: id, request), .serverArrival,
      at: cx.now + devices[device].rates.oneWay, by: device)
    if !devices[device].isTimeoutPending { watchTimeout(device, &devices, &cx) }
  }

  /// Sets the device's one timer for the time at which the request under way is due. Requests that
  /// are answered meanwhile leave it as it is, so the queue holds one a device at most.
  private static func watchTimeout(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    devices[device].isTimeoutPending = true
    cx.schedule(
      .deviceTimer(.requestTimeout, device: Int32(device), generation: 0), .deviceTimer,
      at: devices[device].transfer!.due, by: device)
  }

  /// The timer rings: a request that is due fails; one that began later is watched on.
  static func timeoutRang(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> Bool {
    devices[device].isTimeoutPending = false
    guard let transfer = devices[device].transfer, transfer.phase == .awaiting, !transfer.isHeld
    else { return false }
    guard transfer.due <= cx.now else {
      watchTimeout(device, &devices, &cx)
      return false
    }
    if cx.inputs.server.service != nil, transfer.purpose == .check {
      closeConnection(device, transfer.id, &devices, &cx)
    }
    failTransfer(device, .timedOut, &devices, &cx)
    return true
  }

  /// The head of an answer has come: its body follows.
  static func answered(
    _ device: Int, _ response: Response, _ devices: inout Devices, _ cx: inout Context
  ) {
    let bytes = WireSize.bytes(of: response, cx)
    devices[device].transfer!.receive(response, bytes)
    if case .probe(let isUpload) = devices[device].transferRequest, !isUpload {
      // The probe comes with the answer.
      devices.clients[device].probeSince = cx.now
      devices[device].transfer!.remaining = Workers.probeBytes(device, devices, cx)
    }
    planTransfer(device, &devices, &cx)
  }

  /// The link has changed while a device may have a request under way.
  ///
  /// On another link the byte under way begins anew; on the same one not a bit is lost.
  static func linkChanged(
    _ device: Int, from rates: Link, _ link: UInt8, isConnected: Bool, isSameLink: Bool = false,
    _ devices: inout Devices, _ cx: inout Context
  ) {
    guard let transfer = devices[device].transfer else { return }
    if transfer.phase != .awaiting { countProgress(device, rates, link, &devices, &cx) }
    if !isSameLink { devices[device].transfer!.fraction = 0 }
    if !isConnected {
      failTransfer(device, transfer.phase == .awaiting ? .unacknowledged : .linkLost, &devices, &cx)
    } else if transfer.phase != .awaiting {
      planTransfer(device, &devices, &cx)
    }
  }

  /// Takes into account the bytes that passed since the last plan, over a link of this state.
  static func countProgress(
    _ device: Int, _ rates: Link, _ link: UInt8, _ devices: inout Devices, _ cx: inout Context
  ) {
    let transfer = devices[device].transfer!
    let rate = transfer.phase == .sending ? rates.up : rates.down
    let (bytes, fraction) = rate.bytes(in: cx.now - transfer.since, after: transfer.fraction)
    let passed = min(transfer.remaining, bytes)
    devices[device].transfer!.remaining -= passed
    devices[device].transfer!.fraction = fraction
    if transfer.phase == .sending {
      Measures.countBytes(device, link: link, up: passed, &devices, &cx)
    } else {
      Measures.countBytes(device, link: link, down: passed, &devices, &cx)
    }
  }

  /// Ends a request that a session gives up, without going on in the session.
  static func giveUpTransfer(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let transfer = devices[device].transfer!
    if transfer.phase != .awaiting {
      countProgress(device, devices[device].rates, devices[device].link, &devices, &cx)
    }
    let outcome: TransmissionOutcome = transfer.phase == .awaiting ? .unacknowledged : .cancelled
    Measures.closeTransfer(device, outcome, &devices, &cx)
    if case .upload(let update) = transfer.purpose {
      cx.note(device, .uploadFailed(update: Int(update), outcome))
      Outbox.markWaiting(update, &cx)
    } else if case .central(let request) = transfer.purpose {
      Collecting.centralFailed(device, request, outcome, &devices, &cx)
    } else if transfer.purpose == .check || transfer.purpose == .download {
      cx.note(device, .requestFailed(transfer.purpose == .check ? .check : .download, outcome))
    }
    if transfer.purpose == .check, transfer.phase == .awaiting, devices[device].isConnected {
      closeConnection(device, transfer.id, &devices, &cx)
    }
  }

  /// The server sees the connection close over which a device asked for work.
  private static func closeConnection(
    _ device: Int, _ id: UInt32, _ devices: inout Devices, _ cx: inout Context
  ) {
    cx.schedule(
      .arrival(device: Int32(device), generation: id, .leave), .serverArrival,
      at: cx.now + devices[device].rates.oneWay, by: device)
  }

  /// A request fails, and the session goes on without it.
  static func failTransfer(
    _ device: Int, _ outcome: TransmissionOutcome, _ devices: inout Devices, _ cx: inout Context
  ) {
    let transfer = devices[device].transfer!
    Measures.closeTransfer(device, outcome, &devices, &cx)
    switch transfer.purpose {
    case .check, .download, .enrolment, .reply:
      cx.note(device, .requestFailed(transfer.purpose == .download ? .download : .check, outcome))
      devices[device].session!.stage = .check
      devices[device].session!.isEvaluating = false
      if transfer.purpose == .enrolment { devices.clients[device].enrolment = .authenticate }
      // With the link gone the session waits for it; with the server gone it rests or ends.
      if devices[device].isConnected { Session.rest(device, .unreachable, &devices, &cx) }
    case .upload(let update):
      cx.note(device, .uploadFailed(update: Int(update), outcome))
      Outbox.uploadFailed(device, update, &devices, &cx)
    case .identity(let request):
      Identity.identityFailed(device, request, outcome, &devices, &cx)
    case .central(let request):
      Collecting.centralFailed(device, request, outcome, &devices, &cx)
      Session.proceed(device, &devices, &cx)
    }
  }

  /// A request was answered in full.
  private static func completed(
    _ device: Int, _ transfer: Transfer, _ devices: inout Devices, _ cx: inout Context
  ) {
    switch transfer.response! {
    case .check(let latest, let isOnline, let answer, let round):
      if let lent = transfer.body { devices[device].held = lent }
      checked(device, latest: latest, isOnline: isOnline, answer, round: round, &devices, &cx)
    case .model(let version):
      if cx.features.isOn {
        guard LayoutDialect.decode(device, version, transfer.body!, &devices, &cx) else {
          if !Instructions.cannotEvaluate(device, &devices, &cx) {
            Session.rest(device, .undecodable, &devices, &cx)
          }
          return
        }
      } else {
        devices[device].held = transfer.body
      }
      Measures.setHeldVersion(device, version, &devices, &cx)
      cx.note(device, .downloaded(version: Int(version)))
      if cx.features.isOn, Workers.wantsPlan(device, &devices, &cx) { return }
      modelCame(device, &devices, &cx)
    case .modelUnavailable:
      if cx.features.isOn, Instructions.cannotEvaluate(device, &devices, &cx) { return }
      if cx.features.isOn, OwnModel.overwritesModel(device, devices, cx) {
        return Session.rest(device, .nothingNew, &devices, &cx)
      }
      modelCame(device, &devices, &cx)
    case .plan:
      cx.note(device, .exchange(.planDownloaded))
      modelCame(device, &devices, &cx)
    case .enrolled(let needsSpeedTest):
      Workers.enrolled(device, needsSpeedTest: needsSpeedTest, &devices, &cx)
    case .probed:
      Workers.probed(device, &devices, &cx)
    case .noted:
      Instructions.replyNoted(device, &devices, &cx)
    case .granted(let request):
      Identity.granted(device, transfer.id, request, &devices, &cx)
    case .refused(let refusal):
      Identity.refused(device, transfer.purpose, refusal, &devices, &cx)
    case .rejected(let retry):
      Cycles.rejected(device, retry, &devices, &cx)
    case .keyInvalid:
      Cycles.keyExpired(device, &devices, &cx)
    case .failed:
      Cycles.requestFailed(device, &devices, &cx)
    case .central(let response):
      guard case .central(let request) = transfer.purpose else {
        preconditionFailure("only store requests are answered by the store")
      }
      Collecting.centralAnswered(device, request, response, &devices, &cx)
    case .receipt(let receipt):
      guard case .upload(let update) = transfer.purpose else {
        preconditionFailure("only uploads have receipts")
      }
      cx.note(device, .receipt(update: Int(update), receipt))
      devices[device].takeOut(update)
      cx.leaveDevice(update, nil)
      devices[device].session!.tries = 0
      Session.proceed(device, &devices, &cx)
    }
  }

  private static func checked(
    _ device: Int, latest: Int32, isOnline: Bool, _ answer: CheckAnswer, round: Int32,
    _ devices: inout Devices, _ cx: inout Context
  ) {
    let held = devices[device].heldVersion
    let hasUpdate = latest > held && isOnline
    if !isOnline { cx.note(device, .serverOffline) }
    switch answer {
    case .rejected:
      return Cycles.turnedAway(device, &devices, &cx)
    case .sendModel, .sendProperties, .evaluate:
      Instructions.instructed(device, answer, round: round, &devices, &cx)
    case .pollOnly:
      devices[device].session!.stage = hasUpdate ? .download : .done
    case .accepted:
      devices[device].session!.round = round
      cx.note(device, .accepted(round: Int(round)))
      let participation = cx.inputs.fleet[Int(devices[device].group)].participation
      if participation.retrain == .newVersions, !hasUpdate,
        held == devices[device].lastTrained, !devices[device].hasAttempt
      {
        return Session.rest(device, .nothingNew, &devices, &cx)
      }
      if !hasUpdate, held < 0 { return Session.rest(device, .nothingNew, &devices, &cx) }
      let isSent =
        cx.features.givesKeys || cx.features.isOn && OwnModel.overwritesModel(device, devices, cx)
      devices[device].session!.stage = hasUpdate || isSent ? .download : .train
    }
    Session.proceed(device, &devices, &cx)
  }

  private static func modelCame(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let isPoll = devices[device].session!.kind.isPoll
    if !isPoll, devices[device].held == nil {
      return Session.rest(device, .nothingNew, &devices, &cx)
    }
    let isEvaluating = devices[device].session!.isEvaluating
    devices[device].session!.stage = isPoll ? .done : isEvaluating ? .evaluate : .train
    Session.proceed(device, &devices, &cx)
  }
}
