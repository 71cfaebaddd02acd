import Numerics

/// The server's own connection, as the world changes it and as the server finds out.
enum Connectivity {
  /// The server's own world changes.
  static func serverChanged(
    _ series: ServerSeries, to state: UInt8, _ devices: inout Devices, _ server: inout Server,
    _ cx: inout Context
  ) {
    Roster.scheduleNext(series, &cx)
    switch series {
    case .reachable:
      cx.network.server.isReachable = state == 1 && cx.network.server.process.isRunning
      if !cx.network.server.isReachable { breakConnections(&devices, &server, &cx) }
    case .internet:
      cx.network.server.hasInternet = state == 1
      // Of the probes only the next one can find anything new.
      let period = cx.inputs.server.connectivityProbe.microseconds
      let since = cx.network.server.process.startedAt
      let next = ((cx.now - since).microseconds + period - 1) / period * period
      cx.schedule(
        .serverTimer(.probe), .serverTimer, at: since + SimDuration(microseconds: next), by: nil)
    case .process:
      if state == 1 {
        Restarts.start(&server, &cx)
      } else {
        Restarts.stop(&devices, &server, &cx)
      }
    }
  }

  /// The server is gone: what waits for it waits in vain, what comes from it stops. Where its
  /// process is gone (`all`), every request under way fails.
  static func breakConnections(
    all: Bool = false, _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    for place in server.waiting.inOrder().indices.reversed() {
      cx.participations.letGo(server.waiting.request(at: place).participation)
    }
    server.waiting.removeAll()
    if server.service.settings != nil { Service.loseRequests(&server, &cx) }
    server.underWay?.owed = nil
    for device in devices.indices {
      guard let phase = cx.network[transferOf: device]?.phase,
        phase == .receiving || all && phase == .sending
      else { continue }
      Requesting.breakOff(
        device, from: cx.network[device].rates, cx.network[device].link, &devices, &cx)
    }
    for device in devices.indices where cx.network[transferOf: device]?.phase == .awaiting {
      let transfer = cx.network[transferOf: device]!
      if all || transfer.isHeld || transfer.isQueued || transfer.isOwed {
        Requesting.failTransfer(device, .unacknowledged, &devices, &cx)
      }
    }
  }

  /// The probe finds out whether the server has a connection; false where it is none of the process
  /// that runs.
  static func probeConnection(_ server: inout Server, _ cx: inout Context) -> Bool {
    let process = cx.network.server.process
    let period = cx.inputs.server.connectivityProbe.microseconds
    guard process.isRunning, (cx.now - process.startedAt).microseconds % period == 0 else {
      return false
    }
    guard cx.network.server.believesOnline != cx.network.server.hasInternet else { return true }
    cx.network.server.believesOnline = cx.network.server.hasInternet
    cx.note(-1, .connectivity(cx.network.server.believesOnline))
    if cx.network.server.believesOnline { Rounds.connectionReturned(&server, &cx) }
    return true
  }
}
