/// What a session does next, and why.
package enum SessionStep: Equatable {
  /// Nothing, until something else happens.
  case wait(Wait)
  /// Updates that have waited for too long leave the outbox; then the session is looked at again.
  case dropOutdated
  /// A token no longer counts as fresh; then the session is looked at again.
  case ageToken
  /// A token or a registration comes before the next request.
  case identify(IdentityRequest)
  /// The next request cannot be sent, for this reason.
  case withhold(SessionEnd)
  /// What comes next in a session of a device that collects.
  case collect
  case upload(Int32)
  /// The task's time is over.
  case expire
  case check, download, plan, train, evaluate, reply
  /// Without an answer of the server the device trains on the model that it holds.
  case trainUnasked
  /// Nothing to do: the session asks again later, or ends.
  case rest(SessionEnd)
  case end(SessionEnd)

  /// What a session waits for.
  package enum Wait: Equatable {
    /// The end of a request or of batches; the end of its pause; its kill; a link.
    case activity, pause, kill, link
  }
}

/// What the next step of a session depends on in addition to the session itself.
package struct SessionFacts: Equatable {
  /// Whether a request or batches are under way. Then, in a pause and before a kill nothing else
  /// here is looked at.
  package var isBusy = false
  package var isConnected = false
  /// Whether the oldest update has waited for too long.
  package var hasOutdated = false
  /// The update that is sent next.
  package var update: Int32?
  /// How often a session tries to send an update.
  package var attempts = 0
  /// Whether the app's conditions hold, if it looks at them before it sends an update.
  package var conditionsHold = true
  /// What must precede the next request; nil: nothing, or there is no next request.
  package var identity: IdentityStanding?
  /// Whether the device collects for central training.
  package var collects = false
  /// Whether the device may train without an answer of the server.
  package var trainsUnasked = false
  /// Whether the session asks again later when it has nothing to do.
  package var repeats = false

  package init() {}
}

extension SessionFacts {
  /// Reads the facts; an expensive one is read only where the step may depend on it.
  init(
    _ session: Session, of device: Int, _ devices: borrowing Devices, _ cx: inout Context
  ) {
    isBusy = cx.network[device].isBusy
    if devices[device].isRunning { isBusy = true }
    if isBusy || session.isPausing || session.isStuck { return }
    isConnected = cx.network[device].isConnected
    let place = Int(devices[device].group)
    if !devices[device].outbox.isEmpty {
      hasOutdated = Outbox.hasOutdated(device, devices, cx)
      update = Outbox.sendable(device, devices, cx)
      attempts = cx.inputs.fleet[place].outbox.attempts
      if isConnected, session.sendable(self) != nil,
        cx.inputs.fleet[place].participation.checksBeforeReport == true
      {
        conditionsHold = Surroundings.conditionsHold(device, devices, &cx)
      }
    }
    if !devices.identities.isEmpty, isConnected, session.sends(self) {
      identity = Identity.standing(device, devices, cx)
    }
    if cx.features.keepsModels, session.stage == .check, !isConnected {
      trainsUnasked = Training.trainsUnasked(device, devices, cx)
    }
    collects = Collecting.collects(device, cx)
    if session.stage == .done { repeats = Session.repetition(device, devices, cx) != nil }
  }
}

extension Session {
  /// What comes next; it changes nothing.
  package func next(_ facts: SessionFacts) -> SessionStep {
    if facts.isBusy { return .wait(.activity) }
    if isPausing { return .wait(.pause) }
    if isStuck { return .wait(.kill) }
    if facts.hasOutdated { return .dropOutdated }
    if facts.isConnected, sends(facts) {
      switch facts.identity {
      case .request(let request): return .identify(request)
      case .blocked(let reason): return .withhold(reason)
      case .ready(agesToken: true): return .ageToken
      case .ready(agesToken: false): if kind == .heartbeat { return .end(.completed) }
      case nil: break
      }
    }
    if facts.collects, kind != .heartbeat { return .collect }
    if facts.isConnected, let update = sendable(facts) {
      return facts.conditionsHold ? .upload(update) : .end(.conditionsLost)
    }
    if isExpiring { return .expire }
    switch stage {
    case .check:
      if facts.isConnected { return .check }
      return facts.trainsUnasked ? .trainUnasked : .wait(.link)
    case .download: return facts.isConnected ? .download : .wait(.link)
    case .plan: return facts.isConnected ? .plan : .wait(.link)
    case .reply: return facts.isConnected ? .reply : .wait(.link)
    case .train: return .train
    case .evaluate: return .evaluate
    case .done:
      if facts.update != nil, !facts.isConnected, !hasGivenUp { return .wait(.link) }
      if facts.repeats { return .rest(.completed) }
      return .end(facts.update == nil ? .completed : .unreachable)
    }
  }

  /// Whether a request comes next, given a link.
  func sends(_ facts: SessionFacts) -> Bool {
    if kind == .heartbeat || sendable(facts) != nil { return true }
    switch stage {
    case .check, .download, .plan, .reply: return !isExpiring
    case .train, .evaluate, .done: return false
    }
  }

  /// The update that this session still tries to send.
  func sendable(_ facts: SessionFacts) -> Int32? {
    hasGivenUp || tries >= facts.attempts ? nil : facts.update
  }
}
