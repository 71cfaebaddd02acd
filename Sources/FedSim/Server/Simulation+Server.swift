import Numerics

extension Simulation {
  /// A request reaches the server, or its closed door.
  mutating func arrived(_ device: Int, _ generation: UInt32, _ request: Request) {
    if service.settings != nil, queues(device, generation, request) { return }
    if holds(device, generation, request) { return }
    take(device, generation, request)
  }

  /// The server acts on a request, if it is there; the device may have `isAbandoned` it.
  mutating func take(
    _ device: Int, _ generation: UInt32, _ request: Request, isAbandoned: Bool = false
  ) {
    handle(device, generation, request, isAbandoned)
    letGo(of: request)
  }

  /// A request has come to its end.
  mutating func letGo(of request: Request) {
    switch request {
    case .check(_, let participation), .disconnect(let participation, _): letGo(participation)
    default: break
    }
  }

  private mutating func handle(
    _ device: Int, _ generation: UInt32, _ request: Request, _ isAbandoned: Bool
  ) {
    if !identities.isEmpty, intercepts(device, generation, request) { return }
    guard server.isReachable else {
      if case .submit(let update) = request { copyCame(update, isOpen: false) }
      if case .central(let request) = request { centralCame(request) }
      return
    }
    if exchange.isOn { hearErasure(device, generation) }
    switch request {
    case .check(let held, let participation):
      guard asks(device, participation) else {
        return answerCheck(device, generation, .pollOnly)
      }
      if exchange.givesKeys {
        switch askCycle(device, participation: participation) {
        case .accepted: answerCheck(device, generation, .accepted)
        case .failed: answer(device, generation, .failed)
        case .rejected(let timeout):
          answer(device, generation, .rejected(timeout.map { RetryAfter($0) }))
        }
        return
      }
      let checkIn = CheckIn(
        device: device, heldVersion: Int(held), hasPending: devices[device].pendingCopies > 0)
      admit(checkIn, generation, participation, isAbandoned)
    case .latest, .fetch:
      sendModel(device, generation, request)
    case .submit(let update):
      guard server.believesOnline || inputs.server.whileOffline != .refuse else {
        copyCame(update, isOpen: false)
        return answer(device, generation, .refused(.unavailable))
      }
      receive(device, generation, update)
      copyCame(update, isOpen: true)
    case .leave:
      let place = server.place(of: device)
      if place.isThere, server.waitingRequests[place.index].generation == generation {
        forget(device)
      }
    case .disconnect(let participation, let reason):
      tell(.lost, of: device)
      streamBroke(participation, reason)
    case .identity, .erase:
      break  // Served, or heard, already.
    case .enrol, .probe, .plan, .sendModel, .properties, .evaluated:
      handleInstruction(device, generation, request)
    case .central(let request):
      serve(device, generation, request)
      centralCame(request)
    }
  }

  /// Asks the selector about a device that checks in.
  private mutating func admit(
    _ checkIn: CheckIn, _ generation: UInt32, _ participation: Int32, _ isAbandoned: Bool
  ) {
    let device = checkIn.device
    if checkIn.hasPending, inputs.server.broadcast == .afterAggregation {
      if !isAbandoned { keepWaiting(checkIn, generation, participation) }
      return
    }
    switch admission(of: checkIn) {
    case .accept:
      letIn(device, participation)
      answerCheck(device, generation, .accepted)
    case .reject:
      answerCheck(device, generation, .rejected)
    case .wait:
      if exchange.isOn, wantsProperties(device) {
        answerCheck(device, generation, .sendProperties)
      } else if !isAbandoned {
        keepWaiting(checkIn, generation, participation)
      }
    }
  }

  /// The latest model, or why there is none.
  private mutating func sendModel(_ device: Int, _ generation: UInt32, _ request: Request) {
    if case .fetch(let round) = request, let refusal = fetch(round: round) {
      return answer(device, generation, refusal)
    }
    guard server.believesOnline else { return answer(device, generation, .modelUnavailable) }
    if devices[device].transferID == generation {
      devices[device].transfer!.body = server.model
    }
    answer(device, generation, .model(version: server.version))
  }

  /// A device waits for a cohort.
  private mutating func keepWaiting(
    _ checkIn: CheckIn, _ generation: UInt32, _ participation: Int32
  ) {
    let device = checkIn.device
    if devices[device].transferID == generation { devices[device].transfer!.isHeld = true }
    let place = server.place(of: device)
    if place.isThere { letGo(server.remove(at: place.index).participation) }
    server.waiting.insert(checkIn, at: place.index)
    server.waitingRequests.insert(
      .init(generation: generation, participation: participation), at: place.index)
    hold(participation)
    server.waitingPeak = max(server.waitingPeak, server.waiting.count)
    note(device, .waited(round: Int(server.round)))
    formCohort()
  }

  /// A device no longer waits for a cohort, if it did.
  private mutating func forget(_ device: Int) {
    let place = server.place(of: device)
    if place.isThere { letGo(server.remove(at: place.index).participation) }
  }

  mutating func answerCheck(
    _ device: Int, _ generation: UInt32, _ answer: CheckAnswer
  ) {
    // A device that keeps no copy of the version that it holds is lent the server's.
    if devices[device].held == nil, devices[device].heldVersion == server.version,
      devices[device].transferID == generation
    {
      devices[device].transfer!.body = server.model
    }
    self.answer(
      device, generation,
      .check(
        latest: exchange.instructions.awaitsModel ? -1 : server.version,
        isOnline: server.believesOnline, admission: answer,
        round: server.round))
  }

  mutating func answer(_ device: Int, _ generation: UInt32, _ response: Response) {
    schedule(
      .response(device: Int32(device), generation: generation, response), .deviceResponse,
      at: now + devices[device].rates.oneWay, by: device)
  }

  /// Forms the round's cohort once the selector finds enough devices waiting.
  mutating func formCohort() {
    let selector = inputs.server.selector.value
    guard selector.formsCohorts, server.cohortGoal == nil, !server.waiting.isEmpty else { return }
    if exchange.isOn, hasOtherWork() { return }
    guard let cohort = chosenCohort() else { return }
    server.cohortGoal = cohort.goal
    server.cohortSize = cohort.members.count
    noteSampling(of: cohort.members.count)
    note(-1, .cohortFormed(round: Int(server.round), members: cohort.members.count))
    let members = cohort.members.sorted()
    for place in members {
      let request = server.waitingRequests[place]
      letIn(server.waiting[place].device, request.participation)
      answerCheck(server.waiting[place].device, request.generation, .accepted)
    }
    foresee(members.map { server.waiting[$0].device }, isBeforehand: false)
    for place in members.reversed() { letGo(server.waitingRequests[place].participation) }
    server.remove(at: members)
    for (index, trigger) in inputs.server.trigger.enumerated() {
      if case .afterCohort(let duration) = trigger.value.timer {
        schedule(
          .serverTimer(.trigger(Int32(index), round: server.round)), .serverTimer,
          at: now + duration, by: nil)
      }
    }
  }

  /// An update arrives: it is rejected, or waits, or completes an aggregation.
  private mutating func receive(_ device: Int, _ generation: UInt32, _ update: Int32) {
    note(device, .arrived(update: Int(update)))
    reach(updates[update].participation, .delivered)
    if updates[update].hasArrived { tallies.repeatedDeliveries += 1 }
    let isKnown = updates[update].hasArrived
    updates[update].hasArrived = true
    if !isKnown { noteDelivered(update) }
    tell(.delivered, of: device)
    let wasAggregating = server.underWay != nil
    let status = admit(update, isKnown: isKnown)
    // Most often nothing is under way, and then `isBlocked` need not take a copy of everything.
    if !wasAggregating, server.underWay != nil, isBlocked {
      // The aggregation that it began is part of its handling.
      server.underWay!.owed = .init(device: device, generation: generation, update: update)
      if devices[device].transferID == generation { devices[device].transfer!.isOwed = true }
      return
    }
    answerReceipt(device, generation, update, status)
  }

  /// Answers an update: with what became of it until now unless something else is said.
  mutating func answerReceipt(
    _ device: Int, _ generation: UInt32, _ update: Int32, _ status: Receipt.Status? = nil
  ) {
    answer(
      device, generation,
      .receipt(
        Receipt(
          status: status ?? self.status(of: update), newVersion: server.version,
          pendingCount: Int32(server.pending.count))))
  }

  private mutating func admit(_ update: Int32, isKnown: Bool) -> Receipt.Status {
    // Field by field: a record is large.
    let (device, base) = (updates[update].device, updates[update].base)
    let duplicates = inputs.server.duplicates
    if isKnown, duplicates != .append {
      return status(of: update)
    }
    if !server.believesOnline, inputs.server.whileOffline == .drop {
      resolve(update, .refusedOffline)
      return .offline
    }
    if exchange.isOn, isErased(update) {
      resolve(update, .erased)
      return .rejected
    }
    if isLate(update) {
      resolve(update, .rejectedLate)
      if exchange.givesKeys { exchange.tallies.lateReports += 1 }
      return exchange.givesKeys ? .pending : .rejected
    }
    if exchange.isOn, isOfOldLayout(update) {
      resolve(update, .rejectedStale)
      return .rejected
    }
    if let limit = inputs.server.maximumStaleness, Int(server.version - base) > limit {
      resolve(update, .rejectedStale)
      return .rejected
    }
    // Most devices have nothing else there, and then nobody looks.
    let hasOthers =
      devices[Int(device)].pendingCopies > Int32(updates[update].pendingCopies)
    let rival =
      !hasOthers
      ? nil
      : server.pending.firstIndex {
        $0 != update && updates[$0].device == device
          && updates[$0].base == base && isSameInstallation($0, update)
      }
    if rival != nil, duplicates == .ignore {
      resolve(update, .rejectedDuplicate)
      return .rejected
    }
    if let rival, duplicates == .replace {
      let old = server.pending.remove(at: rival)
      countCopy(old, -1)
      resolve(old, .replaced)
    }
    server.pending.append(update)
    countCopy(update, 1)
    server.pendingPeak = max(server.pendingPeak, server.pending.count)
    reach(updates[update].participation, .admitted)
    if let training = updates[update].training { computations.prefetch(training) }
    decide(.arrival)
    return status(of: update)
  }

  /// One copy of an update more, or one fewer, waits at the server.
  mutating func countCopy(_ update: Int32, _ change: Int) {
    updates[update].pendingCopies += change
    devices[Int(updates[update].device)].pendingCopies += Int32(change)
  }

  /// What a receipt says of an update that the server has had.
  private func status(of update: Int32) -> Receipt.Status {
    if updates[update].pendingCopies > 0 { return server.believesOnline ? .pending : .offline }
    return updates[update].outcome == .aggregated ? .aggregated : .rejected
  }

  /// Asks the triggers, in their order, what to do.
  mutating func decide(_ moment: TriggerMoment) {
    for index in inputs.server.trigger.indices {
      if act(on: decision(of: index, moment)) { return }
    }
  }

  /// A trigger's timer rings.
  mutating func triggerRang(_ index: Int) {
    let trigger = inputs.server.trigger[index].value
    if case .every(let period) = trigger.timer {
      schedule(
        .serverTimer(.trigger(Int32(index), round: 0)), .serverTimer, at: now + period, by: nil)
    }
    _ = act(on: decision(of: index, .timer))
  }

  /// What a trigger wants.
  private mutating func decision(of index: Int, _ moment: TriggerMoment) -> TriggerDecision {
    let view = serverView
    return inputs.server.trigger[index].value
      .decide(moment, view, with: &server.memories.triggers[index])
  }

  private mutating func act(on decision: TriggerDecision) -> Bool {
    // One aggregation at a time; when it is over the triggers are asked again.
    if server.underWay != nil { return false }
    switch decision {
    case .wait: return false
    case .aggregate:
      guard !server.pending.isEmpty else { return false }
      guard server.believesOnline else {
        // A deadline rings once: what it wanted is done when the connection returns.
        server.owesAggregation = true
        return false
      }
      aggregate()
      return true
    case .skip:
      skipRound()
      return true
    }
  }

  /// The server's own world changes.
  mutating func serverChanged(_ series: ServerSeries, to state: UInt8) {
    scheduleNext(series)
    switch series {
    case .reachable:
      server.isReachable = state == 1
      if !server.isReachable { breakConnections() }
    case .internet:
      server.hasInternet = state == 1
      // Of the probes only the next one can find anything new.
      let period = inputs.server.connectivityProbe.microseconds
      let next = (now.microseconds + period - 1) / period * period
      schedule(
        .serverTimer(.probe), .serverTimer, at: SimTime(microseconds: next), by: nil)
    }
  }

  /// The server is gone: what waits for it waits in vain, what comes from it stops.
  private mutating func breakConnections() {
    while !server.waiting.isEmpty {
      letGo(server.remove(at: server.waiting.count - 1).participation)
    }
    if service.settings != nil { loseRequests() }
    server.underWay?.owed = nil
    for device in devices.indices where devices[device].transfer?.phase == .receiving {
      linkChanged(
        device, from: devices[device].rates, devices[device].link, isConnected: false)
    }
    for device in devices.indices where devices[device].transfer?.phase == .awaiting {
      let transfer = devices[device].transfer!
      if transfer.isHeld || transfer.isQueued || transfer.isOwed {
        failTransfer(device, .unacknowledged)
      }
    }
  }

  /// The probe finds out whether the server has a connection.
  mutating func probeConnection() {
    guard server.believesOnline != server.hasInternet else { return }
    server.believesOnline = server.hasInternet
    note(-1, .connectivity(server.believesOnline))
    guard server.believesOnline else { return }
    if server.owesAggregation, act(on: .aggregate) { return }
    decide(.connectionReturned)
  }
}
