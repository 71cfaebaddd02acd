extension Simulation {
  /// Hands an event to its region; false where it had been cancelled.
  mutating func dispatch(_ event: Event) -> Bool {
    if cx.features.readsBeliefs { Beliefs.tell(before: event, devices, &server, &cx) }
    switch event {
    case .world(let series, let device, let state):
      if cx.now >= stallCheck.nextCheck { stallCheck.endIfStuck(devices, server, &cx) }
      Surroundings.worldChanged(series, Int(device), to: state, &devices, &cx)
    case .linkRestored(let device, let generation):
      guard cx.network[Int(device)].dropGeneration == generation else { return false }
      Surroundings.setLinkDropped(Int(device), false, &devices, &cx)
    case .server(let series, let state):
      Connectivity.serverChanged(series, to: state, &devices, &server, &cx)
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
      Requesting.bytesThrough(Int(device), &devices, &cx)
    case .trainingEnd(let device, let generation):
      guard devices[Int(device)].runGenerationNow == generation else { return false }
      Training.trainingEnded(Int(device), &devices, &server, &cx)
    case .serverTimer(let timer):
      return Timers.rang(timer, &devices, &server, &cx)
    case .arrival(let device, let generation, let request):
      Requests.arrived(Int(device), generation, request, &server, &cx)
    case .response(let device, let generation, let response):
      guard cx.network[transferOf: Int(device)]?.id == generation,
        cx.network[transferOf: Int(device)]?.phase == .awaiting
      else { return false }
      Requesting.answered(Int(device), response, &devices, &cx)
    case .deviceTimer(let timer, let device, let generation):
      return Timers.rang(timer, Int(device), generation, &devices, &cx)
    case .taskStart(let device, let generation):
      guard devices[Int(device)].scheduler.generation == generation else { return false }
      Scheduler.startTask(Int(device), &devices, &cx)
    case .end: cx.isOver = true
    }
    return true
  }
}
