import Learning

extension Simulation {
  /// A round opens: nobody has failed in it; where there are cycles it is one, with its timer.
  mutating func openRound() {
    server.failures = 0
    limitWait()
    guard let settings = exchange.admission?.cycle else { return }
    server.cycle = CycleView(settings, openedAt: now)
    guard settings.mode == .asDocumented, let length = settings.length,
      Int(server.round) <= settings.cycles ?? .max
    else { return }
    for (index, trigger) in inputs.server.trigger.enumerated() {
      if case .cycleEnd = trigger.value.timer {
        schedule(
          .serverTimer(.trigger(Int32(index), round: server.round)), .serverTimer,
          at: now + length, by: nil)
      }
    }
  }

  /// A device asks to be let into the open cycle.
  mutating func askCycle(_ device: Int, participation: Int32) -> CycleAnswer {
    let rates = devices[device].rates
    let measured = exchange.clients.isEmpty ? nil : exchange.clients[device]
    let worker = CycleWorker(
      lastCycle: Int(exchange.lastCycles[device]), upload: measured?.upload ?? rates.up,
      download: measured?.download ?? rates.down)
    let answer = exchange.admission!.admit(
      worker, server.cycle!, serverView, with: &server.memories.selector)
    switch answer {
    case .accepted:
      letIn(device, participation)
      exchange.lastCycles[device] = server.round
      server.cycle!.workers += 1
    case .failed:
      break
    case .rejected(let timeout):
      if timeout == nil {
        exchange.tallies.rejectedForGood += 1
      } else {
        exchange.tallies.rejectedWithTimeout += 1
      }
    }
    return answer
  }

  /// What a device is told that asks for the model with the key of a cycle.
  mutating func fetch(round: Int32) -> Response? {
    guard round != server.round else { return nil }
    exchange.tallies.invalidKeys += 1
    return .keyInvalid
  }

  /// A device is about to ask for work: it waits until it may; when it does is remembered.
  mutating func waits(_ device: Int) -> Bool {
    guard !exchange.clients.isEmpty, devices[device].session?.kind.isPoll == false else {
      return false
    }
    let quiet = exchange.clients[device].quietUntil
    if now < quiet {
      pause(device, for: quiet - now, then: .check)
      return true
    }
    exchange.clients[device].askedAt = now
    return false
  }

  /// A device reads that it was rejected, and perhaps when it may ask again.
  mutating func rejected(_ device: Int, _ retry: RetryAfter?) {
    note(device, .rejected(retry))
    let place = Int(devices[device].group)
    guard let settings = inputs.fleet[place].protocol, settings.timeouts != .ignored else {
      return turnedAway(device)
    }
    guard let retry else {
      if !forgetsRejection(device) { endSession(device, .rejected) }
      return
    }
    if settings.timeouts == .strictInteger {
      exchange.tallies.undecodedTimeouts += 1
      return endSession(device, .unknownError)
    }
    let wanted = max(
      now + retry.duration, exchange.clients[device].askedAt + settings.requestGap)
    exchange.clients[device].quietUntil = wanted
    devices[device].session!.stage = .check
    proceed(device)
  }

  /// The server has no work for a device: it asks again later, or its session ends.
  mutating func turnedAway(_ device: Int) {
    if !forgetsRejection(device) { rest(device, .rejected) }
  }

  /// Whether an app says nothing when its task has no work: then it waits for its kill.
  private mutating func forgetsRejection(_ device: Int) -> Bool {
    guard inputs.fleet[Int(devices[device].group)].app?.onRejection == .forget,
      devices[device].session?.kind.isTask == true
    else { return false }
    devices[device].session!.isStuck = true
    return true
  }

  /// The server has failed over a request for work, which no library makes sense of.
  mutating func requestFailed(_ device: Int) {
    endSession(device, .unknownError)
  }

  /// The model was asked for too late: its cycle is over.
  mutating func keyExpired(_ device: Int) {
    devices[device].session!.stage = .check
    rest(device, .expiredRound)
  }
}
