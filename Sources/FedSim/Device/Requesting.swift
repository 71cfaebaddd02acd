import Learning

/// The device's end of its requests: from the first byte to what follows from the answer.
enum Requesting {
  /// Begins a request: its bytes are sent, then its answer is awaited and received.
  static func startRequest(
    _ device: Int, _ purpose: Transfer.Purpose, _ request: Request, bytes: Int64,
    _ devices: inout Devices, _ cx: inout Context
  ) {
    precondition(!cx.network[device].isBusy, "one request at a time")
    precondition(cx.network[device].isConnected, "a request needs a link")
    cx.books.ledgers.transmissions.open()
    if !devices.identities.isEmpty, devices[device].hasSession {
      Identity.watchToken(device, purpose, &devices, &cx)
    }
    cx.network[device].generation += 1
    let id = cx.network[device].generation
    let transfer = Transfer(
      purpose: purpose, request: request, id: id, plan: id, remaining: bytes,
      energyMark: Accounting.energyDrawn(device, &devices, &cx).radio, since: cx.now)
    cx.network.open(transfer, of: device)
    if purpose == .download,
      let limit = cx.inputs.fleet[Int(devices[device].group)].network.downloadTimeout
    {
      cx.schedule(
        .deviceTimer(.downloadTimeout, device: Int32(device), generation: id), .deviceTimer,
        at: cx.now + limit, by: device)
    }
    planTransfer(device, &cx)
  }

  /// Asks the server for news, and for work unless it is a poll.
  static func startCheck(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if cx.features.isOn, let dialect = cx.dialect(of: devices[device].group),
      dialect.beforeCheck(device, &devices, &cx) == .begun
    {
      return
    }
    Session.renewParticipation(device, &devices, &cx)
    devices[device].session!.isEvaluating = false
    let participation = devices[device].session!.participation
    cx.participations.resume(participation)
    startRequest(
      device, .check,
      .check(heldVersion: devices[device].heldVersion, participation: participation),
      bytes: WireSize.bytes(of: .check, cx), &devices, &cx)
  }

  /// Schedules the time at which the remaining bytes are through at the present rate.
  static func planTransfer(_ device: Int, _ cx: inout Context) {
    cx.network[device].generation += 1
    let plan = cx.network[device].generation
    let rates = cx.network[device].rates
    let wait = cx.network[transferOf: device]!.begin(plan, over: rates, at: cx.now)
    guard let wait else { return }
    cx.schedule(
      .transferEnd(device: Int32(device), generation: plan), .transferEnd, at: cx.now + wait,
      by: device)
  }

  /// All bytes of a request are sent, or of an answer received.
  static func bytesThrough(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if cx.network[transferOf: device]?.phase == .receiving {
      // Taken and not copied: it holds the model that came.
      let outcome = TransmissionOutcome(cx.network[transferOf: device]!.response!)
      let received = cx.network[transferOf: device]!.remaining
      return completed(
        device, Accounting.closeTransfer(device, outcome, received: received, &devices, &cx),
        &devices, &cx)
    }
    let due = cx.now + cx.inputs.fleet[Int(devices[device].group)].network.requestTimeout
    let (id, request, sent) = cx.network[transferOf: device]!.leave(due: due)
    Accounting.countBytes(device, link: cx.network[device].link, up: sent, &cx)
    if !devices.identities.isEmpty { Identity.stamp(device, id, devices, &cx) }
    if case .submit(let update) = request { cx.updates.send(update) }
    if case .check(_, let participation) = request { cx.participations.hold(participation) }
    if case .probe(let isUpload) = request, isUpload {
      Workers.uploadMeasured(device, &devices, &cx)
    }
    if case .central(let request) = request { Collecting.centralLeft(request, &cx) }
    if cx.features.isOn { Streams.stayConnected(device, devices, &cx) }
    cx.schedule(
      .arrival(device: Int32(device), generation: id, request), .serverArrival,
      at: cx.now + cx.network[device].rates.oneWay, by: device)
    if !cx.network[device].isTimeoutPending { watchTimeout(device, &cx) }
  }

  /// Sets the device's one timer for the time at which the request under way is due. Requests that
  /// are answered meanwhile leave it as it is, so the queue holds at most one per device.
  private static func watchTimeout(_ device: Int, _ cx: inout Context) {
    cx.network[device].isTimeoutPending = true
    cx.schedule(
      .deviceTimer(.requestTimeout, device: Int32(device), generation: 0), .deviceTimer,
      at: cx.network[transferOf: device]!.due, by: device)
  }

  /// The timer rings: a request that is due fails; one that began later is watched on.
  static func timeoutRang(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> Bool {
    cx.network[device].isTimeoutPending = false
    guard cx.network[transferOf: device]?.phase == .awaiting,
      !cx.network[transferOf: device]!.isHeld
    else { return false }
    guard cx.network[transferOf: device]!.due <= cx.now else {
      watchTimeout(device, &cx)
      return false
    }
    if cx.inputs.server.service != nil, cx.network[transferOf: device]!.purpose == .check {
      closeConnection(device, cx.network[transferOf: device]!.id, &cx)
    }
    failTransfer(device, .timedOut, &devices, &cx)
    return true
  }

  /// The head of an answer has come: its body follows. Without a link it comes when the link does.
  static func answered(
    _ device: Int, _ response: Response, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard cx.network[device].awaitedLink == 0 else {
      cx.network[transferOf: device]!.response = response
      return
    }
    if Streams.acknowledged(device, response, &devices, &cx) { return }
    var bytes = WireSize.bytes(of: response, cx)
    if cx.network[transferOf: device]!.wait != nil {
      bytes = bytes.adding(Streams.heard(device, response, &devices, &cx))
    }
    cx.network[transferOf: device]!.receive(response, bytes)
    if case .probe(let isUpload) = cx.network[transferOf: device]?.request, !isUpload {
      // The probe comes with the answer.
      devices.clients[device].probeSince = cx.now
      cx.network[transferOf: device]!.remaining = Workers.probeBytes(device, devices, cx)
    }
    planTransfer(device, &cx)
  }

  /// Takes into account the bytes that passed since the last plan, over a link of this state: none
  /// while the link is waited for.
  static func countProgress(
    _ device: Int, _ rates: Link, _ link: UInt8, _ cx: inout Context
  ) {
    guard cx.network[device].awaitedLink == 0 else { return }
    let isSending = cx.network[transferOf: device]!.phase == .sending
    let passed = cx.network[transferOf: device]!.pass(over: rates, until: cx.now)
    if isSending {
      Accounting.countBytes(device, link: link, up: passed, &cx)
    } else {
      Accounting.countBytes(device, link: link, down: passed, &cx)
    }
  }

  /// Ends a request that a session gives up, without continuing in the session.
  static func giveUpTransfer(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if cx.network[transferOf: device]!.wait != nil {
      return Streams.giveUpWait(device, &devices, &cx)
    }
    let isAwaiting = cx.network[transferOf: device]!.phase == .awaiting
    if !isAwaiting {
      countProgress(device, cx.network[device].rates, cx.network[device].link, &cx)
    }
    let outcome: TransmissionOutcome = isAwaiting ? .unacknowledged : .cancelled
    let transfer = Accounting.closeTransfer(device, outcome, &devices, &cx)
    if case .upload(let update) = transfer.purpose {
      cx.note(device, .uploadFailed(update: Int(update), outcome))
      Outbox.markWaiting(update, &cx)
      BackgroundTransfers.release(device, update, &cx)
    } else if case .central(let request) = transfer.purpose {
      Collecting.centralFailed(device, request, outcome, &cx)
    } else if transfer.purpose == .check || transfer.purpose == .download {
      cx.note(device, .requestFailed(transfer.purpose == .check ? .check : .download, outcome))
    }
    if transfer.purpose == .check, transfer.phase == .awaiting, cx.network[device].isConnected {
      closeConnection(device, transfer.id, &cx)
    }
  }

  /// The server sees the connection close over which a device asked for work.
  static func closeConnection(
    _ device: Int, _ id: UInt32, _ cx: inout Context
  ) {
    cx.schedule(
      .arrival(device: Int32(device), generation: id, .leave), .serverArrival,
      at: cx.now + cx.network[device].rates.oneWay, by: device)
  }

  /// A request fails, and the session continues without it.
  static func failTransfer(
    _ device: Int, _ outcome: TransmissionOutcome, _ devices: inout Devices, _ cx: inout Context
  ) {
    if cx.network[transferOf: device]!.wait != nil {
      return Streams.waitFailed(device, outcome, &devices, &cx)
    }
    let transfer = Accounting.closeTransfer(device, outcome, &devices, &cx)
    switch transfer.purpose {
    case .check, .download, .enrolment, .reply:
      cx.note(device, .requestFailed(transfer.purpose == .download ? .download : .check, outcome))
      if transfer.purpose == .check, transfer.phase != .sending, !cx.network[device].isConnected {
        Streams.leaveUnheard(device, &devices, &cx)
      }
      devices[device].session!.stage = .check
      devices[device].session!.isEvaluating = false
      if transfer.purpose == .enrolment { devices.clients[device].enrolment = .authenticate }
      cx.participations.stop(devices[device].session!.participation, .session(.unreachable))
      // With the link gone the session waits for it; with the server gone it rests or ends.
      guard cx.network[device].isConnected else { return }
      if Training.trainsUnasked(device, devices, cx) {
        Training.beginUnasked(device, &devices, &cx)
      } else {
        Session.rest(device, .unreachable, &devices, &cx)
      }
    case .upload(let update):
      cx.note(device, .uploadFailed(update: Int(update), outcome))
      if BackgroundTransfers.keeps(device, update, &devices, &cx) {
        return Session.proceed(device, &devices, &cx)
      }
      Outbox.uploadFailed(device, update, &devices, &cx)
    case .identity(let request):
      Identity.identityFailed(device, request, outcome, &devices, &cx)
    case .central(let request):
      Collecting.centralFailed(device, request, outcome, &cx)
      Session.proceed(device, &devices, &cx)
    }
  }

  /// A request was answered in full.
  private static func completed(
    _ device: Int, _ transfer: Transfer, _ devices: inout Devices, _ cx: inout Context
  ) {
    switch transfer.response! {
    case .check(let latest, let isOnline, let answer, let round):
      if transfer.carriesModel {
        devices.clients[device].carried = CarriedModel(version: latest, parameters: transfer.body!)
      } else if let lent = transfer.body, devices[device].held == nil {
        devices[device].held = lent
      }
      checked(device, latest: latest, isOnline: isOnline, answer, round: round, &devices, &cx)
      // A device that does not use the model does not keep it either.
      if transfer.carriesModel { devices.clients[device].carried = nil }
    case .model(let version): readModel(device, version, transfer.body!, &devices, &cx)
    case .modelUnavailable:
      if let dialect = cx.dialect(of: devices[device].group),
        dialect.onModel(device, nil, &devices, &cx) == .unread
      {
        return
      }
      modelCame(device, &devices, &cx)
    case .plan:
      cx.note(device, .exchange(.planDownloaded))
      modelCame(device, &devices, &cx)
    case .enrolled, .probed, .noted, .rejected, .keyInvalid, .failed:
      cx.dialect(of: devices[device].group)!
        .onAnswer(device, transfer.response!, &devices, &cx)
    case .granted(let request):
      Identity.granted(device, transfer.id, request, &devices, &cx)
    case .refused(let refusal):
      Identity.refused(device, transfer.purpose, refusal, &devices, &cx)
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
      BackgroundTransfers.release(device, update, &cx)
      guard devices[device].hasSession else { return }
      devices[device].session!.tries = 0
      if cx.features.isOn { Pacing.received(device, &devices, &cx) }
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
      return Session.turnedAway(device, &devices, &cx)
    case .sendModel, .sendProperties, .evaluate:
      return cx.dialect(of: devices[device].group)!.onAnswer(
        device, .check(latest: latest, isOnline: isOnline, admission: answer, round: round),
        &devices, &cx)
    case .pollOnly:
      // Where models have keys, only who is let in has one.
      devices[device].session!.stage = hasUpdate && !cx.features.givesKeys ? .download : .done
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
        cx.features.givesKeys || cx.features.isOn && OwnModel.overwritesModel(device, cx)
      devices[device].session!.stage = hasUpdate || isSent ? .download : .train
    }
    if Streams.readCarried(device, &devices, &cx) == .none {
      Session.proceed(device, &devices, &cx)
    }
  }

  /// A version's parameters have reached a device.
  static func readModel(
    _ device: Int, _ version: Int32, _ parameters: ParameterBuffer, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    var reading = ModelReading.read
    if cx.features.isOn, let dialect = cx.dialect(of: devices[device].group) {
      reading = dialect.onModel(device, (version, parameters), &devices, &cx)
      if reading == .unread { return }
    } else {
      devices[device].held = parameters
    }
    Accounting.setHeldVersion(device, version, &devices, &cx)
    cx.note(device, .downloaded(version: Int(version)))
    if reading == .readWithoutPlan {
      devices[device].session!.stage = .plan
      return Session.proceed(device, &devices, &cx)
    }
    modelCame(device, &devices, &cx)
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
