import Numerics

/// Requests that reach the server.
enum Requests {
  /// A request reaches the server, or its closed door.
  static func arrived(
    _ device: Int, _ generation: UInt32, _ request: Request, _ devices: inout Devices,
    _ server: inout Server, _ cx: inout Context
  ) {
    if server.service.settings != nil,
      Service.queues(device, generation, request, &devices, &server, &cx)
    {
      return
    }
    if Aggregating.holds(device, generation, request, &server, &cx) { return }
    take(device, generation, request, &devices, &server, &cx)
  }

  /// The server acts on a request, if it is there; the device may have `isAbandoned` it.
  static func take(
    _ device: Int, _ generation: UInt32, _ request: Request, isAbandoned: Bool = false,
    _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    handle(device, generation, request, isAbandoned, &devices, &server, &cx)
    letGo(of: request, &cx)
  }

  /// A request has come to its end.
  static func letGo(of request: Request, _ cx: inout Context) {
    switch request {
    case .check(_, let participation), .disconnect(let participation, _):
      cx.participations.letGo(participation)
    default: break
    }
  }

  private static func handle(
    _ device: Int, _ generation: UInt32, _ request: Request, _ isAbandoned: Bool,
    _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    if !devices.identities.isEmpty, Tokens.intercepts(device, generation, request, &devices, &cx) {
      return
    }
    guard cx.line.isReachable else {
      if case .submit(let update) = request { cx.copyCame(update, isOpen: false) }
      if case .central(let request) = request { Collecting.centralCame(request, &cx) }
      return
    }
    if cx.features.isOn { Erasing.hearErasure(device, generation, &devices, &server, &cx) }
    switch request {
    case .check(let held, let participation):
      guard Facts.asks(device, participation, &devices, &server, &cx) else {
        return Lobby.answerCheck(device, generation, .pollOnly, &devices, &server, &cx)
      }
      if cx.features.givesKeys {
        switch Cycles.askCycle(device, participation: participation, &devices, &server, &cx) {
        case .accepted: Lobby.answerCheck(device, generation, .accepted, &devices, &server, &cx)
        case .failed: answer(device, generation, .failed, &devices, &cx)
        case .rejected(let timeout):
          answer(device, generation, .rejected(timeout.map { RetryAfter($0) }), &devices, &cx)
        }
        return
      }
      let checkIn = CheckIn(
        device: device, heldVersion: Int(held), hasPending: server.copies[device] > 0)
      Lobby.admit(checkIn, generation, participation, isAbandoned, &devices, &server, &cx)
    case .latest, .fetch:
      sendModel(device, generation, request, &devices, &server, &cx)
    case .submit(let update):
      guard cx.line.believesOnline || cx.inputs.server.whileOffline != .refuse else {
        cx.copyCame(update, isOpen: false)
        return answer(device, generation, .refused(.unavailable), &devices, &cx)
      }
      Inbox.receive(device, generation, update, &devices, &server, &cx)
      cx.copyCame(update, isOpen: true)
    case .leave:
      let place = server.place(of: device)
      if place.isThere, server.waitingRequests[place.index].generation == generation {
        Lobby.forget(device, &server, &cx)
      }
    case .disconnect(let participation, let reason):
      Lobby.tell(.lost, of: device, &server, &cx)
      Streams.streamBroke(participation, reason, &devices, &server, &cx)
    case .identity, .erase:
      break  // Served, or heard, already.
    case .enrol, .probe, .plan, .sendModel, .properties, .evaluated:
      Instructions.handleInstruction(device, generation, request, &devices, &server, &cx)
    case .central(let request):
      SampleStore.serve(device, generation, request, &devices, &cx)
      Collecting.centralCame(request, &cx)
    }
  }

  /// The latest model, or why there is none.
  private static func sendModel(
    _ device: Int, _ generation: UInt32, _ request: Request, _ devices: inout Devices,
    _ server: inout Server, _ cx: inout Context
  ) {
    if case .fetch(let round) = request, let refusal = Cycles.fetch(round: round, &server, &cx) {
      return answer(device, generation, refusal, &devices, &cx)
    }
    guard cx.line.believesOnline else {
      return answer(device, generation, .modelUnavailable, &devices, &cx)
    }
    if devices[device].transferID == generation {
      devices[device].transfer!.body = server.model
    }
    answer(device, generation, .model(version: server.version), &devices, &cx)
  }

  static func answer(
    _ device: Int, _ generation: UInt32, _ response: Response, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    cx.schedule(
      .response(device: Int32(device), generation: generation, response), .deviceResponse,
      at: cx.now + devices[device].rates.oneWay, by: device)
  }
}

extension Lobby {
  /// Asks the selector about a device that checks in.
  static func admit(
    _ checkIn: CheckIn, _ generation: UInt32, _ participation: Int32, _ isAbandoned: Bool,
    _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    let device = checkIn.device
    if checkIn.hasPending, cx.inputs.server.broadcast == .afterAggregation {
      if !isAbandoned { keepWaiting(checkIn, generation, participation, &devices, &server, &cx) }
      return
    }
    switch Facts.admission(of: checkIn, &server, &cx) {
    case .accept:
      Facts.letIn(device, participation, &server, &cx)
      answerCheck(device, generation, .accepted, &devices, &server, &cx)
    case .reject:
      answerCheck(device, generation, .rejected, &devices, &server, &cx)
    case .wait:
      if cx.features.isOn, Instructions.wantsProperties(device, &devices, &server) {
        answerCheck(device, generation, .sendProperties, &devices, &server, &cx)
      } else if !isAbandoned {
        keepWaiting(checkIn, generation, participation, &devices, &server, &cx)
      }
    }
  }

  /// A device waits for a cohort.
  private static func keepWaiting(
    _ checkIn: CheckIn, _ generation: UInt32, _ participation: Int32, _ devices: inout Devices,
    _ server: inout Server, _ cx: inout Context
  ) {
    let device = checkIn.device
    if devices[device].transferID == generation { devices[device].transfer!.isHeld = true }
    let place = server.place(of: device)
    if place.isThere { cx.participations.letGo(server.remove(at: place.index).participation) }
    server.waiting.insert(checkIn, at: place.index)
    server.waitingRequests.insert(
      .init(generation: generation, participation: participation), at: place.index)
    cx.participations.hold(participation)
    server.waitingPeak = max(server.waitingPeak, server.waiting.count)
    cx.note(device, .waited(round: Int(server.round)))
    formCohort(&devices, &server, &cx)
  }

  /// A device no longer waits for a cohort, if it did.
  static func forget(_ device: Int, _ server: inout Server, _ cx: inout Context) {
    let place = server.place(of: device)
    if place.isThere { cx.participations.letGo(server.remove(at: place.index).participation) }
  }

  static func answerCheck(
    _ device: Int, _ generation: UInt32, _ answer: CheckAnswer, _ devices: inout Devices,
    _ server: inout Server, _ cx: inout Context
  ) {
    // A device that keeps no copy of the version that it holds is lent the server's.
    if devices[device].held == nil, devices[device].heldVersion == server.version,
      devices[device].transferID == generation
    {
      devices[device].transfer!.body = server.model
    }
    Requests.answer(
      device, generation,
      .check(
        latest: server.instructions.awaitsModel ? -1 : server.version,
        isOnline: cx.line.believesOnline, admission: answer,
        round: server.round), &devices, &cx)
  }

  /// Forms the round's cohort once the selector finds enough devices waiting.
  static func formCohort(_ devices: inout Devices, _ server: inout Server, _ cx: inout Context) {
    let selector = cx.inputs.server.selector.value
    guard selector.formsCohorts, server.cohortGoal == nil, !server.waiting.isEmpty else { return }
    if cx.features.isOn, Instructions.hasOtherWork(&devices, &server, &cx) { return }
    guard let cohort = Facts.chosenCohort(&devices, &server, &cx) else { return }
    server.cohortGoal = cohort.goal
    server.cohortSize = cohort.members.count
    Privacy.noteSampling(of: cohort.members.count, &devices, &server, &cx)
    cx.note(-1, .cohortFormed(round: Int(server.round), members: cohort.members.count))
    let members = cohort.members.sorted()
    for place in members {
      let request = server.waitingRequests[place]
      Facts.letIn(server.waiting[place].device, request.participation, &server, &cx)
      answerCheck(
        server.waiting[place].device, request.generation, .accepted, &devices, &server, &cx)
    }
    Training.foresee(
      members.map { server.waiting[$0].device }, from: server.model, isBeforehand: false, &devices,
      &cx)
    for place in members.reversed() {
      cx.participations.letGo(server.waitingRequests[place].participation)
    }
    server.remove(at: members)
    for (index, trigger) in cx.inputs.server.trigger.enumerated() {
      if case .afterCohort(let duration) = trigger.value.timer {
        cx.schedule(
          .serverTimer(.trigger(Int32(index), round: server.round)), .serverTimer,
          at: cx.now + duration, by: nil)
      }
    }
  }
}

/// Updates that reach the server.
enum Inbox {
  /// An update arrives: it is rejected, or waits, or completes an aggregation.
  static func receive(
    _ device: Int, _ generation: UInt32, _ update: Int32, _ devices: inout Devices,
    _ server: inout Server, _ cx: inout Context
  ) {
    cx.note(device, .arrived(update: Int(update)))
    cx.participations.reach(cx.updates[update].participation, .delivered)
    let isKnown = cx.updates.deliver(update)
    if isKnown { cx.books.tallies.repeatedDeliveries += 1 }
    if !isKnown { Facts.noteDelivered(update, &server, &cx) }
    Lobby.tell(.delivered, of: device, &server, &cx)
    let wasAggregating = server.underWay != nil
    let status = admit(update, isKnown: isKnown, &devices, &server, &cx)
    // Most often nothing is under way, and then `isBlocked` need not take a copy of everything.
    if !wasAggregating, server.underWay != nil, Aggregating.isBlocked(server, cx) {
      // The aggregation that it began is part of its handling.
      server.underWay!.owed = .init(device: device, generation: generation, update: update)
      if devices[device].transferID == generation { devices[device].transfer!.isOwed = true }
      return
    }
    answerReceipt(device, generation, update, status, &devices, &server, &cx)
  }

  /// Answers an update: with what became of it until now unless something else is said.
  static func answerReceipt(
    _ device: Int, _ generation: UInt32, _ update: Int32, _ status: Receipt.Status?,
    _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    Requests.answer(
      device, generation,
      .receipt(
        Receipt(
          status: status ?? Self.status(of: update, cx), newVersion: server.version,
          pendingCount: Int32(server.pending.count))), &devices, &cx)
  }

  private static func admit(
    _ update: Int32, isKnown: Bool, _ devices: inout Devices, _ server: inout Server,
    _ cx: inout Context
  ) -> Receipt.Status {
    // Field by field: a record is large.
    let (device, base) = (cx.updates[update].device, cx.updates[update].base)
    let duplicates = cx.inputs.server.duplicates
    if isKnown, duplicates != .append {
      return status(of: update, cx)
    }
    if !cx.line.believesOnline, cx.inputs.server.whileOffline == .drop {
      cx.resolve(update, .refusedOffline)
      return .offline
    }
    if cx.features.isOn, Erasing.isErased(update, devices, cx) {
      cx.resolve(update, .erased)
      return .rejected
    }
    if Facts.isLate(update, server, cx) {
      cx.resolve(update, .rejectedLate)
      if cx.features.givesKeys { cx.books.exchange.lateReports += 1 }
      return cx.features.givesKeys ? .pending : .rejected
    }
    if cx.features.isOn, LayoutDialect.isOfOldLayout(update, server, cx) {
      cx.resolve(update, .rejectedStale)
      return .rejected
    }
    if let limit = cx.inputs.server.maximumStaleness, Int(server.version - base) > limit {
      cx.resolve(update, .rejectedStale)
      return .rejected
    }
    // Most devices have nothing else there, and then nobody looks.
    let hasOthers =
      server.copies[Int(device)] > Int32(cx.updates[update].pendingCopies)
    let rival =
      !hasOthers
      ? nil
      : server.pending.firstIndex {
        $0 != update && cx.updates[$0].device == device
          && cx.updates[$0].base == base && Installation.isSameInstallation($0, update, devices, cx)
      }
    if rival != nil, duplicates == .ignore {
      cx.resolve(update, .rejectedDuplicate)
      return .rejected
    }
    if let rival, duplicates == .replace {
      let old = server.pending.remove(at: rival)
      countCopy(old, -1, &server, &cx)
      cx.resolve(old, .replaced)
    }
    server.pending.append(update)
    countCopy(update, 1, &server, &cx)
    server.pendingPeak = max(server.pendingPeak, server.pending.count)
    cx.participations.reach(cx.updates[update].participation, .admitted)
    if let training = cx.updates[update].training { cx.computations.prefetch(training) }
    Rounds.decide(.arrival, &devices, &server, &cx)
    return status(of: update, cx)
  }

  /// One copy of an update more, or one fewer, waits at the server.
  static func countCopy(_ update: Int32, _ change: Int, _ server: inout Server, _ cx: inout Context)
  {
    cx.updates.countCopy(update, change)
    server.copies[Int(cx.updates[update].device)] += Int32(change)
  }

  /// What a receipt says of an update that the server has had.
  private static func status(of update: Int32, _ cx: borrowing Context) -> Receipt.Status {
    if cx.updates[update].pendingCopies > 0 { return cx.line.believesOnline ? .pending : .offline }
    return cx.updates[update].outcome == .aggregated ? .aggregated : .rejected
  }
}

extension Rounds {
  /// Asks the triggers, in their order, what to do.
  static func decide(
    _ moment: TriggerMoment, _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    for index in cx.inputs.server.trigger.indices {
      if act(on: decision(of: index, moment, &server, &cx), &devices, &server, &cx) { return }
    }
  }

  /// A trigger's timer rings.
  static func triggerRang(
    _ index: Int, _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    let trigger = cx.inputs.server.trigger[index].value
    if case .every(let period) = trigger.timer {
      cx.schedule(
        .serverTimer(.trigger(Int32(index), round: 0)), .serverTimer, at: cx.now + period, by: nil)
    }
    _ = act(on: decision(of: index, .timer, &server, &cx), &devices, &server, &cx)
  }

  /// What a trigger wants.
  private static func decision(
    of index: Int, _ moment: TriggerMoment, _ server: inout Server, _ cx: inout Context
  ) -> TriggerDecision {
    let view = Facts.serverView(server, cx)
    return cx.inputs.server.trigger[index].value
      .decide(moment, view, &server.memories.triggers[index])
  }

  static func act(
    on decision: TriggerDecision, _ devices: inout Devices, _ server: inout Server,
    _ cx: inout Context
  ) -> Bool {
    // One aggregation at a time; when it is over the triggers are asked again.
    if server.underWay != nil { return false }
    switch decision {
    case .wait: return false
    case .aggregate:
      guard !server.pending.isEmpty else { return false }
      guard cx.line.believesOnline else {
        // A deadline rings once: what it wanted is done when the connection returns.
        server.owesAggregation = true
        return false
      }
      Aggregating.aggregate(&devices, &server, &cx)
      return true
    case .skip:
      skipRound(&devices, &server, &cx)
      return true
    }
  }
}

extension ServerLine {
  /// The server's own world changes.
  static func serverChanged(
    _ series: ServerSeries, to state: UInt8, _ devices: inout Devices, _ server: inout Server,
    _ cx: inout Context
  ) {
    Roster.scheduleNext(series, &cx)
    switch series {
    case .reachable:
      cx.line.isReachable = state == 1
      if !cx.line.isReachable { breakConnections(&devices, &server, &cx) }
    case .internet:
      cx.line.hasInternet = state == 1
      // Of the probes only the next one can find anything new.
      let period = cx.inputs.server.connectivityProbe.microseconds
      let next = (cx.now.microseconds + period - 1) / period * period
      cx.schedule(
        .serverTimer(.probe), .serverTimer, at: SimTime(microseconds: next), by: nil)
    }
  }

  /// The server is gone: what waits for it waits in vain, what comes from it stops.
  private static func breakConnections(
    _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    while !server.waiting.isEmpty {
      cx.participations.letGo(server.remove(at: server.waiting.count - 1).participation)
    }
    if server.service.settings != nil { Service.loseRequests(&devices, &server, &cx) }
    server.underWay?.owed = nil
    for device in devices.indices where devices[device].transfer?.phase == .receiving {
      Transfer.linkChanged(
        device, from: devices[device].rates, devices[device].link, isConnected: false, &devices, &cx
      )
    }
    for device in devices.indices where devices[device].transfer?.phase == .awaiting {
      let transfer = devices[device].transfer!
      if transfer.isHeld || transfer.isQueued || transfer.isOwed {
        Transfer.failTransfer(device, .unacknowledged, &devices, &cx)
      }
    }
  }

  /// The probe finds out whether the server has a connection.
  static func probeConnection(_ devices: inout Devices, _ server: inout Server, _ cx: inout Context)
  {
    guard cx.line.believesOnline != cx.line.hasInternet else { return }
    cx.line.believesOnline = cx.line.hasInternet
    cx.note(-1, .connectivity(cx.line.believesOnline))
    guard cx.line.believesOnline else { return }
    if server.owesAggregation, Rounds.act(on: .aggregate, &devices, &server, &cx) { return }
    Rounds.decide(.connectionReturned, &devices, &server, &cx)
  }
}
