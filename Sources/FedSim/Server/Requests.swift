import Numerics

/// Requests that reach the server.
enum Requests {
  /// How the server handles a request that reaches it.
  enum Admittance {
    /// It is acted on now.
    case open
    /// It waits for a worker, for an aggregation, or for what came before it.
    case waits
  }

  /// A request reaches the server, or its closed door.
  static func arrived(
    _ device: Int, _ generation: UInt32, _ request: Request, _ server: inout Server,
    _ cx: inout Context
  ) {
    if !cx.network.server.process.lost.isEmpty,
      let place = cx.network.server.process.lost.firstIndex(
        of: HeldRequest(device: Int32(device), generation: generation, request: request))
    {
      cx.network.server.process.lost.remove(at: place)
      return
    }
    if server.service.settings != nil,
      Service.queue(device, generation, request, &server, &cx) == .waits
    {
      return
    }
    if Aggregating.hold(device, generation, request, &server, &cx) == .waits { return }
    take(device, generation, request, &server, &cx)
  }

  /// The server acts on a request, if it is there; the device may have `isAbandoned` it.
  static func take(
    _ device: Int, _ generation: UInt32, _ request: Request, isAbandoned: Bool = false,
    _ server: inout Server, _ cx: inout Context
  ) {
    handle(device, generation, request, isAbandoned, &server, &cx)
    letGo(of: request, &cx)
  }

  /// A request that had reached the server is lost there.
  static func lose(
    _ device: Int, _ generation: UInt32, _ request: Request, _ cx: inout Context
  ) {
    if !cx.network.accounts.isEmpty {
      cx.network.accounts[device].credentials.removeAll { $0.id == generation }
    }
    if case .submit(let update) = request { cx.copyCame(update, isOpen: false) }
    if case .central(let request) = request { Collecting.centralCame(request, &cx) }
    letGo(of: request, &cx)
  }

  /// A request has ended.
  static func letGo(of request: Request, _ cx: inout Context) {
    switch request {
    case .check(_, let participation), .disconnect(let participation, _):
      cx.participations.letGo(participation)
    case .latest, .submit, .leave, .identity, .fetch, .erase, .enrol, .probe, .plan, .sendModel,
      .properties, .evaluated, .central:
      break
    }
  }

  private static func handle(
    _ device: Int, _ generation: UInt32, _ request: Request, _ isAbandoned: Bool,
    _ server: inout Server, _ cx: inout Context
  ) {
    if !cx.network.accounts.isEmpty,
      Tokens.judge(device, generation, request, &cx) == .answered
    {
      return
    }
    guard cx.network.server.isReachable else {
      if case .submit(let update) = request { cx.copyCame(update, isOpen: false) }
      if case .central(let request) = request { Collecting.centralCame(request, &cx) }
      return
    }
    if cx.features.isOn {
      cx.features.serverDialect?.onRequest(device, generation, &server, &cx)
    }
    switch request {
    case .check(let held, let participation):
      guard Facts.checkIn(device, participation, &server, &cx) == .work else {
        return Lobby.answerCheck(
          device, generation, held: Int(held), .pollOnly, &server, &cx)
      }
      if cx.features.givesKeys {
        switch Cycles.askCycle(device, participation: participation, &server, &cx) {
        case .accepted:
          Lobby.answerCheck(
            device, generation, held: Int(held), .accepted, &server, &cx)
        case .failed: answer(device, generation, .failed, &cx)
        case .rejected(let timeout):
          answer(device, generation, .rejected(timeout.map { RetryAfter($0) }), &cx)
        }
        return
      }
      let checkIn = CheckIn(
        device: device, heldVersion: Int(held), hasPending: server.copies[device] > 0)
      Lobby.admit(checkIn, generation, participation, isAbandoned, &server, &cx)
    case .latest, .fetch:
      sendModel(device, generation, request, &server, &cx)
    case .submit(let update):
      guard cx.network.server.believesOnline || cx.inputs.server.whileOffline != .refuse else {
        cx.copyCame(update, isOpen: false)
        return answer(device, generation, .refused(.unavailable), &cx)
      }
      if cx.features.isOn, let wait = cx.network.streamWait(generation, of: device) {
        Streams.receive(device, generation, update, wait, &server, &cx)
      } else {
        Inbox.receive(device, generation, update, isAnswered: true, &server, &cx)
      }
      cx.copyCame(update, isOpen: true)
    case .leave:
      if server.waiting.request(of: device)?.generation == generation {
        Lobby.forget(device, &server, &cx)
      }
    case .disconnect(let participation, _):
      if Streams.endsUnasked(device, participation, &server, &cx) { break }
      Lobby.tell(.lost, of: device, &server, &cx)
      cx.features.serverDialect!.handle(device, generation, request, &server, &cx)
    case .identity, .erase:
      break  // Served, or heard, already.
    case .enrol, .probe, .plan, .sendModel, .properties, .evaluated:
      cx.features.serverDialect!.handle(device, generation, request, &server, &cx)
    case .central(let request):
      SampleStore.serve(device, generation, request, &cx)
      Collecting.centralCame(request, &cx)
    }
  }

  /// The latest model, or why there is none.
  private static func sendModel(
    _ device: Int, _ generation: UInt32, _ request: Request, _ server: inout Server,
    _ cx: inout Context
  ) {
    if case .fetch(let round) = request, let refusal = Cycles.checkKey(round, &server, &cx) {
      return answer(device, generation, refusal, &cx)
    }
    guard cx.network.server.believesOnline else {
      return answer(device, generation, .modelUnavailable, &cx)
    }
    cx.network.lend(server.model, to: generation, of: device)
    answer(device, generation, .model(version: server.version), &cx)
  }

  static func answer(
    _ device: Int, _ generation: UInt32, _ response: Response, _ cx: inout Context
  ) {
    cx.schedule(
      .response(device: Int32(device), generation: generation, response), .deviceResponse,
      at: cx.now + cx.network[device].rates.oneWay, by: device)
  }
}
