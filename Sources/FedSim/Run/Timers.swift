/// What the timers of devices and of the server do.
enum Timers {
  /// A timer of the server rings; false where it had been cancelled.
  static func rang(
    _ timer: ServerTimer, _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) -> Bool {
    switch timer {
    case .probe:
      return Connectivity.probeConnection(&server, &cx)
    case .trigger(let index, let round):
      guard Rounds.isCurrent(round, server, cx) else { return false }
      Rounds.triggerRang(Int(index), &server, &cx)
    case .served(let number):
      switch Service.served(number, &server, &cx) {
      case .lost: return false
      case .postponed: break
      case .handled(let device): refresh(device, &devices, &cx)
      }
    case .modelWanted:
      return Instructions.askForModel(&server, &cx)
    case .cohortWait(let round):
      return Rounds.cohortWaited(round, &server, &cx)
    case .evaluationWait(let round):
      return EvaluationRound.evaluationWaited(round, &server, &cx)
    case .evaluationTimeout(let round):
      return EvaluationRound.evaluationTimedOut(round, &server, &cx)
    case .aggregated:
      guard server.underWay?.endsAt == cx.now else { return false }
      Aggregating.aggregationEnded(&server, &cx)
    case .program(let call):
      return Program.proceed(call, &server, &cx)
    case .central(let number):
      CentralTraining.centralRang(number, &server, &cx)
    }
    return true
  }

  /// A timer of a device rings; false where it had been cancelled.
  static func rang(
    _ timer: DeviceTimer, _ device: Int, _ generation: UInt32, _ devices: inout Devices,
    _ cx: inout Context
  ) -> Bool {
    switch timer {
    case .requestTimeout:
      return Requesting.timeoutRang(device, &devices, &cx)
    case .sessionPause:
      guard let session = devices[device].session, session.generation == generation,
        session.isPausing
      else { return false }
      devices[device].session!.isPausing = false
      Session.proceed(device, &devices, &cx)
    case .earliestBegin:
      guard !devices[device].scheduler.requests.isEmpty, devices[device].scheduler.starting < 0
      else { return false }
      Scheduler.considerTask(device, &devices, &cx)
    case .scan:
      guard devices[device].scheduler.scanGeneration == generation else { return false }
      devices[device].scheduler.scanAt = .never
      Scheduler.considerTask(device, &devices, &cx)
    case .stalled:
      guard devices[device].session?.generation == generation else { return false }
      return App.stallRang(device, &devices, &cx)
    case .processor:
      guard devices[device].run?.generation == generation else { return false }
      App.processorExceeded(device, &devices, &cx)
    case .heartbeat:
      guard devices.identities.devices[device].beats.generation == generation else { return false }
      Heartbeat.beatRang(device, &devices, &cx)
    case .reinstall:
      Installation.reinstallRang(device, &devices, &cx)
    case .probe:
      return Workers.probeRang(device, generation, &devices, &cx)
    case .downloadTimeout:
      guard cx.network[transferOf: device]?.id == generation else { return false }
      Requesting.failTransfer(device, .timedOut, &devices, &cx)
    case .leaving:
      guard devices.apps[device]!.opening == generation else { return false }
      App.leave(device, &devices, &cx)
    case .eviction:
      guard devices.apps[device]!.suspension == generation else { return false }
      App.evict(device, &devices, &cx)
    case .patience:
      return Requesting.patienceRang(device, generation, &devices, &cx)
    case .body:
      // What follows from it is done after every event.
      return Body.hasBody(device, devices) && devices.bodies[device].checkGeneration == generation
    }
    return true
  }

  /// What follows for a device from an event of the server.
  private static func refresh(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if !devices.bodies.isEmpty { Body.refreshBody(device, &devices, &cx) }
    if !devices.identities.isEmpty { Heartbeat.refreshBeats(device, &devices, &cx) }
  }
}
