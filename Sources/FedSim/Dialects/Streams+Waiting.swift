import Learning

/// A stream stays open while its session lives: between two instructions the device waits on it.
extension Streams {
  // MARK: The device

  /// A result or a reply has left a device that stays connected: it waits for the next instruction.
  ///
  /// With a result a participation ends and the next one begins. A session that does not take part
  /// again, or that is ending, waits for its receipt and closes the stream.
  static func stayConnected(_ device: Int, _ devices: borrowing Devices, _ cx: inout Context) {
    guard holdsStream(device, devices, cx), !cx.features.givesKeys,
      let session = devices[device].session, session.participation >= 0, !session.isExpiring,
      !session.isCompleted,
      cx.inputs.fleet[Int(devices[device].group)].participation.repeats
    else { return }
    var next = session.participation
    switch cx.network[transferOf: device]!.purpose {
    case .reply: cx.participations.hold(next)
    case .upload(let update):
      guard cx.updates[update].participation == next else { return }
      next = cx.participations.begin(group: devices[device].group, at: cx.now)
    case .check, .download, .identity, .enrolment, .central: return
    }
    cx.network[transferOf: device]!.wait = StreamWait(
      participation: next, heldVersion: devices[device].heldVersion)
  }

  /// A result that was sent over a stream is acknowledged: the device waits on for the instruction.
  static func acknowledged(
    _ device: Int, _ response: Response, _ devices: inout Devices, _ cx: inout Context
  ) -> Bool {
    guard let wait = cx.network[transferOf: device]!.wait, response == .noted else { return false }
    takeResult(device, &devices, &cx)
    cx.participations.hold(wait.participation)
    return true
  }

  /// The server has had what a device sent before it waits: that is booked, and the device takes
  /// part again.
  private static func takeResult(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let purpose = cx.network[transferOf: device]!.purpose
    if purpose != .check { Accounting.divideTransfer(device, &devices, &cx) }
    if case .upload(let update) = purpose { letGo(of: update, device, &devices, &cx) }
    cx.network[transferOf: device]!.purpose = .check
    cx.participations.letGo(devices[device].session!.participation)
    devices[device].session!.participation = cx.network[transferOf: device]!.wait!.participation
    devices[device].session!.reply = nil
    devices[device].session!.isEvaluating = false
    devices[device].session!.tries = 0
    devices[device].session!.hasGivenUp = false
    devices[device].session!.stage = .check
  }

  /// The head of an answer has come over a stream on which a device waits: what it sent is taken;
  /// how many bytes of a model come along.
  static func heard(
    _ device: Int, _ response: Response, _ devices: inout Devices, _ cx: inout Context
  ) -> Int64 {
    guard case .check(let latest, let isOnline, let instruction, _) = response else {
      // The server refuses the message: it is answered as any other.
      cx.participations.letGo(cx.network[transferOf: device]!.wait!.participation)
      cx.network[transferOf: device]!.wait = nil
      return 0
    }
    takeResult(device, &devices, &cx)
    cx.network[transferOf: device]!.wait = nil
    let isCarried =
      isOnline
      && (instruction == .evaluate
        || instruction == .accepted
          && (latest > devices[device].heldVersion || OwnModel.overwritesModel(device, cx)))
    cx.network[transferOf: device]!.carriesModel = isCarried
    return isCarried ? cx.wireSizes.download : 0
  }

  /// Reads the model that came with an instruction, if one did and it is wanted.
  static func readCarried(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> Carried
  {
    guard !devices.clients.isEmpty, let model = devices.clients[device].carried,
      devices[device].session?.stage == .download
    else { return .none }
    devices.clients[device].carried = nil
    Requesting.readModel(device, model.version, model.parameters, &devices, &cx)
    return .read
  }

  /// Whether a model came with an instruction.
  enum Carried { case read, none }

  /// A result that the server has had is the device's no more.
  private static func letGo(
    of update: Int32, _ device: Int, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard devices[device].outbox.contains(update) else { return }
    devices[device].takeOut(update)
    cx.leaveDevice(update, nil)
  }

  // MARK: A wait that ends without an instruction

  /// The stream on which a device waits breaks, and its session continues.
  static func waitFailed(
    _ device: Int, _ outcome: TransmissionOutcome, _ devices: inout Devices, _ cx: inout Context
  ) {
    let transfer = endWait(device, outcome, &devices, &cx)
    if case .upload(let update) = transfer.purpose, devices[device].outbox.contains(update) {
      // The server has not had the result.
      cx.note(device, .uploadFailed(update: Int(update), outcome))
      return Outbox.uploadFailed(device, update, &devices, &cx)
    }
    cx.note(device, .requestFailed(.check, outcome))
    devices[device].session!.stage = .check
    devices[device].session!.isEvaluating = false
    devices[device].session!.reply = nil
    guard cx.network[device].isConnected else { return }
    Session.rest(device, .unreachable, &devices, &cx)
  }

  /// A session gives up the stream on which it waits.
  static func giveUpWait(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let transfer = endWait(device, .unacknowledged, &devices, &cx)
    if case .upload(let update) = transfer.purpose, devices[device].outbox.contains(update) {
      cx.note(device, .uploadFailed(update: Int(update), .unacknowledged))
    } else {
      cx.note(device, .requestFailed(.check, .unacknowledged))
    }
  }

  /// Closes the transfer of a wait: what the server had was delivered; the server will know of the
  /// stream's end.
  private static func endWait(
    _ device: Int, _ outcome: TransmissionOutcome, _ devices: inout Devices, _ cx: inout Context
  ) -> Transfer {
    let isTaken = isTaken(device, cx)
    let transfer = Accounting.closeTransfer(
      device, isTaken ? .delivered : outcome, &devices, &cx)
    let wait = transfer.wait!
    if case .upload(let update) = transfer.purpose, devices[device].outbox.contains(update),
      cx.updates[update].hasArrived
    {
      letGo(of: update, device, &devices, &cx)
    }
    if wait.participation != devices[device].session!.participation {
      sendEnd(device, wait.participation, devices, &cx)
    } else if !cx.network[device].isConnected {
      leaveUnheard(device, &devices, &cx)
    } else {
      Requesting.closeConnection(device, transfer.id, &cx)
    }
    cx.participations.letGo(wait.participation)
    return transfer
  }

  /// Whether the server has had what a device has sent before it waits on its stream, and the
  /// device does not know.
  static func isTaken(_ device: Int, _ cx: borrowing Context) -> Bool {
    guard let transfer = cx.network[transferOf: device] else { return false }
    return transfer.wait != nil && transfer.isHeld && transfer.purpose != .check
  }

  /// The link is gone of a device that waits on a stream and was asked for nothing: the server
  /// notices after the keepalive, and the device takes part again when it connects again.
  static func leaveUnheard(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard holdsStream(device, devices, cx), let session = devices[device].session,
      session.participation >= 0, !isAwaited(device, devices, cx)
    else { return }
    sendEnd(device, session.participation, devices, &cx)
    devices[device].session!.participation = -1
    cx.participations.letGo(session.participation)
  }

  /// The server will know that a stream has ended on which a device waited.
  private static func sendEnd(
    _ device: Int, _ participation: Int32, _ devices: borrowing Devices, _ cx: inout Context
  ) {
    cx.participations.hold(participation)
    cx.schedule(
      .arrival(
        device: Int32(device), generation: cx.network[device].generation,
        .disconnect(participation: participation, reason(device, devices, cx))), .serverArrival,
      at: cx.now + noticed(device, devices, cx), by: device)
  }

  // MARK: The server

  /// Whether any group's devices wait on streams.
  static func areOpen(_ cx: borrowing Context) -> Bool {
    guard cx.features.isOn else { return false }
    return cx.inputs.fleet.contains { $0.protocol?.stream == true }
  }

  /// What came over a stream is followed by a wait for work, as if the device had asked.
  static func letWait(
    _ device: Int, _ generation: UInt32, _ wait: StreamWait, _ server: inout Server,
    _ cx: inout Context
  ) {
    guard Facts.checkIn(device, wait.participation, &server, &cx) == .work else { return }
    let checkIn = CheckIn(
      device: device, heldVersion: Int(wait.heldVersion), hasPending: server.copies[device] > 0)
    Lobby.admit(checkIn, generation, wait.participation, false, &server, &cx)
  }

  /// A result has come over a stream on which its device waits.
  ///
  /// Order: the wait first where there are cohorts, for the round that the result ends may be
  /// followed by a cohort at once.
  static func receive(
    _ device: Int, _ generation: UInt32, _ update: Int32, _ wait: StreamWait,
    _ server: inout Server, _ cx: inout Context
  ) {
    let formsCohorts = cx.inputs.server.selector.value.formsCohorts
    if formsCohorts { letWait(device, generation, wait, &server, &cx) }
    Inbox.receive(device, generation, update, isAnswered: false, &server, &cx)
    if !formsCohorts { letWait(device, generation, wait, &server, &cx) }
    // No message: the connection acknowledges what came.
    Requests.answer(device, generation, .noted, &cx)
  }

  /// Whether the version goes with an instruction over a stream.
  static func carriesModel(
    _ device: Int, _ generation: UInt32, _ instruction: CheckAnswer, _ cx: borrowing Context
  ) -> Bool {
    guard cx.features.isOn, cx.network.server.believesOnline,
      instruction == .accepted || instruction == .evaluate
    else { return false }
    return cx.network.streamWait(generation, of: device) != nil
  }

  /// Whether a stream has ended over which nothing was due: its device only waited.
  static func endsUnasked(
    _ device: Int, _ participation: Int32, _ server: inout Server, _ cx: inout Context
  ) -> Bool {
    guard !cx.participations.has(participation, reached: .accepted),
      !cx.participations.isOutstanding(participation)
    else { return false }
    if server.waiting.request(of: device)?.participation == participation {
      Lobby.forget(device, &server, &cx)
    }
    return true
  }
}
