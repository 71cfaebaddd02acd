import Learning
import Numerics

/// What a run begins with: its devices, their states at the start, and everyone's first events.
enum Setup {
  /// Makes the devices, and what else the settings ask for.
  ///
  /// Draws: one `normal` per device at slot 0 of `compute`, one at slot 0 of `network` (seed
  /// `world`).
  static func makeFleet(
    _ devices: inout Devices, _ server: inout Server, _ cx: inout Context
  ) {
    let groups = Int64(cx.inputs.fleet.count)
    devices.makeRows(&cx)
    Roster.makeHardware(&devices, &cx)
    devices.reserveCapacity(cx.inputs.deviceCount)
    let coupling = cx.inputs.fleet.contains { $0.couple != nil } ? Coupling(cx.inputs) : nil
    for (place, group) in cx.inputs.fleet.enumerated() {
      let shared = Links(group.network, speed: 1)
      for ordinal in 0..<group.count {
        let clients = Int64(cx.inputs.task.partition.clientCount)
        let number =
          group.firstClient.map { Int64($0 + ordinal) } ?? Int64(ordinal) * groups
          + Int64(place)
        var client = clients == 0 ? 0 : Int(number % clients)
        let device = devices.count
        if group.couple != nil, clients > 0 {
          client = coupling!.client(
            of: group, ordinal: ordinal, hardware: Roster.hardware(of: device, devices), cx.inputs)
        }
        let samples = Roster.samples(
          group: place, ordinal: ordinal, client: client, at: .start, cx)
        var links = shared
        let capacity = Roster.capacity(group: place, ordinal: ordinal, cx)
        if capacity != nil || group.network.spread != 0 {
          var network = group.network
          if let capacity { network.take(capacity) }
          let speed = Roster.factor("network", group.network.spread, place, ordinal, cx)
          links = Links(network, speed: speed)
        }
        cx.members.append(
          group: place, client: Int32(client), sampleCount: Int32(samples))
        cx.network.append(links)
        devices.append(
          Device(
            group: Int32(place), ordinal: Int32(ordinal),
            pace: Roster.pace(
              group: place, ordinal: ordinal, device: device, samples: samples, epoch: 0, devices,
              cx)))
      }
    }
    cx.features.limitsCellularBytes = cx.inputs.fleet.contains {
      $0.participation.cellularBytesPerDay != nil
    }
    cx.features.keepsModels = cx.inputs.fleet.contains { $0.participation.trainsOffline == true }
    for device in devices.indices { Installation.equip(device, &devices, &cx) }
    Body.makeBodies(&devices, &cx)
    App.makeApps(&devices, &cx)
    Identity.makeIdentities(&devices, &cx)
    KnownDialect.makeExchange(&devices, &server, &cx)
    Service.makeService(&server, &cx)
    Collecting.makeCentral(&cx)
  }

  /// The states at the start, and the first events of everyone.
  static func begin(_ devices: inout Devices, _ server: inout Server, _ cx: inout Context) {
    cx.schedule(.end, .snapshot, at: cx.end, by: nil)
    for (index, injection) in cx.inputs.injections.enumerated() {
      guard let device = cx.inputs.device(at: injection.device.path) else {
        preconditionFailure("no device \(injection.device.path)")
      }
      cx.schedule(
        .injection(Int32(index)), injection.action.eventClass, at: injection.at, by: device)
    }
    cx.network.server.isReachable = cx.world.state(.reachable, at: .start) == 1
    cx.network.server.hasInternet = cx.world.state(.internet, at: .start) == 1
    cx.network.server.believesOnline = cx.network.server.hasInternet
    for series in ServerSeries.allCases { Roster.scheduleNext(series, &cx) }
    for device in devices.indices {
      cx.agenda.turn(to: device)
      devices[device].isPlugged = Roster.worldState(.power, device, &devices, &cx) == 1
      cx.network[device].linkState = Roster.worldState(.link, device, &devices, &cx)
      devices[device].isActive = Roster.worldState(.usage, device, &devices, &cx) == 1
      let place = Int(devices[device].group)
      for series in Series.allCases where cx.world.has(series, group: place) {
        let state = Roster.worldState(series, device, &devices, &cx)
        devices[device].exogenous.combine(UInt64(state))
        if series == .window, state != 0 {
          cx.schedule(
            .world(.window, device: Int32(device), state: state), .world, at: .start, by: device)
        } else {
          Roster.scheduleNext(series, device, &devices, &cx)
        }
        switch series {
        case .ambient: Body.setHot(device, state == 1, &devices, &cx)
        case .setting: devices.apps[device]!.isRefreshOn = state == 1
        case .share: cx.network[device].share = state
        case .presence: if state == 0 { Membership.beginAway(device, &devices, &cx) }
        case .power, .link, .usage, .window: break
        }
      }
      Scheduler.submitTaskRequest(device, &devices, &cx)
      Scheduler.submitRefreshRequest(device, &devices, &cx)
      if !devices.bodies.isEmpty { Body.refreshBody(device, &devices, &cx) }
    }
    cx.agenda.turn(to: nil)
    Accounting.openBooks(&devices, &cx)
    for device in devices.identities.devices.indices {
      Heartbeat.refreshBeats(device, &devices, &cx)
    }
    Rounds.openRound(&server, &cx)
    Rounds.startTimers(&cx)
    if cx.inputs.program != nil { Program.begin(&server, &cx) }
  }
}
