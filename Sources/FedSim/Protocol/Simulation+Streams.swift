extension Simulation {
  /// Whether a device holds one connection from its request to its result.
  func holdsStream(_ device: Int) -> Bool {
    cx.inputs.fleet[Int(devices[device].group)].protocol?.stream == true
  }

  /// Whether the server waits for the result of a device's present participation.
  func isAwaited(_ device: Int) -> Bool {
    guard let participation = devices[device].session?.participation, participation >= 0 else {
      return false
    }
    let stage = cx.participations[participation].stage
    return stage >= Stage.accepted.rawValue && stage < Stage.delivered.rawValue
      || cx.participations.isOutstanding(participation)
  }

  /// A participation is over on a device; where it holds a stream, the server will know.
  mutating func leaveStream(_ device: Int, _ participation: Int32) {
    guard !devices.clients.isEmpty, participation >= 0, holdsStream(device) else { return }
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
    sendDisconnect(device, participation, reason(device))
  }

  /// Why a device leaves, in the words of the protocol.
  private func reason(_ device: Int) -> DisconnectReason {
    if devices.clients[device].isDisconnected { return .reconnect }
    let wanted = cx.inputs.fleet[Int(devices[device].group)].participation
    if wanted.externalPower, !devices[device].isPlugged { return .powerDisconnected }
    if wanted.network != .any, devices[device].link != 2 { return .wifiUnavailable }
    return .unknown
  }

  private mutating func sendDisconnect(
    _ device: Int, _ participation: Int32, _ reason: DisconnectReason
  ) {
    if reason != .reconnect { cx.note(device, .disconnected(reason)) }
    cx.participations.hold(participation)
    let place = Int(devices[device].group)
    let delay =
      devices[device].isConnected
      ? devices[device].rates.oneWay : cx.inputs.fleet[place].protocol!.keepalive
    cx.schedule(
      .arrival(
        device: Int32(device), generation: devices[device].transferGeneration,
        .disconnect(participation: participation, reason)), .serverArrival,
      at: cx.now + delay, by: device)
  }

  /// The server finds a stream broken: if its result is still to come in this round, it failed.
  mutating func streamBroke(_ participation: Int32, _ reason: DisconnectReason) {
    cx.books.instructions.disconnects[Int(reason.rawValue)] += 1
    if cx.features.hasInstructions, instructionFailed(participation) {
      cx.books.exchange.brokenStreams += 1
      return
    }
    guard cx.participations[participation].stage < Stage.delivered.rawValue else { return }
    cx.books.exchange.brokenStreams += 1
    guard cx.participations[participation].round == server.round, server.cohortGoal != nil else {
      return
    }
    server.failures += 1
    decide(.failure)
  }

  /// A session ends because its stream does: the training under way is lost with it.
  mutating func endStreamedSession(_ device: Int, _ end: SessionEnd) {
    loseTraining(device)
    endSession(device, end)
  }

  private mutating func loseTraining(_ device: Int) {
    abandonEvaluation(device)
    if devices[device].run != nil { endAttempt(device, .conditionsLost) }
  }

  /// The server has told a device to disconnect and to come back after a while.
  mutating func tellReconnect(_ device: Int, after duration: SimDuration) -> Bool {
    guard let session = devices[device].session, !session.hasExpired,
      let settings = cx.inputs.fleet[Int(devices[device].group)].protocol, settings.stream
    else { return false }
    cx.note(device, .disconnected(.reconnect))
    cx.books.exchange.reconnects += 1
    devices.clients[device].isDisconnected = true
    loseTraining(device)
    guard settings.reconnect == .fixed else {
      endSession(device, .disconnected)
      return true
    }
    if devices[device].transfer != nil { giveUpTransfer(device) }
    renewParticipation(device)
    devices.clients[device].isDisconnected = false
    devices.clients[device].quietUntil = cx.now + duration
    devices[device].session!.stage = .check
    devices[device].session!.isEvaluating = false
    proceed(device)
    return true
  }

  // MARK: A training that fails

  /// A training throws: the device sends an answer of no samples, where its library does.
  mutating func reportFailure(_ device: Int) -> Bool {
    if devices[device].run?.isEvaluation == true { return reportFailedEvaluation(device) }
    let place = Int(devices[device].group)
    guard cx.inputs.fleet[place].protocol?.onFailure == .report,
      let attempt = devices[device].attempt
    else { return false }
    endAttempt(device, .threw)
    cx.books.ledgers.updates.open()
    cx.books.exchange.emptyUpdates += 1
    devices[device].activity.updates += 1
    let session = devices[device].session!
    cx.participations.reach(session.participation, .trained)
    let update = cx.updates.append(
      UpdateRecord(
        device: Int32(device), base: attempt.base, samples: 0, samplesProcessed: 0, batches: 0,
        createdAt: cx.now, round: session.round, participation: session.participation,
        firstEpoch: attempt.firstEpoch, shardCount: 0, effort: Effort()))
    cx.participations.hold(session.participation)
    cx.note(
      device, .updateCreated(update: Int(update), base: Int(attempt.base), batches: 0, samples: 0))
    devices[device].session!.stage = .done
    enqueue(device, update)
    proceed(device)
    return true
  }

  /// The updates of an aggregation without those that have no weight.
  mutating func weighty(_ waiting: [Int32]) -> [Int32] {
    // A loop and not `contains`: its closure would copy the simulation.
    var isWhole = true
    for update in waiting where cx.updates[update].samples == 0 { isWhole = false }
    if isWhole { return waiting }
    var kept: [Int32] = []
    for update in waiting {
      if cx.updates[update].samples > 0 {
        kept.append(update)
      } else {
        countCopy(update, -1)
        cx.resolve(update, .weightless)
      }
    }
    return kept
  }
}
