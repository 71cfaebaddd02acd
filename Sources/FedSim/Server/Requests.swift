import Numerics

/// Requests that reach the server.
enum Requests {
  /// A request reaches the server, or its closed door.
  static func arrived(
    _ device: Int, _ generation: UInt32, _ request: Request, _ devices: inout Devices,
    _ server: inout Server, _ cx: inout Context
  ) {
    if server.service.settings != nil,
      Service.queues(device, generation, request, &devices, &server, &cx)
    {
      return
    }
    if Aggregating.holds(device, generation, request, &server, &cx) { return }
    take(device, generation, request, &devices, &server, &cx)
  }

  /// The server acts on a request, if it is there; the device may have `isAbandoned` it.
  static func take(
    _ device: Int, _ generation: UInt32, _ request: Request, isAbandoned: Bool = false,
    _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    handle(device, generation, request, isAbandoned, &devices, &server, &cx)
    letGo(of: request, &cx)
  }

  /// A request has come to its end.
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
    _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    if !devices.identities.isEmpty, Tokens.intercepts(device, generation, request, &devices, &cx) {
      return
    }
    guard cx.line.isReachable else {
      if case .submit(let update) = request { cx.copyCame(update, isOpen: false) }
      if case .central(let request) = request { Collecting.centralCame(request, &cx) }
      return
    }
    if cx.features.isOn { Erasing.hearErasure(device, generation, &devices, &server, &cx) }
    switch request {
    case .check(let held, let participation):
      guard Facts.asks(device, participation, &devices, &server, &cx) else {
        return Lobby.answerCheck(device, generation, .pollOnly, &devices, &server, &cx)
      }
      if cx.features.givesKeys {
        switch Cycles.askCycle(device, participation: participation, &devices, &server, &cx) {
        case .accepted: Lobby.answerCheck(device, generation, .accepted, &devices, &server, &cx)
        case .failed: answer(device, generation, .failed, &devices, &cx)
        case .rejected(let timeout):
          answer(device, generation, .rejected(timeout.map { RetryAfter($0) }), &devices, &cx)
        }
        return
      }
      let checkIn = CheckIn(
        device: device, heldVersion: Int(held), hasPending: server.copies[device] > 0)
      Lobby.admit(checkIn, generation, participation, isAbandoned, &devices, &server, &cx)
    case .latest, .fetch:
      sendModel(device, generation, request, &devices, &server, &cx)
    case .submit(let update):
      guard cx.line.believesOnline || cx.inputs.server.whileOffline != .refuse else {
        cx.copyCame(update, isOpen: false)
        return answer(device, generation, .refused(.unavailable), &devices, &cx)
      }
      Inbox.receive(device, generation, update, &devices, &server, &cx)
      cx.copyCame(update, isOpen: true)
    case .leave:
      let place = server.place(of: device)
      if place.isThere, server.waitingRequests[place.index].generation == generation {
        Lobby.forget(device, &server, &cx)
      }
    case .disconnect(let participation, let reason):
      Lobby.tell(.lost, of: device, &server, &cx)
      Streams.streamBroke(participation, reason, &devices, &server, &cx)
    case .identity, .erase:
      break  // Served, or heard, already.
    case .enrol, .probe, .plan, .sendModel, .properties, .evaluated:
      Instructions.handleInstruction(device, generation, request, &devices, &server, &cx)
    case .central(let request):
      SampleStore.serve(device, generation, request, &devices, &cx)
      Collecting.centralCame(request, &cx)
    }
  }

  /// The latest model, or why there is none.
  private static func sendModel(
    _ device: Int, _ generation: UInt32, _ request: Request, _ devices: inout Devices,
    _ server: inout Server, _ cx: inout Context
  ) {
    if case .fetch(let round) = request, let refusal = Cycles.fetch(round: round, &server, &cx) {
      return answer(device, generation, refusal, &devices, &cx)
    }
    guard cx.line.believesOnline else {
      return answer(device, generation, .modelUnavailable, &devices, &cx)
    }
    if devices[device].transferID == generation {
      devices[device].transfer!.body = server.model
    }
    answer(device, generation, .model(version: server.version), &devices, &cx)
  }

  static func answer(
    _ device: Int, _ generation: UInt32, _ response: Response, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    cx.schedule(
      .response(device: Int32(device), generation: generation, response), .deviceResponse,
      at: cx.now + devices[device].rates.oneWay, by: device)
  }
}
