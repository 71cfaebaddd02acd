import Learning

/// Cycles as in PyGrid: keys, rejections, timeouts.
enum Cycles {
  /// A device asks to be let into the open cycle.
  static func askCycle(
    _ device: Int, participation: Int32, _ server: inout Server,
    _ cx: inout Context
  ) -> CycleAnswer {
    let rates = cx.network[device].rates
    let measured = cx.network.speeds.isEmpty ? nil : cx.network.speeds[device]
    let worker = CycleWorker(
      lastCycle: Int(server.lastCycles[device]), upload: measured?.upload ?? rates.up,
      download: measured?.download ?? rates.down)
    let view = Facts.serverView(server, cx)
    let answer = cx.features.admission!.admit(
      worker, server.openRound.cycle!, view, with: &server.memories.selector)
    switch answer {
    case .accepted:
      Facts.letIn(device, participation, &server, &cx)
      server.lastCycles[device] = server.openRound.number
      server.openRound.cycle!.workers += 1
    case .failed:
      break
    case .rejected(let timeout):
      if timeout == nil {
        cx.books.exchange.rejectedForGood += 1
      } else {
        cx.books.exchange.rejectedWithTimeout += 1
      }
    }
    return answer
  }

  /// Checks the key of a cycle with which a device asks for the model; the answer if the key is
  /// no longer valid.
  static func checkKey(_ round: Int32, _ server: inout Server, _ cx: inout Context) -> Response? {
    guard round != server.openRound.number else { return nil }
    cx.books.exchange.invalidKeys += 1
    return .keyInvalid
  }

  /// A device is about to ask for work: it waits until it may; when it does is remembered.
  ///
  /// An app that was rejected completes its task, so a task that begins too early ends at once.
  static func awaitTurn(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> BeforeCheck
  {
    guard !devices.clients.isEmpty, devices[device].session?.kind.isPoll == false else {
      return .check
    }
    let quiet = devices.clients[device].quietUntil
    if cx.now < quiet {
      if devices.clients[device].isRejected, devices[device].session!.kind.isTask {
        Session.turnedAway(device, isForGood: true, &devices, &cx)
        return .begun
      }
      Session.pause(device, for: quiet - cx.now, then: .check, &devices, &cx)
      return .begun
    }
    devices.clients[device].askedAt = cx.now
    return .check
  }

  /// A device reads that it was rejected, and perhaps when it may ask again.
  static func rejected(
    _ device: Int, _ retry: RetryAfter?, _ devices: inout Devices, _ cx: inout Context
  ) {
    cx.note(device, .rejected(retry))
    if cx.inputs.server.retry != nil, let retry {
      return Pacing.told(device, retry.duration, &devices, &cx)
    }
    let place = Int(devices[device].group)
    guard let settings = cx.inputs.fleet[place].protocol, settings.timeouts != .ignored else {
      return Session.turnedAway(device, &devices, &cx)
    }
    guard let retry else {
      return Session.turnedAway(device, isForGood: true, &devices, &cx)
    }
    if settings.timeouts == .strictInteger {
      cx.books.exchange.undecodedTimeouts += 1
      return Session.endSession(device, .unknownError, &devices, &cx)
    }
    let wanted = max(
      cx.now + retry.duration, devices.clients[device].askedAt + settings.requestGap)
    devices.clients[device].quietUntil = wanted
    devices.clients[device].isRejected = true
    if devices[device].session!.kind.isTask {
      return Session.turnedAway(device, isForGood: true, &devices, &cx)
    }
    cx.participations.stop(devices[device].session!.participation, .session(.rejected))
    devices[device].session!.stage = .check
    Session.proceed(device, &devices, &cx)
  }

  /// The server has failed over a request for work, which no library makes sense of.
  static func requestFailed(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    Session.endSession(device, .unknownError, &devices, &cx)
  }

  /// The model was asked for too late: its cycle is over.
  static func keyExpired(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    devices[device].session!.stage = .check
    Session.rest(device, .expiredRound, &devices, &cx)
  }
}
