/// Streams as in Flower: a session that breaks with its connection.
enum Streams {
  /// Whether a device holds one connection while its session lives.
  static func holdsStream(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Bool
  {
    cx.inputs.fleet[Int(devices[device].group)].protocol?.stream == true
  }

  /// Whether the server waits for the result of a device's present participation.
  static func isAwaited(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Bool
  {
    guard let participation = devices[device].session?.participation, participation >= 0 else {
      return false
    }
    if cx.participations.isOutstanding(participation) { return true }
    let stage = cx.participations[participation].stage
    return stage >= Stage.accepted.rawValue && stage < Stage.delivered.rawValue
  }

  /// Whether a device holds a stream over which the server waits for its result.
  static func isOpen(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context) -> Bool {
    guard holdsStream(device, devices, cx) else { return false }
    return isAwaited(device, devices, cx)
  }

  /// How long the server takes to notice a stream of a device whose link is lost.
  static func keepalive(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> SimDuration
  { cx.inputs.fleet[Int(devices[device].group)].protocol!.keepalive }

  /// A participation is over on a device; where it holds a stream, the server will know.
  static func leaveStream(
    _ device: Int, _ participation: Int32, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard !devices.clients.isEmpty, participation >= 0, holdsStream(device, devices, cx) else {
      return
    }
    let stage = cx.participations[participation].stage
    guard
      stage >= Stage.accepted.rawValue && stage < Stage.delivered.rawValue
        || cx.participations.isOutstanding(participation)
    else { return }
    // A result belongs to its stream.
    for update in devices[device].outbox where cx.updates[update].participation == participation {
      devices[device].takeOut(update)
      cx.leaveDevice(update, .dropped)
    }
    sendDisconnect(device, participation, reason(device, devices, cx), &devices, &cx)
  }

  /// Why a device leaves, in the words of the protocol.
  static func reason(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> DisconnectReason
  {
    if devices.clients[device].isDisconnected { return .reconnect }
    let wanted = cx.inputs.fleet[Int(devices[device].group)].participation
    if wanted.externalPower, !devices[device].isPlugged { return .powerDisconnected }
    if wanted.network != .any, cx.network[device].link != 2 { return .wifiUnavailable }
    return .unknown
  }

  private static func sendDisconnect(
    _ device: Int, _ participation: Int32, _ reason: DisconnectReason, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    if reason != .reconnect { cx.note(device, .disconnected(reason)) }
    cx.participations.hold(participation)
    cx.schedule(
      .arrival(
        device: Int32(device), generation: cx.network[device].generation,
        .disconnect(participation: participation, reason)), .serverArrival,
      at: cx.now + noticed(device, devices, cx), by: device)
  }

  /// How long the server takes to notice that a device's stream has ended.
  static func noticed(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> SimDuration
  {
    guard !cx.network[device].isConnected else { return cx.network[device].rates.oneWay }
    // The server has heard nothing since the link was lost.
    let silence = cx.now - devices[device].session!.offlineSince
    return max(SimDuration(microseconds: 1), keepalive(device, devices, cx) - silence)
  }

  /// The server finds a stream broken: if its result is still to come in this round, it failed.
  static func streamBroke(
    _ participation: Int32, _ reason: DisconnectReason, _ server: inout Server, _ cx: inout Context
  ) {
    cx.books.instructions.disconnects[Int(reason.rawValue)] += 1
    if server.instructions.program != nil {
      Program.ended(participation, isReply: false, &server, &cx)
    }
    if cx.features.hasInstructions,
      Instructions.noteFailure(participation, &server, &cx) == .noted
    {
      cx.books.exchange.brokenStreams += 1
      return
    }
    guard cx.participations[participation].stage < Stage.delivered.rawValue else { return }
    cx.books.exchange.brokenStreams += 1
    guard cx.participations[participation].round == server.openRound.number,
      server.openRound.cohortGoal != nil
    else {
      return
    }
    server.openRound.failures += 1
    Rounds.decide(.failure, &server, &cx)
  }

  /// A session ends because its stream does: the training under way is lost with it.
  static func endStreamedSession(
    _ device: Int, _ end: SessionEnd, _ devices: inout Devices, _ cx: inout Context
  ) {
    loseTraining(device, &devices, &cx)
    Session.endSession(device, end, &devices, &cx)
  }

  private static func loseTraining(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    Training.abandonEvaluation(device, &devices, &cx)
    if devices[device].run != nil { Training.endAttempt(device, .conditionsLost, &devices, &cx) }
  }

  /// The server has asked a device to disconnect and to come back after a while; false where it has
  /// no stream.
  static func tellReconnect(
    _ device: Int, after duration: SimDuration, _ devices: inout Devices, _ cx: inout Context
  ) -> Bool {
    guard let session = devices[device].session, !session.hasExpired,
      let settings = cx.inputs.fleet[Int(devices[device].group)].protocol, settings.stream
    else { return false }
    cx.note(device, .disconnected(.reconnect))
    cx.books.exchange.reconnects += 1
    devices.clients[device].isDisconnected = true
    loseTraining(device, &devices, &cx)
    guard settings.reconnect == .fixed else {
      Session.endSession(device, .disconnected, &devices, &cx)
      return true
    }
    if cx.network[transferOf: device] != nil { Requesting.giveUpTransfer(device, &devices, &cx) }
    Session.renewParticipation(device, &devices, &cx)
    devices.clients[device].isDisconnected = false
    devices.clients[device].quietUntil = cx.now + duration
    devices.clients[device].isRejected = false
    devices[device].session!.stage = .check
    devices[device].session!.isEvaluating = false
    Session.proceed(device, &devices, &cx)
    return true
  }

  // MARK: A training that fails

  /// A training throws: the device sends an answer of no samples, where its library does; false
  /// where it does not.
  static func reportFailure(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> Bool {
    if devices[device].run?.isEvaluation == true {
      return EvaluationRound.reportFailedEvaluation(device, &devices, &cx)
    }
    let place = Int(devices[device].group)
    guard cx.inputs.fleet[place].protocol?.onFailure == .report,
      let attempt = devices[device].attempt
    else { return false }
    Training.endAttempt(device, .threw, &devices, &cx)
    cx.books.ledgers.updates.open()
    cx.books.exchange.emptyUpdates += 1
    cx.books.activity[device].updates += 1
    let session = devices[device].session!
    cx.participations.reach(session.participation, .trained)
    let update = cx.updates.append(
      UpdateRecord(
        device: Int32(device), base: attempt.base, samples: 0, createdAt: cx.now,
        round: session.round, participation: session.participation, firstEpoch: attempt.firstEpoch,
        shardCount: 0, batteryLevel: Body.batteryLevel(of: device, devices, at: cx.now),
        effort: Effort()))
    cx.participations.hold(session.participation)
    cx.note(
      device, .updateCreated(update: Int(update), base: Int(attempt.base), batches: 0, samples: 0))
    devices[device].session!.stage = .done
    Outbox.enqueue(device, update, &devices, &cx)
    Session.proceed(device, &devices, &cx)
    return true
  }

  /// The updates of an aggregation without those that have no weight.
  static func weighty(_ waiting: [Int32], _ server: inout Server, _ cx: inout Context) -> [Int32] {
    // A loop and not `contains`: its closure would copy the simulation.
    var isWhole = true
    for update in waiting where cx.updates[update].samples == 0 { isWhole = false }
    if isWhole { return waiting }
    var kept: [Int32] = []
    for update in waiting {
      if cx.updates[update].samples > 0 {
        kept.append(update)
      } else {
        Inbox.countCopy(update, -1, &server, &cx)
        cx.resolve(update, .weightless)
      }
    }
    return kept
  }
}
