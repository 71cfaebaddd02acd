extension Simulation {
  /// What a device cannot be.
  package func impossibilities(of device: Int) -> [String] {
    let (state, line) = (devices[device], cx.network[device])
    var found: [String] = []
    func never(_ isSo: Bool, _ what: String) {
      if isSo { found.append("\(Roster.path(of: device, cx)) \(what)") }
    }
    never(line.isBusy && !line.isConnected, "has a transfer without a link")
    never(
      line.isBusy && state.session == nil, "has a transfer without a session")
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
