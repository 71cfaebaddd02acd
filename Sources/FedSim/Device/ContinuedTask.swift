import Schema

/// Tasks that a user starts and the system lets continue.
enum ContinuedTask {
  /// Whether the system lets a continued task of the app run now.
  private static func mayContinue(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> Bool
  {
    devices[device].session?.kind.isTask != true && !Body.isOff(device, &devices)
      && !Body.isSparing(device, &devices, &cx)
  }

  /// The person starts a training in the app, perhaps: at once, later or never.
  static func openContinued(
    _ device: Int, _ strategy: ContinuedSettings.Strategy, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    let isWanted = App.startsContinued(device, &devices, &cx)
    if isWanted, !mayContinue(device, &devices, &cx) {
      let error: SubmitError? = strategy == .fail ? .immediateRunIneligible : nil
      cx.note(device, .submitted(task: "continued", error))
      if error != nil {
        cx.books.tallies.refusedRequests += 1
      } else {
        devices.apps[device]!.isQueued = true
      }
    } else if isWanted {
      Surroundings.takeOver(device, &devices, &cx)
      if devices[device].session == nil { return beginContinued(device, &devices, &cx) }
    }
    if devices[device].session == nil {
      Session.beginSession(device, .activation, soft: .never, hard: .never, &devices, &cx)
    }
  }

  /// A continued task that waits begins once nothing is in its way.
  static func startQueued(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard devices.apps[device]?.isQueued == true, mayContinue(device, &devices, &cx) else { return }
    Surroundings.takeOver(device, &devices, &cx)
    guard devices[device].session == nil else { return }
    devices.apps[device]!.isQueued = false
    beginContinued(device, &devices, &cx)
  }

  private static func beginContinued(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    Session.beginSession(device, .continued, soft: .never, hard: .never, &devices, &cx)
    if devices[device].session != nil, !cx.network[device].isConnected {
      App.awaitLink(device, &devices, &cx)
    }
  }

  /// Critical heat ends the running background task, where the settings say so.
  static func stopAtCritical(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let group = cx.inputs.fleet[Int(devices[device].group)]
    guard group.thermal?.criticalStops == true, let kind = devices[device].session?.kind,
      kind.isTask
    else { return }
    let background = group.background
    switch kind {
    case .refresh: Session.expireNow(device, grace: background.refresh!.grace, &devices, &cx)
    case .continued: Session.expireNow(device, grace: background.continued!.grace, &devices, &cx)
    case .task, .window, .activation, .heartbeat:
      Session.expireNow(device, grace: background.processing?.grace ?? .seconds(5), &devices, &cx)
    }
  }
}
