import Schema

extension Aggregating {
  /// Begins an aggregation that takes time.
  static func beginAggregation(
    _ waiting: [Int32], _ settings: AggregationTimeSettings, _ server: inout Server,
    _ cx: inout Context
  ) {
    let end = cx.now + settings.base + settings.perUpdate * Int64(waiting.count)
    server.underWay = AggregationUnderWay(begunAt: cx.now, endsAt: end, updates: waiting)
    server.aggregations.begun += 1
    cx.schedule(.serverTimer(.aggregated), .serverTimer, at: end, by: nil)
  }

  /// An aggregation that took time is over: the version is there, and what waited for it continues.
  static func aggregationEnded(
    _ server: inout Server, _ cx: inout Context
  ) {
    let ended = server.underWay!
    server.underWay = nil
    server.aggregations.lasted = server.aggregations.lasted + (cx.now - ended.begunAt)
    combine(ended.updates, &server, &cx)
    if let owed = ended.owed, cx.updates.contains(owed.update) {
      Inbox.answerReceipt(owed.device, owed.generation, owed.update, nil, &server, &cx)
    }
    // What has come meanwhile may suffice for the next one.
    if !cx.isOver { Rounds.decide(.arrival, &server, &cx) }
  }

  /// Whether the server handles nothing now, for it aggregates.
  static func isBlocked(_ server: borrowing Server, _ cx: borrowing Context) -> Bool {
    guard server.underWay != nil else { return false }
    return cx.inputs.server.aggregationTime?.blocks == true
  }

  /// A request reaches a server that aggregates: it waits until that is over.
  static func hold(
    _ device: Int, _ generation: UInt32, _ request: Request, _ server: inout Server,
    _ cx: inout Context
  ) -> Requests.Admittance {
    guard isBlocked(server, cx), server.service.settings == nil, cx.network.server.isReachable
    else {
      return .open
    }
    if cx.inputs.server.restarts != nil {
      server.underWay!.held.append(
        HeldRequest(device: Int32(device), generation: generation, request: request))
    }
    cx.schedule(
      .arrival(device: Int32(device), generation: generation, request), .serverArrival,
      at: noteHeld(&server, &cx), by: device)
    return .waits
  }

  /// Counts what has to wait for an aggregation, and says until when.
  static func noteHeld(_ server: inout Server, _ cx: inout Context) -> SimTime {
    let end = server.underWay!.endsAt
    server.aggregations.held += 1
    server.aggregations.waited = server.aggregations.waited + (end - cx.now)
    return end
  }
}
