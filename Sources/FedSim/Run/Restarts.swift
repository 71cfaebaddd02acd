/// The server's process stops, and is started again: what it had in memory is gone.
///
/// The model, its version and what goes with it are saved, as are accounts, tokens, heartbeats,
/// erasures and which updates are in a version. All else begins again.
enum Restarts {
  /// The process stops.
  static func stop(_ devices: inout Devices, _ server: inout Server, _ cx: inout Context) {
    cx.network.server.process.isRunning = false
    cx.network.server.process.stops += 1
    cx.network.server.isReachable = false
    cx.note(-1, .serverProcess(isRunning: false))
    Connectivity.breakConnections(all: true, &devices, &server, &cx)
    loseHeld(&server, &cx)
    loseUpdates(&server, &cx)
    Instructions.forget(&server, &cx)
    forgetRound(&server, &cx)
    server.owed = []
    server.known = []
    server.memories.startAnew(cx.inputs.server)
  }

  /// The process is there again.
  static func start(_ server: inout Server, _ cx: inout Context) {
    cx.network.server.process.isRunning = true
    cx.network.server.process.startedAt = cx.now
    cx.network.server.isReachable = cx.world.state(.reachable, at: cx.now) == 1
    cx.note(-1, .serverProcess(isRunning: true))
    // It probes its connection as it begins.
    if cx.network.server.believesOnline != cx.network.server.hasInternet {
      cx.network.server.believesOnline = cx.network.server.hasInternet
      cx.note(-1, .connectivity(cx.network.server.believesOnline))
    }
    server.openRound.openedAt = cx.now
    Rounds.openRound(&server, &cx)
    Rounds.startTimers(&cx)
    // What was stored may suffice for a version.
    if !server.pending.isEmpty { Rounds.decide(.arrival, &server, &cx) }
  }

  /// Requests that waited for the aggregation under way are lost.
  ///
  /// Order: of their arrivals.
  private static func loseHeld(_ server: inout Server, _ cx: inout Context) {
    guard let held = server.underWay?.held, !held.isEmpty else { return }
    cx.network.server.process.lost += held
    for one in held { Requests.lose(Int(one.device), one.generation, one.request, &cx) }
  }

  /// Updates that wait, and those of an aggregation under way, are lost or wait again.
  private static func loseUpdates(_ server: inout Server, _ cx: inout Context) {
    let waiting = (server.underWay?.updates ?? []) + server.pending
    server.underWay = nil
    if cx.inputs.server.restarts!.keepsPending {
      server.pending = waiting
      return
    }
    cx.computations.forgetPredicted()
    server.pending = []
    for update in waiting {
      Inbox.countCopy(update, -1, &server, &cx)
      cx.loseAtServer(update)
    }
  }

  /// The open round is over with all that was known of it; the next one begins with the process.
  private static func forgetRound(_ server: inout Server, _ cx: inout Context) {
    Rounds.recordRound(.lostAtRestart, &server, &cx)
    if let rounds = cx.inputs.stop.rounds, Int(server.openRound.number) >= rounds {
      cx.isOver = true
    }
    server.openRound = OpenRound(
      number: server.openRound.number + 1, openedAt: cx.now,
      cycle: cx.features.admission.map { CycleView($0.cycle, openedAt: cx.now) })
    server.privacy.rate = nil
    cx.participations.openRound()
  }

  /// What cannot be at a server that restarts.
  static func impossibilities(_ server: borrowing Server, _ cx: borrowing Context) -> [String] {
    guard let settings = cx.inputs.server.restarts, !cx.network.server.process.isRunning else {
      return []
    }
    var found: [String] = []
    if cx.network.server.isReachable { found.append("a server that has stopped can be reached") }
    if !settings.keepsPending, !server.pending.isEmpty {
      found.append("an update waits at a server that has stopped")
    }
    if server.underWay != nil || !server.waiting.isEmpty || server.openRound.cohortGoal != nil {
      found.append("a server that has stopped works")
    }
    return found
  }
}
