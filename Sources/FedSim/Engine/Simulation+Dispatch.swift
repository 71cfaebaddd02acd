extension Simulation {
  /// Hands an event to its region; false where it had been cancelled.
  mutating func dispatch(_ event: Event) -> Bool {
    switch event {
    case .world(let series, let device, let state):
      if cx.now >= outlook.nextLook { lookAhead() }
      worldChanged(series, Int(device), to: state)
    case .linkRestored(let device, let generation):
      guard devices[Int(device)].dropGeneration == generation else { return false }
      setLinkDropped(Int(device), false)
    case .server(let series, let state):
      serverChanged(series, to: state)
    case .injection(let index):
      inject(Int(index))
    case .softExpiry(let device, let generation):
      guard devices[Int(device)].sessionGenerationNow == generation else { return false }
      expireSoftly(Int(device))
    case .hardExpiry(let device, let generation):
      guard devices[Int(device)].sessionGenerationNow == generation else { return false }
      expireHard(Int(device))
    case .transferEnd(let device, let generation):
      guard devices[Int(device)].transferPlan == generation else { return false }
      bytesThrough(Int(device))
    case .trainingEnd(let device, let generation):
      guard devices[Int(device)].runGenerationNow == generation else { return false }
      trainingEnded(Int(device))
    case .serverTimer(.probe):
      probeConnection()
    case .serverTimer(.trigger(let index, let round)):
      guard round == 0 || round == server.round else { return false }
      triggerRang(Int(index))
    case .serverTimer(.served(let number)):
      return served(number)
    case .serverTimer(.modelWanted):
      return askForModel()
    case .serverTimer(.cohortWait(let round)):
      return cohortWaited(round)
    case .serverTimer(.evaluationWait(let round)):
      return evaluationWaited(round)
    case .serverTimer(.evaluationTimeout(let round)):
      return evaluationTimedOut(round)
    case .serverTimer(.aggregated):
      aggregationEnded()
    case .serverTimer(.central(let number)):
      centralRang(number)
    case .arrival(let device, let generation, let request):
      arrived(Int(device), generation, request)
    case .response(let device, let generation, let response):
      guard devices[Int(device)].transferID == generation,
        devices[Int(device)].transferPhase == .awaiting
      else { return false }
      answered(Int(device), response)
    case .deviceTimer(let timer, let device, let generation):
      return timerRang(timer, Int(device), generation)
    case .taskStart(let device, let generation):
      guard devices[Int(device)].scheduler.generation == generation else { return false }
      startTask(Int(device))
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
      return timeoutRang(device)
    case .sessionPause:
      guard let session = devices[device].session, session.generation == generation,
        session.isPausing
      else { return false }
      devices[device].session!.isPausing = false
      proceed(device)
    case .earliestBegin:
      guard !devices[device].scheduler.requests.isEmpty, devices[device].scheduler.starting < 0
      else { return false }
      considerTask(device)
    case .scan:
      guard devices[device].scheduler.scanGeneration == generation else { return false }
      devices[device].scheduler.scanAt = .never
      considerTask(device)
    case .stalled:
      guard devices[device].session?.generation == generation else { return false }
      return stallRang(device)
    case .processor:
      guard devices[device].run?.generation == generation else { return false }
      processorExceeded(device)
    case .heartbeat:
      guard devices.identities.devices[device].beats.generation == generation else { return false }
      beatRang(device)
    case .reinstall:
      reinstallRang(device)
    case .probe:
      return probeRang(device, generation)
    case .downloadTimeout:
      guard devices[device].transferID == generation else { return false }
      failTransfer(device, .timedOut)
    case .body:
      // What follows from it is done after every event.
      return hasBody(device) && devices.bodies[device].checkGeneration == generation
    }
    return true
  }
}
