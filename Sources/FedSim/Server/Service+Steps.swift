import Numerics

extension Service {
  /// A request reaches the server, and waits in its queue where it has to be served.
  ///
  /// A closed connection is no work: it is seen at once, or as soon as what came over it before is
  /// handled.
  static func queue(
    _ device: Int, _ generation: UInt32, _ request: Request, _ server: inout Server,
    _ cx: inout Context
  ) -> Requests.Admittance {
    guard let settings = server.service.settings, cx.network.server.isReachable else {
      return .open
    }
    switch request {
    case .check: abandon(device, before: generation, &server)
    case .leave:
      abandon(device, before: generation + 1, &server)
      return .open
    case .disconnect(let participation, _):
      return follow(device, participation, request, &server, &cx)
    case .erase: return .open
    case .latest, .submit, .identity, .fetch, .enrol, .probe, .plan, .sendModel, .properties,
      .evaluated, .central:
      break
    }
    server.service.add(
      ServiceRequest(
        device: Int32(device), generation: generation, request: request, cameAt: cx.now,
        slot: server.service.came[device], before: server.service.latest[device]))
    cx.network.setQueued(true, generation, of: device)
    if server.service.busy < settings.workers {
      beginService(settings, &server, &cx)
    } else {
      server.service.tallies.longestQueue = max(
        server.service.tallies.longestQueue, server.service.waiting)
    }
    return .waits
  }

  /// A device no longer waits for the answers of its earlier requests: they are served
  /// nevertheless, and none of them waits for a cohort.
  private static func abandon(_ device: Int, before generation: UInt32, _ server: inout Server) {
    var number = server.service.latest[device]
    while number >= 0 {
      if server.service.requests[number].generation < generation {
        if server.service.requests[number].isAbandoned { return }
        server.service.requests[number].isAbandoned = true
      }
      number = server.service.requests[number].before
    }
  }

  /// A stream is broken: where a result that came over it is here, that is handled first.
  private static func follow(
    _ device: Int, _ participation: Int32, _ request: Request, _ server: inout Server,
    _ cx: inout Context
  ) -> Requests.Admittance {
    var number = server.service.latest[device]
    while number >= 0 {
      if case .submit(let update) = server.service.requests[number].request,
        cx.updates[update].participation == participation
      {
        server.service.requests[number].disconnections.append(request)
        return .waits
      }
      number = server.service.requests[number].before
    }
    return .open
  }

  /// A worker begins the request that came first of those that wait.
  ///
  /// Draws: where service times are exponential one `exponential`, at slot = the number of the
  /// device's request among its own (seed `policy`, purpose `service`).
  private static func beginService(
    _ settings: ServiceSettings, _ server: inout Server,
    _ cx: inout Context
  ) {
    let number = server.service.next
    server.service.next += 1
    server.service.busy += 1
    let request = server.service.requests[number]
    if request.cameAt < cx.now { server.service.tallies.delayed += 1 }
    server.service.tallies.waited = server.service.tallies.waited + (cx.now - request.cameAt)
    var time = settings.time
    if settings.distribution == .exponential {
      let device = Int(request.device)
      var stream = server.service.timeKeys[cx.members.group(of: device)]
        .with(ordinal: UInt32(cx.members.ordinal(of: device))).stream(slot: UInt64(request.slot))
      time = SimDuration(roundingUp: stream.exponential(mean: settings.time.seconds))
    }
    // In the class of arrivals, so that a deadline of the same time wins; before all of them, so
    // that who comes as a worker becomes free does not wait.
    cx.schedule(
      .serverTimer(.served(number)), .serverArrival,
      at: cx.now + max(time, SimDuration(microseconds: 1)), by: nil)
  }

  /// A worker has done with a request: it is handled, later or now.
  static func served(
    _ number: Int32, _ server: inout Server, _ cx: inout Context
  ) -> Served {
    guard let settings = server.service.settings, server.service.requests.contains(number) else {
      return .lost
    }
    if Aggregating.isBlocked(server, cx) {
      cx.schedule(
        .serverTimer(.served(number)), .serverArrival, at: Aggregating.noteHeld(&server, &cx),
        by: nil)
      return .postponed
    }
    let request = server.service.remove(number)
    server.service.busy -= 1
    server.service.tallies.served += 1
    let device = Int(request.device)
    cx.network.setQueued(false, request.generation, of: device)
    Requests.take(
      device, request.generation, request.request, isAbandoned: request.isAbandoned,
      &server, &cx)
    for disconnection in request.disconnections {
      Requests.take(device, request.generation, disconnection, &server, &cx)
    }
    if server.service.waiting > 0 { beginService(settings, &server, &cx) }
    return .handled(device: device)
  }

  /// The server is gone, and with it what waits and what is served.
  static func loseRequests(_ server: inout Server, _ cx: inout Context) {
    for number in server.service.requests.numbers {
      let request = server.service.remove(number)
      server.service.tallies.lost += 1
      Requests.lose(Int(request.device), request.generation, request.request, &cx)
      for lost in request.disconnections { Requests.letGo(of: lost, &cx) }
    }
    server.service.next = Int32(server.service.requests.count)
    server.service.busy = 0
  }
}

/// What a worker that has done does with its request.
enum Served {
  /// The request was lost before.
  case lost
  /// An aggregation keeps it from being handled.
  case postponed
  case handled(device: Int)
}
