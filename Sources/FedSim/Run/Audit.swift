/// What must hold at any time, found from the state itself.
enum Audit {
  /// Recounts everything that the ledgers count; each line is a broken sum.
  static func findings(_ devices: Devices, _ server: Server, _ cx: Context) -> [String] {
    var broken: [String] = []
    func expect(_ name: String, _ counted: Int, _ found: Int) {
      if counted != found { broken.append("\(name): counted \(counted), found \(found)") }
    }
    expect(
      "open attempts", cx.books.ledgers.attempts.stillOpen, devices.all.count { $0.attempt != nil })
    expect(
      "open transmissions", cx.books.ledgers.transmissions.stillOpen,
      devices.indices.count { cx.network[$0].isBusy })
    let numbers = cx.updates.numbers
    let living = numbers.map { cx.updates[$0] }
    expect("open updates", cx.books.ledgers.updates.stillOpen, living.count { $0.outcome == nil })
    expect("updates begun", cx.books.ledgers.updates.opened, cx.updates.count)
    expect(
      "updates made by attempts",
      cx.books.ledgers.attempts[.finished] + cx.books.ledgers.attempts[.submittedPartial]
        + cx.books.exchange.emptyUpdates, cx.books.ledgers.updates.opened)
    for (place, outcome) in UpdateOutcome.allCases.enumerated() {
      expect(
        "updates \(outcome.rawValue)", cx.books.ledgers.updates[outcome],
        cx.updates.settled[place] + living.count { $0.outcome == outcome })
    }
    expect(
      "attempts by device", cx.books.ledgers.attempts.opened,
      cx.books.activity.reduce(0) { $0 + $1.attempts })
    expect(
      "updates by device", cx.books.ledgers.updates.opened,
      cx.books.activity.reduce(0) { $0 + $1.updates })
    expect(
      "bytes sent", Int(cx.books.ledgers.bytesUp),
      cx.books.activity.reduce(0) { $0 + Int($1.bytesUp) })
    let waiting = server.pending.count + (server.underWay?.updates.count ?? 0)
    expect("pending copies", waiting, living.reduce(0) { $0 + $1.copies.pending })
    expect(
      "pending copies by device", waiting, server.copies.reduce(0) { $0 + Int($1) })
    for (update, record) in zip(numbers, living) where record.outcome == nil {
      let isSomewhere =
        record.copies.pending > 0 || record.copies.onTheWay > 0
        || devices[Int(record.device)].outbox.contains(update)
      if !isSomewhere { broken.append("update \(update) is in no place and has no outcome") }
    }
    expect(
      "batches used", cx.books.ledgers.batchesUsed,
      living.reduce(cx.updates.settledBatches) { $0 + $1.batches })
    expect(
      "bytes received", Int(cx.books.ledgers.bytesDown),
      cx.books.activity.reduce(0) { $0 + Int($1.bytesDown) })
    if cx.books.hours.isOn {
      for (count, tally) in [
        (FleetHours.Count.expiredTrainings, cx.books.tallies.expiredTrainings),
        (.checkpoints, cx.books.tallies.checkpoints.written),
        (.resumed, cx.books.tallies.checkpoints.resumed),
        (.waitedOffline, cx.books.tallies.waitedOffline),
      ] { expect("hourly \(count)", cx.books.hours.total(count), tally) }
    }
    for device in devices.indices { broken += impossibilities(of: device, devices, server, cx) }
    cx.participations.audit(&broken)
    EffortAudit.auditMeasures(&broken, devices, cx)
    return broken + KnownDialect.exchangeImpossibilities(server, cx)
      + Service.serviceImpossibilities(server, cx) + Restarts.impossibilities(server, cx)
      + Collecting.centralImpossibilities(cx)
  }

  /// What a device's end of the network cannot be.
  private static func impossibilitiesOfLine(
    _ device: Int, _ devices: Devices, _ cx: Context
  ) -> [String] {
    let line = cx.network[device]
    var found: [String] = []
    func never(_ isSo: Bool, _ what: String) {
      if isSo { found.append("\(Roster.path(of: device, cx)) \(what)") }
    }
    never(
      line.isBusy && !line.isConnected && line.awaitedLink == 0, "has a transfer without a link")
    never(line.isConnected && line.awaitedLink != 0, "waits for a link and has one")
    never(
      line.isBusy && devices[device].session == nil && !BackgroundTransfers.isSending(device, cx),
      "has a transfer without a session")
    never(
      BackgroundTransfers.update(of: device, cx).map { !devices[device].outbox.contains($0) }
        ?? false,
      "has handed over an update that it does not keep")
    return found
  }

  /// What a device cannot be.
  static func impossibilities(
    of device: Int, _ devices: Devices, _ server: Server, _ cx: Context
  ) -> [String] {
    let (state, line) = (devices[device], cx.network[device])
    var found: [String] = []
    func never(_ isSo: Bool, _ what: String) {
      if isSo { found.append("\(Roster.path(of: device, cx)) \(what)") }
    }
    found += impossibilitiesOfLine(device, devices, cx)
    never(state.run != nil && state.session == nil, "trains without a session")
    never(state.isTraining && state.attempt == nil, "trains without an attempt")
    never(state.run != nil && line.isBusy, "trains while it transfers")
    never(
      state.session.map { $0.hard < cx.now } ?? false, "has a session after its hard expiry")
    never(
      state.session?.kind == .task && state.isActive
        && state.session?.hasExpired == false
        && cx.inputs.fleet[Int(state.group)].background.system?.endsOnUse != false,
      "runs a task while a person uses the app")
    never(
      state.attempt != nil && state.run == nil && state.attempt?.checkpointedAt == nil,
      "keeps an attempt that it never saved")
    if Body.hasBody(device, devices) {
      let body = devices.bodies[device]
      never(body.energy < 0 || body.energy > body.capacity, "holds energy beyond its battery")
      never(
        body.initial + body.ledger.change != body.energy, "gains or loses energy without a record")
      never(
        cx.now < body.check && !body.state.isOff && !body.state.isUnseen
          && Int(body.state.thermal.rawValue) != body.heatLimitsPassed,
        "has another heat than its record")
      never(body.state.isOff && (state.session != nil || line.isConnected), "is off and active")
    }
    if !devices.identities.isEmpty {
      found += Installation.identityImpossibilities(device, devices, cx)
    }
    if cx.collection.isOn { found += Collecting.collectorImpossibilities(device, devices, cx) }
    never(
      Membership.isAway(device, devices)
        && (state.session != nil || line.isConnected || state.attempt != nil
          || !state.outbox.isEmpty || !state.scheduler.requests.isEmpty),
      "is not in the fleet and active")
    never(
      state.attempt != nil && !Roster.isFit(device, devices),
      "trains a model that its hardware cannot train")
    let requests = state.scheduler.requests
    if let system = cx.inputs.fleet[Int(state.group)].background.system {
      let refreshes = requests.count { $0.kind == .refresh }
      never(refreshes > system.refreshLimit, "has more refresh requests pending than it may")
      never(
        requests.count - refreshes > system.processingLimit,
        "has more processing requests pending than it may")
    }
    never(
      requests.indices.contains { place in
        requests[..<place].contains { $0.identifier == requests[place].identifier }
      }, "has an identifier pending twice")
    never(state.heldVersion > server.version, "holds a version that does not exist")
    never(
      state.outbox.count > max(1, cx.inputs.fleet[Int(state.group)].outbox.capacity),
      "keeps too many updates")
    never(state.outbox != state.outbox.sorted(), "has its outbox out of order")
    never(
      state.outbox.contains { cx.updates[$0].device != device || !cx.updates[$0].isOnDevice },
      "keeps an update of another device")
    return found
  }
}
