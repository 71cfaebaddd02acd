extension Simulation {
  /// Hands an event to its region; false where it had been cancelled.
  mutating func dispatch(_ event: Event) -> Bool {
    switch event {
    case .world(let series, let device, let state):
      if cx.now >= outlook.nextLook { lookAhead() }
      Surroundings.worldChanged(series, Int(device), to: state, &devices, &cx)
    case .linkRestored(let device, let generation):
      guard cx.network[Int(device)].dropGeneration == generation else { return false }
      Surroundings.setLinkDropped(Int(device), false, &devices, &cx)
    case .server(let series, let state):
      ServerLine.serverChanged(series, to: state, &devices, &server, &cx)
    case .injection(let index):
      Surroundings.inject(Int(index), &devices, &cx)
    case .softExpiry(let device, let generation):
      guard devices[Int(device)].sessionGenerationNow == generation else { return false }
      Session.expireSoftly(Int(device), &devices, &cx)
    case .hardExpiry(let device, let generation):
      guard devices[Int(device)].sessionGenerationNow == generation else { return false }
      Session.expireHard(Int(device), &devices, &cx)
    case .transferEnd(let device, let generation):
      guard cx.network[transferOf: Int(device)]?.plan == generation else { return false }
      Transfer.bytesThrough(Int(device), &devices, &cx)
    case .trainingEnd(let device, let generation):
      guard devices[Int(device)].runGenerationNow == generation else { return false }
      Training.trainingEnded(Int(device), &devices, &server, &cx)
    case .serverTimer(.probe):
      ServerLine.probeConnection(&devices, &server, &cx)
    case .serverTimer(.trigger(let index, let round)):
      guard round == 0 || round == server.round else { return false }
      Rounds.triggerRang(Int(index), &devices, &server, &cx)
    case .serverTimer(.served(let number)):
      return Service.served(number, &devices, &server, &cx)
    case .serverTimer(.modelWanted):
      return Instructions.askForModel(&devices, &server, &cx)
    case .serverTimer(.cohortWait(let round)):
      return Instructions.cohortWaited(round, &devices, &server, &cx)
    case .serverTimer(.evaluationWait(let round)):
      return EvaluationRound.evaluationWaited(round, &devices, &server, &cx)
    case .serverTimer(.evaluationTimeout(let round)):
      return EvaluationRound.evaluationTimedOut(round, &devices, &server, &cx)
    case .serverTimer(.aggregated):
      Aggregating.aggregationEnded(&devices, &server, &cx)
    case .serverTimer(.central(let number)):
      CentralTraining.centralRang(number, &devices, &server, &cx)
    case .arrival(let device, let generation, let request):
      Requests.arrived(Int(device), generation, request, &devices, &server, &cx)
    case .response(let device, let generation, let response):
      guard cx.network[transferOf: Int(device)]?.id == generation,
        cx.network[transferOf: Int(device)]?.phase == .awaiting
      else { return false }
      Transfer.answered(Int(device), response, &devices, &cx)
    case .deviceTimer(let timer, let device, let generation):
      return timerRang(timer, Int(device), generation)
    case .taskStart(let device, let generation):
      guard devices[Int(device)].scheduler.generation == generation else { return false }
      Scheduler.startTask(Int(device), &devices, &cx)
    case .end:
      cx.isOver = true
    }
    return true
  }

  private mutating func timerRang(
    _ timer: DeviceTimer, _ device: Int, _ generation: UInt32
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
