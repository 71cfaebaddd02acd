/// What the timers of devices and of the server do.
enum Timers {
  /// A timer of the server rings; false where it had been cancelled.
  static func rang(
    _ timer: ServerTimer, _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) -> Bool {
    switch timer {
    case .probe:
      ServerLine.probeConnection(&devices, &server, &cx)
    case .trigger(let index, let round):
      guard round == 0 || round == server.round else { return false }
      Rounds.triggerRang(Int(index), &devices, &server, &cx)
    case .served(let number):
      return Service.served(number, &devices, &server, &cx)
    case .modelWanted:
      return Instructions.askForModel(&devices, &server, &cx)
    case .cohortWait(let round):
      return Rounds.cohortWaited(round, &devices, &server, &cx)
    case .evaluationWait(let round):
      return EvaluationRound.evaluationWaited(round, &devices, &server, &cx)
    case .evaluationTimeout(let round):
      return EvaluationRound.evaluationTimedOut(round, &devices, &server, &cx)
    case .aggregated:
      Aggregating.aggregationEnded(&devices, &server, &cx)
    case .central(let number):
      CentralTraining.centralRang(number, &devices, &server, &cx)
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
      return Transfer.timeoutRang(device, &devices, &cx)
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
      Transfer.failTransfer(device, .timedOut, &devices, &cx)
    case .body:
      // What follows from it is done after every event.
      return Body.hasBody(device, devices) && devices.bodies[device].checkGeneration == generation
    }
    return true
  }
}
