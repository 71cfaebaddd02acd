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
      cx.network.server.isReachable = state == 1
      if !cx.network.server.isReachable { breakConnections(&devices, &server, &cx) }
    case .internet:
      cx.network.server.hasInternet = state == 1
      // Of the probes only the next one can find anything new.
      let period = cx.inputs.server.connectivityProbe.microseconds
      let next = (cx.now.microseconds + period - 1) / period * period
      cx.schedule(
        .serverTimer(.probe), .serverTimer, at: SimTime(microseconds: next), by: nil)
    }
  }

  /// The server is gone: what waits for it waits in vain, what comes from it stops.
  private static func breakConnections(
    _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    while !server.waiting.isEmpty {
      cx.participations.letGo(server.remove(at: server.waiting.count - 1).participation)
    }
    if server.service.settings != nil { Service.loseRequests(&server, &cx) }
    server.underWay?.owed = nil
    for device in devices.indices where cx.network[transferOf: device]?.phase == .receiving {
      Requesting.breakOff(
        device, from: cx.network[device].rates, cx.network[device].link, &devices, &cx)
    }
    for device in devices.indices where cx.network[transferOf: device]?.phase == .awaiting {
      let transfer = cx.network[transferOf: device]!
      if transfer.isHeld || transfer.isQueued || transfer.isOwed {
        Requesting.failTransfer(device, .unacknowledged, &devices, &cx)
      }
    }
  }

  /// The probe finds out whether the server has a connection.
  static func probeConnection(_ server: inout Server, _ cx: inout Context) {
    guard cx.network.server.believesOnline != cx.network.server.hasInternet else { return }
    cx.network.server.believesOnline = cx.network.server.hasInternet
    cx.note(-1, .connectivity(cx.network.server.believesOnline))
    if cx.network.server.believesOnline { Rounds.connectionReturned(&server, &cx) }
  }
}
